/**
 * From the session-days of one visitor to the visitor's rows of `sessions`, `visitors` and `credits`. A pure function of
 * what is stored: the order in which events arrived, and how often they were folded, change nothing.
 *
 * Definitions: docs/metrics.md. Held by test/property/derive-rows.test.ts and, against an independent computation of the
 * figures, by test/property/overview.test.ts.
 */
import { addsNoVisitor, neverBefore } from '../../clickhouse/rollups/appearance.ts'
import { type CreditRow, emptySession, type SessionRow, type VisitorRow } from '../../clickhouse/rollups/tables.ts'
import type { PersonCredit } from '../../postgres/tables/people/person-credits.ts'
import { groupBy } from '../../runtime/lists.ts'
import { creditWindowMs, knownDaysMax } from '../../schemas/limits/figure-limits.ts'
import { keys, serverAppearances } from './appearances.ts'
import { deriveSession, type Neighbours } from './derive-session.ts'
import type { Conversion, SessionDay, Touch } from './read-session-days.ts'

/** A visitor's days before the day before `fromDay`, as far as they are known. */
export interface VisitorHistory {
  /** The last day with each key (`keys` of appearances.ts). */
  readonly lastDays: ReadonlyMap<string, number>
  readonly lastTouch: Touch | undefined
}

export const noHistory: VisitorHistory = { lastDays: new Map(), lastTouch: undefined }

export interface DeriveOptions {
  readonly build: number
  readonly version: number
  /** Rows from this local day on are written, and those of sessions that go on from the day before. */
  readonly fromDay: number
  /** Covers the days before `fromDay` − 1. */
  readonly history: VisitorHistory
  /** By their ids: conversions whose person had another last touch than the visitor or server. */
  readonly personCredits?: ReadonlyMap<number, PersonTouch>
}

type PersonTouch = Pick<PersonCredit, 'source' | 'medium' | 'touchedAt' | 'touchedBy'>

export interface DerivedRows {
  readonly sessions: SessionRow[]
  readonly visitors: VisitorRow[]
  readonly credits: CreditRow[]
}

/**
 * @param sessionDays all of one visitor from two days before `fromDay` on, in any order. The first of these days serves
 *   only to tell which sessions go on from it.
 */
export function deriveRows(sessionDays: readonly SessionDay[], options: DeriveOptions): DerivedRows {
  const ordered = [...sessionDays].sort((a, b) => a.day - b.day || a.firstAt - b.firstAt || order(a.session, b.session))
  if (ordered[0]?.visitor === '0') return deriveServerRows(ordered, options)
  const { fromDay, history } = options
  const byDay = new Map(ordered.map((one) => [keyOfDay(one.session, one.day), one]))
  const derived = ordered.filter(({ day }) => day >= fromDay - 1)
  const touches = touchesOf(derived, history)
  const lastDays = new Map(history.lastDays)
  const rows: DerivedRows = { sessions: [], visitors: [], credits: [] }
  for (const [day, ofDay] of groupBy(derived, ({ day }) => day)) {
    const firsts = firstAppearances(ofDay, byDay)
    const prevDayOf = (one: SessionDay) => (key: string) => {
      if (firsts.get(key)?.one !== one) return addsNoVisitor
      const prevDay = lastDays.get(key) ?? neverBefore
      return prevDay < day - knownDaysMax ? neverBefore : prevDay
    }
    const credits = ofDay.map((one) => deriveCredits(one, byDay, touches, options))
    const sessions = ofDay.map((one, at) =>
      deriveSession(one, neighboursOf(one, byDay), prevDayOf(one), credits[at]!, options),
    )
    const isWritten = ({ session, nth_day }: SessionRow) =>
      day >= fromDay || (nth_day === 1 && byDay.has(keyOfDay(session, day + 1)))
    rows.sessions.push(...sessions.filter(isWritten))
    for (const key of firsts.keys()) lastDays.set(key, day)
    if (day < fromDay) continue
    rows.visitors.push(deriveVisitor(ofDay, sessions, [...firsts.keys()], options))
    for (const ofSession of credits) for (const credit of ofSession) rows.credits.push(credit)
  }
  return rows
}

/** Each key of a visitor's day, with when it appeared first and in which session. */
function firstAppearances(ofDay: readonly SessionDay[], byDay: ReadonlyMap<string, SessionDay>) {
  const firsts = new Map<string, { one: SessionDay; at: number }>()
  for (const one of ofDay) {
    const note = (key: string, at: number) => {
      const known = firsts.get(key)
      if (known === undefined || at < known.at) firsts.set(key, { one, at })
    }
    note(keys.visitor, one.firstAt)
    if (!byDay.has(keyOfDay(one.session, one.day - 1))) {
      const [source, medium, , device, browser, , country] = one.entry
      for (const key of [
        keys.source(source, medium),
        keys.device(device),
        keys.browser(browser),
        keys.country(country),
      ]) {
        note(key, one.firstAt)
      }
    }
    for (const [at, , path] of one.views) note(keys.page(path), at)
    for (const [at] of one.conversions) note(keys.converting, at)
  }
  return firsts
}

function neighboursOf({ session, day }: SessionDay, byDay: ReadonlyMap<string, SessionDay>): Neighbours {
  const before = byDay.get(keyOfDay(session, day - 1))
  const isLater = before !== undefined && byDay.has(keyOfDay(session, day - 2))
  const nthDay = before === undefined ? 1 : isLater ? 0 : 2
  return { before, next: byDay.get(keyOfDay(session, day + 1)), nthDay }
}

