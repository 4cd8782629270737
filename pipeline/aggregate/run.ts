/**
 * One run of the aggregator: what is new is written as generations of its own, then one transaction in Postgres makes it
 * count, together with the marks up to which it was read. Whatever dies in between has done nothing. Decisions/0007; held
 * by test/property/aggregates.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import type { HourKey } from '../../postgres/tables/aggregate-repairs.ts'
import {
  type AggregationState,
  commitToLedger,
  type LedgerChange,
  type NewGeneration,
  type Repair,
  rangesOf,
  readAggregationState,
} from '../../postgres/tables/aggregates.ts'
import { aggregateRepairDaysMax, aggregateRepairsMax } from '../../schemas/limits.ts'
import { beginAttempt, dropGenerations, generationsOf, heavyStatement } from './attempt.ts'
import { type Delta, findDelta, writeDelta } from './delta.ts'
import { usualSizes, type WorkSizes } from './pieces.ts'
import { recompute } from './recompute.ts'
import { planRecompute } from './recompute-plan.ts'

export interface Aggregating {
  readonly pg: Postgres
  readonly ch: ClickHouse
  /** Called before every statement; throws when the work is to end. */
  readonly beforeEach: () => Promise<void>
  /** The usual ones when left out. */
  readonly sizes?: WorkSizes
}

export interface RunOutcome {
  /** Rows of `events` that were taken up. */
  readonly rows: number
  /** Generations that count now. */
  readonly generations: number
  /** Whether nothing is left of what had been shipped or recorded when it began. */
  readonly isAllTaken: boolean
}

/** What another run did meanwhile makes this one's work void: it is left out, and taken up again by the next one. */
export async function aggregate(work: Aggregating): Promise<RunOutcome> {
  const { pg, ch, sizes = usualSizes } = work
  const state = await readAggregationState(pg, aggregateRepairsMax)
  const live = state.generations.length
  const delta = await findDelta(ch, state, sizes)
  const repairs = shareOf(state.repairs)
  if (delta === undefined && repairs.length === 0) return { rows: 0, generations: live, isAllTaken: true }

  const added = delta === undefined || delta.rows === 0 ? [] : await addDelta(work, state, delta)
  const anew = await computeAnew(work, { state, delta, repairs, added })
  const change: LedgerChange = {
    revision: state.revision,
    repairIds: repairs.flatMap(({ ids }) => ids),
    ...(delta === undefined ? {} : { marks: delta.marks }),
    ...anew,
  }
  if (await commitToLedger(pg, change)) {
    return {
      rows: delta?.rows ?? 0,
      generations: live + anew.added.length - anew.removed.length,
      isAllTaken: (delta?.isAllTaken ?? true) && repairs.length === state.repairs.length,
    }
  }
  await dropGenerations(
    ch,
    [...added, ...anew.added].map(({ generation }) => generation),
  )
  return { rows: 0, generations: live, isAllTaken: false }
}

/** The first ones, of as many days as a run may compute anew. */
function shareOf(repairs: readonly Repair[]): Repair[] {
  const days = new Set<number>()
  return repairs.filter(({ hour }) => {
    const day = Math.floor(hour / 24)
    if (days.size < aggregateRepairDaysMax) days.add(day)
    return days.has(day)
  })
}

async function addDelta(work: Aggregating, state: AggregationState, delta: Delta): Promise<NewGeneration[]> {
  const attempt = await beginAttempt(work)
  await writeDelta(work, attempt, state, delta, work.sizes ?? usualSizes)
  const lastAts = lastAtsOf(state, new Map(delta.days.map(({ day, lastAt }) => [day, lastAt])))
  return writtenBy(work.ch, attempt, lastAts)
}

interface Anew {
  readonly state: AggregationState
  readonly delta: Delta | undefined
  readonly repairs: readonly Repair[]
  /** What the delta has written. */
  readonly added: readonly NewGeneration[]
}

/** The generations to add, the delta's included, and what they replace. */
async function computeAnew(
  { pg, ch, beforeEach, sizes = usualSizes }: Aggregating,
  { state, delta, repairs, added }: Anew,
): Promise<Required<Pick<LedgerChange, 'added' | 'removed' | 'resets'>>> {
  const plan = planRecompute(await retractedIn(ch, added), repairs, sizes)
  if (plan.units.length === 0) return { added, removed: [], resets: [] }
  const attempt = await beginAttempt({ pg, ch })
  const visible = delta?.visible ?? rangesOf(state.aggregated)
  const listed = { generations: [...state.generations, ...added], resets: state.resets }
  const { resets, lastAts } = await recompute({ ch, attempt, listed, visible, beforeEach, sizes }, plan)
  const written = await writtenBy(ch, attempt, lastAtsOf(listed, lastAts))
  const whole = new Set(plan.wholeDays)
  return {
    added: [...added.filter(({ day }) => !whole.has(day)), ...written],
    removed: state.generations.filter(({ day }) => whole.has(day)).map(({ generation }) => generation),
    resets,
  }
}

/** Hours of workspaces that a session has left, or is counted in as another visitor's. */
async function retractedIn(ch: ClickHouse, added: readonly NewGeneration[]): Promise<HourKey[]> {
  if (added.length === 0) return []
  return ch.query<HourKey>(
    `SELECT DISTINCT workspace_id AS workspaceId, hour FROM agg_sessions
     WHERE generation IN {added:Array(UInt64)} AND dimension = 'retracted'`,
    { added: added.map(({ generation }) => generation) },
    heavyStatement,
  )
}

/** The generations of an attempt, as the ledger takes them. */
export async function writtenBy(
  ch: ClickHouse,
  attempt: number,
  lastAtOf: (day: number) => number,
): Promise<NewGeneration[]> {
  const written = await generationsOf(ch, attempt)
  const unmerged = { level: 0, isWhole: false, newest: attempt, parts: 1 }
  return written.map(({ generation, day }) => ({ generation, day, lastAt: lastAtOf(day), ...unmerged }))
}

/** By day, the latest event that can be counted in it: of its own, and of the next day, into which its sessions reach. */
export function lastAtsOf(
  { generations }: { readonly generations: readonly NewGeneration[] },
  added: ReadonlyMap<number, number>,
): (day: number) => number {
  return (day) => {
    const near = generations.filter((one) => one.day === day || one.day === day + 1).map(({ lastAt }) => lastAt)
    const own = [added.get(day) ?? 0, added.get(day + 1) ?? 0]
    return Math.max(...near, ...own)
  }
}
