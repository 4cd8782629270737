/**
 * Writes outbox rows for webhooks: contacts that a merge made or changed. They may be many, so only workspaces with an
 * endpoint that wants them get rows. Held by test/integration/people-webhooks.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Queryable } from '../../postgres/client.ts'
import { type Contact, readContacts, type ShownTraits } from '../../postgres/tables/people/contacts.ts'
import { serializeContact } from '../../postgres/tables/people/serialize-contact.ts'
import { takeUntoldMerges } from '../../postgres/tables/people/untold-merges.ts'
import { sumRevenueOfPeople } from '../../postgres/tables/revenue/revenue-of-people.ts'
import { insertOutboxRows } from '../../postgres/tables/webhooks/outbox.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { groupBy } from '../../runtime/lists.ts'
import type { WebhookEventType } from '../../schemas/webhook-events.ts'
import { expiryOfWorkspace } from '../retention/retention.ts'
import { byMoment, type Moment } from './bind.ts'

/** A merge tells of the first two at once; `contact.merged` depends on the events that the browser had. */
export const mergeEvents = [
  'contact.created',
  'contact.updated',
  'contact.merged',
] as const satisfies WebhookEventType[]

export interface ContactChanges {
  readonly wanted: ReadonlySet<WebhookEventType>
  /** Contacts that events named, and their state before, by e-mail. */
  readonly named: readonly number[]
  readonly before: ReadonlyMap<string, ShownTraits>
}

/** Writes rows for contacts that are new, and those whose name or company changed. @param now milliseconds since 1970 */
export async function writeContactsToOutbox(
  tx: Queryable,
  workspaceId: number,
  { wanted, named, before }: ContactChanges,
  now: number,
): Promise<void> {
  const typeOf = ({ email, fullName, company }: Contact): WebhookEventType | undefined => {
    const had = before.get(email)
    if (had === undefined) return 'contact.created'
    return had.fullName !== fullName || had.company !== company ? 'contact.updated' : undefined
  }
  const changes = (await readContacts(tx, named)).flatMap((contact) => {
    const type = typeOf(contact)
    return type !== undefined && wanted.has(type) ? [{ type, contact }] : []
  })
  await insertContactRows(tx, workspaceId, changes, now)
}

/**
 * Writes rows for contacts that got a browser which already had events, after these were copied.
 * @param untoldIds of `untold_merges`
 * @param now milliseconds since 1970
 */
export async function writeMergedToOutbox(
  tx: Queryable,
  ch: Pick<ClickHouse, 'query'>,
  untoldIds: readonly number[],
  now: number,
): Promise<void> {
  const merges = await takeUntoldMerges(tx, untoldIds)
  for (const [workspaceId, ofWorkspace] of groupBy(merges, (one) => one.workspaceId)) {
    const visitors = [...new Set(ofWorkspace.map(({ visitor }) => visitor))]
    const firstEvents = await readFirstEvents(ch, workspaceId, visitors)
    const contactIds = ofWorkspace.flatMap(({ visitor, contactId, ...fact }) => {
      const event = firstEvents.get(visitor)
      return event !== undefined && byMoment(event, fact) < 0 ? [contactId] : []
    })
    const contacts = await readContacts(tx, [...new Set(contactIds)])
    const changes = contacts.map((contact) => ({ type: 'contact.merged' as const, contact }))
    await insertContactRows(tx, workspaceId, changes, now)
  }
}

/** The first event of each visitor that is known, by visitor. */
async function readFirstEvents(
  ch: Pick<ClickHouse, 'query'>,
  workspaceId: number,
  visitors: readonly string[],
): Promise<Map<string, Moment>> {
  const rows = await ch.query<Moment & { visitor: string }>(
    `SELECT toString(hash) AS visitor, toUnixTimestamp64Milli(min(occurred_at)) AS at, argMin(id, (occurred_at, id)) AS eventId
     FROM person_events
     WHERE known_by = 'visitor' AND workspace_id = {workspace:UInt32} AND hash IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))
     GROUP BY hash`,
    { workspace: workspaceId, visitors },
    { isLong: true, deadlineMs: readDeadlineMs },
  )
  return new Map(rows.map((row) => [row.visitor, row]))
}

async function insertContactRows(
  tx: Queryable,
  workspaceId: number,
  changes: readonly { readonly type: WebhookEventType; readonly contact: Contact }[],
  now: number,
): Promise<void> {
  const workspace = changes.length === 0 ? null : await readWorkspace(tx, workspaceId)
  if (workspace === null) return
  const revenue = await sumRevenueOfPeople(tx, {
    workspaceId,
    currency: workspace.currency,
    since: expiryOfWorkspace(workspace, now),
    contactIds: changes.map(({ contact }) => contact.id),
    anonymousIds: [],
  })
  await insertOutboxRows(
    tx,
    changes.map(({ type, contact }) => ({ workspaceId, type, object: serializeContact(contact, revenue) })),
  )
}

/** The reads are made in a transaction, which Postgres ends after half a minute of nothing. */
export const readDeadlineMs = 20_000
