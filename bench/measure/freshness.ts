/** Watches, while a load runs, how old the newest visible event is and how much of the log waits. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { sleep } from '../../runtime/retry.ts'
import type { Installation } from '../installation.ts'
import { latencyOf } from '../load/latency.ts'
import type { Latency } from '../load/load-plan.ts'

export interface Sample {
  /** Seconds since the watch began. */
  readonly at: number
  readonly lagMs: number
  readonly backlogBytes: number
}

const usuallyEveryMs = 250
/** The first events need a moment; until then there is no newest one. */
const settleSeconds = 2

/** The part inserted last holds the newest events, and reading it alone costs no more as the table grows. */
const newestReceived = `SELECT toUnixTimestamp64Milli(max(arrived_at)) AS newest FROM events WHERE _part = (
  SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'events' AND active
  ORDER BY max_block_number DESC LIMIT 1)`

/**
 * @param everyMs a look takes ClickHouse some ten milliseconds: seldom where what is measured runs beside it
 * @returns a function that ends the watch and gives its samples
 */
export function watchFreshness(installation: Installation, everyMs = usuallyEveryMs): () => Promise<Sample[]> {
  const samples: Sample[] = []
  const startedAt = performance.now()
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const dueAt = performance.now() + everyMs
      const [newest, backlog] = await Promise.all([readNewest(installation.ch), installation.backlog()])
      const at = (performance.now() - startedAt) / 1000
      if (newest !== undefined) samples.push({ at, lagMs: Date.now() - newest, backlogBytes: backlog.bytes })
      await sleep(Math.max(1, dueAt - performance.now()))
    }
  })()
  watching.catch(() => {})
  return async () => {
    isOver = true
    await watching
    return samples.filter(({ at }) => at >= settleSeconds)
  }
}

/** Milliseconds since 1970. A part may be merged away between being named and being read: it is asked for again. */
async function readNewest(ch: ClickHouse): Promise<number | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const [row] = await ch.query<{ newest: number }>(newestReceived)
    if (row && Number(row.newest) > 0) return Number(row.newest)
  }
  return undefined
}

export function lagOf(samples: readonly Sample[]): Latency {
  return latencyOf(samples.map(({ lagMs }) => lagMs))
}

export interface BacklogCourse {
  /** Means of the second and of the last quarter of the time, in bytes. */
  readonly early: number
  readonly late: number
  readonly max: number
  /** The last quarter's isn't clearly above the second's. */
  readonly isFlat: boolean
}

/** One insert's worth of bytes more or less is chance. */
const chanceBytes = 4_000_000

export function backlogCourse(samples: readonly Sample[]): BacklogCourse {
  const end = samples.at(-1)?.at ?? 0
  const mean = (from: number, to: number) => {
    const within = samples.filter(({ at }) => at >= end * from && at <= end * to)
    return within.reduce((sum, { backlogBytes }) => sum + backlogBytes, 0) / Math.max(1, within.length)
  }
  const [early, late] = [Math.round(mean(0.25, 0.5)), Math.round(mean(0.75, 1))]
  const max = samples.reduce((most, { backlogBytes }) => Math.max(most, backlogBytes), 0)
  return { early, late, max, isFlat: late <= 1.5 * early + chanceBytes }
}
