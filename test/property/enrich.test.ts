import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { botVisitColumns, type Column, eventColumns, hashColumns } from '../../schemas/event/row.ts'
import { makeEnrich, now } from '../support/enriching.ts'
import { anyEvent as event, word } from './any-event.ts'

/** Whether a value can stand in its column: ClickHouse wraps what is out of range without a word. */
function fits({ name, type }: Column, value: unknown): boolean {
  if (hashColumns.has(name)) return Object.values(value as object).every((half) => isInteger(half, 2 ** 32 - 1))
  const bytes = (length: number) => typeof value === 'string' && value.length === length && !/[^\0-\xff]/.test(value)
  const byType: Record<Column['type'], () => boolean> = {
    UInt8: () => isInteger(value, 2 ** 8 - 1),
    UInt16: () => isInteger(value, 2 ** 16 - 1),
    UInt32: () => isInteger(value, 2 ** 32 - 1),
    UInt64: () => isInteger(value, Number.MAX_SAFE_INTEGER),
    "DateTime64(3, 'UTC')": () => isInteger(value, now) && (value as number) >= now - 72 * 3_600_000,
    Float64: () => Number.isFinite(value) && (value as number) >= 0,
    'FixedString(2)': () => bytes(2),
    'FixedString(16)': () => bytes(16),
    String: () => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
  }
  return byType[type]()
}

function isInteger(value: unknown, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
}

test('every valid event has a row that its table can hold, or errors that say why it is refused', () => {
  const enrich = makeEnrich({
    ownership: { linkOfId: (id) => ({ workspaceId: 7, postId: id }), workspaceOfPost: () => 7 },
  })
  const counts = { events: 0, bot_visits: 0, rejected: 0 }
  fc.assert(
    fc.property(event, word, (sent, userAgent) => {
      // As it comes out of a parser.
      const parsed = JSON.parse(JSON.stringify({ ...sent, event_name: sent['event_name'] ?? 'x' })) as TrackEvent
      if (validateBatchEvent(parsed, 0) !== null) return
      const enriched = enrich(parsed, { sender: { userAgent } })
      counts[enriched.stream]++
      if (enriched.stream === 'rejected') {
        expect(enriched.detail.length).toBeGreaterThan(0)
        return
      }
      const columns: readonly Column[] = enriched.stream === 'events' ? eventColumns : botVisitColumns
      for (const column of columns) {
        const value: unknown = (enriched.row as unknown as Record<string, unknown>)[column.name]
        if (!fits(column, value)) expect.fail(`${column.name} of ${column.type} is ${JSON.stringify(value)}`)
      }
      expect(Object.keys(enriched.row).sort()).toEqual(columns.map(({ name }) => name).sort())
    }),
    // Found before: a bracket that isn't closed.
    { numRuns: 1200, examples: [[{ event_name: 'x', referrer: 'https://[😀' }, '']] },
  )
  // The generator reaches all three ends.
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(50)
})