function deriveVisitor(
  ofDay: readonly SessionDay[],
  sessions: readonly SessionRow[],
  keysOfDay: string[],
  { build, version }: DeriveOptions,
): VisitorRow {
  const first = ofDay[0]!
  const row: VisitorRow = {
    workspace_id: first.workspaceId,
    build,
    visitor: first.visitor,
    day: first.day,
    version,
    first_at: first.firstAt,
    lasted_ms: 0,
    hours: 0,
    sessions: 0,
    events: 0,
    conversions: 0,
    keys: keysOfDay,
    touch_after_ms: 0,
    touch_source: '',
    touch_medium: '',
  }
  let last: Touch | undefined
  for (const one of ofDay) {
    row.lasted_ms = Math.max(row.lasted_ms, one.lastAt - row.first_at)
    row.hours = (row.hours | one.hours) >>> 0
    row.events += one.events
    row.conversions += one.converted
    const touch = one.touches.at(-1)
    if (touch !== undefined && (last === undefined || byMoment(touch, last) > 0)) last = touch
  }
  for (const { nth_day } of sessions) if (nth_day === 1) row.sessions++
  if (last !== undefined) {
    const [at, , source, medium] = last
    row.touch_after_ms = at - row.first_at
    row.touch_source = source
    row.touch_medium = medium
  }
  return row
}

/** All touches that a conversion of these days can be credited to, in order. Earlier days have left their last one. */
function touchesOf(sessionDays: readonly SessionDay[], { lastTouch }: VisitorHistory): Touch[] {
  if (sessionDays.every(({ conversions }) => conversions.length === 0)) return []
  const touches = sessionDays.flatMap(({ touches }) => touches).sort(byMoment)
  return lastTouch === undefined ? touches : [lastTouch, ...touches]
}

/**
 * A conversion is credited to the person's last touch at or before it, at most 30 days old. Without one it is credited
 * to the entry of its own session, as far back as the day before. The touches of an unknown person are the visitor's.
 */
function deriveCredits(
  one: SessionDay,
  byDay: ReadonlyMap<string, SessionDay>,
  touches: readonly Touch[],
  options: DeriveOptions,
): CreditRow[] {
  return one.conversions.map((conversion) => {
    const known = options.personCredits?.get(conversion[1])
    const touch = known === undefined ? lastTouchBefore(conversion, touches, one.visitor) : touchOf(known)
    if (touch !== undefined) return creditRow(one, conversion, options, touch)
    const [source, medium] = (byDay.get(keyOfDay(one.session, one.day - 1)) ?? one).entry
    return creditRow(one, conversion, options, {
      rule: 'session',
      source,
      medium,
      touched_at: 0,
      touched_by: one.visitor,
    })
  })
}

type Credited = Pick<CreditRow, 'rule' | 'source' | 'medium' | 'touched_at' | 'touched_by'>

/** By halves: a visitor may have 200,000 conversions before 20,000 touches. */
function lastTouchBefore(conversion: Conversion, touches: readonly Touch[], touched_by: string): Credited | undefined {
  let [from, to] = [0, touches.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (byMoment(touches[middle]!, conversion) <= 0) from = middle + 1
    else to = middle
  }
  const touch = touches[from - 1]
  if (touch === undefined || touch[0] < conversion[0] - creditWindowMs) return undefined
  const [touched_at, , source, medium] = touch
  return { rule: 'touch', source, medium, touched_at, touched_by }
}

function touchOf({ source, medium, touchedAt, touchedBy }: PersonTouch): Credited | undefined {
  return source === '' ? undefined : { rule: 'touch', source, medium, touched_at: touchedAt, touched_by: touchedBy }
}

/**
 * Server events: neither visitor nor session, but events, pageviews, and conversions. These are credited to the source that
 * they name, else to the last touch of their contact.
 */
function deriveServerRows(ordered: readonly SessionDay[], options: DeriveOptions): DerivedRows {
  const { build, version, fromDay, personCredits } = options
  const rows: DerivedRows = { sessions: [], visitors: [], credits: [] }
  for (const one of ordered.filter(({ day }) => day >= fromDay)) {
    const credits = one.conversions.map((conversion) => {
      const [, id, , , , , source, medium] = conversion
      const known = personCredits?.get(id)
      const touch = known && touchOf(known)
      return creditRow(
        one,
        conversion,
        options,
        touch ?? { rule: 'event', source, medium, touched_at: 0, touched_by: one.visitor },
      )
    })
    rows.sessions.push({
      ...emptySession(),
      workspace_id: one.workspaceId,
      build,
      day: one.day,
      visitor: one.visitor,
      session: one.session,
      version,
      first_at: one.firstAt,
      lasted_ms: one.lastAt - one.firstAt,
      seen: serverAppearances(one, credits),
    })
    for (const credit of credits) rows.credits.push(credit)
  }
  return rows
}

function creditRow(
  one: SessionDay,
  [occurred_at, id, path, device, browser, country]: Conversion,
  { build, version }: DeriveOptions,
  credited: Credited,
): CreditRow {
  return {
    workspace_id: one.workspaceId,
    build,
    day: one.day,
    id,
    version,
    occurred_at,
    visitor: one.visitor,
    session: one.session,
    path,
    device,
    browser,
    country,
    ...credited,
  }
}

function keyOfDay(session: string, day: number): string {
  return `${day} ${session}`
}

function byMoment(
  a: readonly [at: number, id: number, ...unknown[]],
  b: readonly [at: number, id: number, ...unknown[]],
) {
  return a[0] - b[0] || a[1] - b[1]
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
