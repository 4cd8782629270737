/** Copies events from before a browser was bound to a contact. A round is bounded: the other browsers wait for the next one. */
import { copyPastOf, countPastOf, type VisitorOf } from '../../clickhouse/queries/people/copy-events.ts'
import type { Queryable } from '../../postgres/client.ts'
import { listOpenBuildsOf } from '../../postgres/tables/figures/figure-builds.ts'
import { readBindingsOfVisitors } from '../../postgres/tables/people/bindings.ts'
import type { PeopleWork } from '../../postgres/tables/people/people-work.ts'
import type { LeasedStores } from '../fold/fold.ts'
import { nameOf } from '../fold/read-touched.ts'

type Stores = Pick<LeasedStores, 'pg' | 'ch'>

/** The first items of `taken` whose past events together are at most `eventsMax`. The first browser is among them, whatever it has. */
export async function withinPastMax(
  { pg, ch }: Stores,
  taken: readonly PeopleWork[],
  eventsMax: number,
): Promise<readonly PeopleWork[]> {
  const bound = boundIn(taken)
  if (bound.length < 2) return taken
  const events = await countPastOf(ch, bound, await currentBuilds(pg, bound))
  let room = eventsMax
  let isFirst = true
  for (const [at, { workspaceId, visitor }] of taken.entries()) {
    if (visitor === null) continue
    room -= events.get(nameOf(workspaceId, visitor)) ?? 0
    if (room < 0 && !isFirst) return taken.slice(0, at)
    isFirst = false
  }
  return taken
}

/** @returns the contacts that the browsers are bound to, because their own work items may be done already */
export async function copyPast(
  { pg, ch }: Stores,
  waiting: readonly PeopleWork[],
  visible: Parameters<typeof copyPastOf>[3],
): Promise<number[]> {
  const bound = boundIn(waiting)
  if (bound.length === 0) return []
  await copyPastOf(ch, bound, await currentBuilds(pg, bound), visible)
  return (await readBindingsOfVisitors(pg, bound)).map(({ contactId }) => contactId)
}

/** Visitors whose binding to a contact has changed. */
function boundIn(waiting: readonly PeopleWork[]): VisitorOf[] {
  return waiting.flatMap(({ workspaceId, visitor }) => (visitor === null ? [] : [{ workspaceId, visitor }]))
}

async function currentBuilds(pg: Queryable, visitors: readonly VisitorOf[]): Promise<number[]> {
  const workspaceIds = new Set(visitors.map(({ workspaceId }) => workspaceId))
  return (await listOpenBuildsOf(pg, [...workspaceIds]))
    .filter(({ state }) => state === 'current')
    .map(({ build }) => build)
}
