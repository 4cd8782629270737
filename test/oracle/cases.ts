/**
 * Random workspaces and questions for the overview. Times gather where figures change hands. These are the edges of the
 * range, of its buckets and of what is readable, changes of the clock, and 30 days before conversions. Sessions go on
 * over midnight, and come again after a few days. Nothing happens at or after `now`.
 */
import fc from 'fast-check'
import { makeBotVisitRow, makeEventRow } from '../support/event-rows.ts'
import {
  type BindingFact,
  type BotVisitFact,
  day,
  type EmailFact,
  type EventFact,
  hour,
  minute,
  type OracleWorkspace,
  type OverviewQuery,
  second,
} from './facts.ts'
import { localAt, localDay, offsetAt, startOfDay } from './local-time.ts'
import { bucketsOf, previousOf, readableFrom, resolveRange } from './range.ts'

export interface OverviewCase {
  readonly timezone: string
  readonly now: number
  readonly plan: 'starter' | 'growth' | 'scale'
  readonly retentionDays: number | null
  readonly query: OverviewQuery
  /** Events of workspace 0, with ids from 1: the runner gives them those of its own. */
  readonly events: EventFact[]
  readonly botVisits: BotVisitFact[]
  readonly emails: EmailFact[]
  readonly contacts: number[]
  readonly bindings: BindingFact[]
}

const planDays = { starter: 30, growth: 180, scale: 730 } as const

export function workspaceOf({
  timezone,
  plan,
  retentionDays,
}: Pick<OverviewCase, 'timezone' | 'plan' | 'retentionDays'>): OracleWorkspace {
  return { timezone, retentionDays: Math.min(planDays[plan], retentionDays ?? planDays[plan]) }
}

/** Each with the year whose changes of the clock are looked at; a zone without any takes the turns of that year. */
const zones: readonly [timezone: string, year: number][] = [
  ['UTC', 2024],
  ['Europe/Berlin', 2025],
  ['America/New_York', 2024],
  ['Australia/Lord_Howe', 2025],
  ['Asia/Kathmandu', 2024],
  ['America/St_Johns', 2025],
  ['Africa/Cairo', 2024],
  ['America/Sao_Paulo', 2018],
  ['Asia/Kolkata', 2025],
  ['Pacific/Chatham', 2024],
  ['America/Havana', 2025],
  ['Atlantic/Azores', 2024],
  ['Pacific/Kiritimati', 2025],
]

/** The moments of a year at which the local clocks are changed, and its begin, leap day or end of February, and midst. */
function anchorsOf(timezone: string, year: number): number[] {
  const anchors = [Date.UTC(year, 0, 1), Date.UTC(year, 2, 1) - day, Date.UTC(year, 6, 1, 12)]
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += day) {
    if (offsetAt(timezone, at) === offsetAt(timezone, at + day)) continue
    for (let change = at; change <= at + day; change += 15 * minute) {
      if (offsetAt(timezone, change - 15 * minute) !== offsetAt(timezone, change)) anchors.push(change, change, change)
    }
  }
  return anchors
}

const visitors = [
  { hi: 0, lo: 1 },
  { hi: 1, lo: 0 },
  { hi: 1, lo: 1 },
  { hi: 0x80000000, lo: 1 },
  { hi: 0xffffffff, lo: 0xffffffff },
  { hi: 0x7fffffff, lo: 0xfffffffe },
]
const noVisitor = { hi: 0, lo: 0 }
const sources = ['direct', '', 'google', 'google', 'newsletter', 'bing', 'chatgpt.com', 'a"b\\c', '～', '😀', 'Direct']
const media = ['none', 'organic', 'email', 'cpc', '', 'é']
const paths = [
  ...['/', '/', '/a', '/b', '', '/c?d', '/é', '/～', '/😀'],
  ...Array.from({ length: 8 }, (_, at) => `/p/${at}`),
]
const titles = ['', 'Home', 'Home – new', '😀', "it's"]
const browsers = ['Chrome', 'Safari', 'Firefox', '', 'Edge', 'Opera', 'a', 'b', 'c', 'd', 'e', 'f', 'g']
const countries = ['\0\0', 'DE', 'US', 'IN', 'NP', 'FR', 'ES', 'IT', 'GB', 'JP', 'BR', 'EG', 'NZ']
const devices = ['unknown', 'desktop', 'mobile', 'tablet', 'other'] as const
const metrics = ['none', 'FCP', 'LCP', 'INP', 'CLS'] as const
const kinds = ['pageview', 'custom', 'autocapture', 'web_vital', 'page_leave', 'identify', 'conversion'] as const
const addresses = ['ada@example.com', 'bob@example.com', 'cy@example.com']
const engagements = [0, 0, 4_999, 5_000, 5_001, 9_999, 10_000, 10_001, 60_000, 4_000_000_000]
const vitalValues = [
  0, 0.1, 0.1001, 0.25, 0.2501, 200, 200.5, 500, 501, 1800, 1801, 2500, 3000, 3000.25, 4000, 4001.123456,
]

