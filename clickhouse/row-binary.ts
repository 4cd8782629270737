/**
 * Answers in RowBinary (https://clickhouse.com/docs/interfaces/formats/RowBinary), for those of thousands of numbers: as
 * text, writing and reading them takes both sides longer than finding them.
 */

/** String, Bool, or Array(Float64), which holds integers up to 2^53 too. */
export type BinaryColumn = 'text' | 'flag' | 'numbers'

/** Of an answer's columns, in their order. */
export type BinaryColumns = Readonly<Record<string, BinaryColumn>>

/** @throws RangeError when the last row is cut short */
export function decodeRowBinary(bytes: Buffer, columns: BinaryColumns): Record<string, unknown>[] {
  const names = Object.entries(columns)
  const rows: Record<string, unknown>[] = []
  let at = 0
  const readers: Record<BinaryColumn, () => unknown> = {
    text: () => take(readLength()).toString('utf8'),
    flag: () => take(1)[0] === 1,
    numbers: () => {
      const length = readLength()
      const part = take(8 * length)
      // Copied to where numbers may begin, and so that the answer isn't kept for them.
      return new Float64Array(part.buffer.slice(part.byteOffset, part.byteOffset + part.length))
    },
  }

  function take(length: number): Buffer {
    if (at + length > bytes.length) throw new RangeError('an answer is cut short')
    at += length
    return bytes.subarray(at - length, at)
  }

  function readLength(): number {
    const [length, end] = readVarint(bytes, at)
    at = end
    return length
  }

  while (at < bytes.length) {
    const row: Record<string, unknown> = {}
    for (const [name, type] of names) row[name] = readers[type]()
    rows.push(row)
  }
  return rows
}

/**
 * A number of seven bits a byte, the lowest first.
 * @returns it, and where it ends
 * @throws RangeError when it is cut short
 */
export function readVarint(bytes: Buffer, from: number): [value: number, end: number] {
  let value = 0
  let at = from
  for (let weight = 1, byte = 0x80; byte >= 0x80; weight *= 0x80) {
    if (at >= bytes.length) throw new RangeError('a number is cut short')
    byte = bytes[at++]!
    value += (byte & 0x7f) * weight
  }
  return [value, at]
}

/** The same columns of rows that came as text, changed in place. */
export function asBinaryRows(rows: Record<string, unknown>[], columns: BinaryColumns): Record<string, unknown>[] {
  const lists = Object.keys(columns).filter((name) => columns[name] === 'numbers')
  for (const row of rows) for (const name of lists) row[name] = Float64Array.from(row[name] as number[])
  return rows
}
