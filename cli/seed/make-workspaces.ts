/** The workspaces that the events belong to, of the installation's first owner, with keys to send and to ask by. */
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { createTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { createWorkspace, type PlanKey } from '../../postgres/tables/workspaces/workspaces.ts'
import { retentionDaysByPlan } from '../../schemas/limits/retention-limits.ts'
import { scopes } from '../../schemas/scopes.ts'
import { auditCommand } from '../audit-command.ts'

export interface SeedWorkspace {
  readonly workspace_id: number
  readonly slug: string
  readonly tracking_key: string
  /** A key with all scopes. */
  readonly api_key: string
}

/** `Seed 1` to `Seed N`, in one transaction. The owner's plan is raised where it can't read `days`, and never lowered. */
export function makeWorkspaces(pg: Postgres, count: number, days: number): Promise<SeedWorkspace[]> {
  return pg.transaction(async (tx) => {
    const made: SeedWorkspace[] = []
    for (let number = 1; number <= count; number++) made.push(await makeWorkspace(tx, number, days))
    return made
  })
}

async function makeWorkspace(tx: Queryable, number: number, days: number): Promise<SeedWorkspace> {
  // The first workspace of an empty installation makes the owner that the next ones find.
  const [owner] = await tx.query<{ email: string; plan_key: PlanKey | null }>(
    `SELECT email, plan_key FROM owners WHERE EXISTS (SELECT FROM workspaces WHERE owner_id = owners.id)
     ORDER BY id LIMIT 1 FOR UPDATE`,
  )
  const name = `Seed ${number}`
  const plan = planFor(days, owner?.plan_key ?? null)
  const { workspaceId, slug } = await createWorkspace(tx, { name, timezone: 'UTC', plan, ownerEmail: owner?.email })
  const trackingKey = await createTrackingKey(tx, workspaceId)
  const key = await createApiKey(tx, { workspaceId, name: 'seed', scopes })
  await auditCommand(tx, workspaceId, 'workspace.create', workspaceId, { name, slug, plan })
  await auditCommand(tx, workspaceId, 'api_key.create', key!.id, { name: 'seed', scopes, prefix: key!.prefix })
  return { workspace_id: workspaceId, slug, tracking_key: trackingKey, api_key: key!.apiKey }
}

/** The owner's, where it reads these days. A first owner gets `growth` at least. */
function planFor(days: number, present: PlanKey | null): PlanKey {
  if (present !== null && days <= retentionDaysByPlan[present]) return present
  return days > retentionDaysByPlan.growth ? 'scale' : 'growth'
}
