/**
 * What is known of whole sessions: where they came from, with what, where they entered, whether they bounced. A session
 * belongs to the range that holds its first event. They come from three places: the aggregates; what rows that the
 * aggregates don't have change about them; and the raw rows of the hours that can't be taken from the aggregates.
 */

import { overviewKeysMax } from '../../../schemas/limits.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { aggregateRow, compareTexts, type MergedRow, type MergedRows } from '../../aggregates/aggregate-rows.ts'
import { idMax } from '../../aggregates/id-ranges.ts'
import { type HourSpan, type RowScope, sessionHours } from '../../aggregates/row-scope.ts'
import type { EventRow } from '../../aggregates/rows-at-hand.ts'
import { type SessionChange, type SessionChanges, sessionChangesOf } from '../../aggregates/session-changes.ts'
import { sessionContributionsSql, sessionSidesSql } from '../../aggregates/session-starts.ts'
import { aggregateTables } from '../../aggregates/tables.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { type Composition, edgesOf, sessionHoursOf } from './composition.ts'
import { type CreditedConversions, type GroupKeys, nameOfGroup } from './conversions.ts'
import { type HeldCounts, noneHeld } from './held-rows.ts'
import { type IsKeyWanted, rowOfSessions } from './held-sessions.ts'
import { rawSessionsSql, rawSessionTotalsSql } from './raw-sessions.ts'
import {
  aggregatedPlaces,
  anyOf,
  isEntered,
  isListed,
  isListedOrEntered,
  isTotal,
  sessionColumns,
} from './session-places.ts'
import { prefixParams, type Reader } from './span.ts'
import { type Place, readPlaces } from './united.ts'

export interface SessionTotals {
  /** Sessions that start in range. */
  readonly sessions: number
  readonly bounces: number
  readonly durationMs: number
}

/** Sessions that start in range, of one key of a dimension, and the conversions in range that count for that key. */
export interface SessionGroup extends SessionTotals {
  readonly key: string
  /** The medium, where the key is a source. */
  readonly detail: string
  readonly visitors: number
  readonly pageviews: number
  readonly events: number
  readonly conversions: number
}

export interface SessionFigures {
  readonly total: SessionTotals
  readonly sources: readonly SessionGroup[]
  readonly devices: readonly SessionGroup[]
  readonly browsers: readonly SessionGroup[]
  readonly countries: readonly SessionGroup[]
  /** Of the paths that were asked for: without visitors' conversions. */
  readonly entryPages: readonly SessionGroup[]
}

const table = aggregateTables.agg_sessions
const noSessions: SessionTotals = { sessions: 0, bounces: 0, durationMs: 0 }
const keys = ['dimension', 'key', 'detail']
const sumColumns = ['sessions', 'bounces', 'duration_ms']

export async function readSessionTotals(ch: Reader, composition: Composition): Promise<SessionTotals> {
  const hours = sessionHoursOf(composition)
  const places = [
    ...aggregatedPlaces(composition, [], [isTotal], isTotal),
    ...changesPlaces(composition, hours, []).map((place) => ({
      ...place,
      sql: `SELECT * FROM (${place.sql}) WHERE ${isTotal.sql}`,
    })),
    ...rawSessionTotalsSql(composition, hours).map(neverLasting),
  ]
  const isTotalOf = (dimension: string) => dimension === 'total'
  const { lasting, passing } = rowsAtHand(composition, changesAtHand(composition, hours), [], isTotalOf)
  const totals = [...lasting, ...passing].map(({ values }) => aggregateRow({}, values))
  const merged = await readPlaces(ch, table, places, { columns: sumColumns, keys: [] })
  return totalsOf(merged.with(totals).all[0])
}

/**
 * @param rows of `readSessionRows`
 * @param conversions in range
 * @param limit groups of each dimension, by visitors, then conversions, then key
 */
export function sessionFiguresOf(
  rows: MergedRows,
  conversions: readonly CreditedConversions[],
  limit: number,
): SessionFigures {
  const groups = new Map(rows.all.map(groupOf).map((group) => [nameOfGroup(group), group]))
  for (const { total, ...keys } of conversions) {
    const group = groups.get(nameOfGroup(keys)) ?? {
      ...keys,
      ...noSessions,
      visitors: 0,
      pageviews: 0,
      events: 0,
      conversions: 0,
    }
    groups.set(nameOfGroup(keys), { ...group, conversions: group.conversions + total })
  }
  const all = [...groups.values()].filter(({ sessions, conversions }) => sessions !== 0 || conversions !== 0)
  const of = (wanted: string) =>
    all
      .filter(({ dimension }) => dimension === wanted)
      .sort(
        (one, other) =>
          other.visitors - one.visitors ||
          other.conversions - one.conversions ||
          compareTexts(one.key, other.key) ||
          compareTexts(one.detail, other.detail),
      )
      .slice(0, limit)
  return {
    total: of('total')[0] ?? noSessions,
    sources: of('source'),
    devices: of('device'),
    browsers: of('browser'),
    countries: of('country'),
    entryPages: of('entry'),
  }
}

function groupOf(row: MergedRow): SessionGroup & GroupKeys {
  return {
    dimension: row.text('dimension'),
    key: row.text('key'),
    detail: row.text('detail'),
    ...totalsOf(row),
    visitors: row.count('visitors'),
    pageviews: row.sum('pageviews'),
    events: row.sum('events'),
    conversions: 0,
  }
}

