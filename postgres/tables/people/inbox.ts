/** The inbox of people: identify and conversion events with their e-mail, as the shipper copies them from the log. */
import { inPortions } from '../../../runtime/lists.ts'
import type { SidePayload } from '../../../schemas/event/side-payload.ts'
import { fullNameLengthMax, identifierLengthMax } from '../../../schemas/limits/event-limits.ts'
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { nextInTurns } from '../../fair-share.ts'
import { noteSightings, type Sighting } from './contact-sightings.ts'

/** One side payload of the log. Times are milliseconds since 1970 UTC; the e-mail is trimmed and lower-cased. */
export type InboxRow = Readonly<SidePayload>

/** SQL of a row's user id, as `inbox_user_ids` has it. */
export const inboxUserId = (table: string) => `left(${table}.properties ->> 'user_id', ${identifierLengthMax})`

/** Rows of one statement: at 16 KB of properties each it stays well within the statement's deadline. */
const rowsPerStatement = 500

/**
 * Copies a manifest's side payloads, in a transaction. Each row counts once by its event's id, so that a repeat is
 * harmless. A manifest that was made again after its journal was damaged may hold rows that the first of its id had
 * not.
 * @returns false when the manifest was there already
 */
export async function insertInbox(tx: Queryable, manifestId: number, rows: readonly InboxRow[]): Promise<boolean> {
  const marked = await tx.query(
    'INSERT INTO shipped_manifests (manifest_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING manifest_id',
    [manifestId],
  )
  await insertInboxRows(tx, rows)
  return marked.length > 0
}

/** Each row counts once by its event's id. Run it in a transaction. */
export async function insertInboxRows(tx: Queryable, rows: readonly InboxRow[]): Promise<void> {
  for (const some of inPortions(rows, rowsPerStatement)) {
    await tx.query(
      `INSERT INTO inbox (event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties,
                          source, medium, campaign, content, occurred_at, received_at)
       SELECT event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties,
              source, medium, campaign, content,
              to_timestamp(occurred_at / 1000), to_timestamp(received_at / 1000)
       FROM jsonb_to_recordset($1::jsonb) AS row (
         event_id bigint, workspace_id integer, event_type text, event_name text, email text, anonymous_id text,
         full_name text, properties jsonb, source text, medium text, campaign text, content text,
         occurred_at float8, received_at float8)
       ON CONFLICT (event_id) DO NOTHING`,
      [JSON.stringify(some)],
    )
  }
  await noteSightings(tx, rows.filter(hasEmail))
}

function hasEmail(row: InboxRow): row is InboxRow & Sighting {
  return row.email !== null
}

/**
 * Deletes a workspace's rows that occurred before `beforeMs`, at most `limit` of them, so that no statement is long.
 * @returns how many; call it again until it is fewer than `limit`
 */
export async function deleteOldInbox(
  q: Queryable,
  workspaceId: number,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM inbox WHERE event_id IN (
       SELECT event_id FROM inbox WHERE workspace_id = $1 AND occurred_at < to_timestamp($2::float8 / 1000) LIMIT $3)
     RETURNING 1`,
    [workspaceId, beforeMs, limit],
  )
  return deleted.length
}

/**
 * Forgets manifests that were shipped before `beforeMs`: no node comes back with one that old.
 * @returns how many, at most `limit`
 */
export async function deleteOldManifests(q: Queryable, beforeMs: number, limit: number): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM shipped_manifests WHERE manifest_id IN (
       SELECT manifest_id FROM shipped_manifests WHERE shipped_at < to_timestamp($1::float8 / 1000) LIMIT $2)
     RETURNING 1`,
    [beforeMs, limit],
  )
  return deleted.length
}

/** Whom events named: the e-mail, and the name, which is empty where they had none. */
export async function readInboxPeople(
  q: Queryable,
  workspaceId: number,
  eventIds: readonly number[],
): Promise<Map<number, { readonly email: string | undefined; readonly fullName: string }>> {
  const rows = await q.query<{ id: number; email: string | null; fullName: string }>(
    `SELECT event_id AS id, email, full_name AS "fullName" FROM inbox
     WHERE workspace_id = $1 AND event_id = ANY ($2::bigint[])`,
    [workspaceId, eventIds],
  )
  return new Map(rows.map(({ id, email, fullName }) => [id, { email: email ?? undefined, fullName }]))
}

/** A row as the merge of people reads it. */
export interface UnmergedRow {
  readonly eventId: number
  readonly workspaceId: number
  readonly email: string | null
  readonly anonymousId: string
  readonly fullName: string
  readonly company: string
  readonly userId: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A trait among the properties: a text, or a number as a text; cut as other names are. */
const trait = (name: string) => `CASE WHEN jsonb_typeof(properties -> '${name}') IN ('string', 'number')
  THEN left(btrim(properties ->> '${name}'), ${fullNameLengthMax}) ELSE '' END`

/** Locks and returns unmerged rows, in fair shares by workspace. With a limit of 1 it is the oldest row. */
export function takeUnmerged(tx: Queryable, limit: number): Promise<UnmergedRow[]> {
  return tx.query<UnmergedRow>(
    `SELECT event_id AS "eventId", workspace_id AS "workspaceId", email, anonymous_id AS "anonymousId",
       coalesce(nullif(full_name, ''), CASE event_type WHEN 'identify' THEN ${trait('full_name')} END, '') AS "fullName", ${trait('company')} AS company, ${trait('user_id')} AS "userId",
       ${milliseconds('occurred_at')} AS at
     FROM inbox WHERE event_id = ANY (${nextInTurns(unmerged, '$1')}) AND NOT is_merged ORDER BY event_id FOR UPDATE`,
    [limit],
  )
}

const unmerged = { table: 'inbox', id: 'event_id', isWaiting: 'NOT is_merged' }

export async function markMerged(tx: Queryable, eventIds: readonly number[]): Promise<void> {
  await tx.query('UPDATE inbox SET is_merged = true WHERE event_id = ANY ($1::bigint[])', [eventIds])
}

/** The row that the next merge begins with. */
export async function oldestUnmerged(q: Queryable): Promise<number | undefined> {
  const [row] = await q.query<{ id: number }>(
    'SELECT event_id AS id FROM inbox WHERE NOT is_merged ORDER BY event_id LIMIT 1',
  )
  return row?.id
}

/** Whether more than so many rows wait. */
export async function hasMoreUnmergedThan(q: Queryable, rows: number): Promise<boolean> {
  return (await q.query('SELECT FROM inbox WHERE NOT is_merged ORDER BY event_id OFFSET $1 LIMIT 1', [rows])).length > 0
}

/** Has rows merged that were marked without it. */
export async function mergeAgain(q: Queryable, eventIds: readonly number[]): Promise<void> {
  await q.query('UPDATE inbox SET is_merged = false WHERE event_id = ANY ($1::bigint[])', [eventIds])
}
