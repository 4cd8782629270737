/** Which events are an erased person's, and when they were. */
import type { BoundSql } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { timesIn } from '../../clickhouse/queries/people/browser-times.ts'
import { eventMs } from '../../clickhouse/rollups/event-sql.ts'
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { findContactsByHash } from '../../postgres/tables/people/contacts.ts'
import { type ErasedPlace, type Erasure, reopenErasure } from '../../postgres/tables/people/erasures.ts'
import { inPortions } from '../../runtime/lists.ts'
import { visitorsPerLookUpMax } from '../../schemas/limits/figure-limits.ts'

/** A look-up may read all events of a workspace. */
export const erasedLookUpMs = 60 * 60_000

/**
 * Reopens a finished erasure if events of its person arrived in ClickHouse later. They were answered before it, on a
 * node that was away or had them loaded anew.
 * @returns whether there are such events
 */
export async function reopenIfLate(
  pg: Pick<Postgres, 'query'>,
  ch: Pick<ClickHouse, 'query'>,
  erasure: Erasure,
): Promise<boolean> {
  if ((await findPlaces(ch, await eventsOf(pg, ch, erasure))).length === 0) return false
  await reopenErasure(pg, erasure.id)
  return true
}

/**
 * SQL condition of the person's events. An event with the e-mail of another contact is that contact's, whoever has the
 * browser, as in clickhouse/queries/people/contact-events.ts. An unbound browser has all of its events.
 */
export async function eventsOf(pg: Queryable, ch: Pick<ClickHouse, 'query'>, erasure: Erasure): Promise<BoundSql> {
  const { workspaceId, emailHash } = erasure
  const { sql, params } = eventsBy(erasure)
  if (emailHash === null) return { sql, params }
  const named = await ch.query<{ hash: string }>(
    `SELECT DISTINCT toString(email_hash) AS hash FROM events
     WHERE ${sql} AND email_hash NOT IN (0, toUInt64({email_hash:String}))`,
    params,
    { isLong: true, deadlineMs: erasedLookUpMs },
  )
  const others: string[] = []
  for (const some of inPortions(named, visitorsPerLookUpMax)) {
    const contacts = await findContactsByHash(
      pg,
      some.map(({ hash }) => ({ workspaceId, hash })),
    )
    others.push(...contacts.map((contact) => contact.emailHash))
  }
  if (others.length === 0) return { sql, params }
  return {
    sql: `${sql} AND email_hash NOT IN (SELECT toUInt64(arrayJoin({others:Array(String)})))`,
    params: { ...params, others },
  }
}

const receivedMs = `(${eventMs} + receive_delay_ms)`

/**
 * Events with the e-mail, and those of the browsers in the person's times. Events received after the order stay, unless the
 * time of receipt is later than `aheadAfter`: then a fast clock wrote it.
 */
function eventsBy({ workspaceId, emailHash, browsers, requestedAt, aheadAfter }: Erasure): BoundSql {
  const times = timesIn(browsers, 'browser_times')
  const inTimes = `id IN (
    SELECT id FROM (SELECT id, visitor, occurred_at FROM events WHERE workspace_id = {workspace:UInt32}) AS known
    INNER JOIN ${times.sql} AS times ON visitor = time_visitor
    WHERE (${eventMs}, id) >= (from_at, from_id) AND (${eventMs}, id) < (to_at, to_id))`
  const theirs = [
    ...(emailHash === null ? [] : ['email_hash = toUInt64({email_hash:String})']),
    ...(browsers.length === 0 ? [] : [inTimes]),
  ]
  return {
    sql: `workspace_id = {workspace:UInt32} AND (${theirs.join(' OR ') || '0'})
      AND (${receivedMs} <= {requested_at:Int64} OR ${receivedMs} > {ahead_after:Int64})`,
    params: {
      workspace: workspaceId,
      email_hash: emailHash ?? '0',
      requested_at: requestedAt,
      ahead_after: aheadAfter,
      ...times.params,
    },
  }
}

/** Where the events are that `eventsOf` chooses. */
export function findPlaces(ch: Pick<ClickHouse, 'query'>, { sql, params }: BoundSql): Promise<ErasedPlace[]> {
  return ch.query<ErasedPlace>(
    `SELECT toString(events.visitor) AS visitor, intDiv(toUnixTimestamp(occurred_at), 3600) AS hour, count() AS events
     FROM events WHERE ${sql} GROUP BY events.visitor, hour`,
    params,
    { isLong: true, deadlineMs: erasedLookUpMs },
  )
}