const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values)
const rarely = (weight = 10) => fc.integer({ min: 0, max: weight }).map((drawn) => drawn === weight)

const sometimes = <T>(arbitrary: fc.Arbitrary<T>, onceIn: number): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: onceIn - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

/** A step beside a moment that matters: often none, or the least there is. */
const nudge = fc.oneof(
  { weight: 8, arbitrary: oneOf([0, 0, -1, 1]) },
  { weight: 6, arbitrary: fc.integer({ min: -30 * minute, max: 30 * minute }) },
  { weight: 4, arbitrary: oneOf([-hour, hour, -30 * minute, 30 * minute, -day, day, -second, 5 * minute]) },
  { weight: 2, arbitrary: fc.integer({ min: -3 * day, max: 3 * day }) },
  { weight: 1, arbitrary: fc.integer({ min: -40 * day, max: 40 * day }) },
)

/** The session's id comes again so many days later: at the same time of day, or beside the midnight of that day. */
const restSpec = fc.record({
  days: oneOf([1, 1, 2, 2, 3]),
  besideMidnight: sometimes(oneOf([0, -1, 1, hour, -hour]), 2),
  /** On the page that the session began with. */
  isSamePage: fc.boolean(),
})

const eventSpec = fc.record({
  /** Time since the session's event before, unless it rested. */
  gap: fc.oneof(
    { weight: 3, arbitrary: oneOf([0, 0, 1, second, 10 * second, 9_999, 5 * minute, 29 * minute]) },
    { weight: 1, arbitrary: oneOf([hour, 6 * hour, 23 * hour]) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 * hour }) },
  ),
  rest: sometimes(restSpec, 8),
  kind: fc.oneof({ weight: 2, arbitrary: fc.constant('pageview' as const) }, { weight: 3, arbitrary: oneOf(kinds) }),
  path: oneOf(paths),
  title: oneOf(titles),
  engagement: oneOf(engagements),
  metric: oneOf(metrics),
  value: fc.oneof(
    oneOf(vitalValues),
    fc.integer({ min: 0, max: 60_000_000 }).map((thousandths) => thousandths / 1000),
    fc.integer({ min: 0, max: 5000 }).map((tenThousandths) => tenThousandths / 10_000),
  ),
  order: fc.nat({ max: 1_000_000 }),
  hasTwin: rarely(12),
  /** Another visitor under the same session id. */
  stranger: sometimes(oneOf(visitors), 15),
  source: sometimes(oneOf(sources), 4),
  medium: oneOf(media),
  device: sometimes(oneOf(devices), 8),
})

const sessionSpec = fc.record({
  visitor: fc.oneof({ weight: 8, arbitrary: oneOf(visitors) }, { weight: 1, arbitrary: fc.constant(noVisitor) }),
  isNamed: rarely(3).map((drawn) => !drawn),
  /** Begins beside one of the moments that matter, or 30 days before an earlier session, by the same visitor. */
  moment: fc.nat({ max: 1000 }),
  thirtyDaysBefore: sometimes(fc.nat({ max: 20 }), 4),
  nudge,
  source: oneOf(sources),
  medium: oneOf(media),
  browser: oneOf(browsers),
  country: oneOf(countries),
  device: oneOf(devices),
  events: fc.array(eventSpec, { minLength: 1, maxLength: 6 }),
})