function totalsOf(row: MergedRow | undefined): SessionTotals {
  if (row === undefined) return noSessions
  return { sessions: row.sum('sessions'), bounces: row.sum('bounces'), durationMs: row.sum('duration_ms') }
}

/**
 * Rows of all dimensions, of the sessions that start in range.
 * @param paths the pages whose entries are wanted
 */
export async function readSessionRows(
  ch: Reader,
  composition: Composition,
  paths: readonly string[],
): Promise<MergedRows> {
  const hours = sessionHoursOf(composition)
  // A session turned out to have begun otherwise than the aggregates say: its hour is counted from the raw rows instead.
  const atHand = changesAtHand(composition, hours)
  const known = atHand?.retracted ?? []
  const isWanted = (dimension: string, key: string) => dimension !== 'entry' || paths.includes(key)
  const held = rowsAtHand(composition, atHand, known, isWanted)
  const rows = await readAround(ch, composition, paths, { cut: known, held })
  const retracted = rows.all
    .filter((row) => row.text('dimension') === 'retracted')
    .map((row) => Number(row.text('key')))
  return retracted.length === 0 ? rows : readAround(ch, composition, paths, { cut: retracted, held })
}

/** @param cut hours that are counted from raw rows */
function readAround(
  ch: Reader,
  composition: Composition,
  paths: readonly string[],
  { cut, held }: { readonly cut: readonly number[]; readonly held: HeldCounts },
): Promise<MergedRows> {
  const hours = sessionHoursOf(composition)
  const narrowed = (statement: BoundSql) => {
    const wanted = anyOf([isListed, isEntered(paths), { sql: "dimension = 'retracted'", params: {} }])
    return neverLasting({
      sql: `SELECT * FROM (${statement.sql}) WHERE ${wanted.sql}`,
      params: { ...statement.params, ...wanted.params },
    })
  }
  const places = [
    ...aggregatedPlaces(composition, cut, [isListed, isEntered(paths)], isListedOrEntered(paths)),
    ...[...changesPlaces(composition, hours, cut), ...rawSessionsSql(composition, hours, cut)].map(narrowed),
  ]
  const most = { of: 'sessions', by: 'dimension', max: overviewKeysMax }
  return readPlaces(ch, table, places, { columns: Object.keys(table.columns), keys, most }, held)
}

function neverLasting(statement: BoundSql): Place {
  return { ...statement, isLasting: false }
}

/** The hours taken from the aggregates in which pending rows can change a session; undefined: there are none. */
function changedHours({ pending }: Composition, hours: HourSpan): HourSpan | undefined {
  if (pending === undefined) return undefined
  const start = Math.max(hours.start, pending.hours.start - sessionHours)
  const end = Math.min(hours.end, pending.hours.end + sessionHours)
  return start < end ? { start, end } : undefined
}

/** What pending rows that are at hand change about the sessions of the hours that are taken from the aggregates. */
function changesAtHand(composition: Composition, hours: HourSpan): SessionChanges | undefined {
  const { from, to, pending } = composition
  const changed = changedHours(composition, hours)
  if (pending?.ofSessions === undefined || changed === undefined) return undefined
  const isNear = ({ at }: EventRow) =>
    at >= (changed.start - sessionHours) * hourMs && at < (changed.end + sessionHours) * hourMs
  const { counted, uncounted } = pending.ofSessions
  const rows = { counted: counted.filter(isNear), uncounted: uncounted.filter(isNear) }
  return sessionChangesOf(rows, changed, (at) => at >= from && at < to)
}

/**
 * The sessions that begin in the edges of the range, and what is changed about those of the hours.
 * @param cut hours that are counted from raw rows, and so without what is changed in them
 */
function rowsAtHand(
  composition: Composition,
  atHand: SessionChanges | undefined,
  cut: readonly number[],
  isWanted: IsKeyWanted,
): HeldCounts {
  const begun = edgesOf(composition, sessionHoursOf(composition), 'sessionSpans').atHand
  const { lasting, passing } = composition.edges?.sessionsBegunIn(begun, isWanted) ?? noneHeld
  const isKept = ({ hour, dimension, key }: SessionChange) => !cut.includes(hour) && isWanted(dimension, key)
  const changes = atHand?.changes.filter(isKept) ?? []
  return { lasting, passing: [...passing, ...changes.map(rowOfSessions)] }
}

/** What pending rows that are not at hand change about the sessions of the hours that are taken from the aggregates. */
function changesPlaces(composition: Composition, hours: HourSpan, cut: readonly number[]): Place[] {
  const { span, from, to, pending } = composition
  const changed = changedHours(composition, hours)
  if (pending === undefined || pending.ofSessions !== undefined || changed === undefined) return []
  const scope: RowScope = {
    visible: [{ from: 0, through: idMax }],
    uncounted: pending.ids,
    hours: changed,
    workspaceIds: [span.workspaceId],
  }
  const notCut = cut.length === 0 ? '' : ' AND hour NOT IN {cut:Array(UInt32)}'
  const inRange = `first_at >= {from:Int64} AND first_at < {to:Int64}${notCut}`
  const { sql, params } = sessionContributionsSql(sessionSidesSql(scope, undefined, inRange), false)
  const changes = { sql: `SELECT ${sessionColumns.join(', ')} FROM (${sql})`, params: { ...params, from, to, cut } }
  return [neverLasting(prefixParams(changes, 'changes'))]
}
