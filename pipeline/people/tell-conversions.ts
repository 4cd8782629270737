/**
 * Reports conversions: outbox rows for webhooks, and messages for recipients of mails and chats. Conversions may be many,
 * so those of workspaces without a receiver aren't read. Held by test/integration/people-webhooks.test.ts and
 * conversion-messages.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { type RecentEvent, recentEventColumns } from '../../clickhouse/queries/overview/read-recent-events.ts'
import { eventsIn } from '../../clickhouse/queries/people/copy-events.ts'
import { serializeEvents } from '../../clickhouse/queries/serialize-event.ts'
import type { Queryable } from '../../postgres/client.ts'
import {
  type ConversionRule,
  listConversionRules,
  mergeTold,
  toldOf,
} from '../../postgres/tables/messages/conversion-messages.ts'
import { readContactsOfEvents } from '../../postgres/tables/people/contacts-of-events.ts'
import { insertOutboxRows, type OutboxRow, readSubscribedTypes } from '../../postgres/tables/webhooks/outbox.ts'
import { groupBy } from '../../runtime/lists.ts'
import type { IdRange } from '../../schemas/event/id-ranges.ts'
import { toldConversionLateMaxMs } from '../../schemas/limits/alert-limits.ts'
import { eventAgeMaxMs } from '../../schemas/limits/event-limits.ts'
import { outboxRowsPerStatement, toldConversionAgeMaxMs } from '../../schemas/limits/webhook-limits.ts'
import type { ConversionLine, ToldConversions } from '../../schemas/told-conversions.ts'
import { plain } from '../reports/message.ts'
import { readDeadlineMs } from './write-outbox-rows.ts'

/**
 * Writes outbox rows for the conversions among events that were folded, however late. Imported ones are left out: on arrival
 * they were older than tracking takes.
 *
 * @param added ids of events, each given once
 * @param now milliseconds since 1970
 * @returns what each recipient of mails or chat messages is told, by id
 */
export async function writeConversions(
  tx: Queryable,
  ch: Pick<ClickHouse, 'query'>,
  added: readonly IdRange[],
  now: number,
): Promise<ReadonlyMap<number, ToldConversions>> {
  const told = new Map<number, ToldConversions>()
  if (added.length === 0) return told
  const which = eventsIn(added, [])
  const converting = await ch.query<{ workspaceId: number }>(
    `SELECT DISTINCT workspace_id AS workspaceId FROM events WHERE ${which.sql} AND kind = 'conversion'`,
    which.params,
    { isLong: true, deadlineMs: readDeadlineMs },
  )
  const workspaceIds = converting.map(({ workspaceId }) => workspaceId)
  if (workspaceIds.length === 0) return told
  const subscribed = await readSubscribedTypes(tx, ['conversion.recorded'], workspaceIds)
  const rules = groupBy(await listConversionRules(tx, 'conversions', workspaceIds), ({ workspaceId }) => workspaceId)
  if (subscribed.size === 0 && rules.size === 0) return told
  for (let after = 0; ; ) {
    const events = await ch.query<RecentEvent & { workspace: number }>(
      `SELECT workspace_id AS workspace, ${recentEventColumns} FROM events
       WHERE ${which.sql} AND kind = 'conversion' AND id > {after:UInt64} AND receive_delay_ms <= {delay:Int64}
         AND (workspace_id IN {subscribed:Array(UInt32)} AND occurred_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
           OR workspace_id IN {told:Array(UInt32)} AND occurred_at >= fromUnixTimestamp64Milli({told_since:Int64}, 'UTC'))
       ORDER BY id LIMIT {limit:UInt32}`,
      {
        ...which.params,
        subscribed: [...subscribed.keys()],
        told: [...rules.keys()],
        after,
        delay: eventAgeMaxMs,
        since: now - toldConversionAgeMaxMs,
        told_since: now - toldConversionLateMaxMs,
        limit: outboxRowsPerStatement,
      },
      { isLong: true, deadlineMs: readDeadlineMs },
    )
    for (const [workspaceId, ofWorkspace] of groupBy(events, ({ workspace }) => workspace)) {
      const stored = ofWorkspace.map(({ workspace: _, ...event }) => event)
      if (subscribed.has(workspaceId)) await writeToOutbox(tx, workspaceId, stored)
      addTold(told, rules.get(workspaceId) ?? [], stored, now)
    }
    if (events.length < outboxRowsPerStatement) return told
    after = events.at(-1)!.id
  }
}

async function writeToOutbox(tx: Queryable, workspaceId: number, events: readonly RecentEvent[]): Promise<void> {
  const shown = serializeEvents(events, await readContactsOfEvents(tx, workspaceId, events))
  const rows = shown.map((object): OutboxRow => ({ workspaceId, type: 'conversion.recorded', object }))
  await insertOutboxRows(tx, rows)
}

/** An address with two rules is told once of what fits both. */
function addTold(
  told: Map<number, ToldConversions>,
  rules: readonly ConversionRule[],
  events: readonly RecentEvent[],
  now: number,
): void {
  if (rules.length === 0) return
  const fresh = events
    .filter(({ occurred_at_ms }) => occurred_at_ms >= now - toldConversionLateMaxMs)
    .map((event) => ({ name: event.event_name, line: lineOf(event) }))
  for (const [recipientId, own] of groupBy(rules, (rule) => rule.recipientId)) {
    const isWanted = (name: string) => own.some(({ names }) => names.length === 0 || names.includes(name))
    const lines = fresh.filter(({ name }) => isWanted(name)).map(({ line }) => line)
    const more = toldOf(lines, now)
    const had = told.get(recipientId)
    if (more !== undefined) told.set(recipientId, had === undefined ? more : mergeTold(had, more))
  }
}

function lineOf({ id, event_name, path, source, occurred_at_ms }: RecentEvent): ConversionLine {
  const texts = { name: plain(event_name), path: plain(path), source: plain(source) }
  return { kind: 'conversion', event: id, ...texts, at: occurred_at_ms }
}
