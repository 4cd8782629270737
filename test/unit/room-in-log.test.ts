/** Requests ask the log for as much room as their rows take. */
import { expect, test } from 'vitest'
import type { Appender } from '../../ingest/append.ts'
import { makeEnricher } from '../../ingest/enrich/enrich.ts'
import type { Enriched } from '../../ingest/event-context.ts'
import { type ReceiveOptions, Receiver } from '../../ingest/http/receive.ts'
import { streams } from '../../schemas/event/row.ts'
import { compileRowEncoder } from '../../schemas/event/row-codec.ts'
import { noArea } from '../../schemas/reference/places.ts'
import { noOwnership, now, salts } from '../support/enriching.ts'
import { silent } from '../support/log-fixture.ts'

const encoders = {
  events: compileRowEncoder<object>(streams.events.columns),
  bot_visits: compileRowEncoder<object>(streams.bot_visits.columns),
}
const space = Buffer.alloc(streams.events.rowBytesMax)
const events = (event: string) => `{"tracking_key":"svc_pk_any","events":[${Array(100).fill(event).join()}]}`
const numbers = Array.from({ length: 90 }, (_, at) => `"${at}":[${Array(8).fill('1e19').join()}]`)

test.each([
  ['a long user agent', events('{"event_name":"a"}'), `Googlebot/2.1 ${'€'.repeat(2_000)}`, 3_000],
  ['long numbers', events(`{"event_name":"a","event_type":"conversion","properties":{${numbers}}}`), '', 30_000],
])('a batch with %s asks for room for each of its rows', (_, body, userAgent, bytesEach) => {
  let [asked, taken, status] = [0, 0, 0]
  const appender: Partial<Appender> = {
    beginRequest: (_, bytes) => {
      asked = bytes
      return true
    },
    findDuplicate: () => 0,
    append: ({ stream, row, side }: Exclude<Enriched, { stream: 'rejected' }>) => {
      taken += encoders[stream](row, space, 0) + (side === null ? 0 : Buffer.byteLength(JSON.stringify(side)))
      return 1
    },
    whenSynced: (_ids, _hasDuplicates, done) => done(true),
  }
  const nothing = () => {}
  const options: Partial<ReceiveOptions> = {
    keys: { find: () => ({ id: 7, timezone: 'UTC', replayShare: 0, exclusions: null }) } as never,
    enricher: makeEnricher({ secretKey: 'a secret', salts, countries: null, ownership: noOwnership }),
    appender: appender as Appender,
    capacity: { refusal: () => null },
    keyRate: { allows: () => true },
    clock: { now: () => now },
    log: silent,
    countAccepted: nothing,
    countRefused: nothing,
  }
  const sender = { address: '192.0.2.1', userAgent, country: '\0\0', area: noArea, receivedAt: now }
  new Receiver(options as ReceiveOptions).receive('batch', Buffer.from(body), sender, (answer) => {
    status = answer.status
  })
  expect(status).toBe(202)
  expect(taken).toBeGreaterThan(100 * bytesEach)
  expect(asked).toBeGreaterThanOrEqual(taken)
})
