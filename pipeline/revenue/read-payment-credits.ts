/**
 * Finds the touch that a payment is credited to, in the rows that the fold derived. A visitor's row of a day has only the
 * last touch of the day. If that came after the payment, the day's events are read.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { isTouch } from '../../clickhouse/rollups/event-sql.ts'
import type { FigureBuild } from '../../postgres/tables/figures/figure-builds.ts'
import type { Credit } from '../../postgres/tables/revenue/revenue-credits.ts'
import { groupBy } from '../../runtime/lists.ts'
import { creditWindowMs, foldDeadlineMs } from '../../schemas/limits/figure-limits.ts'
import { creditTouchesMax } from '../../schemas/limits/revenue-limits.ts'
import { dayMs, hourMs, localDayAt, startOfLocalDay } from '../../schemas/time/time-zone.ts'

/** Milliseconds since 1970; visitors are decimal texts. */
export interface PaymentOfVisitors {
  readonly id: number
  readonly at: number
  /** Visitors whose events all are the payer's. */
  readonly visitors: readonly string[]
  /** The paying contact's last touch before the payment; `seen` is the last event of a browser, in its place. */
  readonly touch: PersonTouch | undefined
  readonly seen: PersonTouch | undefined
}

/** An event of a known person; visitor '0': a server sent it. */
export type PersonTouch = Required<Touch>

export const uncredited: Credit = {
  rule: 'none',
  source: 'direct',
  medium: 'none',
  campaign: '',
  path: null,
  device: 'unknown',
  browser: 'unknown',
  country: 'unknown',
  link_id: null,
  post_id: null,
  visitor: null,
  session: null,
  session_at: null,
}

interface VisitorDay {
  readonly visitor: string
  readonly day: number
  readonly first_at: number
  readonly last_at: number
  readonly touch_at: number
  readonly source: string
  readonly medium: string
}

interface Touch {
  readonly visitor: string
  readonly at: number
  readonly source: string
  readonly medium: string
  /** The event's id, for a known person. */
  readonly id?: number
  readonly campaign?: string
}

interface Session {
  readonly visitor: string
  readonly session: string
  readonly day: number
  readonly first_at: number
  readonly last_at: number
  readonly nth_day: number
  /** Empty where it began more than a day before. */
  readonly source: string
  readonly medium: string
  readonly campaign: string
  /** The entry page; null where it viewed none. */
  readonly path: string | null
  readonly device: string
  readonly browser: string
  readonly country: string
}

type Build = Pick<FigureBuild, 'build' | 'workspaceId' | 'timezone'>
type Reader = Pick<ClickHouse, 'query'>

/** @param payments all in the build's workspace */
export async function readCredits(
  ch: Reader,
  build: Build,
  payments: readonly PaymentOfVisitors[],
): Promise<ReadonlyMap<number, Credit>> {
  const days = await readVisitorDays(ch, build, payments)
  const byVisitor = groupBy(days, ({ visitor }) => visitor)
  const daysOf = ({ visitors }: PaymentOfVisitors) => visitors.flatMap((visitor) => byVisitor.get(visitor) ?? [])
  const cut = payments.flatMap((payment) => daysOf(payment).filter((day) => isCut(day, payment.at)))
  const ofDays = await readTouchesOfDays(ch, build, cut)
  const moments = new Map<number, Moment>()
  for (const payment of payments) {
    const touches = [...(payment.touch ? [payment.touch] : []), ...ownTouches(payment, daysOf(payment), ofDays)]
    const moment = momentOf(payment, daysOf(payment), touches)
    if (moment !== undefined) moments.set(payment.id, moment)
  }
  const found = [...moments.values()]
  const inBrowsers = found.filter(({ visitor }) => visitor !== '0')
  const [sessions, origins] = await Promise.all([
    readSessions(ch, build, inBrowsers),
    readOrigins(ch, build, inBrowsers),
  ])
  return new Map(payments.map(({ id }) => [id, creditOf(moments.get(id), sessions, origins)]))
}

/** The last touch of the day came after the payment, and there may be another one before it. */
function isCut({ touch_at, first_at }: VisitorDay, at: number): boolean {
  return touch_at > at && first_at <= at
}

/** Where the credited session is looked for: at the touch, or else at the last that was seen of the payer. */
interface Moment {
  readonly visitor: string
  readonly at: number
  readonly touch: Touch | undefined
}

