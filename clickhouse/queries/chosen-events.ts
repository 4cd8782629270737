/** Events of a range that questions about names and steps count: within the fold's coverage, and of sessions that filters choose. */
import type { SessionFilters } from '../../schemas/session-filters.ts'
import type { Span } from '../../schemas/time/time-range.ts'
import { dayMs, localDayAt } from '../../schemas/time/time-zone.ts'
import type { BoundSql } from '../bound-sql.ts'
import { moment } from '../rollups/event-sql.ts'
import { isFolded } from './overview/figure-parts.ts'
import { choose } from './overview/read-filtered.ts'
import { chosenRows, eventIsOfChosen } from './overview/selection.ts'
import type { Reader } from './reader.ts'

export interface EventsOfRange extends Span {
  readonly workspaceId: number
  readonly build: number
  readonly timezone: string
  readonly filters: SessionFilters | undefined
}

/** SQL condition: an event of the range is of a session that counts. */
export interface OfChosen extends BoundSql {
  /** The same of a row of `sessions`. */
  readonly sessionSql: string
}

/** The statement has `coverage` (`coverageSql`). */
export async function isOfChosen(ch: Reader, request: EventsOfRange): Promise<OfChosen> {
  const { workspaceId, build, timezone, filters, start, end } = request
  const own = { workspace: workspaceId, build, start, end }
  if (filters === undefined) return { sql: '1', sessionSql: '1', params: own }
  const [from, to] = [Math.max(0, start - dayMs), end + dayMs]
  const { selection, calendar } = await choose(ch, { workspaceId, build, timezone, filters, from, to })
  const around = `occurred_at>=${moment('look_from')} AND occurred_at<${moment('look_to')} AND ${isFolded}`
  const rows = chosenRows(selection, 'day>={first_day:UInt16} AND day<={last_day:UInt16}', around)
  return {
    sql: eventIsOfChosen(rows),
    sessionSql: selection.chosenSql(around),
    params: {
      ...own,
      ...selection.params,
      ...calendar,
      first_day: localDayAt(start, timezone),
      last_day: localDayAt(end, timezone),
      look_from: start - 3 * dayMs,
      look_to: end + 3 * dayMs,
    },
  }
}
