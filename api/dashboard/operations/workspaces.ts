/**
 * The owner's workspaces and their settings. One may be a demo, with made-up visits, links, people, crawlers, payments and posts:
 * to look around before there are own ones.
 */
import { z } from 'zod'
import type { ClickHouse } from '../../../clickhouse/client.ts'
import { insertClicks } from '../../../clickhouse/seed/insert-clicks.ts'
import { insertCrawls } from '../../../clickhouse/seed/insert-crawls.ts'
import { insertSeed } from '../../../clickhouse/seed/insert-seed.ts'
import { eventsByWorkspace } from '../../../clickhouse/seed/plan.ts'
import type { Postgres, Queryable } from '../../../postgres/client.ts'
import { advanceMark, leaseSegments } from '../../../postgres/tables/operation/segment-leases.ts'
import {
  createDemo,
  findDemo,
  markDemoFilled,
  tryLockDemo,
} from '../../../postgres/tables/workspaces/demo-workspaces.ts'
import { createTrackingKey } from '../../../postgres/tables/workspaces/tracking-keys.ts'
import { requestDeletion } from '../../../postgres/tables/workspaces/workspace-deletions.ts'
import {
  changeWorkspace,
  countOwnWorkspaces,
  createWorkspace,
  listWorkspacesOf,
  lockOwner,
  readWorkspace,
  type Workspace,
} from '../../../postgres/tables/workspaces/workspaces.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { ownWorkspacesMax } from '../../../schemas/limits/api-limits.ts'
import { segmentLeaseSize } from '../../../schemas/limits/log-limits.ts'
import { demoDays, demoEvents } from '../../../schemas/limits/seed-limits.ts'
import { JoinedWorkspace } from '../../../schemas/resources/member.ts'
import { WorkspaceCreate, WorkspaceSettings, WorkspaceUpdate } from '../../../schemas/resources/workspace.ts'
import { scopesOfRoles } from '../../../schemas/roles.ts'
import { manageScope, ownScope } from '../../../schemas/scopes.ts'
import { type CallContext, defineOperation } from '../../operations/define.ts'
import { serializeWorkspace } from '../../operations/workspace/get-workspace.ts'
import { fillAds } from '../demo-ads.ts'
import { fillLinks } from '../demo-links.ts'
import { fillPeople } from '../demo-people.ts'
import { fillPosts } from '../demo-posts.ts'
import { fillSaved } from '../demo-saved.ts'

const demoName = 'Demo'
const OwnWorkspace = z.object({ id: z.int(), name: z.string() })

export const listOwnWorkspaces = defineOperation({
  name: 'workspace.list',
  http: { method: 'GET', path: '/v1/workspaces' },
  summary: 'The workspaces that whoever is signed in is a member of, with role and scopes, oldest first.',
  tag: 'Workspace',
  effect: 'read',
  scope: 'workspace:read',
  isOfAccount: true,
  input: {},
  output: z.array(JoinedWorkspace),
  async handle({ actor, workspace: current, stores: { pg } }) {
    const joined = await listWorkspacesOf(pg, actor.id)
    return joined.map((workspace) => ({
      ...workspace,
      scopes: [...scopesOfRoles[workspace.role]],
      is_current: workspace.id === current.id,
    }))
  },
})

export const readOwnWorkspace = defineOperation({
  name: 'workspace.settings',
  http: { method: 'GET', path: '/v1/workspace/settings' },
  summary: 'The settings of the workspace.',
  tag: 'Workspace',
  effect: 'read',
  scope: 'workspace:read',
  input: {},
  output: WorkspaceSettings,
  async handle({ workspace, stores: { pg } }) {
    return settingsOf(stillThere(await readWorkspace(pg, workspace.id)), workspace)
  },
})

export const updateOwnWorkspace = defineOperation({
  name: 'workspace.update',
  http: { method: 'PATCH', path: '/v1/workspace/settings' },
  summary: 'Change settings of the workspace. Figures of another timezone are built in the background.',
  tag: 'Workspace',
  effect: 'update',
  scope: manageScope,
  input: { body: WorkspaceUpdate },
  output: WorkspaceSettings,
  async handle({ body, workspace, stores: { pg } }) {
    const { name, timezone, currency, retention_days, replay_enabled, replay_share } = body
    const changed = await changeWorkspace(pg, workspace.id, {
      name,
      timezone,
      currency,
      retentionDays: retention_days,
      replayEnabled: replay_enabled,
      replayShare: replay_share,
    })
    return settingsOf(stillThere(changed), workspace)
  },
})

/** @throws Problem where the workspace was deleted since the session was looked up */
function stillThere<Row>(found: Row | null): Row {
  if (found === null) throw problem('workspace_access_denied')
  return found
}

