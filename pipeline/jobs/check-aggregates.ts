/**
 * Compares aggregates with the raw rows: of yesterday, of the day before, and of one earlier day by chance. What differs is
 * recorded to be computed anew, and counted: it never should.
 */
import { recordRepairs } from '../../postgres/tables/aggregate-repairs.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { listWorkspaces } from '../../postgres/tables/workspaces.ts'
import { dayMs } from '../../schemas/time-zone.ts'
import { checkDayTwice } from '../aggregate/check.ts'
import type { JobContext } from '../job.ts'
import { keptFromOf } from '../retention.ts'

export async function checkAggregates(context: JobContext, random: () => number = Math.random): Promise<void> {
  const { pg, ch, clock, log, metrics, signal } = context
  const now = clock.now()
  const keptFrom = keptFromOf(await listWorkspaces(pg), now)
  const { generations } = await readSnapshot(pg)
  let differences = 0
  for (const day of chooseDays(generations, Math.floor(now / dayMs), random)) {
    signal.throwIfAborted()
    const found = await checkDayTwice(pg, ch, day, { keptFrom })
    if (found.length === 0) continue
    differences += found.length
    log.error({ day, differences: found.length, first: found[0] }, 'aggregates differ from the events they count')
    await recordRepairs(pg, found)
  }
  metrics.aggregateDifferencesAre(differences)
}

function chooseDays(generations: readonly { readonly day: number }[], today: number, random: () => number): number[] {
  const days = [...new Set(generations.map(({ day }) => day))].sort((a, b) => a - b)
  const older = days.filter((day) => day < today - 2)
  const recent = days.filter((day) => day === today - 1 || day === today - 2)
  const [byChance] = older.slice(Math.floor(random() * older.length))
  return byChance === undefined ? recent : [byChance, ...recent]
}
