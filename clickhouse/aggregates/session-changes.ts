/** What rows at hand change about sessions: the same as session-starts.ts, for the few sessions that they belong to. */
import { bounceEngagementMs } from '../../schemas/limits.ts'
import type { Span } from '../../schemas/time-range.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import { keysOfRow } from './event-keys.ts'
import { type HourSpan, sessionHours } from './row-scope.ts'
import type { EventRow } from './rows-at-hand.ts'

/** Rows of sessions: all that the uncounted ones belong to, whole, a day to both sides of what is asked for. */
export interface SessionRows {
  readonly counted: readonly EventRow[]
  readonly uncounted: readonly EventRow[]
}

/** A key of a dimension and what sessions add to it; or take away, where they cease to begin as they did. */
export interface SessionSums {
  readonly dimension: string
  readonly key: string
  readonly detail: string
  sessions: number
  pageviews: number
  events: number
  bounces: number
  durationMs: number
  /** Their digests. */
  readonly visitors: Set<number>
}

/** The sessions of an hour. */
export interface SessionChange extends SessionSums {
  readonly hour: number
}

export interface SessionChanges {
  readonly changes: readonly SessionChange[]
  /** Hours that a session leaves, or enters as somebody else: their visitors have to be counted anew. */
  readonly retracted: readonly number[]
}

/** A session that begins in an hour. */
interface Start {
  readonly hour: number
  readonly first: EventRow
  readonly pageviews: number
  readonly events: number
  readonly isBounce: boolean
  readonly durationMs: number
  /** Undefined where it has no pageview. */
  readonly entryPath: string | undefined
}

/**
 * @param hours in which sessions begin
 * @param isAsked whether a session counts that begins at a moment
 */
export function sessionChangesOf(
  { counted, uncounted }: SessionRows,
  hours: HourSpan,
  isAsked: (firstAt: number) => boolean,
): SessionChanges {
  const sessions = new Map<number, { before: EventRow[]; added: EventRow[] }>()
  for (const row of uncounted.filter(({ hasVisitor }) => hasVisitor)) {
    const known = sessions.get(row.session)
    if (known === undefined) sessions.set(row.session, { before: [], added: [row] })
    else known.added.push(row)
  }
  for (const row of counted.filter(({ hasVisitor }) => hasVisitor)) sessions.get(row.session)?.before.push(row)

  const { changes, add } = collectChanges(isAsked)
  const retracted = new Set<number>()
  for (const { before, added } of sessions.values()) {
    const had = new Map(startsOf(before, hours).map((start) => [start.hour, start]))
    const has = new Map(startsOf([...before, ...added], hours).map((start) => [start.hour, start]))
    for (const start of has.values()) add(start, 1)
    for (const start of had.values()) {
      add(start, -1)
      const successor = has.get(start.hour)
      if (successor === undefined || identityOf(successor) !== identityOf(start)) retracted.add(start.hour)
    }
  }
  return { changes: [...changes.values()], retracted: [...retracted] }
}

/** The sessions whose first event lies in one of some spans. `rows`: all of theirs, a day around. */
export function sessionsBegunIn(rows: readonly EventRow[], spans: readonly Span[]): SessionSums[] {
  const { changes, add } = collectChanges(() => true)
  const bySession = new Map<number, EventRow[]>()
  for (const row of rows.filter(({ hasVisitor }) => hasVisitor)) {
    const known = bySession.get(row.session)
    if (known === undefined) bySession.set(row.session, [row])
    else known.push(row)
  }
  const lookBack = sessionHours * hourMs
  for (const some of bySession.values()) {
    const sorted = inOrder(some)
    for (const { start, end } of spans) {
      const near = sorted.filter(({ at }) => at >= start - lookBack && at < end + lookBack)
      const [first] = near
      if (first !== undefined && first.at >= start && first.at < end) add(startOf(hourOf(first), near), 1)
    }
  }
  return [...changes.values()]
}

/** Adds sessions up by what they count for. */
function collectChanges(isAsked: (firstAt: number) => boolean) {
  const changes = new Map<string, SessionChange>()
  const add = (start: Start, sign: 1 | -1) => {
    if (!isAsked(start.first.at)) return
    for (const [dimension, key, detail] of entriesOf(start)) {
      const name = JSON.stringify([start.hour, dimension, key, detail])
      let change = changes.get(name)
      if (change === undefined) {
        const none = { sessions: 0, pageviews: 0, events: 0, bounces: 0, durationMs: 0 }
        change = { hour: start.hour, dimension, key, detail, ...none, visitors: new Set() }
        changes.set(name, change)
      }
      change.sessions += sign
      change.pageviews += sign * start.pageviews
      change.events += sign * start.events
      change.bounces += sign * Number(start.isBounce)
      change.durationMs += sign * start.durationMs
      const isListed = dimension !== 'total' && dimension !== 'entry'
      if (sign === 1 && isListed) change.visitors.add(start.first.visitorDigest)
    }
  }
  return { changes, add }
}

function inOrder(rows: readonly EventRow[]): EventRow[] {
  return [...rows].sort((one, other) => one.at - other.at || one.id - other.id)
}

/** The hours in which the rows of one session begin: where none of them lies in the day before. */
function startsOf(rows: readonly EventRow[], { start, end }: HourSpan): Start[] {
  const sorted = inOrder(rows)
  const starts: Start[] = []
  let before = Number.NEGATIVE_INFINITY
  for (const [at, row] of sorted.entries()) {
    const hour = hourOf(row)
    const isFirstOfHour = at === 0 || hourOf(sorted[at - 1]!) !== hour
    if (isFirstOfHour && before < (hour - sessionHours) * hourMs && hour >= start && hour < end) {
      starts.push(
        startOf(
          hour,
          sorted.filter((one) => hourOf(one) >= hour && hourOf(one) <= hour + sessionHours),
        ),
      )
    }
    before = row.at
  }
  return starts
}

function startOf(hour: number, rows: readonly EventRow[]): Start {
  const views = rows.filter(({ kind }) => kind === 'pageview')
  const acts = rows.filter(({ kind }) => kind === 'conversion' || kind === 'custom').length
  const engagement = rows.reduce((sum, { engagementMs }) => sum + engagementMs, 0)
  return {
    hour,
    first: rows[0]!,
    pageviews: views.length,
    events: rows.length,
    isBounce: views.length === 1 && acts === 0 && engagement < bounceEngagementMs,
    durationMs: rows.at(-1)!.at - rows[0]!.at,
    entryPath: views[0]?.path,
  }
}

function entriesOf({ first, entryPath }: Start): [dimension: string, key: string, detail: string][] {
  return [
    ['total', '', ''],
    ...keysOfRow(first),
    ...(entryPath === undefined ? [] : [['entry', entryPath, ''] as [string, string, string]]),
  ]
}

/** What a session can't change without leaving sets of visitors that it is in. */
function identityOf({ first }: Start): string {
  return JSON.stringify([first.visitorHash, keysOfRow(first)])
}

function hourOf({ at }: EventRow): number {
  return Math.floor(at / hourMs)
}
