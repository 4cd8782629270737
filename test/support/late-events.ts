/**
 * Events that come late and in any order: of sessions that last minutes or hours, over the 72 hours that ingest takes.
 * First events come after later ones, strangers are in a session, and touches come after the conversions that they are
 * credited with.
 */
import type { EventLike } from './event-rows.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Short of the 72 hours that ingest takes, for a test's own time. */
const latestMs = 71 * hourMs
const lengths = [0, 10 * minuteMs, hourMs, 5 * hourMs, 20 * hourMs]
const sources = ['', '', 'google', 'newsletter', 'partner']
const kinds = ['pageview', 'pageview', 'pageview', 'custom', 'conversion', 'web_vital'] as const

interface LateEvent {
  readonly kind: (typeof kinds)[number]
  /** 0: a server's event. */
  readonly visitor: number
  readonly session: number
  /** Milliseconds since 1970. */
  readonly occurredAt: number
  readonly source: string
  readonly path: string
  /** Value of a web vital. */
  readonly value: number
}

export interface LateEvents {
  /** As a row of `events`; its id and workspace are the caller's. */
  row(): EventLike
  /** As the tracking interface takes it. */
  body(): Record<string, unknown>
}

/** @param sessions that the events are of: with fewer, more of them change what was counted before */
export function drawLateEvents(random: () => number, sessions: number): LateEvents {
  const begun = Date.now()
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const all = Array.from({ length: sessions }, (_, at) => ({
    session: 10_000 + at,
    visitor: 1 + Math.floor(random() * sessions * 0.7),
    start: begun - Math.floor(random() * latestMs),
    length: pick(lengths),
  }))
  function draw(): LateEvent {
    const { session, visitor, start, length } = pick(all)
    const isStranger = random() < 0.05
    const exactly = Math.min(Date.now(), start + Math.floor(random() * length))
    return {
      kind: pick(kinds),
      visitor: isStranger ? Math.floor(random() * 4) : visitor,
      session,
      occurredAt: random() < 0.2 ? Math.floor(exactly / minuteMs) * minuteMs : exactly,
      source: pick(sources),
      path: `/${Math.floor(random() * 5)}`,
      value: Math.floor(random() * 5_000),
    }
  }
  return { row: () => asRow(draw()), body: () => asBody(draw()) }
}

function asRow({ kind, visitor, session, occurredAt, source, path, value }: LateEvent): EventLike {
  return {
    kind,
    visitor,
    session: visitor === 0 ? 0 : session,
    occurred_at: occurredAt,
    path,
    ...(source === '' ? {} : { source, medium: 'email' }),
    ...(kind === 'web_vital' ? { metric: 'LCP', metric_value: value } : {}),
  }
}

function asBody({ kind, visitor, session, occurredAt, source, path, value }: LateEvent): Record<string, unknown> {
  return {
    event_type: kind === 'conversion' ? 'conversion' : 'track',
    event_name: kind === 'custom' || kind === 'conversion' ? 'signup' : kind,
    ...(visitor === 0
      ? { email: 'somebody@example.com' }
      : { anonymous_id: `visitor-${visitor}`, session_id: `session-${session}` }),
    occurred_at: new Date(occurredAt).toISOString(),
    url: `https://example.com${path}${source === '' ? '' : `?utm_source=${source}&utm_medium=email`}`,
    ...(kind === 'web_vital' ? { properties: { metric: 'LCP', value } } : {}),
  }
}