function ownTouches(
  payment: PaymentOfVisitors,
  days: readonly VisitorDay[],
  ofDays: readonly Touch[],
): readonly Touch[] {
  const visitors = new Set(payment.visitors)
  return [
    ...days.filter(({ source }) => source !== '').map((day) => ({ ...day, at: day.touch_at })),
    ...ofDays.filter(({ visitor }) => visitors.has(visitor)),
  ]
}

function momentOf(
  payment: PaymentOfVisitors,
  days: readonly VisitorDay[],
  touches: readonly Touch[],
): Moment | undefined {
  const isWithin = (at: number) => at <= payment.at && at >= payment.at - creditWindowMs
  const touch = latest(touches.filter(({ at }) => isWithin(at)))
  if (touch !== undefined) return { visitor: touch.visitor, at: touch.at, touch }
  const seen = days
    .filter(({ first_at }) => first_at <= payment.at)
    .map(({ visitor, last_at }) => ({ visitor, at: Math.min(last_at, payment.at) }))
  const last = latest([...seen.filter(({ at }) => isWithin(at)), ...(payment.seen ? [payment.seen] : [])])
  return last && { visitor: last.visitor, at: last.at, touch: undefined }
}

/**
 * The latest. If two have one moment, the larger id or the smaller visitor wins, so that the same rows give the same
 * credit.
 */
function latest<Item extends { readonly at: number; readonly visitor: string; readonly id?: number }>(
  items: readonly Item[],
): Item | undefined {
  const idOf = ({ id }: Item) => id ?? 0
  return [...items].sort((a, b) => b.at - a.at || idOf(b) - idOf(a) || (a.visitor < b.visitor ? -1 : 1))[0]
}

function creditOf(moment: Moment | undefined, sessions: readonly Session[], origins: Origins): Credit {
  if (moment === undefined) return uncredited
  const { visitor, at, touch } = moment
  // Without a touch the moment may be the payment's own, between two sessions: then the one before it.
  const lastIn = ({ last_at }: Session) => Math.min(last_at, at)
  const origin = touch && (origins.get(String(touch.id)) ?? origins.get(`${visitor} ${at}`))
  // The touch's own comes first. Events without a session id have one for the whole day, beside others.
  const [within] = [sessions.filter(({ session }) => session === origin?.session), sessions].flatMap((some) =>
    some
      .filter((one) => one.visitor === visitor && one.first_at <= at && (one.last_at >= at || touch === undefined))
      .sort((a, b) => lastIn(b) - lastIn(a) || b.first_at - a.first_at || (a.session < b.session ? -1 : 1)),
  )
  // A session that passed midnight has its entry in the row of the day before. An id that comes back later is a session anew.
  const begun = sessions.find(
    (one) =>
      within?.nth_day === 2 && one.visitor === visitor && one.session === within.session && one.day === within.day - 1,
  )
  const facts = begun ?? within
  return {
    ...uncredited,
    ...(touch ? { rule: 'touch', source: touch.source, medium: touch.medium || 'none' } : { rule: 'session' }),
    // Direct, mostly. A campaign may name a medium without a source.
    ...(!touch && facts?.source && { source: facts.source, medium: facts.medium }),
    campaign: origin?.campaign ?? touch?.campaign ?? facts?.campaign ?? '',
    ...(facts && { visitor: facts.visitor, session: facts.session, session_at: facts.first_at }),
    path: facts?.path ?? null,
    link_id: origin?.link_id || null,
    post_id: origin?.post_id || null,
    device: facts?.device || 'unknown',
    browser: facts?.browser || 'unknown',
    country: facts?.country || 'unknown',
  }
}

const ofVisitors =
  'workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))'

async function readVisitorDays(
  ch: Reader,
  { build, workspaceId, timezone }: Build,
  payments: readonly PaymentOfVisitors[],
): Promise<VisitorDay[]> {
  const visitors = [...new Set(payments.flatMap(({ visitors }) => visitors))]
  if (visitors.length === 0) return []
  const moments = payments.map(({ at }) => at)
  return ch.query<VisitorDay>(
    `SELECT toString(visitor) AS visitor, day, toUnixTimestamp64Milli(first_at) AS first_at, toUnixTimestamp64Milli(last_at) AS last_at,
       toUnixTimestamp64Milli(touch_at) AS touch_at, toString(touch_source) AS source, toString(touch_medium) AS medium
     FROM visitors FINAL PREWHERE ${ofVisitors} WHERE day BETWEEN {from:Int32} AND {to:Int32}`,
    {
      workspace: workspaceId,
      build,
      visitors,
      from: Math.max(0, localDayAt(Math.min(...moments) - creditWindowMs, timezone)),
      to: Math.max(0, localDayAt(Math.max(...moments), timezone)),
    },
    reading,
  )
}

