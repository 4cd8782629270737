import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TrackEvent } from '../../schemas/event/event.ts'
import type { FieldSchema } from '../../schemas/event/event-fields.ts'
import { bodySchemas } from '../../schemas/event/event-schemas.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { botVisitColumns, type Column, eventColumns, hashColumns } from '../../schemas/event/row.ts'
import { makeEnrich, now } from '../support/enriching.ts'

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

const word = fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed() && !text.includes('\0'))
const urlPart = fc.string({ unit: fc.constantFrom(...'abz./:?#&=%+@[]-_ 0é😀') })
const url = fc.oneof(
  word,
  fc
    .tuple(fc.constantFrom('https://', 'http://', 'android-app://', '//', ''), urlPart, urlPart)
    .map((parts) => parts.join('')),
  fc
    .tuple(fc.constantFrom('utm_source', 'source', 'gclid', 'fbclid', 'utm_medium'), urlPart, urlPart)
    .map(([name, value, rest]) => `https://example.com/?${name}=${value}&${rest}`),
  fc
    .tuple(fc.constantFrom('svc_link_id', 'svc_post_id'), fc.bigInt(-1n, 2n ** 34n))
    .map(([name, id]) => `https://example.com/?${name}=${id}`),
)
function timeText(min: number, max: number) {
  const date = fc.date({ min: new Date(min), max: new Date(max), noInvalidDate: true })
  return fc.oneof(
    { weight: 30, arbitrary: date.map((at) => at.toISOString()) },
    { weight: 5, arbitrary: date.map((at) => at.toISOString().slice(0, 19).replace('T', ' ')) },
    { weight: 1, arbitrary: word },
  )
}

const special: Record<string, fc.Arbitrary<unknown>> = {
  event_type: fc.constantFrom('track', 'identify', 'conversion', null),
  event_name: fc.oneof(fc.constantFrom('pageview', 'web_vital', 'page_leave', 'constructor'), word),
  url,
  path: url,
  referrer: url,
  user_agent: fc.oneof(fc.constantFrom('Googlebot/2.1', 'curl/8', 'Mozilla/5.0 (iPhone)'), word),
  ip: fc.oneof(fc.ipV4(), fc.ipV6(), word),
  occurred_at: timeText(now - 2.5e8, now + 1e8),
  sent_at: timeText(now - 3e8, now + 3e8),
  screen_width: fc.integer({ min: 0, max: 65_535 }),
  properties: fc.oneof(
    fc.dictionary(word, fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })),
    fc.record({ metric: fc.constantFrom('LCP', 'cls', 'x', 1), value: fc.oneof(fc.double(), fc.integer(), word) }),
    fc.record({ engagement_ms: fc.double(), scroll_depth: fc.double() }),
  ),
}
const fields = Object.entries<FieldSchema>(bodySchemas.event.properties).filter(([name]) => name !== 'value_cents')
const event = fc.record(
  Object.fromEntries(
    fields.map(([name]) => [name, fc.oneof({ weight: 5, arbitrary: special[name] ?? word }, fc.constant(null))]),
  ),
  { requiredKeys: [] },
)

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
