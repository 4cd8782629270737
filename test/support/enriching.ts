/** One event through the enricher, for tests: what they don't say is a plain pageview of a browser. */
import { type EnricherOptions, makeEnricher } from '../../ingest/enrich/enrich.ts'
import type { Ownership } from '../../ingest/enrich/match-link.ts'
import type { Enriched, IngestWorkspace, Sender } from '../../ingest/event-context.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { type BotVisitRow, type EventRow, noCountry } from '../../schemas/event/row.ts'
import { noArea } from '../../schemas/reference/places.ts'

export const now = Date.UTC(2026, 10, 20, 12)
export const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

const secretKey = 'a secret of more than 32 characters'
const defaultSender: Sender = {
  address: '192.0.2.1',
  userAgent: chrome,
  country: noCountry,
  area: noArea,
  receivedAt: now,
}
const defaultWorkspace: IngestWorkspace = { id: 7, timezone: 'Europe/Berlin' }
/** A salt for each UTC day. */
export const salts = { at: (ms: number) => Buffer.alloc(32, 1 + (Math.floor(ms / 86_400_000) % 250)) }

/** No link or post is anybody's. */
export const noOwnership: Ownership = { linkOfId: () => undefined, workspaceOfPost: () => undefined }

export type EventLike = Partial<TrackEvent>
export interface Around {
  readonly sender?: Partial<Sender>
  readonly workspace?: Partial<IngestWorkspace>
}

/** Without more, no address is looked up, and no link or post is anybody's. */
export function makeEnrich(more: Partial<EnricherOptions> = {}) {
  const enricher = makeEnricher({ secretKey, salts, countries: null, ownership: noOwnership, ...more })
  /** A copy of what comes out: the enricher uses its rows again. */
  return (event: EventLike, { sender, workspace }: Around = {}): Enriched =>
    structuredClone(
      enricher.enrich(
        { event_name: 'pageview', ...event },
        { ...defaultSender, ...sender },
        { ...defaultWorkspace, ...workspace },
      ),
    )
}

const enrichOnce = makeEnrich()

export function enrich(event: EventLike, around?: Around): Enriched {
  return enrichOnce(event, around)
}

/** The row of an event that is a person's. */
export function rowOf(event: EventLike, around?: Around): EventRow {
  const enriched = enrich(event, around)
  if (enriched.stream !== 'events') throw new Error(`expected an event, got ${JSON.stringify(enriched)}`)
  return enriched.row
}

export function botVisitOf(event: EventLike, around?: Around): BotVisitRow {
  const enriched = enrich(event, around)
  if (enriched.stream !== 'bot_visits') throw new Error(`expected a bot visit, got ${JSON.stringify(enriched)}`)
  return enriched.row
}
