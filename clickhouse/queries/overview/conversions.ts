/**
 * The conversions in range by what they count for: source and medium that they are credited to, device, browser, country.
 * Those near the first readable moment are credited from the raw rows: of their session, and of touches before, only a part
 * is readable. The others are in the aggregates, or among the rows that the aggregates don't have.
 */
import { creditWindowMs, foundConversionsMax } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { dayMs, hourMs } from '../../../schemas/time-zone.ts'
import { creditedSql, type FoundConversions, findChangedConversions } from '../../aggregates/credits.ts'
import { idMax } from '../../aggregates/id-ranges.ts'
import { liveRowsIn } from '../../aggregates/live-rows.ts'
import { type HourSpan, moment, type RowScope, sessionHours } from '../../aggregates/row-scope.ts'
import type { SessionRows } from '../../aggregates/session-changes.ts'
import type { Growing } from '../../query-options.ts'
import type { BinaryColumns } from '../../row-binary.ts'
import { dayHours, endBehind, hourOf } from './aggregated-cells.ts'
import { type Composition, type PendingRows, sessionHoursOf } from './composition.ts'
import { type CreditsSql, rawCredits } from './raw-credits.ts'
import { prefixParams, type Reader } from './span.ts'

/** A key of a dimension. */
export interface GroupKeys {
  readonly dimension: string
  readonly key: string
  /** The medium, where the key is a source. */
  readonly detail: string
}

export function nameOfGroup({ dimension, key, detail }: GroupKeys): string {
  return [dimension, key, detail].join('\0')
}

/** Conversions that count for a key of a dimension. */
export interface CreditedConversions extends GroupKeys {
  readonly total: number
}

/** Several may have equal keys. */
export async function readConversions(ch: Reader, composition: Composition): Promise<CreditedConversions[]> {
  const found = await findConversions(ch, composition)
  const isUnchanged = found?.ids.length === 0
  const parts = isUnchanged ? divide(throughLastHour(composition)) : [composition]
  return (await Promise.all(parts.map((part) => readPart(ch, part, found)))).flat()
}

/** Where nothing that was counted lies behind `to` in its hour, that hour's end is as good, and asks the same for an hour. */
function throughLastHour(composition: Composition): Composition {
  const { to, hours } = composition
  return { ...composition, to: hours.start < hours.end ? Math.max(to, hours.end * hourMs) : to }
}

/**
 * The days that are over apart from those after them, which change with every commit; and what lies around whole hours, which
 * is another part of an hour with every question.
 */
function divide(composition: Composition): Composition[] {
  const { snapshot, from, to } = composition
  const openDays = snapshot.generations.filter(({ isWhole }) => !isWhole).map(({ day }) => day * dayMs)
  const firstOpen = Math.min(...openDays.filter((start) => start > from))
  const cuts = [Math.ceil(from / hourMs) * hourMs, firstOpen, Math.floor(to / hourMs) * hourMs]
  const inside = [...new Set(cuts)].filter((cut) => cut > from && cut < to).sort((one, other) => one - other)
  return [from, ...inside].map((start, at) => ({ ...composition, from: start, to: inside[at] ?? to }))
}

async function readPart(
  ch: Reader,
  composition: Composition,
  found: FoundConversions | undefined,
): Promise<CreditedConversions[]> {
  const { from, to, hours } = composition
  // Whatever is looked up in the aggregates: conversions have their exact times there, so the edges need no raw rows.
  const isAggregated = hours.start < hours.end && composition.snapshot.aggregated.length > 0
  const start = isAggregated ? Math.min(to, firstAggregated(composition)) : to
  // Behind the range's end nothing is counted, but rows may wait.
  const rawEnd = Math.min(start, composition.span.end)
  const raw = rawEnd > from ? { ...rawCredits(composition.span, from, rawEnd), isLasting: false } : undefined
  const isPartOfHour = start < to && hourOf(start) === hourOf(to - 1) && (start % hourMs !== 0 || to % hourMs !== 0)
  if (isPartOfHour && found?.ids.length === 0) {
    const some = raw === undefined ? [] : await readCredits(ch, raw)
    return [...some, ...(await readWithinHour(ch, composition, { start, end: to }))]
  }
  const later = start < to ? aggregatedCredits(composition, start, to, found) : undefined
  const parts = [raw, later].filter((part) => part !== undefined)
  return (await Promise.all(parts.map((part) => readCredits(ch, part)))).flat()
}

