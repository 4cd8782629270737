/**
 * A day of a few sites as `events` would hold it. The benches' bodies pass the enricher, with as many visitors, ids,
 * kinds and times as a day has. The same seed gives the same day.
 */
import { makeEnricher } from '../../ingest/enrich/enrich.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import type { EventRow } from '../../schemas/event/row.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { noArea } from '../../schemas/reference/places.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { noOwnership } from '../../test/support/enriching.ts'
import { eventVariants } from '../load/event-bodies.ts'

export interface DayOptions {
  readonly events: number
  readonly workspaces: number
  readonly seed: number
  /** Start of the UTC day, milliseconds since 1970. */
  readonly start: number
}

interface Visit {
  readonly workspace: number
  readonly visitor: string
  readonly session: string
  readonly variant: number
  readonly country: string
  pages: number
  /** The page that is open. */
  page: number
}

/** Rows of a segment at a moderate load. */
const rowsPerSegment = 2_000
const visitsAtOnce = 400
const secretKey = 'the secret of a bench, of no other use'
const countries = ['DE', 'US', 'FR', 'GB', 'ES', 'BR', 'IN', 'NL', 'AT', 'CH']
const vitals = ['LCP', 'INP', 'CLS', 'FCP']
const screens = [360, 390, 412, 768, 1280, 1440, 1536, 1920, 2560]
const languages = ['de-DE', 'en-US', 'fr-FR', 'es-ES', 'en-GB', 'pt-BR']
const timezones = ['Europe/Berlin', 'America/New_York', 'Europe/Paris', 'Asia/Kolkata', 'Europe/London']

/** In order of arrival. The row is filled anew for each: use it at once. */
export function* dayOfEvents({ events, workspaces, seed, start }: DayOptions): Generator<EventRow> {
  const random = makeRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const hex = (digits: number) =>
    Array.from({ length: Math.ceil(digits / 8) }, () =>
      Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    )
      .join('')
      .slice(0, digits)
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-9${hex(3)}-${hex(12)}`
  const salt = Buffer.alloc(32, 7)
  const enricher = makeEnricher({
    secretKey,
    salts: { at: () => salt },
    countries: null,
    ownership: noOwnership,
  })

  function newVisit(): Visit {
    const variant = Math.floor(random() * eventVariants.length)
    return {
      // A few sites have most of the visits.
      workspace: 1 + Math.floor(workspaces * random() ** 3),
      visitor: uuid(),
      session: uuid(),
      variant,
      country: pick(countries),
      pages: Math.floor(1 + 6 * random() ** 2),
      page: variant,
    }
  }

  /** A browser's next event: a page view, and around it what a page measures and what is clicked. */
  function nextEvent(visit: Visit): TrackEvent {
    const common = {
      anonymous_id: visit.visitor,
      session_id: visit.session,
      client_event_id: uuid(),
      screen_width: screens[visit.variant % screens.length]!,
      language: languages[visit.variant % languages.length]!,
      timezone: timezones[visit.variant % timezones.length]!,
    }
    const page = eventVariants[visit.page]!.event
    const kind = random()
    if (kind < 0.45) {
      visit.pages--
      visit.page = Math.floor(eventVariants.length * random() ** 2)
      return { ...eventVariants[visit.page]!.event, ...common } as TrackEvent
    }
    const { url, title } = page
    const of = (event_name: string, properties: Record<string, unknown>) =>
      ({ event_name, url, title, properties, ...common }) as unknown as TrackEvent
    if (kind < 0.65) {
      const value = Math.round(random() ** 3 * 400_000) / 100
      return of('web_vital', { metric: pick(vitals), value, rating: 'good', id: `v4-${hex(12)}` })
    }
    if (kind < 0.85) {
      return of('page_leave', {
        engagement_ms: Math.floor(random() ** 3 * 120_000),
        scroll_depth: 5 * Math.floor(random() * 21),
      })
    }
    if (kind < 0.97) return of('link_click', { href: eventVariants[visit.variant]!.event['url'], text: 'Read on' })
    return of('signup_started', { plan: pick(['free', 'growth']), step: Math.floor(random() * 4) })
  }

  const visits = Array.from({ length: visitsAtOnce }, newVisit)
  for (let at = 0; at < events; at++) {
    // More in the middle of the day than at night.
    const share = at / events
    const receivedAt = Math.floor(start + (share - Math.sin(4 * Math.PI * share) / 40) * dayMs)
    const slot = Math.floor(random() * visits.length)
    const visit = visits[slot]!
    if (visit.pages <= 0) visits[slot] = newVisit()
    const { userAgent } = eventVariants[visit.variant]!
    const sender = { address: '192.0.2.1', userAgent, country: visit.country, area: noArea, receivedAt }
    const event = { ...nextEvent(visit), occurred_at: new Date(receivedAt - Math.floor(random() * 900)).toISOString() }
    const enriched = enricher.enrich(event, sender, { id: visit.workspace, timezone: 'Europe/Berlin' })
    if (enriched.stream !== 'events') throw new Error(`not an event of a person: ${JSON.stringify(event)}`)
    enriched.row.id = (1_000_000 + Math.floor(at / rowsPerSegment)) * segmentRowsMax + (at % rowsPerSegment)
    yield enriched.row
  }
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
