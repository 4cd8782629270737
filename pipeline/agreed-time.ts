/**
 * The time by which data is deleted. A clock that has run ahead would delete data that may still be read, for good. So
 * this machine's clock is first compared with those of the stores, which are other machines in production.
 */
import { readClickHouseClock } from '../clickhouse/clock.ts'
import { readPostgresClock } from '../postgres/clock.ts'
import { deletionClockOffMaxMs } from '../schemas/limits/retention-limits.ts'
import type { JobContext } from './queue/job.ts'

/** Two clocks disagree, and it is unknown which one is right, so nothing was deleted. */
class ClocksDisagree extends Error {
  override name = 'ClocksDisagree'
}

/**
 * The earliest of the times that this machine and the stores tell, in milliseconds since 1970. By it nothing is deleted
 * too soon.
 * @throws ClocksDisagree when they are more than `deletionClockOffMaxMs` apart
 */
export async function agreedTime({ pg, ch, clock, metrics }: Pick<JobContext, 'pg' | 'ch' | 'clock' | 'metrics'>) {
  const [postgres, clickhouse] = await Promise.all([readPostgresClock(pg), readClickHouseClock(ch)])
  const own = clock.now()
  const times = { postgres, clickhouse }
  for (const [store, time] of Object.entries(times)) metrics.clockIsOff(store, (time - own) / 1000)
  const all = Object.entries({ 'this machine': own, ...times }).sort(([, a], [, b]) => a - b)
  const [earliest, latest] = [all[0]!, all.at(-1)!]
  if (latest[1] - earliest[1] <= deletionClockOffMaxMs) return earliest[1]
  const shown = all.map(([name, time]) => `${name} ${new Date(time).toISOString()}`).join(', ')
  throw new ClocksDisagree(`nothing is deleted while clocks disagree: ${shown}`)
}
