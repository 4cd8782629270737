/** A workspace of its own, its rows put straight into the stores, and the overview asked as the API's chain asks it. */
import { pino } from 'pino'
import { readAnalyticsOverview } from '../../api/operations/analytics/read-overview.ts'
import { createTrackingKey } from '../../postgres/tables/tracking-keys.ts'
import { createWorkspace, type PlanKey, readWorkspace } from '../../postgres/tables/workspaces.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { AnalyticsOverview } from '../../schemas/resources/overview.ts'
import { type EventLike, insertEventRows, makeEventRow } from './event-rows.ts'
import { foldWhatIsThere } from './fold.ts'
import type { TestStores } from './stores.ts'

export type Overview = { [Name in keyof AnalyticsOverview]-?: NonNullable<AnalyticsOverview[Name]> }

export interface TestWorkspace {
  readonly id: number
  readonly trackingKey: string
  /** Stored and folded. */
  addEvents(events: readonly EventLike[]): Promise<void>
  /** The answer to a query as it stands in the URL, at `now` where no other moment is given, from these stores or others. */
  ask(query?: Record<string, string | readonly string[]>, moment?: number, of?: TestStores): Promise<Overview>
}

export async function makeTestWorkspace(
  stores: TestStores,
  { timezone = 'UTC', plan = 'growth' as PlanKey, now = '2026-11-20T14:25:00Z', retentionDays = null as number | null },
): Promise<TestWorkspace> {
  const { workspaceId, trackingKey } = await stores.pg.transaction(async (tx) => {
    const made = await createWorkspace(tx, { name: 'Acme', timezone, plan })
    await tx.query('UPDATE workspaces SET retention_days = $2 WHERE id = $1', [made.workspaceId, retentionDays])
    return { workspaceId: made.workspaceId, trackingKey: await createTrackingKey(tx, made.workspaceId) }
  })
  return {
    id: workspaceId,
    trackingKey,
    addEvents: async (events) => {
      await insertEventRows(
        stores.ch,
        events.map((event) => makeEventRow({ ...event, workspace_id: workspaceId })),
      )
      await foldWhatIsThere(stores)
    },
    ask: async (raw = {}, moment = Date.parse(now), of = stores) => {
      const query = parsePart('query', readAnalyticsOverview.input.query, raw)
      if (!query.ok) throw new Error(JSON.stringify(query.errors))
      const workspace = await readWorkspace(stores.pg, workspaceId)
      const answer = await readAnalyticsOverview.handle({
        workspace: { ...workspace!, plan_key: workspace!.plan_key! },
        actor: { type: 'api_key', id: 1, name: 'test' },
        scopes: ['analytics:read'],
        interface: 'rest',
        stores: of,
        clock: fixedClock(moment),
        config: {
          apiHost: 'https://api.example.com',
          shortUrlHost: 'https://api.example.com/l',
          allowPrivateTargets: false,
          isMailSetUp: false,
        },
        log: pino({ level: 'silent' }),
        requestId: 'test',
        path: undefined,
        query: query.value,
        body: undefined,
      })
      return AnalyticsOverview.strict().parse(answer) as Overview
    },
  }
}
