/**
 * Conversions whose credit differs from their own event and browser. They go to the last touch of their contact, on any
 * browser or server.
 */
import { inPortions } from '../../../runtime/lists.ts'
import { conversionsPerLookUp } from '../../../schemas/limits/figure-limits.ts'
import type { Queryable } from '../../client.ts'
import { columnsOf } from '../../columns-of.ts'

export interface PersonCredit {
  readonly eventId: number
  readonly workspaceId: number
  /** The conversion's hour: UTC, in hours since 1970. */
  readonly hour: number
  /** The conversion's visitor: decimal text; '0' of a server event. */
  readonly visitor: string
  readonly contactId: number
  /** Empty: the contact has no touch, and that of the browser was somebody else's. */
  readonly source: string
  readonly medium: string
  /** When the touch was, in milliseconds since 1970. Without a touch of the contact, when the browser's own one was. */
  readonly touchedAt: number
  /** The visitor whose touch it is: decimal text; '0' of a server event. */
  readonly touchedBy: string
}

const columns = `event_id AS "eventId", workspace_id AS "workspaceId", hour, visitor::text AS visitor, contact_id AS "contactId",
  source, medium, touched_at AS "touchedAt", touched_by::text AS "touchedBy"`

export function readCreditsOfContacts(q: Queryable, contactIds: readonly number[]): Promise<PersonCredit[]> {
  return q.query<PersonCredit>(`SELECT ${columns} FROM person_credits WHERE contact_id = ANY ($1::bigint[])`, [
    contactIds,
  ])
}

/** By the conversion's id; those credited by their own event and browser aren't there. */
export async function readCreditsOfEvents(
  q: Queryable,
  eventIds: readonly number[],
): Promise<ReadonlyMap<number, PersonCredit>> {
  const credits = new Map<number, PersonCredit>()
  for (const some of inPortions(eventIds, conversionsPerLookUp)) {
    const rows = await q.query<PersonCredit>(
      `SELECT ${columns} FROM person_credits WHERE event_id = ANY ($1::bigint[])`,
      [some],
    )
    for (const credit of rows) credits.set(credit.eventId, credit)
  }
  return credits
}

/** Deletes a workspace's credits of conversions from before `beforeHour`, at most `limit`. @returns how many */
export async function deleteOldPersonCredits(
  q: Queryable,
  workspaceId: number,
  beforeHour: number,
  limit: number,
): Promise<number> {
  const deleted = await q.query(
    `DELETE FROM person_credits WHERE event_id IN (
       SELECT event_id FROM person_credits WHERE workspace_id = $1 AND hour < $2 LIMIT $3) RETURNING 1`,
    [workspaceId, beforeHour, limit],
  )
  return deleted.length
}

export interface PersonCreditChanges {
  readonly changed: readonly PersonCredit[]
  readonly gone: readonly PersonCredit[]
}

/**
 * Writes credits, and has the visitors' hours with these conversions derived anew. Those of a contact that is gone by now stay
 * away; one that became another contact's stays.
 */
export async function writePersonCredits(tx: Queryable, { changed, gone }: PersonCreditChanges): Promise<void> {
  if (changed.length === 0 && gone.length === 0) return
  await tx.query(
    `DELETE FROM person_credits WHERE (event_id, contact_id) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))`,
    [gone.map(({ eventId }) => eventId), gone.map(({ contactId }) => contactId)],
  )
  await tx.query(
    `INSERT INTO person_credits (event_id, workspace_id, hour, visitor, contact_id, source, medium, touched_at, touched_by)
     SELECT "eventId", workspace_id, hour, visitor, id, row.source, row.medium, "touchedAt", "touchedBy"
     FROM jsonb_to_recordset($1::jsonb) AS row ("eventId" bigint, hour bigint, visitor numeric, "contactId" bigint, source text,
       medium text, "touchedAt" bigint, "touchedBy" numeric)
     JOIN contacts ON id = "contactId"
     ON CONFLICT (event_id) DO UPDATE SET contact_id = excluded.contact_id, source = excluded.source, medium = excluded.medium,
       touched_at = excluded.touched_at, touched_by = excluded.touched_by`,
    [JSON.stringify(changed)],
  )
  const derivedAnew = [...changed, ...gone]
  await tx.query(
    `INSERT INTO event_repairs (workspace_id, hour, visitor, lacks_rows)
     SELECT DISTINCT *, false FROM unnest($1::int[], $2::bigint[], $3::numeric[])`,
    columnsOf(derivedAnew, 'workspaceId', 'hour', 'visitor'),
  )
}
