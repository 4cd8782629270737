/** Which rows of visitors a workspace may read. */
import type { VisitorRows } from '../../../clickhouse/queries/people/visitors.ts'
import { readCurrentBuild } from '../../../postgres/tables/figures/figure-builds.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { localDayAt } from '../../../schemas/time/time-zone.ts'
import type { CallContext } from '../define.ts'

export interface ReadableVisitors extends VisitorRows {
  readonly timezone: string
  /** The moment before which nothing is shown; milliseconds since 1970. */
  readonly since: number
}

export async function readableVisitors({ workspace, stores, clock }: CallContext): Promise<ReadableVisitors> {
  const current = await readCurrentBuild(stores.pg, workspace.id)
  const timezone = current?.timezone ?? workspace.timezone
  const since = readableFrom({ ...workspace, timezone }, clock.now())
  // Build 0 has no rows.
  return {
    workspaceId: workspace.id,
    build: current?.build ?? 0,
    timezone,
    since,
    firstDay: localDayAt(since, timezone),
  }
}
