/** What conversions of server events are credited to: the last touch of their contact, where they name no source themselves. */
import type { Queryable } from '../client.ts'
import type { HourKey } from './event-repairs.ts'

export interface ServerCredit {
  readonly eventId: number
  readonly workspaceId: number
  /** Of the conversion: UTC, in hours since 1970. */
  readonly hour: number
  readonly contactId: number
  readonly source: string
  readonly medium: string
  /** Milliseconds since 1970. */
  readonly touchedAt: number
}

const columns = `event_id AS "eventId", workspace_id AS "workspaceId", hour, contact_id AS "contactId", source, medium,
  touched_at AS "touchedAt"`

export function readCreditsOfContacts(q: Queryable, contactIds: readonly number[]): Promise<ServerCredit[]> {
  return q.query<ServerCredit>(`SELECT ${columns} FROM server_credits WHERE contact_id = ANY ($1::bigint[])`, [
    contactIds,
  ])
}

/** By the conversion's id. */
export async function readCreditsOfHours(
  q: Queryable,
  hours: readonly HourKey[],
): Promise<ReadonlyMap<number, ServerCredit>> {
  if (hours.length === 0) return new Map()
  const rows = await q.query<ServerCredit>(
    `SELECT ${columns} FROM server_credits WHERE (workspace_id, hour) IN (SELECT * FROM unnest($1::int[], $2::bigint[]))`,
    [hours.map(({ workspaceId }) => workspaceId), hours.map(({ hour }) => hour)],
  )
  return new Map(rows.map((credit) => [credit.eventId, credit]))
}

/** Deletes a workspace's credits of conversions from before `beforeHour`, at most `limit`. @returns how many */
export async function deleteOldServerCredits(
  q: Queryable,
  workspaceId: number,
  beforeHour: number,
  limit: number,
): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM server_credits WHERE event_id IN (
       SELECT event_id FROM server_credits WHERE workspace_id = $1 AND hour < $2 LIMIT $3) RETURNING 1`,
    [workspaceId, beforeHour, limit],
  )
  return deleted.length
}

export interface ServerCreditChanges {
  readonly changed: readonly ServerCredit[]
  readonly gone: readonly ServerCredit[]
}

/** Writes credits, and has the hours of their conversions derived anew. Those of a contact that is gone by now stay away. */
export async function writeServerCredits(tx: Queryable, { changed, gone }: ServerCreditChanges): Promise<void> {
  if (changed.length === 0 && gone.length === 0) return
  await tx.query('DELETE FROM server_credits WHERE event_id = ANY ($1::bigint[])', [gone.map(({ eventId }) => eventId)])
  await tx.query(
    `INSERT INTO server_credits (event_id, workspace_id, hour, contact_id, source, medium, touched_at)
     SELECT "eventId", workspace_id, hour, id, row.source, row.medium, "touchedAt"
     FROM jsonb_to_recordset($1::jsonb) AS row ("eventId" bigint, hour bigint, "contactId" bigint, source text, medium text, "touchedAt" bigint)
     JOIN contacts ON id = "contactId"
     ON CONFLICT (event_id) DO UPDATE SET contact_id = excluded.contact_id, source = excluded.source, medium = excluded.medium,
       touched_at = excluded.touched_at`,
    [JSON.stringify(changed)],
  )
  const hours = [...changed, ...gone]
  await tx.query(
    `INSERT INTO event_repairs (workspace_id, hour, of_servers)
     SELECT DISTINCT *, true FROM unnest($1::int[], $2::bigint[])`,
    [hours.map(({ workspaceId }) => workspaceId), hours.map(({ hour }) => hour)],
  )
}
