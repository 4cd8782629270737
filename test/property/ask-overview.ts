import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { type InboxRow, insertInbox } from '../../postgres/tables/people/inbox.ts'
import { Problem } from '../../schemas/errors/problems.ts'
import { type OverviewCase, workspaceOf } from '../oracle/cases.ts'
import { differences } from '../oracle/compare.ts'
import { computeOverview } from '../oracle/overview.ts'
import { insertBotVisitRows, insertEventRows } from '../support/event-rows.ts'
import { foldAll, foldWhatIsThere, workOn } from '../support/fold.ts'
import { askBreakdown, askOverview } from '../support/overview.ts'
import type { TestStores } from '../support/stores.ts'
import { makeWorkspace } from '../support/workspace.ts'

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
    const { workspaceId } = await makeWorkspace(stores, one)
    const move = <Row extends { id: number }>(row: Row) => ({ ...row, id: base + row.id, workspace_id: workspaceId })
    const moved = { ...one, workspaceId, events: one.events.map(move), botVisits: one.botVisits.map(move) }
    done.push(withOwnEmails(moved))
  }
  await insertEventRows(
    stores.ch,
    done.flatMap(({ events }) => events),
  )
  for (const one of done) await placePeople(stores, one)
  await foldWhatIsThere(stores)
  await creditServers(stores)
  await insertBotVisitRows(
    stores.ch,
    done.flatMap(({ botVisits }) => botVisits),
  )
  await stores.pg.transaction((tx) => insertInbox(tx, placed, done.flatMap(inboxRows)))
  return done
}

/** Hashes of e-mails are keyed by the workspace: no two have one in common. */
export function withOwnEmails(one: PlacedCase): PlacedCase {
  const ownOf = (hash: number) => (hash === 0 ? 0 : one.workspaceId * 100_000 + hash)
  return {
    ...one,
    events: one.events.map((row) => ({ ...row, email_hash: { hi: 0, lo: ownOf(row.email_hash.lo) } })),
    contacts: one.contacts.map(ownOf),
    bindings: one.bindings.map((binding) => ({ ...binding, contact: ownOf(binding.contact) })),
  }
}

/** Contacts and bindings as a merge would have left them, with the work that it leaves. */
export async function placePeople({ pg }: TestStores, { workspaceId, contacts, bindings }: PlacedCase): Promise<void> {
  if (contacts.length === 0) return
  await pg.query(
    `WITH made AS (
       INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
       SELECT $1, hash || '@example.com', hash, 0, 0, 0, 0 FROM unnest($2::bigint[]) AS hash RETURNING id, email_hash),
     bound AS (
       INSERT INTO bindings (workspace_id, anonymous_id, visitor, from_at, from_id, contact_id)
       SELECT $1, visitor, visitor::numeric, from_at, 0, id
       FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS b (visitor, contact, from_at) JOIN made ON email_hash = contact),
     waiting AS (INSERT INTO people_work (workspace_id, contact_id) SELECT $1, id FROM made)
     INSERT INTO people_work (workspace_id, visitor) SELECT DISTINCT $1::int, visitor::numeric FROM unnest($3::text[]) AS visitor`,
    [
      workspaceId,
      contacts,
      bindings.map(({ visitor: { hi, lo } }) => String(BigInt(hi) * 2n ** 32n + BigInt(lo))),
      bindings.map(({ contact }) => contact),
      bindings.map(({ from }) => from),
    ],
  )
}

/** As the pipeline's loop does after a fold. Nothing has expired. */
export async function creditServers(stores: TestStores): Promise<void> {
  while (!(await refreshPeople(workOn(stores), 0)));
  await foldAll(stores)
}

/** Every address has a companion without one, which is no contact. */
export function inboxRows({ workspaceId, emails }: PlacedCase): InboxRow[] {
  return emails.flatMap(({ email, occurredAt }, at) =>
    [email, null].map((address, which) => ({
      event_id: firstId + workspaceId * idsPerCase + at * 2 + which,
      workspace_id: workspaceId,
      email: address,
      event_type: at % 2 === 0 ? 'identify' : 'conversion',
      event_name: 'signup',
      properties: {},
      anonymous_id: '',
      full_name: '',
      source: '',
      medium: '',
      campaign: '',
      content: '',
      occurred_at: occurredAt,
      received_at: occurredAt,
    })),
  )
}

/**
 * Faults of the product's answer, by the oracle; none where all is right.
 * @returns with them the sessions that there should be: where there are none, little is held
 */
export async function judge(
  stores: TestStores,
  one: PlacedCase,
  facts: OverviewCase = one,
): Promise<{ faults: string[]; sessions: number }> {
  const expected = computeOverview(facts, one.query, workspaceOf(one), one.now)
  const actual = await ask(stores, one)
  if (expected === undefined)
    return { faults: actual === 'refused' ? [] : ['expected a refusal, got figures'], sessions: 0 }
  const faults = actual === 'refused' ? ['expected figures, got a refusal'] : differences(expected, actual)
  return { faults, sessions: expected.metrics.sessions }
}

/** The product's answer, or `refused` where it refuses the range as the contract says. */
async function ask(stores: TestStores, { workspaceId, now, query }: PlacedCase): Promise<unknown> {
  const { filters, ...range } = query
  const texts = Object.fromEntries(Object.entries(range).map(([name, value]) => [name, String(value)]))
  try {
    const overview = await askOverview(stores, workspaceId, { ...texts, ...filters }, now)
    const pagesOf = async (by: 'entry_path' | 'exit_path') =>
      (await askBreakdown(stores, workspaceId, { ...texts, ...filters, by }, now)).rows
    const [entry_pages, exit_pages] = await Promise.all([pagesOf('entry_path'), pagesOf('exit_path')])
    return JSON.parse(JSON.stringify({ ...overview, entry_pages, exit_pages }))
  } catch (error) {
    const isRefusal = error instanceof Problem && error.status === 422 && typeof error.detail !== 'string'
    const { loc = [] } = isRefusal ? error.detail[0]! : {}
    if (loc[0] !== 'query' || !['start', 'interval'].includes(String(loc[1]))) throw error
    return 'refused'
  }
}