const entryDistances = [1, hour, 12 * hour, 23 * hour, 24 * hour, 36 * hour, 47 * hour, 49 * hour]
/**
 * A visitor of its own who converts, with a touch about 30 days before. `stranger`: an earlier event of the same
 * session id by another visitor, which is no part of the session. `entry`: an earlier event of the session itself.
 * Without a touch, the conversion is credited to its source where it is of the same day or the day before.
 */
const creditSpec = fc.record({
  moment: fc.nat({ max: 1000 }),
  before: oneOf([30 * day, 30 * day, 30 * day + 1, 30 * day - 1, 1, 0]),
  touch: sometimes(oneOf(sources), 2),
  stranger: sometimes(oneOf(sources), 3),
  entry: sometimes(fc.record({ source: oneOf(['direct', 'direct', '', 'google']), before: oneOf(entryDistances) }), 2),
  device: oneOf(devices),
})

/**
 * A contact of its own whose conversion a server sends, with touches before. They come from the contact's browser, from
 * the server, and from the browser with somebody else's e-mail. The browser may become another contact's before, or
 * after.
 */
const serverSpec = fc.record({
  moment: fc.nat({ max: 1000 }),
  source: oneOf(['direct', 'direct', '', 'google']),
  touches: fc.array(
    fc.record({
      by: oneOf(['browser', 'browser', 'server', 'stranger'] as const),
      source: oneOf(sources),
      before: oneOf([30 * day, 30 * day + 1, 30 * day - 1, day, hour, 1, 0, 0, -1]),
      order: oneOf([0, 500_001]),
    }),
    { maxLength: 4 },
  ),
  handedOver: sometimes(oneOf([29 * day, day, hour, 1, 0, -hour]), 2),
  isKnown: rarely(6).map((drawn) => !drawn),
})

/** A visitor of its own whose one session id and whose pages come again on some of the days up to a moment. */
const returnSpec = fc.record({
  moment: fc.nat({ max: 1000 }),
  visits: fc.array(
    fc.record({
      daysBefore: fc.nat({ max: 4 }),
      afterMidnight: oneOf([0, -1, 1, hour, 12 * hour, 22 * hour]),
      kind: oneOf(['pageview', 'pageview', 'pageview', 'custom', 'page_leave'] as const),
      path: oneOf(['/r', '/a']),
      source: oneOf(['direct', 'direct', 'google']),
    }),
    { minLength: 3, maxLength: 8 },
  ),
})

/** Samples on one page, each as many times the poor threshold of its metric: ties of the worst metric. */
const vitalSpec = fc.record({
  moment: fc.nat({ max: 1000 }),
  path: oneOf(['/v', '/w', '/a']),
  metrics: fc.subarray(['FCP', 'LCP', 'INP', 'CLS'] as const, { minLength: 2 }),
  times: oneOf([0.5, 1, 1, 2]),
  last: oneOf([0.25, 1, 2, 3]),
  repeats: fc.integer({ min: 1, max: 6 }),
})
const poorThresholds = { FCP: 3000, LCP: 4000, INP: 500, CLS: 0.25 } as const

const momentSpec = fc.record({ moment: fc.nat({ max: 1000 }), nudge })

const lengths = [1, 30 * minute, hour, 23 * hour, 71 * hour, 72 * hour, 72 * hour, 72 * hour + 1, 73 * hour, 10 * day]
/** Where buckets become weeks, and where a range is too long. */
const turningLengths = [119, 120, 120, 120, 121, 365, 366, 366, 366, 367].flatMap((days) =>
  [0, 0, 1, -1, hour, -hour].map((more) => days * day + more),
)
const edgeStyle = oneOf(['date', 'utc', 'offset', 'naive', 'naive-ms'] as const)
const edgeShift = fc.oneof(
  oneOf([0, 1, -1, -minute, minute, 29 * minute, 45 * minute, -30 * minute, -hour, -2 * hour, hour, -day, 12 * hour]),
  fc.integer({ min: -10 * day, max: 10 * day }),
)

