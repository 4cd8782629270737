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

  /** Of seven bits each, the lowest first. */
  function readLength(): number {
    let length = 0
    for (let weight = 1, byte = 0x80; byte >= 0x80; weight *= 0x80) {
      byte = take(1)[0]!
      length += (byte & 0x7f) * weight
    }
    return length
  }

  while (at < bytes.length) {
    const row: Record<string, unknown> = {}
    for (const [name, type] of names) row[name] = readers[type]()
    rows.push(row)
  }
  return rows
}
