/** Contacts that got a browser, until webhooks get those whose browser already had events. */
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { columnsOf } from '../../columns-of.ts'

export interface GainedBrowser {
  readonly workspaceId: number
  readonly anonymousId: string
  /** Decimal text. */
  readonly visitor: string
  readonly contactId: number
}

/** To be called in the transaction that binds the browsers. */
export async function addUntoldMerges(tx: Queryable, bound: readonly GainedBrowser[]): Promise<void> {
  if (bound.length === 0) return
  await tx.query(
    `INSERT INTO untold_merges (workspace_id, anonymous_id, visitor, contact_id)
     SELECT * FROM unnest($1::int[], $2::text[], $3::numeric[], $4::bigint[])`,
    columnsOf(bound, 'workspaceId', 'anonymousId', 'visitor', 'contactId'),
  )
}

export interface UntoldMerge {
  readonly id: number
  readonly contactId: number
  /** Milliseconds since 1970, by the clock of Postgres. */
  readonly boundAt: number
}

/** The oldest, at most `limit`. */
export function listUntoldMerges(q: Queryable, limit: number): Promise<UntoldMerge[]> {
  return q.query<UntoldMerge>(
    `SELECT id, contact_id AS "contactId", ${milliseconds('bound_at')} AS "boundAt" FROM untold_merges ORDER BY id LIMIT $1`,
    [limit],
  )
}

/** With the contact's first identity fact on the browser. */
export interface TakenMerge extends Omit<GainedBrowser, 'anonymousId'> {
  readonly at: number
  readonly eventId: number
}

/** Deletes them. One whose contact was erased meanwhile is gone. */
export async function takeUntoldMerges(tx: Queryable, ids: readonly number[]): Promise<TakenMerge[]> {
  if (ids.length === 0) return []
  return tx.query<TakenMerge>(
    `WITH taken AS (DELETE FROM untold_merges WHERE id = ANY ($1::bigint[]) RETURNING *)
     SELECT taken.workspace_id AS "workspaceId", visitor::text, taken.contact_id AS "contactId", at, event_id AS "eventId"
     FROM taken CROSS JOIN LATERAL (
       SELECT at, event_id FROM identity_facts AS fact
       WHERE fact.workspace_id = taken.workspace_id AND fact.anonymous_id = taken.anonymous_id
         AND fact.contact_id = taken.contact_id
       ORDER BY at, event_id LIMIT 1) AS first`,
    [ids],
  )
}