const querySpec = fc.record({
  form: oneOf(['days', 'hours', 'none', 'start', 'end', 'both', 'both', 'both', 'both', 'readable', 'turn'] as const),
  turn: fc.record({
    days: oneOf([3, 120, 366]),
    part: oneOf([0.1, 0.4, 0.7, 0.95]),
    more: oneOf([0, 0, 1, -1, hour, -hour]),
  }),
  days: oneOf([1, 1, 2, 3, 4, 7, 15, 28, 30, 30, 31, 90, 119, 120, 121, 122, 180, 365]),
  hours: oneOf([1, 2, 3, 24, 25, 71, 72, 73, 168, 744]),
  isOverruled: fc.boolean(),
  startStyle: edgeStyle,
  endStyle: edgeStyle,
  shift: edgeShift,
  length: fc.oneof(
    { weight: 6, arbitrary: oneOf(lengths) },
    { weight: 3, arbitrary: oneOf(turningLengths) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 130 * day }) },
    { weight: 1, arbitrary: oneOf([0, -1, -day]) },
  ),
  limit: sometimes(oneOf([1, 2, 3, 10, 100]), 3),
  interval: sometimes(oneOf(['hour', 'day', 'week', 'month'] as const), 3),
  compare: sometimes(oneOf(['previous', 'year', 'year', 'none'] as const), 3),
})
type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never

const questionFields = {
  zone: oneOf(zones),
  anchor: fc.nat({ max: 1000 }),
  nowShift: fc.oneof(
    oneOf([0, 1, hour, 2.5 * hour, 12 * hour, day, 29 * day, 30 * day]),
    fc.integer({ min: 0, max: 5 * day }),
    fc.integer({ min: 0, max: 200 * day }),
  ),
  isNowMidnight: rarely(8),
  plan: oneOf(['starter', 'growth', 'scale', 'scale', 'scale'] as const),
  retentionDays: sometimes(oneOf([1, 2, 29, 30, 60, 179, 400]), 4),
  query: querySpec,
}
const dataFields = {
  credits: fc.array(creditSpec, { maxLength: 3 }),
  servers: fc.array(serverSpec, { maxLength: 3 }),
  returns: fc.array(returnSpec, { maxLength: 3 }),
  vitals: fc.array(vitalSpec, { maxLength: 2 }),
  sessions: fc.array(sessionSpec, { maxLength: 30, size: 'max' }),
  botVisits: fc.array(momentSpec, { maxLength: 5 }),
  emails: fc.array(fc.tuple(oneOf(addresses), momentSpec), { maxLength: 6 }),
}
const caseSpec = fc.record({ ...questionFields, ...dataFields })
type CaseSpec = Drawn<typeof caseSpec>

/** Without fast-check's lean to small values: a workspace of three events tells little. Shrinking finds those. */
export const overviewCases: fc.Arbitrary<OverviewCase> = fc.noBias(caseSpec).map(buildCase)

/** In two timezones, which change their clocks by an hour and by half of one. Each timezone costs closings of its own. */
export const casesOfTwoTimezones: fc.Arbitrary<OverviewCase> = fc
  .noBias(fc.record({ ...questionFields, ...dataFields, zone: oneOf([zones[1]!, zones[3]!]) }))
  .map(buildCase)

/** Without data: for the ranges and buckets alone. */
export const overviewQuestions: fc.Arbitrary<OverviewCase> = fc.noBias(fc.record(questionFields)).map((question) =>
  buildCase({
    ...question,
    credits: [],
    servers: [],
    returns: [],
    vitals: [],
    sessions: [],
    botVisits: [],
    emails: [],
  }),
)