/** Condition over `events`, whose order begins with the hour. */
const ofHours = `workspace_id = {workspace:UInt32} AND visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))
  AND toStartOfHour(occurred_at) IN (SELECT toDateTime(arrayJoin({hours:Array(Int64)}), 'UTC'))`

async function readTouchesOfDays(
  ch: Reader,
  { workspaceId, timezone }: Build,
  days: readonly VisitorDay[],
): Promise<Touch[]> {
  if (days.length === 0) return []
  const hours = days.flatMap(({ day }) => {
    const first = Math.floor(startOfLocalDay(day, timezone) / hourMs)
    return Array.from({ length: dayMs / hourMs + 2 }, (_, at) => (first + at) * (hourMs / 1000))
  })
  return ch.query<Touch>(
    `SELECT toString(visitor) AS visitor, toUnixTimestamp64Milli(occurred_at) AS at, toString(source) AS source, toString(medium) AS medium
     FROM events
     WHERE ${ofHours} AND ${isTouch} ORDER BY occurred_at DESC, id DESC LIMIT {limit:UInt32} BY visitor`,
    {
      workspace: workspaceId,
      hours: [...new Set(hours)],
      limit: creditTouchesMax,
      visitors: [...new Set(days.map(({ visitor }) => visitor))],
    },
    reading,
  )
}

/** Where a touch came from by its own event: by its id, and by visitor and time. */
type Origins = ReadonlyMap<string, Origin>
interface Origin extends Pick<Session, 'session' | 'campaign'> {
  readonly id: number
  readonly link_id: number
  readonly post_id: number
}

/** If two events have one moment, the larger id wins, as touches are ordered. A person's own may be the other one. */
async function readOrigins(ch: Reader, { workspaceId }: Build, moments: readonly Moment[]): Promise<Origins> {
  const touches = moments.flatMap(({ touch }) => (touch === undefined ? [] : [touch]))
  if (touches.length === 0) return new Map()
  const rows = await ch.query<Origin & { readonly visitor: string; readonly at: number }>(
    `SELECT id, toString(visitor) AS visitor, toUnixTimestamp64Milli(occurred_at) AS at, toString(session) AS session, toString(campaign) AS campaign, link_id, post_id
     FROM events
     WHERE ${ofHours} AND ${isTouch} AND toUnixTimestamp64Milli(occurred_at) IN {moments:Array(Int64)} ORDER BY id`,
    {
      workspace: workspaceId,
      hours: [...new Set(touches.map(({ at }) => Math.floor(at / hourMs) * (hourMs / 1000)))],
      moments: [...new Set(touches.map(({ at }) => at))],
      visitors: [...new Set(touches.map(({ visitor }) => visitor))],
    },
    reading,
  )
  return new Map(rows.flatMap((row) => [`${row.visitor} ${row.at}`, String(row.id)].map((key) => [key, row] as const)))
}

/** The sessions on the days of these moments, and on the days before, where they may have begun. */
async function readSessions(
  ch: Reader,
  { build, workspaceId, timezone }: Build,
  moments: readonly Moment[],
): Promise<Session[]> {
  if (moments.length === 0) return []
  const days = moments.flatMap(({ at }) => [localDayAt(at, timezone), localDayAt(at, timezone) - 1])
  return ch.query<Session>(
    `SELECT toString(visitor) AS visitor, toString(session) AS session, day, toUnixTimestamp64Milli(first_at) AS first_at,
       toUnixTimestamp64Milli(last_at) AS last_at, nth_day, toString(source) AS source, toString(medium) AS medium,
       toString(campaign) AS campaign, if(entry_path != '' OR session_pageviews > 0, toString(entry_path), NULL) AS path,
       toString(device) AS device, toString(browser) AS browser, toString(country) AS country
     FROM sessions FINAL WHERE ${ofVisitors} AND day IN {days:Array(Int32)}`,
    {
      workspace: workspaceId,
      build,
      days: [...new Set(days)],
      visitors: [...new Set(moments.map(({ visitor }) => visitor))],
    },
    reading,
  )
}

const reading = { isLong: true, deadlineMs: foldDeadlineMs }
