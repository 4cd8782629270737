/** The owner's workspaces, and a demo among them: one with made-up visits, to look around before there are own ones. */
import { z } from 'zod'
import type { ClickHouse } from '../../../clickhouse/client.ts'
import { insertSeed } from '../../../clickhouse/seed/insert-seed.ts'
import { eventsByWorkspace } from '../../../clickhouse/seed/plan.ts'
import type { Postgres } from '../../../postgres/client.ts'
import { advanceMark, leaseSegments } from '../../../postgres/tables/segment-leases.ts'
import { createTrackingKey } from '../../../postgres/tables/tracking-keys.ts'
import { createWorkspace, holdWorkspace, listWorkspacesOf, type PlanKey } from '../../../postgres/tables/workspaces.ts'
import { segmentLeaseSize } from '../../../schemas/limits/core-limits.ts'
import { demoDays, demoEvents } from '../../../schemas/limits/seed-limits.ts'
import { defineOperation } from '../../operations/define.ts'

const demoName = 'Demo'
const OwnWorkspace = z.object({ id: z.int(), name: z.string() })

export const listOwnWorkspaces = defineOperation({
  name: 'workspace.list',
  http: { method: 'GET', path: '/v1/workspaces' },
  summary: 'The workspaces that the owner is a member of, oldest first.',
  tag: 'Workspace',
  effect: 'read',
  scope: 'workspace:read',
  input: {},
  output: z.array(OwnWorkspace),
  handle: ({ actor, stores: { pg } }) => listWorkspacesOf(pg, actor.id!),
})

interface DemoStores {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly ch: Pick<ClickHouse, 'query' | 'command'>
}

/** @param stores of their own: ids of events are leased for good, whatever becomes of the call */
export function makeFillDemo({ pg, ch }: DemoStores) {
  return defineOperation({
    name: 'workspace.fill_demo',
    http: { method: 'POST', path: '/v1/workspaces/demo' },
    summary: 'Make a workspace with made-up visits; the one that is there is used again.',
    tag: 'Workspace',
    effect: 'create',
    scope: 'workspace:read',
    input: {},
    output: OwnWorkspace,
    async handle({ actor, workspace, clock, stores }) {
      // Who presses twice waits, and finds the first one's.
      await holdWorkspace(stores.pg, workspace.id)
      const there = (await listWorkspacesOf(pg, actor.id!)).find(({ name }) => name === demoName)
      const id = there?.id ?? (await makeDemo(pg, actor.name, workspace.plan_key))
      if (!(await hasEvents(ch, id))) await fill({ pg, ch }, id, clock.now())
      return { id, name: demoName }
    },
  })
}

function makeDemo(pg: DemoStores['pg'], ownerEmail: string, plan: PlanKey): Promise<number> {
  return pg.transaction(async (tx) => {
    const { workspaceId } = await createWorkspace(tx, { name: demoName, timezone: 'UTC', plan, ownerEmail })
    await createTrackingKey(tx, workspaceId)
    return workspaceId
  })
}

async function hasEvents(ch: DemoStores['ch'], workspace: number): Promise<boolean> {
  const rows = await ch.query('SELECT 1 FROM events WHERE workspace_id = {workspace:UInt32} LIMIT 1', { workspace })
  return rows.length > 0
}

async function fill({ pg, ch }: DemoStores, workspaceId: number, until: number): Promise<void> {
  const shape = { events: demoEvents, workspaces: 1, days: demoDays, largestShare: 1, until }
  const lease = await leaseSegments(pg, segmentLeaseSize)
  const rows = { ...shape, seed: workspaceId, hasAllClientEventIds: false, workspaceIds: [workspaceId] }
  const through = await insertSeed(ch, { ...rows, eventsOf: eventsByWorkspace(shape), lease })
  await advanceMark(pg, lease, through)
}
