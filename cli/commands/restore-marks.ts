import { readPostgresClock } from '../../postgres/clock.ts'
import { raiseDeadMarks } from '../../postgres/tables/segment-leases.ts'
import { sleep } from '../../runtime/retry.ts'
import { leaseSilentMs } from '../../schemas/limits/figure-limits.ts'
import { defineCommand } from '../command.ts'
import { countRowsAbove, findLeasesAboveMarks } from '../figures/rows-above-marks.ts'

/**
 * A node that is up publishes its marks twice a second. One that says nothing while the command waits is taken for gone:
 * all that it will ever store is stored, so the largest id is its mark. For a node that is only down this may be wrong.
 * Rows in its folder may have ids below the largest, and the fold would never look for them there. That is why the nodes
 * that come back must be up before. Where one wasn't, a rebuild helps: it reads all rows below the marks.
 */
export const restoreMarks = defineCommand({
  name: 'restore marks',
  summary:
    'After a restore of Postgres: count the events of ingest nodes that are gone. All others must be up, and no import or seed run.',
  options: {},
  async run({ installation, progress, signal }) {
    const pg = installation.postgres()
    const found = await findLeasesAboveMarks(installation)
    if (found.length === 0) return []
    const since = await readPostgresClock(pg)
    progress.line(`waits ${leaseSilentMs / 1000} seconds for the ingest nodes that are up`)
    await sleep(leaseSilentMs, signal)
    signal.throwIfAborted()
    const raised = new Set(
      await raiseDeadMarks(
        pg,
        found.map(({ storedThrough }) => storedThrough),
        since,
      ),
    )
    return countRowsAbove(
      installation.clickhouse(),
      found.filter(({ firstSegment }) => raised.has(firstSegment)),
    )
  },
  show: (leases) =>
    leases.length === 0
      ? 'no node is gone whose events are above its marks'
      : leases.map(({ lease, rows }) => `lease ${lease}: events that figures count from now on: ${rows}`).join('\n') +
        '\nIf a node was down meanwhile and comes back, run `svc figures rebuild` then.',
})
