import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Column, type ColumnType, hashColumns, streams } from '../../schemas/event/row.ts'
import { compileRowEncoder, type DecodedRow, decodeRow, rowBytesBound } from '../../schemas/event/row-codec.ts'
import { clickhouseInsertDeadlineMs } from '../../schemas/limits/store-limits.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores({ hasYearlyParts: true })

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
  fc.constantFrom('', ...[39, 40, 41].map((length) => 'x'.repeat(length)), 'ü'.repeat(40), 'a'.repeat(16384)),
  fc.constantFrom('\u2028🙂', '\t\n\\\'"'),
)
const day2000 = Date.UTC(2000, 0, 1)
const day2100 = Date.UTC(2100, 0, 1)

const enumMaxima: Record<string, number> = {
  event_type: 3,
  kind: 7,
  device: 4,
  way: 1,
  metric: 4,
  category: 11,
  verification_method: 2,
  reported_by: 3,
}
const enumsFromOne = new Set(['event_type', 'kind', 'category', 'reported_by'])

function arbitraryOf({ name, type }: Column): fc.Arbitrary<unknown> {
  if (name in enumMaxima) return fc.integer({ min: enumsFromOne.has(name) ? 1 : 0, max: enumMaxima[name]! })
  if (hashColumns.has(name))
    return fc.record({ hi: fc.integer({ min: 0, max: 2 ** 32 - 1 }), lo: fc.integer({ min: 0, max: 2 ** 32 - 1 }) })
  const byType: Record<ColumnType, fc.Arbitrary<unknown>> = {
    UInt8: fc.integer({ min: 0, max: 255 }),
    UInt16: fc.integer({ min: 0, max: 65535 }),
    UInt32: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    UInt64: fc.maxSafeNat(),
    Float64: fc.double({ noNaN: true, noDefaultInfinity: true }),
    "DateTime64(3, 'UTC')": fc.integer({ min: day2000, max: day2100 }),
    'FixedString(2)': fc.constantFrom('DE', 'US', '\0\0'),
    'FixedString(16)': fc
      .uint8Array({ minLength: 16, maxLength: 16 })
      .map((bytes) => Buffer.from(bytes).toString('latin1')),
    String: text,
  }
  return byType[type]
}

function arbitraryRow(columns: readonly Column[]): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(Object.fromEntries(columns.map((column) => [column.name, arbitraryOf(column)])))
}

/** A row as it should come back: hashes as one number of 64 bits. */
function expected(columns: readonly Column[], row: Record<string, unknown>): DecodedRow {
  return Object.fromEntries(
    columns.map(({ name, type }) => {
      const value = row[name]
      if (hashColumns.has(name)) {
        const { hi, lo } = value as { hi: number; lo: number }
        return [name, (BigInt(hi) << 32n) | BigInt(lo)]
      }
      return [name, type === 'UInt64' ? BigInt(value as number) : (value as number | string)]
    }),
  )
}

describe.each(Object.entries(streams))('rows of %s', (table, { columns }) => {
  const encode = compileRowEncoder<Record<string, unknown>>(columns)
  const encodeRow = (row: Record<string, unknown>) => {
    const bytes = Buffer.alloc(rowBytesBound(columns, row))
    return bytes.subarray(0, encode(row, bytes, 0))
  }

  it('come back as they were written', () => {
    fc.assert(
      fc.property(arbitraryRow(columns), (row) => {
        const bytes = encodeRow(row)
        expect(decodeRow(columns, bytes, 0)).toEqual({ row: expected(columns, row), end: bytes.length })
      }),
      { numRuns: 200 },
    )
  })

  it('are read by ClickHouse as they were written', async () => {
    const rows = fc.sample(arbitraryRow(columns), 100).map((row, index) => ({ ...row, id: index + 1 }))
    const token = randomBytes(8).toString('hex')
    await stores.ch.insertRows({
      table,
      columns: columns.map(({ name }) => name),
      bytes: rows.map(encodeRow),
      token,
      queryId: token,
      deadlineMs: clickhouseInsertDeadlineMs,
    })
    const selected = columns.map(({ name, type }) => {
      if (name in enumMaxima) return `toInt8(${name}) AS ${name}_`
      if (type === 'UInt64') return `toString(${name}) AS ${name}_`
      // An event's `received_at` is stored only as its distance from the event.
      if (table === 'events' && name === 'received_at') return `toUnixTimestamp64Milli(arrived_at) AS ${name}_`
      if (type.startsWith('DateTime64')) return `toUnixTimestamp64Milli(${name}) AS ${name}_`
      if (type === 'String' || type.startsWith('FixedString')) return `hex(${name}) AS ${name}_`
      return type === 'Float64' ? `toString(reinterpretAsUInt64(${name})) AS ${name}_` : `${name} AS ${name}_`
    })
    const found = await stores.ch.query<Record<string, string | number>>(
      `SELECT ${selected.join(', ')} FROM ${table} ORDER BY id`,
    )
    expect(found).toHaveLength(rows.length)
    for (const [index, row] of rows.entries()) {
      const wanted = expected(columns, row)
      for (const { name, type } of columns) {
        const value = wanted[name]!
        expect(found[index]![`${name}_`]).toBe(comparable(name, type, value))
      }
    }
  })
})

function comparable(name: string, type: ColumnType, value: string | number | bigint): string | number {
  if (type === 'Float64') {
    const bits = Buffer.alloc(8)
    bits.writeDoubleLE(value as number)
    return String(bits.readBigUInt64LE())
  }
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' || name in enumMaxima) return value
  return Buffer.from(value, type === 'String' ? 'utf8' : 'latin1')
    .toString('hex')
    .toUpperCase()
}
