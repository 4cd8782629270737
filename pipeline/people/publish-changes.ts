/**
 * What webhooks are told of people: contacts that a merge made or changed, and conversions. Both may be many, so they are
 * written down for workspaces with an endpoint that wants them. Held by test/integration/people-webhooks.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { type RecentEvent, recentEventColumns } from '../../clickhouse/queries/overview/read-recent-events.ts'
import { eventsIn } from '../../clickhouse/queries/people/copy-events.ts'
import { serializeEvents } from '../../clickhouse/queries/serialize-event.ts'
import type { Queryable } from '../../postgres/client.ts'
import { readContacts, type ShownTraits } from '../../postgres/tables/contacts.ts'
import { readContactsOfEvents } from '../../postgres/tables/contacts-of-events.ts'
import { insertOutboxRows, type OutboxRow, readListened } from '../../postgres/tables/outbox.ts'
import { listPaymentsOfPeople } from '../../postgres/tables/revenue-of-people.ts'
import { serializeContact } from '../../postgres/tables/serialize-contact.ts'
import { readWorkspace } from '../../postgres/tables/workspaces.ts'
import type { IdRange } from '../../schemas/event/id-ranges.ts'
import { conversionsPerLookUp, eventAgeMaxMs, foldDeadlineMs } from '../../schemas/limits/core-limits.ts'
import type { WebhookEventType } from '../../schemas/webhook-events.ts'
import { groupBy } from '../fold/group-by.ts'
import { expiryOfWorkspace } from '../retention/retention.ts'

export const contactEvents = [
  'contact.created',
  'contact.updated',
  'contact.merged',
] as const satisfies WebhookEventType[]

export interface ContactChanges {
  readonly wanted: ReadonlySet<WebhookEventType>
  /** Contacts that events named, with what was known before, by e-mail. */
  readonly named: readonly number[]
  readonly before: ReadonlyMap<string, ShownTraits>
  /** Contacts that got a browser which was nobody's or another's. */
  readonly joined: ReadonlySet<number>
}

/** @param now milliseconds since 1970 */
export async function publishContacts(
  tx: Queryable,
  workspaceId: number,
  { wanted, named, before, joined }: ContactChanges,
  now: number,
): Promise<void> {
  const workspace = await readWorkspace(tx, workspaceId)
  if (workspace === null) return
  const isNamed = new Set(named)
  const changes = (await readContacts(tx, [...new Set([...named, ...joined])])).flatMap((contact) => {
    const had = before.get(contact.email)
    const isNew = isNamed.has(contact.id) && had === undefined
    const isUpdated = had !== undefined && (had.fullName !== contact.fullName || had.company !== contact.company)
    const types: WebhookEventType[] = isNew
      ? ['contact.created']
      : [
          ...(isUpdated ? ['contact.updated' as const] : []),
          ...(joined.has(contact.id) ? ['contact.merged' as const] : []),
        ]
    return types.filter((type) => wanted.has(type)).map((type) => ({ type, contact }))
  })
  if (changes.length === 0) return
  const payments = await listPaymentsOfPeople(tx, {
    ...{ workspaceId, currency: workspace.currency, since: expiryOfWorkspace(workspace, now) },
    ...{ contactIds: changes.map(({ contact }) => contact.id), anonymousIds: [] },
  })
  await insertOutboxRows(
    tx,
    changes.map(({ type, contact }) => ({ workspaceId, type, object: serializeContact(contact, payments) })),
  )
}

/**
 * Writes down the conversions among events that were folded. Imported ones are left out: they are older than what tracking takes.
 * @param added ids of events, each given once
 * @param now milliseconds since 1970
 */
export async function publishConversions(
  tx: Queryable,
  ch: Pick<ClickHouse, 'query'>,
  added: readonly IdRange[],
  now: number,
): Promise<void> {
  const workspaces = [...(await readListened(tx, ['conversion.recorded'])).keys()]
  if (workspaces.length === 0 || added.length === 0) return
  const which = eventsIn(added, [])
  for (let after = 0; ; ) {
    const events = await ch.query<RecentEvent & { workspace: number }>(
      `SELECT workspace_id AS workspace, ${recentEventColumns} FROM events
       WHERE ${which.sql} AND workspace_id IN {workspaces:Array(UInt32)} AND kind = 'conversion' AND id > {after:UInt64}
         AND occurred_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
       ORDER BY id LIMIT {limit:UInt32}`,
      { ...which.params, workspaces, after, since: now - eventAgeMaxMs, limit: conversionsPerLookUp },
      { isLong: true, deadlineMs: foldDeadlineMs },
    )
    for (const [workspaceId, ofWorkspace] of groupBy(events, ({ workspace }) => workspace)) {
      const stored = ofWorkspace.map(({ workspace: _, ...event }) => event)
      const shown = serializeEvents(stored, await readContactsOfEvents(tx, workspaceId, stored))
      const rows = shown.map((object): OutboxRow => ({ workspaceId, type: 'conversion.recorded', object }))
      await insertOutboxRows(tx, rows)
    }
    if (events.length < conversionsPerLookUp) return
    after = events.at(-1)!.id
  }
}
