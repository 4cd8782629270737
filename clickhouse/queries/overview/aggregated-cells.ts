/**
 * Where the rows of whole hours are found among the aggregates, cut so that answers stay usable: whole days, which stay what
 * they are, apart from the hours of days to which rows come.
 */
import type { AggregateReset, AggregateSnapshot, LiveGeneration } from '../../../schemas/aggregate-snapshot.ts'
import { aggregateSettledLevel } from '../../../schemas/limits.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { chooseBlocks, daysOf } from '../../aggregates/blocks.ts'
import { liveRowsIn } from '../../aggregates/live-rows.ts'
import type { HourSpan } from '../../aggregates/row-scope.ts'
import type { BoundSql } from '../../bound-sql.ts'
import type { Growing } from '../../query-options.ts'
import type { ReadableSpan } from './span.ts'

export const dayHours = 24

export interface AggregatedCell extends BoundSql {
  /** Where others come with the next commits, and are merged, by a parameter `workspaces`; else it stays what it is for good. */
  readonly growing?: Growing
}

export interface AggregatedCellOptions {
  /** Tells the parameters from those of other cells in a statement. */
  readonly name: string
  /** Moments that no cell may have inside it (milliseconds). */
  readonly edges: readonly number[]
  readonly hours: HourSpan
  /** Hours that are left out. */
  readonly cutHours: readonly number[]
}

/** Of the generations of a snapshot that count, each row of the hours is in one cell. */
export function aggregatedCells(
  span: ReadableSpan,
  snapshot: AggregateSnapshot,
  { name, edges, hours, cutHours }: AggregatedCellOptions,
): AggregatedCell[] {
  if (hours.start >= hours.end) return []
  const resets = snapshot.resets.filter(({ workspaceId }) => workspaceId === span.workspaceId)
  const divided = new Set([
    ...cutHours.map(dayOf),
    ...resets.map(({ hour }) => dayOf(hour)),
    ...edges.filter((edge) => edge % (dayHours * hourMs) !== 0).map((edge) => dayOf(hourOf(edge))),
  ])
  const isWholeTaken = (day: number) =>
    day * dayHours >= hours.start && (day + 1) * dayHours <= hours.end && !divided.has(day)
  const edgeDays = edges.map((edge) => dayOf(hourOf(edge)))
  const blocks = chooseBlocks(snapshot.blocks, (block) => {
    const isCut = edgeDays.some((day) => day > block.firstDay && day < block.firstDay + block.days)
    return !isCut && daysOf(block).every(isWholeTaken)
  })
  const inBlocks = new Set(blocks.flatMap(daysOf))
  const whole = blocks.map(({ generation, firstDay }) => ({ generation, day: firstDay }))
  const open: LiveGeneration[] = []
  for (const listed of snapshot.generations) {
    const { day, generation, isWhole } = listed
    if (isWhole && isWholeTaken(day)) {
      if (!inBlocks.has(day)) whole.push({ generation, day })
    } else if ((day + 1) * dayHours > hours.start && day * dayHours < hours.end) {
      open.push(listed)
    }
  }
  const ofDays = {
    sql: `workspace_id = {workspace:UInt32} AND is_day = 1
      AND hour IN {${name}_day_hours:Array(UInt32)} AND generation IN {${name}_days:Array(UInt64)}`,
    params: {
      workspace: span.workspaceId,
      [`${name}_days`]: whole.map(({ generation }) => generation),
      // They say nothing new, but where to look.
      [`${name}_day_hours`]: whole.map(({ day }) => day * dayHours),
    },
  }
  return [
    ...(whole.length === 0 ? [] : [ofDays]),
    ...hourCells(span, snapshot, { name, hours, cutHours, open, resets }),
  ]
}

/**
 * Over rows of hours. Where rows come to the days behind the first one of the range, they have a cell of their own that says
 * nothing of the hours with which the range begins and ends: when these are others, an hour later, it is asked as before.
 */
function hourCells(
  { workspaceId }: ReadableSpan,
  snapshot: AggregateSnapshot,
  { name, hours, cutHours, open, resets }: HourCellOptions,
): AggregatedCell[] {
  const cell = (cellName: string, { start, end }: HourSpan, generations: readonly LiveGeneration[]): AggregatedCell => {
    const live = liveRowsIn(
      { generations: generations.map(({ generation }) => generation), resets },
      `${cellName}_hours`,
    )
    const cutSql = cutHours.length === 0 ? '' : ` AND hour NOT IN {${cellName}_cut:Array(UInt32)}`
    return {
      sql: `workspace_id IN {workspaces:Array(UInt32)} AND is_day = 0
        AND hour >= {${cellName}_start:UInt32} AND hour < {${cellName}_end:UInt32} AND ${live.sql}${cutSql}`,
      params: {
        workspaces: [workspaceId],
        [`${cellName}_start`]: start,
        [`${cellName}_end`]: end,
        ...live.params,
        ...(cutHours.length === 0 ? {} : { [`${cellName}_cut`]: cutHours }),
      },
      growing: { parameter: `${cellName}_hours`, generations },
    }
  }
  if (open.length === 0) return []
  const end = endBehind(snapshot, hours.end)
  const secondDay = Math.ceil(hours.start / dayHours) * dayHours
  const [ofFirst, others] = [true, false].map((isFirst) =>
    open.filter(({ day }) => day * dayHours < secondDay === isFirst),
  ) as [LiveGeneration[], LiveGeneration[]]
  if (ofFirst.length === 0 || !others.some(isFresh)) return [cell(name, { start: hours.start, end }, open)]
  return [
    cell(`${name}_first`, { start: hours.start, end: secondDay }, ofFirst),
    cell(name, { start: secondDay, end }, others),
  ]
}

interface HourCellOptions {
  readonly name: string
  readonly hours: HourSpan
  readonly cutHours: readonly number[]
  readonly open: readonly LiveGeneration[]
  readonly resets: readonly AggregateReset[]
}

/** Where nothing is counted between an hour and the end of its day, that end is as good as the hour, and stays for the day. */
export function endBehind(snapshot: AggregateSnapshot, hour: number): number {
  return isCountedUpTo(snapshot, hour * hourMs) ? Math.ceil(hour / dayHours) * dayHours : hour
}

/** Whether nothing is counted at a moment or behind it, in the day that it lies in or ends. */
export function isCountedUpTo({ generations }: AggregateSnapshot, moment: number): boolean {
  const lastDay = dayOf(hourOf(moment - 1))
  return generations.every(({ day, lastAt }) => day !== lastDay || lastAt < moment)
}

/** Whether others come to a generation's day all the time. */
export function isFresh({ isWhole, level }: LiveGeneration): boolean {
  return !isWhole && level < aggregateSettledLevel
}

export function hourOf(moment: number): number {
  return Math.floor(moment / hourMs)
}

export function dayOf(hour: number): number {
  return Math.floor(hour / dayHours)
}