function buildCase(spec: CaseSpec): OverviewCase {
  const [timezone, year] = spec.zone
  const anchors = anchorsOf(timezone, year)
  const anchor = anchors[spec.anchor % anchors.length]!
  const shifted = anchor + spec.nowShift
  const now = spec.isNowMidnight ? startOfDay(timezone, localDay(timezone, shifted)) : shifted
  const { plan, retentionDays } = spec
  const readable = readableFrom(workspaceOf({ timezone, plan, retentionDays }), now)
  const query = buildQuery(spec.query, timezone, anchor, { now, readable })
  const asked = { timezone, now, plan, retentionDays, query }
  const moments = momentsThatMatter(
    { ...asked, events: [], botVisits: [], emails: [], contacts: [], bindings: [] },
    anchor,
  )
  const momentOf = ({ moment, nudge }: Drawn<typeof momentSpec>) =>
    notAfter(now, moments[moment % moments.length]! + nudge)
  const servers = spec.servers.map((server, at) =>
    buildServer(server, momentOf({ ...server, nudge: 0 }), { number: at, now }),
  )
  return {
    ...asked,
    contacts: servers.flatMap(({ contacts }) => contacts),
    bindings: servers.flatMap((one) => one.bindings),
    events: numberEvents([
      ...buildSessions(spec.sessions, momentOf, { timezone, now }),
      ...spec.credits.flatMap((credit, at) => buildCredit(credit, momentOf({ ...credit, nudge: 0 }), at)),
      ...servers.flatMap(({ drawn }) => drawn),
      ...spec.returns.flatMap((visits, at) => buildReturns(visits, momentOf({ ...visits, nudge: 0 }), at, asked)),
      ...spec.vitals.flatMap((vitals) => buildVitals(vitals, momentOf({ ...vitals, nudge: 0 }))),
    ]),
    botVisits: spec.botVisits.map((visit, at) => ({
      ...makeBotVisitRow({ workspace_id: 0, occurred_at: momentOf(visit) }),
      id: at + 1,
    })),
    emails: spec.emails.map(([email, moment]) => ({ email, occurredAt: momentOf(moment) })),
  }
}

function buildQuery(
  spec: Drawn<typeof querySpec>,
  timezone: string,
  anchor: number,
  moments: { now: number; readable: number },
): OverviewQuery {
  const { interval, compare } = spec
  return {
    ...buildRange(spec, timezone, anchor, moments),
    ...(interval === null ? {} : { interval }),
    ...(compare === null ? {} : { compare }),
  }
}

function buildRange(
  spec: Drawn<typeof querySpec>,
  timezone: string,
  anchor: number,
  { now, readable }: { now: number; readable: number },
): OverviewQuery {
  const { form, days, hours, isOverruled, limit } = spec
  // The period before then begins beside the first readable moment.
  const beside = Math.abs(spec.shift) <= 1 ? spec.shift : 0
  if (form === 'readable') return { start: new Date(Math.round((now + readable) / 2) + beside).toISOString() }
  if (form === 'turn') {
    // A range of exactly so many local days around the anchor, in the wall clock's terms.
    const wall = localAt(timezone, anchor - Math.round(spec.turn.days * spec.turn.part * day))
    const write = (local: number) => new Date(local).toISOString().slice(0, 23)
    return { start: write(wall), end: write(wall + spec.turn.days * day + spec.turn.more) }
  }
  const start = anchor + spec.shift
  const texts = {
    start: writeEdge(start, spec.startStyle, timezone, anchor),
    end: writeEdge(start + spec.length, spec.endStyle, timezone, anchor),
  }
  return {
    ...(form === 'days' || form === 'end' || isOverruled ? { days } : {}),
    ...(form === 'hours' || (isOverruled && form !== 'days') ? { hours } : {}),
    ...(form === 'start' || form === 'both' ? { start: texts.start } : {}),
    ...(form === 'end' || form === 'both' ? { end: texts.end } : {}),
    ...(limit === null ? {} : { limit }),
  }
}

/** Naive times are counted from the wall clock before the anchor, and so may name a time that it skips or repeats. */
function writeEdge(instant: number, style: Drawn<typeof edgeStyle>, timezone: string, anchor: number): string {
  const local = localAt(timezone, anchor - minute) + minute + (instant - anchor)
  const text = new Date(local).toISOString()
  switch (style) {
    case 'date':
      return text.slice(0, 10)
    case 'utc':
      return new Date(instant).toISOString()
    case 'offset':
      return `${new Date(instant + 5.75 * hour).toISOString().slice(0, -1)}+05:45`
    case 'naive':
      return text.slice(0, 19)
    case 'naive-ms':
      return text.slice(0, 23)
  }
}