/** SQL of what a conversion counts for. */
const entries = `arrayJoin([('source', source, medium), ('device', device, ''), ('browser', browser, ''), ('country', country, '')])`

function readCredits(ch: Reader, part: Part): Promise<CreditedConversions[]> {
  const { with: withs, sql, params, isLasting, growing } = part
  return ch.query<CreditedConversions>(
    `${withs.length === 0 ? '' : `WITH ${withs.join(', ')}`}
     SELECT entry.1 AS dimension, entry.2 AS key, entry.3 AS detail, sum(amount) AS total
     FROM (SELECT ${entries} AS entry, amount FROM (${sql}))
     GROUP BY dimension, key, detail`,
    params,
    { isLasting, ...(growing && { growing: { ...growing, merge: addConversions } }) },
  )
}

/** Conversions that count for a key, by their moments: milliseconds since 1970, and how often each counts. */
interface ConversionMoments extends GroupKeys {
  readonly ats: Float64Array
  readonly amounts: Float64Array
}

const momentColumns: BinaryColumns = {
  dimension: 'text',
  key: 'text',
  detail: 'text',
  ats: 'numbers',
  amounts: 'numbers',
}

/**
 * Of a part of an hour, from the aggregates: all of the hour is read, for a reader that remembers, as the next question is
 * about another part of it. For a composition of which nothing waits.
 */
async function readWithinHour(ch: Reader, composition: Composition, part: Span): Promise<CreditedConversions[]> {
  const hour = hourOf(part.start)
  const all = aggregatedCredits(composition, hour * hourMs, (hour + 1) * hourMs, noConversions)
  const moments = await ch.query<ConversionMoments>(
    `SELECT entry.1 AS dimension, entry.2 AS key, entry.3 AS detail, groupArray(at) AS ats, groupArray(toFloat64(amount)) AS amounts
     FROM (SELECT ${entries} AS entry, toFloat64(toUnixTimestamp64Milli(occurred_at)) AS at, amount FROM (${all.sql}))
     GROUP BY dimension, key, detail`,
    all.params,
    {
      ...{ isLasting: all.isLasting, binary: momentColumns },
      ...(all.growing && { growing: { ...all.growing, merge: (some: readonly ConversionMoments[]) => [...some] } }),
    },
  )
  return moments.map(({ dimension, key, detail, ats, amounts }) => ({
    ...{ dimension, key, detail },
    total: amounts.reduce((sum, amount, at) => sum + (ats[at]! >= part.start && ats[at]! < part.end ? amount : 0), 0),
  }))
}

/** One for each group of several that may be of the same. */
function addConversions(some: readonly CreditedConversions[]): CreditedConversions[] {
  const groups = new Map<string, CreditedConversions>()
  for (const one of some) {
    const name = nameOfGroup(one)
    groups.set(name, { ...one, total: one.total + (groups.get(name)?.total ?? 0) })
  }
  return [...groups.values()]
}

/** The conversions of the range that pending rows make or may change; undefined where they are not few. */
async function findConversions(
  ch: Reader,
  { span, from, to, pending }: Composition,
): Promise<FoundConversions | undefined> {
  const hours = { start: Math.floor(from / hourMs), end: Math.ceil(to / hourMs) }
  const scope = changedScope(span.workspaceId, pending, hours)
  if (scope === undefined) return noConversions
  const mayChange = pending?.ofSessions === undefined || mayChangeConversions(pending.ofSessions)
  return mayChange ? findChangedConversions(ch, scope, foundConversionsMax) : noConversions
}

const noConversions: FoundConversions = { ids: [], hours: [], visitors: [], sessions: [] }

/** Whether a pending row is a conversion, or one of its visitor's or session's is there: mostly not. */
function mayChangeConversions({ counted, uncounted }: SessionRows): boolean {
  return [...uncounted, ...counted].some(({ kind }) => kind === 'conversion')
}

/** What pending rows can change: the conversions after the first of them, and those of sessions that it belongs to. */
function changedScope(workspaceId: number, pending: PendingRows | undefined, hours: HourSpan): RowScope | undefined {
  const start = Math.max(hours.start, (pending?.hours.start ?? hours.end) - sessionHours)
  if (pending === undefined || start >= hours.end) return undefined
  return {
    visible: [{ from: 0, through: idMax }],
    uncounted: pending.ids,
    hours: { start, end: hours.end },
    workspaceIds: [workspaceId],
  }
}

