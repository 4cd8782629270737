/** A workspace of its own, its rows put straight into the stores, and analytics asked as the API's chain asks it. */
import { pino } from 'pino'
import { readAnalyticsBreakdown } from '../../api/operations/analytics/read-breakdown.ts'
import { readAnalyticsOverview } from '../../api/operations/analytics/read-overview.ts'
import type { Operation } from '../../api/operations/define.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { Breakdown } from '../../schemas/resources/breakdown.ts'
import { AnalyticsOverview } from '../../schemas/resources/overview.ts'
import type { EventLike } from './event-rows.ts'
import { addEvents } from './fold.ts'
import type { TestStores } from './stores.ts'
import { makeWorkspace, type WorkspaceOptions } from './workspace.ts'

export type Overview = { [Name in keyof AnalyticsOverview]-?: NonNullable<AnalyticsOverview[Name]> }

export interface TestWorkspace {
  readonly id: number
  readonly trackingKey: string
  /** Stored and folded. */
  addEvents(events: readonly EventLike[]): Promise<void>
  /** The answer to a query as it stands in the URL, at `now` where no other moment is given, from these stores or others. */
  ask(query?: Record<string, string | readonly string[]>, moment?: number, asked?: TestStores): Promise<Overview>
}

export async function makeTestWorkspace(
  stores: TestStores,
  { now = '2026-11-20T14:25:00Z', ...options }: WorkspaceOptions & { readonly now?: string },
): Promise<TestWorkspace> {
  const { workspaceId, trackingKey } = await makeWorkspace(stores, { name: 'Acme', ...options })
  return {
    id: workspaceId,
    trackingKey,
    addEvents: (events) => addEvents(stores, workspaceId, events),
    ask: (query = {}, moment = Date.parse(now), asked = stores) => askOverview(asked, workspaceId, query, moment),
  }
}

export async function askOverview(...asked: Question): Promise<Overview> {
  return AnalyticsOverview.strict().parse(await answerOf(readAnalyticsOverview, ...asked)) as Overview
}

export async function askBreakdown(...asked: Question): Promise<Breakdown> {
  return Breakdown.strict().parse(await answerOf(readAnalyticsBreakdown, ...asked))
}

type Question = [
  stores: TestStores,
  workspaceId: number,
  raw: Record<string, string | readonly string[]>,
  moment: number,
]

async function answerOf(
  { input, handle }: Operation,
  ...[stores, workspaceId, raw, moment]: Question
): Promise<unknown> {
  const query = parsePart('query', input.query!, raw)
  if (!query.ok) throw new Error(JSON.stringify(query.errors))
  const workspace = await readWorkspace(stores.pg, workspaceId)
  return handle({
    workspace: { ...workspace!, plan_key: workspace!.plan_key! },
    actor: { type: 'api_key', id: 1, name: 'test' },
    scopes: ['analytics:read'],
    interface: 'rest',
    onCommit: () => {},
    config: {
      apiHost: 'https://api.example.com',
      shortUrlHost: 'https://api.example.com/l',
      allowPrivateTargets: false,
      isMailSetUp: false,
      answerDeadlineMs: 120_000,
      mediaBytesMax: { starter: 0, growth: 0, scale: 0 },
    },
    stores: { readTxt: async () => [], ...stores },
    clock: fixedClock(moment),
    log: pino({ level: 'silent' }),
    requestId: 'test',
    address: '',
    path: undefined,
    query: query.value,
    body: undefined,
    prepared: undefined,
  })
}
