/** Events as anybody may send them. */
import fc from 'fast-check'
import type { FieldSchema } from '../../schemas/event/event-fields.ts'
import { bodySchemas } from '../../schemas/event/event-schemas.ts'
import { now } from '../support/enriching.ts'

export const word = fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed() && !text.includes('\0'))
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
  email: fc.oneof(fc.constant('ada@example.com'), word),
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
/** Fields of an event, of which some are sent, right and wrong ones. */
export const anyEvent = fc.record(
  Object.fromEntries(
    fields.map(([name]) => [name, fc.oneof({ weight: 5, arbitrary: special[name] ?? word }, fc.constant(null))]),
  ),
  { requiredKeys: [] },
)