function momentsThatMatter(asked: OverviewCase, anchor: number): number[] {
  const { timezone, now } = asked
  const workspace = workspaceOf(asked)
  const span = resolveRange(asked.query, workspace, now)
  if (!span) return [now, anchor]
  const buckets = bucketsOf(span, asked.query, timezone)
  const readable = readableFrom(workspace, now)
  const { start, end } = span
  const previous = previousOf(span, asked.query, timezone)
  const matter = [
    ...[start, start, start, end, end, previous.start, previous.end],
    // Days on which sessions that pass the edges begin or end.
    ...[-1, 0, 1].flatMap((days) => [start, end].map((edge) => midnightBeside(edge, days, timezone))),
    now,
    now - 5 * minute,
    now - 5 * minute,
    anchor,
    ...[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((part) => start + (end - start) * part),
    ...buckets.filter((_, at) => at % Math.ceil(buckets.length / 8) === 0).map((bucket) => bucket.start),
    ...[readable, readable, now - 180 * day].filter((moment) => moment > start - 60 * day && moment < end),
  ].map(Math.round)
  return matter.filter((moment) => moment <= now + hour)
}

/** The midnight with which a local day begins, so many days after that of `instant`. */
function midnightBeside(instant: number, days: number, timezone: string): number {
  return startOfDay(timezone, localDay(timezone, instant) + days * day)
}

/** An event comes in before it is asked for: at or after `now` it is as much earlier. */
function notAfter(now: number, instant: number): number {
  return instant >= now ? 2 * now - instant - 1 : instant
}

interface DrawnEvent {
  readonly order: number
  readonly event: EventFact
}

/** Ids as drawn, not by time: they break ties of time. */
function numberEvents(drawn: DrawnEvent[]): EventFact[] {
  drawn.sort((a, b) => a.order - b.order)
  return drawn.map(({ event }, at) => ({ ...event, id: at + 1 }))
}

function buildCredit(spec: Drawn<typeof creditSpec>, at: number, number: number): DrawnEvent[] {
  const visitor = { hi: 77, lo: number }
  const session = 1000 + number
  const own = { workspace_id: 0, visitor, session, occurred_at: at, device: spec.device }
  const drawn = [{ order: 500_000, event: makeEventRow({ ...own, kind: 'conversion' }) }]
  if (spec.touch !== null) {
    const touch = {
      ...own,
      session: 2000 + number,
      occurred_at: at - spec.before,
      source: spec.touch,
      medium: 'touched',
    }
    drawn.push({ order: spec.before === 0 ? 500_001 : 0, event: makeEventRow(touch) })
  }
  if (spec.stranger !== null) {
    const stranger = { hi: 78, lo: number }
    const event = { ...own, visitor: stranger, occurred_at: at - hour, source: spec.stranger, medium: 'strange' }
    drawn.push({ order: 0, event: makeEventRow(event) })
  }
  if (spec.entry !== null) {
    const { source, before } = spec.entry
    drawn.push({ order: 0, event: makeEventRow({ ...own, occurred_at: at - before, source, medium: 'entered' }) })
  }
  return drawn
}

function buildServer(
  { source, touches, handedOver, isKnown }: Drawn<typeof serverSpec>,
  at: number,
  { number, now }: { number: number; now: number },
): { drawn: DrawnEvent[]; contacts: number[]; bindings: BindingFact[] } {
  const visitor = { hi: 80, lo: number + 1 }
  const [contact, other] = [9_000 + 2 * number, 9_001 + 2 * number]
  const by = {
    browser: { visitor },
    server: { visitor: 0, session_named: 0, email_hash: contact },
    stranger: { visitor, email_hash: other },
  }
  const drawn = touches.map((touch) => ({
    order: touch.order,
    event: makeEventRow({
      workspace_id: 0,
      ...by[touch.by],
      occurred_at: notAfter(now, at - touch.before),
      source: touch.source,
      medium: `by ${touch.by}`,
    }),
  }))
  const conversion = { ...by.server, kind: 'conversion' as const, source, medium: 'sent', occurred_at: at }
  drawn.push({ order: 500_000, event: makeEventRow({ workspace_id: 0, ...conversion }) })
  if (!isKnown) return { drawn, contacts: [], bindings: [] }
  const bindings = [{ visitor, contact, from: 0 }]
  if (handedOver !== null) bindings.push({ visitor, contact: other, from: at - handedOver })
  return { drawn, contacts: [contact, other], bindings }
}

function buildReturns(
  { visits }: Drawn<typeof returnSpec>,
  moment: number,
  number: number,
  { timezone, now }: Pick<OverviewCase, 'timezone' | 'now'>,
): DrawnEvent[] {
  return visits.map(({ daysBefore, afterMidnight, kind, path, source }, order) => ({
    order,
    event: makeEventRow({
      workspace_id: 0,
      visitor: { hi: 79, lo: number },
      session: 4000 + number,
      kind,
      path,
      source,
      occurred_at: notAfter(now, midnightBeside(moment, -daysBefore, timezone) + afterMidnight),
    }),
  }))
}

function buildVitals(spec: Drawn<typeof vitalSpec>, at: number): DrawnEvent[] {
  return spec.metrics.flatMap((metric) =>
    Array.from({ length: spec.repeats }, (_, index) => ({
      order: index,
      event: makeEventRow({
        workspace_id: 0,
        visitor: 5,
        session: 3000,
        kind: 'web_vital',
        path: spec.path,
        metric,
        metric_value: poorThresholds[metric] * (index === 0 && metric === spec.metrics[0] ? spec.last : spec.times),
        occurred_at: at,
      }),
    })),
  )
}

function buildSessions(
  sessions: readonly Drawn<typeof sessionSpec>[],
  momentOf: (spec: { moment: number; nudge: number }) => number,
  { timezone, now }: { timezone: string; now: number },
): DrawnEvent[] {
  const begun: { at: number; visitor: (typeof visitors)[number] }[] = []
  const drawn: DrawnEvent[] = []
  sessions.forEach((session, number) => {
    const later = session.thirtyDaysBefore === null ? undefined : begun[session.thirtyDaysBefore % (begun.length || 1)]
    const visitor = later?.visitor ?? session.visitor
    const begin = later ? later.at - 30 * day + (Math.abs(session.nudge) <= 1 ? session.nudge : 0) : momentOf(session)
    begun.push({ at: begin, visitor })
    let latest = begin
    for (const spec of session.events) {
      latest = spec.rest === null ? latest + spec.gap : endOfRest(latest, spec.rest, timezone)
      const at = notAfter(now, latest)
      const own = spec.stranger !== null && visitor !== noVisitor ? spec.stranger : visitor
      const event = makeEventRow({
        workspace_id: 0,
        visitor: own,
        occurred_at: at,
        received_at: at + 1000,
        ...sessionColumns(session, own, at, number),
        kind: spec.kind,
        path: spec.rest?.isSamePage ? session.events[0]!.path : spec.path,
        title: spec.title,
        engagement_ms: spec.kind === 'page_leave' || spec.order % 9 === 0 ? spec.engagement : 0,
        metric: spec.kind === 'web_vital' ? spec.metric : 'none',
        metric_value: spec.kind === 'web_vital' ? spec.value : 0,
        source: spec.source ?? session.source,
        medium: spec.source === null ? session.medium : spec.medium,
        device: spec.device ?? session.device,
        browser: session.browser,
        country: session.country,
      })
      drawn.push({ order: spec.order, event })
      if (spec.hasTwin) drawn.push({ order: spec.order + 1, event: { ...event } })
    }
  })
  return drawn
}

function endOfRest(instant: number, { days, besideMidnight }: Drawn<typeof restSpec>, timezone: string): number {
  if (besideMidnight === null) return instant + days * day
  return midnightBeside(instant, days, timezone) + besideMidnight
}

/** Sessions that nobody named are a visitor's UTC day. Numbers are as large as they may be. */
function sessionColumns(
  session: Drawn<typeof sessionSpec>,
  visitor: { hi: number; lo: number },
  at: number,
  number: number,
): { session: number; session_named: number } {
  if (visitor === noVisitor) return { session: 0, session_named: 0 }
  if (session.isNamed) return { session: 2 ** 53 - 1 - number, session_named: 1 }
  return { session: 2 ** 52 + visitors.indexOf(visitor) * 100_000 + Math.floor(at / day), session_named: 0 }
}
