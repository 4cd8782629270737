/**
 * One run of the aggregator: what is new is written as generations of its own, then one transaction in Postgres makes it
 * count, together with the marks up to which it was read. Whatever dies in between has done nothing. Decisions/0007.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import {
  type AggregationState,
  commitToLedger,
  readAggregationState,
  type StoredGeneration,
  takeAttempt,
} from '../../postgres/tables/aggregates.ts'
import { aggregateRepairsMax } from '../../schemas/limits.ts'
import { dropGenerations, generationsOf } from './attempt.ts'
import { type Delta, findDelta, writeDelta } from './delta.ts'

export interface Aggregating {
  readonly pg: Postgres
  readonly ch: ClickHouse
  /** Called before every statement; throws when the work is to end. */
  readonly beforeEach: () => Promise<void>
}

export interface RunOutcome {
  /** Rows of `events` that were taken up. */
  readonly rows: number
  /** Generations that count now. */
  readonly generations: number
  /** Whether nothing is left of what had been shipped when it began. */
  readonly isAllTaken: boolean
}

/** What another run did meanwhile makes this one's work void: it is left out, and taken up again by the next one. */
export async function aggregate({ pg, ch, beforeEach }: Aggregating): Promise<RunOutcome> {
  const state = await readAggregationState(pg, aggregateRepairsMax)
  const before = state.generations.length
  const delta = await findDelta(ch, state)
  if (delta === undefined) return { rows: 0, generations: before, isAllTaken: true }
  const { isAllTaken, marks } = delta
  let added: Omit<StoredGeneration, 'writtenAt'>[] = []
  if (delta.rows > 0) {
    const attempt = await takeAttempt(pg)
    await writeDelta(ch, attempt, state, delta, beforeEach)
    added = await writtenBy(ch, attempt, state, delta)
  }
  if (await commitToLedger(pg, { revision: state.revision, marks, added })) {
    return { rows: delta.rows, generations: before + added.length, isAllTaken }
  }
  await dropGenerations(
    ch,
    added.map(({ generation }) => generation),
  )
  return { rows: 0, generations: before, isAllTaken: false }
}

async function writtenBy(
  ch: ClickHouse,
  attempt: number,
  state: AggregationState,
  delta: Delta,
): Promise<Omit<StoredGeneration, 'writtenAt'>[]> {
  const written = await generationsOf(ch, attempt)
  return written.map(({ generation, day }) => ({
    generation,
    day,
    level: 0,
    isWhole: false,
    lastAt: lastAtOf(day, state, delta),
  }))
}

/** Of the day and the next one, into which its sessions reach. */
function lastAtOf(day: number, state: AggregationState, delta: Delta): number {
  const near = [...state.generations, ...delta.days].filter((one) => one.day === day || one.day === day + 1)
  return Math.max(...near.map(({ lastAt }) => lastAt))
}
