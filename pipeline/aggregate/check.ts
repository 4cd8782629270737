/** Compares what readers see of the aggregates with what the raw rows give, hour by hour, as whole days, and as blocks of them. */
import { idsIn } from '../../clickhouse/aggregates/id-ranges.ts'
import { type HourSpan, moment, ofWorkspaces } from '../../clickhouse/aggregates/row-scope.ts'
import { type AggregateName, aggregateTables, hourOfEvent } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Queryable } from '../../postgres/client.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import type { AggregateSnapshot } from '../../schemas/aggregate-snapshot.ts'
import { aggregateDifferencesMax, aggregateStatementRowsMax } from '../../schemas/limits.ts'
import { hourMs } from '../../schemas/time-zone.ts'
import { aggregateNames, heavyStatement } from './attempt.ts'
import { type Comparison, compareBlock, compareDays, compareHours, type DifferingHour } from './compare.ts'

/** An hour of a workspace, or with `isDay` its UTC day or block of days from that hour on, of which a table says something else. */
export interface Difference extends DifferingHour {
  readonly table: AggregateName
  readonly isDay: boolean
}

export interface CheckOptions extends Partial<Pick<Comparison, 'workspaceIds' | 'keptFrom'>> {
  /** Rows that one statement compares; the usual number when left out. */
  readonly statementRows?: number
}

/**
 * The first differences of a UTC day that are there twice: what is committed, repaired or deleted while one comparison goes
 * on may look like one.
 */
export async function checkDayTwice(
  pg: Queryable,
  ch: ClickHouse,
  day: number,
  options: CheckOptions = {},
): Promise<Difference[]> {
  const check = async () => checkDays(ch, await readSnapshot(pg), { first: day, last: day }, options)
  const seen = new Set((await check()).map((one) => JSON.stringify(one)))
  return seen.size === 0 ? [] : (await check()).filter((one) => seen.has(JSON.stringify(one)))
}

/** The first differences of some UTC days. */
export async function checkDays(
  ch: ClickHouse,
  snapshot: AggregateSnapshot,
  days: { readonly first: number; readonly last: number },
  { workspaceIds, keptFrom = new Map(), statementRows = aggregateStatementRowsMax }: CheckOptions = {},
): Promise<Difference[]> {
  const found: Difference[] = []
  const all: Comparison = {
    snapshot,
    hours: { start: days.first * 24, end: (days.last + 1) * 24 },
    workspaceIds,
    keptFrom,
  }
  const whole = snapshot.generations.filter(({ day, isWhole }) => isWhole && day >= days.first && day <= days.last)
  const blocks = snapshot.blocks.filter(({ firstDay }) => firstDay >= days.first && firstDay <= days.last)
  const spans = await divideHours(ch, all, statementRows)
  for (const table of aggregateNames) {
    for (const hours of spans) {
      const differing = await compareHours(ch, table, { ...all, hours })
      found.push(...differing.map((one) => ({ table, ...one, isDay: false })))
    }
    if (whole.length > 0 && aggregateTables[table].hasDays) {
      const differing = await compareDays(ch, table, all, whole)
      found.push(...differing.map((one) => ({ table, ...one, isDay: true })))
    }
    for (const block of aggregateTables[table].hasDays ? blocks : []) {
      const differing = await compareBlock(ch, table, all, block)
      found.push(...differing.map((one) => ({ table, ...one, isDay: true })))
    }
    if (found.length >= aggregateDifferencesMax) break
  }
  return found.slice(0, aggregateDifferencesMax)
}

/** All hours, cut so that none of the spans has more rows than `rowsMax`, unless it is a single hour. */
async function divideHours(
  ch: ClickHouse,
  { snapshot, hours, workspaceIds }: Comparison,
  rowsMax: number,
): Promise<HourSpan[]> {
  const { sql, params } = idsIn(snapshot.aggregated, 'visible')
  const rows = await ch.query<{ hour: number; rows: number }>(
    `SELECT ${hourOfEvent} AS hour, count() AS rows FROM events
     WHERE ${sql} AND ${ofWorkspaces({ workspaceIds })}
       AND occurred_at >= ${moment('from')} AND occurred_at < ${moment('to')}
     GROUP BY hour ORDER BY hour`,
    {
      ...params,
      ...(workspaceIds && { workspaces: workspaceIds }),
      from: hours.start * hourMs,
      to: hours.end * hourMs,
    },
    heavyStatement,
  )
  const cuts: number[] = []
  let sum = 0
  for (const { hour, rows: ofHour } of rows) {
    if (sum > 0 && sum + ofHour > rowsMax) {
      cuts.push(hour)
      sum = 0
    }
    sum += ofHour
  }
  return [hours.start, ...cuts].map((start, at) => ({ start, end: cuts[at] ?? hours.end }))
}
