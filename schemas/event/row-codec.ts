/**
 * RowBinary, ClickHouse's row format: columns one after another, integers little-endian, a text as its length (LEB128)
 * and its UTF-8 bytes. The encoder is compiled from the column list once at start (straight-line code, no dispatch
 * on types a row), because it runs for every event.
 *
 * Format: https://clickhouse.com/docs/interfaces/formats/RowBinary. Held by test/property/row-codec.test.ts.
 */
import { type Column, hashColumns } from './row.ts'

/** Writes `row` into `buffer` from `at` on and returns where it ends. The caller has made sure that `rowBytesBound` fit. */
export type RowEncoder<Row> = (row: Row, buffer: Buffer, at: number) => number

export function compileRowEncoder<Row>(columns: readonly Column[]): RowEncoder<Row> {
  const lines = columns.map((column) => encodeLine(column))
  const body = `return function encodeRow(row, b, p) {\n let v, w;\n${lines.join('\n')}\n return p;\n}`
  return new Function('writeText', body)(writeText) as RowEncoder<Row>
}

function encodeLine({ name, type }: Column): string {
  const value = `row.${name}`
  switch (type) {
    case 'UInt8':
      return `b[p++] = ${value};`
    case 'UInt16':
      return `v = ${value}; b[p] = v; b[p + 1] = v >>> 8; p += 2;`
    case 'UInt32':
      return `v = ${value}; ${word('v', 0)} p += 4;`
    case 'UInt64':
    case "DateTime64(3, 'UTC')":
      return hashColumns.has(name)
        ? `v = ${value}; w = v.lo; ${word('w', 0)} w = v.hi; ${word('w', 4)} p += 8;`
        : `v = ${value}; w = v >>> 0; ${word('w', 0)} w = (v / 4294967296) >>> 0; ${word('w', 4)} p += 8;`
    case 'Float64':
      return `b.writeDoubleLE(${value}, p); p += 8;`
    case 'FixedString(2)':
      return `v = ${value}; b[p] = v.charCodeAt(0); b[p + 1] = v.charCodeAt(1); p += 2;`
    case 'FixedString(16)':
      return `v = ${value}; for (w = 0; w < 16; w++) b[p++] = v.charCodeAt(w);`
    case 'String':
      return `p = writeText(b, p, ${value});`
  }
}

function word(variable: string, offset: number): string {
  const byte = (n: number) => `b[p + ${offset + n}] = ${variable}${n === 0 ? '' : ` >>> ${8 * n}`};`
  return [0, 1, 2, 3].map(byte).join(' ')
}

/** Up to this length a loop over the characters is faster than the call into the engine's encoder. */
const shortTextLength = 40
/**
 * V8 has texts in many forms (one or two bytes a character, parts of others, joined). Where it has seen several, it
 * looks up each method anew at every character, which took encoding three times as long.
 */
const { charCodeAt } = String.prototype

function writeText(buffer: Buffer, at: number, text: string): number {
  const length = text.length
  if (length <= shortTextLength) {
    let end = at + 1
    let i = 0
    for (; i < length; i++) {
      const code = charCodeAt.call(text, i)
      if (code > 127) break
      buffer[end++] = code
    }
    if (i === length) {
      buffer[at] = length
      return end
    }
  }
  // A LEB128 of three bytes holds any text of a row; readers accept the leading zeros that short texts leave in it.
  const bytes = buffer.write(text, at + 3, 'utf8')
  buffer[at] = (bytes & 0x7f) | 0x80
  buffer[at + 1] = ((bytes >>> 7) & 0x7f) | 0x80
  buffer[at + 2] = bytes >>> 14
  return at + 3 + bytes
}

/** No row of these columns can take more bytes than this, given the lengths of its texts. */
export function rowBytesBound(columns: readonly Column[], row: Record<string, unknown>): number {
  let bound = 0
  for (const { name, type } of columns) bound += type === 'String' ? 3 + 3 * (row[name] as string).length : 16
  return bound
}

/** The columns' values of one row as they were stored: 64-bit numbers as bigint, times as milliseconds. */
export type DecodedRow = Record<string, string | number | bigint>

/**
 * Reads one row back: for setting rows aside readably, and for tests.
 * @returns the row and where it ends
 * @throws RangeError when the bytes end within the row
 */
export function decodeRow(columns: readonly Column[], bytes: Buffer, at: number): { row: DecodedRow; end: number } {
  const row: DecodedRow = {}
  let p = at
  for (const { name, type } of columns) {
    switch (type) {
      case 'UInt8':
        row[name] = bytes.readUInt8(p)
        p += 1
        break
      case 'UInt16':
        row[name] = bytes.readUInt16LE(p)
        p += 2
        break
      case 'UInt32':
        row[name] = bytes.readUInt32LE(p)
        p += 4
        break
      case 'UInt64':
        row[name] = bytes.readBigUInt64LE(p)
        p += 8
        break
      case "DateTime64(3, 'UTC')":
        row[name] = Number(bytes.readBigInt64LE(p))
        p += 8
        break
      case 'Float64':
        row[name] = bytes.readDoubleLE(p)
        p += 8
        break
      case 'FixedString(2)':
      case 'FixedString(16)': {
        const length = type === 'FixedString(2)' ? 2 : 16
        row[name] = bytes.toString('latin1', p, p + length)
        p += length
        break
      }
      case 'String': {
        let length = 0
        for (let shift = 0; ; shift += 7) {
          const byte = bytes.readUInt8(p++)
          length |= (byte & 0x7f) << shift
          if (byte < 0x80) break
        }
        if (p + length > bytes.length) throw new RangeError(`the text of ${name} runs past the end`)
        row[name] = bytes.toString('utf8', p, p + length)
        p += length
        break
      }
    }
  }
  return { row, end: p }
}

/** Where two columns of every row lie, so that shipping can name a segment's (workspace, hour) keys without decoding. */
export const workspaceIdOffset = 8
export const occurredAtOffset = 12
