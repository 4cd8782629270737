/** Where sessions stand among the aggregates: which of their rows are wanted, and how they are asked for. */
import { aggregateTables } from '../../aggregates/tables.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { type Composition, cellsOf, sessionHoursOf } from './composition.ts'
import { ofWorkspace, type Place } from './united.ts'

const { keys, columns } = aggregateTables.agg_sessions
export const sessionColumns = [...keys, ...Object.keys(columns)]

/** A condition over rows of `agg_sessions`. */
export interface Wanted extends BoundSql, Pick<Place, 'each'> {
  readonly selected?: readonly string[]
}

export const isTotal: Wanted = { sql: "dimension = 'total'", params: {} }
export const isListed: Wanted = { sql: "dimension NOT IN ('entry', 'retracted', 'long')", params: {} }
export const isEntered = (paths: readonly string[]): Wanted => ({
  sql: "dimension = 'entry' AND key IN {paths:Array(String)}",
  params: { paths },
  each: { parameter: 'paths', column: 'key' },
})
/** Both in one, of which a part can be asked for all the same: of each page, and of all that isn't an entry. */
export const isListedOrEntered = (paths: readonly string[]): Wanted => {
  const asked = "if(dimension = 'entry', concat('entry ', key), 'listed')"
  return {
    sql: `dimension NOT IN ('retracted', 'long') AND ${asked} IN {asked:Array(String)}`,
    params: { asked: ['listed', ...paths.map((path) => `entry ${path}`)] },
    selected: [`${asked} AS asked`],
    each: { parameter: 'asked', column: 'asked' },
  }
}

/**
 * @param wanted rows of any of these conditions, each of which is asked by itself where it stays the same for long
 * @param together all of them in one
 */
export function aggregatedPlaces(
  composition: Composition,
  cut: readonly number[],
  wanted: readonly Wanted[],
  together: Wanted,
): Place[] {
  const { aggregated } = cellsOf(composition, { name: 'sessions', hours: sessionHoursOf(composition), cut })
  return aggregated.flatMap((cell) =>
    (cell.growing === undefined ? wanted : [together]).map(({ sql, params, selected = [], each }) => ({
      sql: `SELECT ${[...(cell.growing === undefined ? [] : [ofWorkspace.column]), ...sessionColumns, ...selected].join(', ')} FROM agg_sessions WHERE ${cell.sql} AND (${sql})`,
      params: { ...cell.params, ...params },
      isLasting: true,
      growing: cell.growing,
      each,
    })),
  )
}

export function anyOf(conditions: readonly BoundSql[]): BoundSql {
  return {
    sql: conditions.map(({ sql }) => sql).join(' OR '),
    params: Object.assign({}, ...conditions.map(({ params }) => params)),
  }
}
