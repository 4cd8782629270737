/** The figures of an overview for the sessions that filters choose. Cells don't hold single sessions, so this reads no cells. */
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import { channelSourcesMax } from '../../../schemas/limits/overview-limits.ts'
import { channelOf } from '../../../schemas/reference/channels.ts'
import { matchesFilter, type SessionFilters } from '../../../schemas/session-filters.ts'
import { localDays } from '../../../schemas/time/local-days.ts'
import { dayMs, localDayAt } from '../../../schemas/time/time-zone.ts'
import type { BoundSql } from '../../bound-sql.ts'
import { idsIn, moment } from '../../rollups/event-sql.ts'
import { composedStatement, type Reader } from '../reader.ts'
import { countedFiguresSql, countedParams } from './counted-figures-sql.ts'
import { inBuild, inWorkspace, seriesPeriod } from './figure-parts.ts'
import { askFigures, type Figures, type FiguresRequest } from './read-figures.ts'
import { chosenRows, eventIsOfChosen, type Selection, selectionOf } from './selection.ts'

export interface Chosen {
  readonly selection: Selection
  /** Parameters of all local days that are asked about. */
  readonly calendar: Readonly<Record<string, readonly number[]>>
}

export interface ChoiceRequest {
  readonly workspaceId: number
  readonly build: number
  readonly timezone: string
  readonly filters: SessionFilters
  readonly from: number
  readonly to: number
}

/** Which sessions are chosen. Only TypeScript knows a source's channel: the sources are looked up first. */
export async function choose(
  ch: Reader,
  { workspaceId, build, timezone, filters, from, to }: ChoiceRequest,
): Promise<Chosen> {
  const { starts, numbers } = localDays(timezone, from, to)
  const channel = filters.get('channel')
  let origins: (readonly [string, string])[] | undefined
  if (channel !== undefined) {
    const rows = await readOrigins(ch, `${inBuild} AND day>={from_day:UInt16} AND day<={to_day:UInt16} AND nth_day=1`, {
      workspace: workspaceId,
      build,
      from_day: numbers[0],
      to_day: numbers.at(-1),
    })
    origins = rows
      .filter(({ source, medium }) => matchesFilter(channelOf(source, medium), channel))
      .map(({ source, medium }) => [source, medium])
  }
  return { selection: selectionOf(filters, origins), calendar: { day_starts: starts, day_numbers: numbers } }
}

/** Sources with their media of sessions, as far as channels are looked for among them. @param which SQL condition over `sessions` */
export function readOrigins(ch: Reader, which: string, params: Record<string, unknown>): Promise<Origin[]> {
  return ch.query<Origin>(
    `SELECT DISTINCT toString(source) AS source, toString(medium) AS medium FROM sessions
     WHERE ${which} ORDER BY source, medium LIMIT ${channelSourcesMax}`,
    params,
  )
}

interface Origin {
  readonly source: string
  readonly medium: string
}

export async function readFilteredFigures(
  ch: Reader,
  request: FiguresRequest,
  { selection, calendar }: Chosen,
): Promise<Figures & { isCutCounted: boolean }> {
  const periods = [request.current, request.previous].filter((period) => period !== undefined)
  const params = { ...countedParams(periods), ...calendar, ...selection.params }
  const sql = countedFiguresSql(periods, selection)
  return { ...(await askFigures(ch, sql, seriesPeriod, request, params)), isCutCounted: true }
}

export interface EventsRequest {
  readonly build: number
  /** Ids of the events that are seen. */
  readonly folded: readonly IdRange[]
  readonly from: number
  readonly to: number
  readonly timezone: string
}

/** Condition: an event between two moments is of a chosen session. */
export function isOfChosenSession({ selection, calendar }: Chosen, request: EventsRequest): BoundSql {
  const { build, folded, from, to, timezone } = request
  const seen = idsIn(folded, 'chosen')
  const isLookedAt = `occurred_at>=${moment('chosen_from')} AND occurred_at<${moment('chosen_to')} AND ${seen.sql}`
  const window = { chosen_from: from - 3 * dayMs, chosen_to: to + 3 * dayMs }
  const days = { chosen_first: localDayAt(from, timezone), chosen_last: localDayAt(to, timezone) }
  const inDays = 'day>={chosen_first:UInt16} AND day<={chosen_last:UInt16}'
  return {
    sql: eventIsOfChosen(chosenRows(selection, inDays, isLookedAt)),
    params: { ...seen.params, ...calendar, ...selection.params, ...window, ...days, build },
  }
}

export interface LiveRequest {
  readonly workspaceId: number
  readonly from: number
  readonly to: number
  readonly folded: readonly IdRange[]
}

/** Visitors with a chosen session between two moments, the last included. */
export async function countChosenVisitors(ch: Reader, request: LiveRequest, isOfChosen: BoundSql): Promise<number> {
  const { workspaceId, from, to, folded } = request
  const seen = idsIn(folded, 'folded')
  const [row] = await ch.query<{ visitors: number }>(
    `SELECT uniqExact(visitor) AS visitors FROM events
     WHERE ${inWorkspace} AND occurred_at>=${moment('from')} AND occurred_at<=${moment('to')} AND ${seen.sql} AND ${isOfChosen.sql}`,
    { ...seen.params, ...isOfChosen.params, workspace: workspaceId, from, to },
    { settings: composedStatement },
  )
  return row!.visitors
}
