/**
 * The delta: rows of `events` that are in ClickHouse for good and in no aggregate yet; and what they add. A run takes up a
 * bounded number of them, those with the lowest ids.
 */
import { idsIn, uniteRanges } from '../../clickhouse/aggregates/id-ranges.ts'
import { generationOf } from '../../clickhouse/aggregates/live-rows.ts'
import { sessionHours } from '../../clickhouse/aggregates/row-scope.ts'
import { type AggregateName, hourOfEvent } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { type AggregationState, type LeaseMark, rangesOf } from '../../postgres/tables/aggregates.ts'
import type { IdRange } from '../../schemas/aggregate-snapshot.ts'
import { aggregateWorkspacesNamed, segmentRowsMax } from '../../schemas/limits.ts'
import { aggregateNames, heavyStatement, type Inserting, insertContributions } from './attempt.ts'
import { liveRowsOf } from './live.ts'
import { type DeltaDay, type Division, dividePieces, type WorkSizes } from './pieces.ts'
import { creditHours } from './recompute-plan.ts'

export interface Delta {
  readonly ranges: readonly IdRange[]
  /** All rows that are aggregated once the delta is. */
  readonly visible: readonly IdRange[]
  /** What the ledger's marks become. */
  readonly marks: readonly LeaseMark[]
  /** Ascending; empty when there are no rows. */
  readonly days: readonly DeltaDay[]
  readonly rows: number
  /** Whether it has all that was shipped. */
  readonly isAllTaken: boolean
  /** Whose rows they are, where these are few. */
  readonly workspaceIds: readonly number[] | undefined
}

/** Undefined: no mark has moved. */
export async function findDelta(ch: ClickHouse, state: AggregationState, sizes: WorkSizes): Promise<Delta | undefined> {
  const all = unaggregatedOf(state, Number.POSITIVE_INFINITY)
  if (all.marks.length === 0) return undefined
  const end = await endOfShare(ch, all.ranges, sizes)
  const chosen = unaggregatedOf(state, end)
  const visible = uniteRanges([...rangesOf(state.aggregated), ...chosen.ranges])
  const { sql, params } = idsIn(chosen.ranges, 'delta')
  const days = await ch.query<DeltaDay & { workspaces: number[] }>(
    `SELECT toUInt32(intDiv(${hourOfEvent}, 24)) AS day, count() AS rows,
       min(${hourOfEvent}) AS firstHour, max(${hourOfEvent}) AS lastHour,
       toUnixTimestamp64Milli(max(occurred_at)) AS lastAt,
       groupUniqArray(${aggregateWorkspacesNamed + 1})(workspace_id) AS workspaces
     FROM events WHERE ${sql} GROUP BY day ORDER BY day`,
    params,
    heavyStatement,
  )
  const workspaces = new Set(days.flatMap((day) => day.workspaces))
  return {
    ...chosen,
    isAllTaken: end === Number.POSITIVE_INFINITY,
    visible,
    days,
    rows: days.reduce((sum, { rows }) => sum + rows, 0),
    workspaceIds: workspaces.size > aggregateWorkspacesNamed ? undefined : [...workspaces],
  }
}

/** The ids up to `throughId` that are shipped and not aggregated, and the marks that they make. */
function unaggregatedOf(state: AggregationState, throughId: number): Pick<Delta, 'ranges' | 'marks'> {
  const aggregated = new Map(state.aggregated.map((mark) => [mark.firstSegment, mark.through]))
  const ranges: IdRange[] = []
  const marks: LeaseMark[] = []
  for (const { firstSegment, endSegment, through: shipped } of state.shipped) {
    const before = aggregated.get(firstSegment) ?? firstSegment * segmentRowsMax - 1
    const through = Math.min(shipped, throughId)
    if (through <= before) continue
    ranges.push({ from: before + 1, through })
    marks.push({ firstSegment, endSegment, through })
  }
  return { ranges: uniteRanges(ranges), marks }
}

/** The id up to which a run goes, so that it has no more rows than it should: at least those of one slice. */
async function endOfShare(
  ch: ClickHouse,
  ranges: readonly IdRange[],
  { runRows, sliceIds }: WorkSizes,
): Promise<number> {
  const { sql, params } = idsIn(ranges, 'delta')
  const slices = await ch.query<{ slice: number; rows: number }>(
    `SELECT intDiv(id, ${sliceIds}) AS slice, count() AS rows FROM events WHERE ${sql} GROUP BY slice ORDER BY slice`,
    params,
    heavyStatement,
  )
  let rows = 0
  for (const [at, slice] of slices.entries()) {
    rows += slice.rows
    if (rows > runRows && at > 0) return slice.slice * sliceIds - 1
  }
  return Number.POSITIVE_INFINITY
}

/** How far a new row reaches: the hours before and after its own whose aggregates it can change. */
const reachOf = (name: AggregateName): Omit<Division, 'days' | 'liveDays' | 'rowsMax'> => {
  if (name === 'agg_sessions') return { hoursBefore: sessionHours, hoursAfter: sessionHours, gapMax: 2 * sessionHours }
  // A late touch changes later conversions, and a late first event those of its session.
  if (name === 'agg_conversions')
    return { hoursBefore: sessionHours, hoursAfter: creditHours, gapMax: 2 * sessionHours }
  return { hoursBefore: 0, hoursAfter: 0, gapMax: Number.POSITIVE_INFINITY }
}

/** Conversions look touches up, and so come last. */
export const namesInOrder: readonly AggregateName[] = [
  ...aggregateNames.filter((name) => name !== 'agg_conversions'),
  'agg_conversions',
]

/** Writes what the delta adds to all tables. */
export async function writeDelta(
  work: Inserting,
  attempt: number,
  state: AggregationState,
  delta: Delta,
  { statementRows }: WorkSizes,
): Promise<void> {
  const liveDays = new Set(state.generations.map(({ day }) => day))
  const own = delta.days.map(({ day }) => ({ day, generation: generationOf(attempt, day) }))
  const withOwn = { generations: [...state.generations, ...own], resets: state.resets }
  for (const name of namesInOrder) {
    for (const { hours, part, isNew } of dividePieces({
      days: delta.days,
      liveDays,
      rowsMax: statementRows,
      ...reachOf(name),
    })) {
      const near: [number, number] = [hours.start - creditHours - 1, hours.end]
      await insertContributions(
        work,
        attempt,
        name,
        {
          visible: delta.visible,
          uncounted: isNew ? 'everything' : delta.ranges,
          hours,
          ...(part === undefined ? {} : { part }),
          ...(delta.workspaceIds === undefined ? {} : { workspaceIds: delta.workspaceIds }),
        },
        {
          touches: liveRowsOf(withOwn, ...near),
          conversions: isNew ? undefined : liveRowsOf(state, ...near),
        },
      )
    }
  }
}
