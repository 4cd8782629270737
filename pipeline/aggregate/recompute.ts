/**
 * Computes hours from scratch, under an attempt of its own, greater than that of the delta: resets make these rows count in
 * place of all earlier ones of their hours. Of whole days the earlier generations leave the list instead.
 */
import { generationOf } from '../../clickhouse/aggregates/live-rows.ts'
import { type RowScope, scopeSql } from '../../clickhouse/aggregates/row-scope.ts'
import { hourOfEvent } from '../../clickhouse/aggregates/tables.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { AggregateReset, IdRange } from '../../schemas/aggregate-snapshot.ts'
import { aggregateWorkspacesNamed } from '../../schemas/limits.ts'
import { heavyStatement, insertContributions } from './attempt.ts'
import { namesInOrder } from './delta.ts'
import { type Listed, liveRowsOf, withResets } from './live.ts'
import type { WorkSizes } from './pieces.ts'
import { creditHours, type RecomputePlan, type Unit } from './recompute-plan.ts'

export interface Recomputing {
  readonly ch: ClickHouse
  readonly attempt: number
  /** What will count beside the rows written here, the delta's generations included. */
  readonly listed: Listed
  readonly visible: readonly IdRange[]
  readonly beforeEach: () => Promise<void>
  readonly sizes: WorkSizes
}

export interface Recomputed {
  readonly resets: readonly AggregateReset[]
  /** Time of the latest event that was looked at, by UTC day. */
  readonly lastAts: ReadonlyMap<number, number>
}

export async function recompute(work: Recomputing, plan: RecomputePlan): Promise<Recomputed> {
  const { attempt } = work
  const units: SizedUnit[] = []
  for (const unit of plan.units) units.push(await measure(work, unit))
  const resets = units.flatMap(({ keys = [] }) =>
    keys.map((key) => ({ ...key, generation: generationOf(attempt, Math.floor(key.hour / 24)) })),
  )
  const whole = new Set(plan.wholeDays)
  const counted: Listed = {
    generations: work.listed.generations.filter(({ day }) => !whole.has(day)),
    resets: withResets(work.listed.resets, resets),
  }
  const days = new Set(units.flatMap(({ hours }) => daysOf(hours.start, hours.end)))
  const withOwn: Listed = {
    ...counted,
    generations: [...counted.generations, ...[...days].map((day) => ({ day, generation: generationOf(attempt, day) }))],
  }
  for (const name of namesInOrder) {
    const isConversions = name === 'agg_conversions'
    for (const unit of units) {
      const keys = isConversions ? uncorrectedKeys(unit.keys, plan) : unit.keys
      if (keys?.length === 0) continue
      await write(work, name, { ...unit.scope, ...(keys === undefined ? {} : { keys }) }, unit.rows, withOwn, undefined)
    }
  }
  await correct(work, plan, counted, withOwn)
  const lastAts = new Map<number, number>()
  for (const unit of units) {
    for (const [day, at] of unit.lastAts) lastAts.set(day, Math.max(at, lastAts.get(day) ?? 0))
  }
  return { resets, lastAts }
}

/** The conversions of hours that are corrected anyway are left to that. */
function uncorrectedKeys(keys: Unit['keys'], { corrections }: RecomputePlan): Unit['keys'] {
  const workspaces = new Set(corrections.workspaceIds)
  return keys?.filter(
    ({ workspaceId, hour }) =>
      !workspaces.has(workspaceId) || !corrections.spans.some(({ start, end }) => hour >= start && hour < end),
  )
}

/** All conversions of these hours are computed, and replace what was counted of them, where it is something else. */
async function correct(
  work: Recomputing,
  { corrections }: RecomputePlan,
  counted: Listed,
  withOwn: Listed,
): Promise<void> {
  const { spans, workspaceIds } = corrections
  for (let at = 0; at < workspaceIds.length; at += aggregateWorkspacesNamed) {
    for (const hours of spans) {
      const ids = workspaceIds.slice(at, at + aggregateWorkspacesNamed)
      const scope: RowScope = { visible: work.visible, uncounted: 'everything', hours, workspaceIds: ids }
      const { rows } = await countRows(work.ch, scope, `${scopeSql(scope).inHours} AND kind = 'conversion'`)
      await write(work, 'agg_conversions', scope, rows, withOwn, counted)
    }
  }
}

interface SizedUnit extends Unit {
  readonly scope: RowScope
  readonly rows: number
  readonly lastAts: ReadonlyMap<number, number>
}

async function measure({ ch, visible }: Recomputing, unit: Unit): Promise<SizedUnit> {
  const workspaceIds = unit.keys && [...new Set(unit.keys.map(({ workspaceId }) => workspaceId))]
  const isNamed = workspaceIds !== undefined && workspaceIds.length <= aggregateWorkspacesNamed
  const scope: RowScope = {
    visible,
    uncounted: 'everything',
    hours: unit.hours,
    ...(isNamed ? { workspaceIds } : {}),
  }
  return { ...unit, scope, ...(await countRows(ch, scope, scopeSql(scope).nearHours)) }
}

async function countRows(
  ch: ClickHouse,
  scope: RowScope,
  condition: string,
): Promise<{ rows: number; lastAts: Map<number, number> }> {
  const days = await ch.query<{ day: number; rows: number; lastAt: number }>(
    `SELECT toUInt32(intDiv(${hourOfEvent}, 24)) AS day, count() AS rows, toUnixTimestamp64Milli(max(occurred_at)) AS lastAt
     FROM events WHERE ${condition} GROUP BY day`,
    scopeSql(scope).params,
    heavyStatement,
  )
  return {
    rows: days.reduce((sum, { rows }) => sum + rows, 0),
    lastAts: new Map(days.map(({ day, lastAt }) => [day, lastAt])),
  }
}

async function write(
  work: Recomputing,
  name: (typeof namesInOrder)[number],
  scope: RowScope,
  rows: number,
  touched: Listed,
  before: Listed | undefined,
): Promise<void> {
  const { attempt, sizes } = work
  const of = Math.max(1, Math.ceil(rows / sizes.statementRows))
  const near: [number, number] = [scope.hours.start - creditHours - 1, scope.hours.end]
  for (let remainder = 0; remainder < of; remainder++) {
    await insertContributions(work, attempt, name, of === 1 ? scope : { ...scope, part: { remainder, of } }, {
      touches: liveRowsOf(touched, ...near),
      conversions: before && liveRowsOf(before, ...near),
    })
  }
}

function daysOf(startHour: number, endHour: number): number[] {
  const first = Math.floor(startHour / 24)
  return Array.from({ length: Math.ceil(endHour / 24) - first }, (_, at) => first + at)
}