/** The first moment whose conversions can be taken from the aggregates. */
function firstAggregated(composition: Composition): number {
  const { span, from } = composition
  const wholeSessionsFrom = span.readableFrom + sessionHours * hourMs
  return span.start < wholeSessionsFrom || sessionHoursOf(composition) !== composition.hours
    ? Math.max(from, wholeSessionsFrom)
    : from
}

interface Part extends CreditsSql {
  /** Whether it reads nothing but immutable generations, and may be asked again: by whole hours. */
  readonly isLasting: boolean
  readonly growing?: Growing
}

/** From `agg_conversions`, and from raw rows for those that pending rows make, or change. */
function aggregatedCredits(
  { span, snapshot, pending }: Composition,
  from: number,
  to: number,
  found: FoundConversions | undefined,
): Part {
  const firstHour = Math.floor(from / hourMs)
  const lastHour = Math.ceil(to / hourMs)
  const resets = snapshot.resets.filter(({ workspaceId }) => workspaceId === span.workspaceId)
  const listedIn = (first: number, last: number) =>
    snapshot.generations.filter(({ day }) => (day + 1) * dayHours > first && day * dayHours < last)
  const generationsOf = (first: number, last: number) => listedIn(first, last).map(({ generation }) => generation)
  const live = liveRowsIn({ generations: generationsOf(firstHour, lastHour), resets }, 'conversions')
  const columns = 'occurred_at, touched_at, source, medium, session_source, session_medium, device, browser, country'
  const select = (amount: string, table: string) => `
    SELECT occurred_at, if(touched_at >= ${moment('readable_from')} AND touched_at != fromUnixTimestamp64Milli(toInt64(0), 'UTC'), toString(source), toString(session_source)) AS source_,
      if(touched_at >= ${moment('readable_from')} AND touched_at != fromUnixTimestamp64Milli(toInt64(0), 'UTC'), toString(medium), toString(session_medium)) AS medium_,
      toString(device) AS device, toString(browser) AS browser, toString(country) AS country, ${amount} AS amount
    FROM ${table} WHERE occurred_at >= ${moment('credits_from')} AND occurred_at < ${moment('credits_to')}`
  const named = (sql: string) =>
    `SELECT occurred_at, source_ AS source, medium_ AS medium, device, browser, country, toInt64(amount) AS amount FROM (${sql})`
  const scope = changedScope(span.workspaceId, pending, { start: firstHour, end: lastHour })
  const isUnchanged = scope === undefined || found?.ids.length === 0
  const end = isUnchanged && to % hourMs === 0 ? endBehind(snapshot, lastHour) : undefined
  const params: Record<string, unknown> = {
    ...live.params,
    workspace: span.workspaceId,
    // Where every touch is readable, the same from one question to the next.
    readable_from: span.readableFrom <= from - creditWindowMs ? 0 : span.readableFrom,
    credits_from: from,
    credits_to: end === undefined ? to : end * hourMs,
    credits_first_hour: firstHour,
    credits_last_hour: end ?? lastHour,
  }
  const counted = `(SELECT ${columns}, conversions FROM agg_conversions
    WHERE workspace_id = {workspace:UInt32} AND hour >= {credits_first_hour:UInt32} AND hour < {credits_last_hour:UInt32} AND ${live.sql}`
  if (isUnchanged) {
    return {
      with: [],
      sql: named(select('conversions', `${counted})`)),
      params,
      isLasting: from % hourMs === 0 && to % hourMs === 0,
      growing: { parameter: 'conversions', generations: listedIn(firstHour, lastHour) },
    }
  }
  const computed = creditedSql(
    scope,
    { generations: generationsOf(firstHour - creditWindowMs / hourMs - 1, lastHour), resets },
    found,
  )
  const credited = prefixParams({ sql: computed.with, params: computed.params }, 'credited')
  return {
    isLasting: false,
    with: [credited.sql],
    sql: `${named(select('conversions', `${counted} AND id NOT IN (SELECT id FROM conversions))`))}
      UNION ALL
      ${named(select('1', 'credited'))}`,
    params: { ...credited.params, ...params },
  }
}
