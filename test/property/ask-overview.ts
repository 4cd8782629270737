/** Puts cases of the overview into real stores, each as a workspace of its own, and asks the product about them. */
import { pino } from 'pino'
import { readAnalyticsOverview } from '../../api/operations/analytics/read-overview.ts'
import { type InboxRow, insertInbox } from '../../postgres/tables/inbox.ts'
import { createTrackingKey } from '../../postgres/tables/tracking-keys.ts'
import { createWorkspace } from '../../postgres/tables/workspaces.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { Problem } from '../../schemas/problems.ts'
import type { OverviewCase } from '../oracle/cases.ts'
import { insertBotVisitRows, insertEventRows } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import type { TestStores } from '../support/stores.ts'

export interface PlacedCase extends OverviewCase {
  readonly workspaceId: number
}

/** More ids than a case has events. Ids begin near the largest that JSON carries exactly. */
const idsPerCase = 1024
const firstId = 2 ** 52
let placed = 0

/** One insert a table for all of them, folded. Ids become unique, their order stays. */
export async function placeCases(stores: TestStores, cases: readonly OverviewCase[]): Promise<PlacedCase[]> {
  const done: PlacedCase[] = []
  for (const one of cases) {
    const base = firstId + ++placed * idsPerCase
    const workspaceId = await makeWorkspace(stores, one)
    const move = <Row extends { id: number }>(row: Row) => ({ ...row, id: base + row.id, workspace_id: workspaceId })
    done.push({ ...one, workspaceId, events: one.events.map(move), botVisits: one.botVisits.map(move) })
  }
  await insertEventRows(
    stores.ch,
    done.flatMap(({ events }) => events),
  )
  await foldWhatIsThere(stores)
  await insertBotVisitRows(
    stores.ch,
    done.flatMap(({ botVisits }) => botVisits),
  )
  await stores.pg.transaction((tx) => insertInbox(tx, placed, done.flatMap(inboxRows)))
  return done
}

export function makeWorkspace(stores: TestStores, { timezone, plan, retentionDays }: OverviewCase): Promise<number> {
  return stores.pg.transaction(async (tx) => {
    const { workspaceId } = await createWorkspace(tx, { name: `Case ${placed}`, timezone, plan })
    await tx.query('UPDATE workspaces SET retention_days = $2 WHERE id = $1', [workspaceId, retentionDays])
    await createTrackingKey(tx, workspaceId)
    return workspaceId
  })
}

/** Every address has a companion without one, which is no contact. */
export function inboxRows({ workspaceId, emails }: PlacedCase): InboxRow[] {
  return emails.flatMap(({ email, occurredAt }, at) =>
    [email, null].map((address, which) => ({
      event_id: firstId + workspaceId * idsPerCase + at * 2 + which,
      workspace_id: workspaceId,
      event_type: at % 2 === 0 ? 'identify' : 'conversion',
      event_name: 'signup',
      email: address,
      anonymous_id: '',
      full_name: '',
      properties: {},
      source: '',
      medium: '',
      campaign: '',
      content: '',
      occurred_at: occurredAt,
      received_at: occurredAt,
    })),
  )
}

/** The product's answer, or `refused` where it refuses the range as the contract says. */
export async function askOverview(stores: TestStores, asked: PlacedCase): Promise<unknown> {
  const { workspaceId, timezone, plan, retentionDays, now } = asked
  const { filters, ...range } = asked.query
  const query = {
    ...Object.fromEntries(Object.entries(range).map(([name, value]) => [name, String(value)])),
    ...filters,
  }
  try {
    const answer = await readAnalyticsOverview.handle({
      workspace: {
        id: workspaceId,
        name: 'Case',
        slug: `case-${workspaceId}`,
        timezone,
        currency: 'USD',
        plan_key: plan,
        retention_days: retentionDays,
        suspended_at: null,
        created_at: new Date(now),
        plan_changed_at: new Date(0),
      },
      actor: { type: 'api_key', id: 1, name: 'test' },
      interface: 'rest',
      stores,
      clock: fixedClock(now),
      config: { apiHost: 'http://127.0.0.1', shortUrlHost: 'http://127.0.0.1/l', allowPrivateTargets: false },
      log: pino({ level: 'silent' }),
      requestId: 'test',
      path: undefined,
      query: readAnalyticsOverview.input.query.parse(query),
      body: undefined,
    })
    return JSON.parse(JSON.stringify(readAnalyticsOverview.output.parse(answer)))
  } catch (error) {
    const isRefusal = error instanceof Problem && error.status === 422 && typeof error.detail !== 'string'
    if (!isRefusal || JSON.stringify(error.detail[0]?.loc) !== '["query","start"]') throw error
    return 'refused'
  }
}
