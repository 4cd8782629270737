import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportedLine } from '../../cli/exports/exported-line.ts'
import { enrichImported } from '../../cli/imports/enrich-imported.ts'
import { fromOwnFormat } from '../../cli/imports/from-own-format.ts'
import type { ImportedEvent } from '../../cli/imports/imported-event.ts'
import type { StoredEvent } from '../../clickhouse/queries/stored-events.ts'
import { makeEnricher } from '../../ingest/enrich/enrich.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { eventTypes } from '../../schemas/event/event-fields.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { devices, type EventRow, type Hash64 } from '../../schemas/event/row.ts'
import { makeEnrich, noOwnership, now, salts } from '../support/enriching.ts'
import { anyEvent, word } from './any-event.ts'

const workspace = { id: 7, timezone: 'Europe/Berlin' }
const enrich = makeEnrich()
const elsewhere = makeEnricher({
  secretKey: 'the secret of another one',
  salts,
  countries: null,
  ownership: noOwnership,
})

const decimal = ({ hi, lo }: Hash64) => String(BigInt(hi) * 2n ** 32n + BigInt(lo))
const nameIn = (names: Readonly<Record<string, number>>, number: number) =>
  Object.keys(names).find((name) => names[name] === number)!

const place = { country: 'DE', area: { region: 'DE-Hesse', regionName: 'Hesse', city: 'Kassel' } }

/** As ClickHouse answers it. */
const asStored = (row: EventRow): StoredEvent => ({
  ...row,
  occurred_at_ms: row.occurred_at,
  imported_as: row.client_event_id || 'svc-event-1',
  event_type: nameIn(eventTypes, row.event_type),
  device: nameIn(devices, row.device),
  visitor: decimal(row.visitor),
  email_hash: decimal(row.email_hash),
})

/** Whether there is one is said of visitor and session: their hashes are others elsewhere. */
const comparable = (row: EventRow) => ({
  ...row,
  visitor: decimal(row.visitor) !== '0',
  email_hash: decimal(row.email_hash) !== '0',
  session: row.session !== 0,
  received_at: 0,
  client_event_id: '',
  anonymous_id: '',
})

test('a stored event comes out as a line that makes the same row elsewhere, but for the hashes', () => {
  const counts = { named: 0, unnamed: 0, server: 0 }
  fc.assert(
    fc.property(anyEvent, word, (sent, userAgent) => {
      const parsed = JSON.parse(JSON.stringify({ ...sent, event_name: sent['event_name'] ?? 'x' })) as TrackEvent
      if (validateBatchEvent(parsed, 0) !== null) return
      const enriched = enrich(parsed, { sender: { userAgent, ...place } })
      if (enriched.stream !== 'events') return
      const { row } = enriched
      const line = exportedLine(asStored(row), { email: enriched.side?.email ?? undefined })
      const [imported] = fromOwnFormat(JSON.parse(line)) as readonly ImportedEvent[]
      const read = enrichImported(elsewhere, imported!, workspace, now)
      if ('refused' in read) expect.fail(`${read.refused}: ${line}`)
      const again = read.enriched.row as EventRow
      const expected = comparable(row)
      // An e-mail that the event alone named isn't stored.
      expect(comparable(again)).toEqual(enriched.side === null ? { ...expected, email_hash: false } : expected)
      if (row.anonymous_id !== '') expect(again.anonymous_id).toBe(row.anonymous_id)
      counts[decimal(row.visitor) === '0' ? 'server' : row.anonymous_id === '' ? 'unnamed' : 'named']++
    }),
    // Found before: a path that is an origin alone.
    { numRuns: 1500, examples: [[{ path: 'https://', url: 'https://example.com/a' }, '']] },
  )
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(20)
})