type Settings = (typeof WorkspaceSettings)['_output']

/** @param plan_key of the session: without a plan there is none */
function settingsOf(workspace: Workspace, { plan_key }: Pick<Settings, 'plan_key'>): Settings {
  const { retention_days, replay_enabled, replay_share } = workspace
  return { ...serializeWorkspace({ ...workspace, plan_key }), retention_days, replay_enabled, replay_share }
}

export const createOwnWorkspace = defineOperation({
  name: 'workspace.create',
  http: { method: 'POST', path: '/v1/workspaces' },
  summary: 'Make another workspace of the same owner and plan, for another site.',
  tag: 'Workspace',
  effect: 'create',
  scope: ownScope,
  input: { body: WorkspaceCreate },
  output: OwnWorkspace,
  problems: ['workspaces_full'],
  async handle({ body: { name, timezone }, workspace, stores: { pg } }) {
    const owner = stillThere(await lockOwner(pg, workspace.id))
    await requireRoom(pg, owner.id)
    const { workspaceId: id } = await createWorkspace(pg, { name, timezone, plan: owner.plan, ownerEmail: owner.email })
    await createTrackingKey(pg, id)
    return { id, name }
  },
})

/** @throws Problem where the account, which is locked, has as many workspaces as it may have */
async function requireRoom(tx: Queryable, ownerId: number): Promise<void> {
  if ((await countOwnWorkspaces(tx, ownerId)) >= ownWorkspacesMax) throw problem('workspaces_full')
}

export interface DemoStores {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly ch: Pick<ClickHouse, 'query' | 'command'>
}

/** @param stores of their own: ids of events are leased for good, whatever becomes of the call */
export function makeFillDemo({ pg, ch }: DemoStores) {
  let isFilling = false
  return defineOperation({
    name: 'workspace.fill_demo',
    http: { method: 'POST', path: '/v1/workspaces/demo' },
    summary: 'Make a workspace with made-up visits; the one that is there is used again.',
    tag: 'Workspace',
    effect: 'create',
    scope: ownScope,
    input: {},
    output: OwnWorkspace,
    problems: ['demo_busy', 'workspaces_full'],
    async handle(context) {
      const { actor, workspace, stores } = context
      // Filling asks for connections beside the transaction's own: one call at a time can't use them up.
      if (isFilling) throw problem('demo_busy')
      isFilling = true
      try {
        if (!(await tryLockDemo(stores.pg, actor.id))) throw problem('demo_busy')
        const there = await findDemo(pg, actor.id)
        if (there?.isFilled) return { id: there.id, name: there.name }
        const id = await pg.transaction(async (tx) => {
          const owner = stillThere(await lockOwner(tx, workspace.id))
          const wanted = { name: demoName, timezone: 'UTC', plan: owner.plan, ownerEmail: owner.email }
          // A failed fill can leave half a demo that looks like a whole one.
          if (there !== undefined) await requestDeletion(tx, there.id)
          await requireRoom(tx, owner.id)
          return createDemo(tx, wanted)
        })
        await fill(
          { pg, ch },
          { ...context, workspace: { ...stillThere(await readWorkspace(pg, id)), plan_key: workspace.plan_key } },
        )
        await markDemoFilled(pg, id)
        return { id, name: demoName }
      } finally {
        isFilling = false
      }
    },
  })
}

/** @param context of the demo workspace */
async function fill({ pg, ch }: DemoStores, context: CallContext): Promise<void> {
  const { workspace, clock, stores } = context
  const [workspaceId, until] = [workspace.id, clock.now()]
  const shape = { events: demoEvents, workspaces: 1, days: demoDays, largestShare: 1, until }
  const lease = await leaseSegments(pg, segmentLeaseSize, 'seed')
  const rows = { ...shape, seed: workspaceId, hasAllClientEventIds: false, workspaceIds: [workspaceId] }
  const links = await pg.transaction(async (tx) => {
    const within = { ...context, stores: { ...stores, pg: tx } }
    await fillPosts(within)
    await fillSaved(within)
    await fillAds(within)
    return fillLinks(within)
  })
  const visitorOf = (anonymousId: string) => stores.hashes.visitorOf(workspaceId, anonymousId)
  const through = await insertSeed(
    ch,
    { ...rows, eventsOf: eventsByWorkspace(shape), lease },
    { known: { visitorOf, links } },
  )
  await insertClicks(ch, { workspaceId, lastId: through, links })
  await insertCrawls(ch, { workspaceId, lastId: through, until })
  await fillPeople({ pg, ch }, workspaceId, until)
  await advanceMark(pg, lease, through)
}
