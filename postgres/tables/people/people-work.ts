/** Pending work on contacts, queued by merges and repairs, and the events that their figures already cover. */
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import type { Queryable } from '../../client.ts'
import { columnsOf } from '../../columns-of.ts'
import { nextInTurns } from '../../fair-share.ts'

export interface PeopleWork {
  readonly id: number
  readonly workspaceId: number
  /** Its figures are to be computed again. */
  readonly contactId: number | null
  /** An earlier run took it, found related contacts, but had no time for its figures. */
  readonly isPostponed: boolean
  /** Its events of the past are to be copied: decimal text. */
  readonly visitor: string | null
  /** Its events were changed: UTC, in hours since 1970. */
  readonly hour: number | null
}

export interface NewPeopleWork {
  readonly workspaceId: number
  readonly contactId?: number
  readonly visitor?: string
}

export async function addPeopleWork(q: Queryable, work: readonly NewPeopleWork[]): Promise<void> {
  if (work.length === 0) return
  await q.query(
    `INSERT INTO people_work (workspace_id, contact_id, visitor)
     SELECT * FROM unnest($1::int[], $2::bigint[], $3::numeric[])`,
    columnsOf(work, 'workspaceId', 'contactId', 'visitor'),
  )
}

/** The oldest items, at most `limit`, in fair shares by workspace. */
export function takePeopleWork(q: Queryable, limit: number): Promise<PeopleWork[]> {
  return q.query<PeopleWork>(
    `SELECT id, workspace_id AS "workspaceId", contact_id AS "contactId", is_postponed AS "isPostponed", visitor::text, hour
     FROM people_work WHERE id = ANY (${nextInTurns({ table: 'people_work', id: 'id', isWaiting: 'true' }, '$1')}) ORDER BY id`,
    [limit],
  )
}

/** Queues contacts for a later run. A contact that is queued already isn't added again. */
export async function postponeContacts(tx: Queryable, contactIds: readonly number[]): Promise<void> {
  if (contactIds.length === 0) return
  await tx.query(
    `INSERT INTO people_work (workspace_id, contact_id, is_postponed) SELECT workspace_id, id, true FROM contacts
     WHERE id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT FROM people_work WHERE contact_id = contacts.id)`,
    [contactIds],
  )
}

export async function readPeopleDone(q: Queryable): Promise<IdRange[]> {
  const [row] = await q.query<{ done: IdRange[] }>('SELECT done FROM people_state')
  return row!.done
}

/**
 * To be called in the transaction that writes what the work came to.
 * @throws where another process has done some of it: it may have written newer figures
 */
export async function endPeopleWork(
  tx: Queryable,
  {
    workIds,
    from,
    done,
  }: { readonly workIds: readonly number[]; readonly from: readonly IdRange[]; readonly done: readonly IdRange[] },
): Promise<void> {
  const ended = await tx.query('DELETE FROM people_work WHERE id = ANY ($1::bigint[]) RETURNING 1', [workIds])
  const moved = await tx.query('UPDATE people_state SET done = $1 WHERE done = $2 RETURNING 1', [
    JSON.stringify(done),
    JSON.stringify(from),
  ])
  if (moved.length === 0 || ended.length < workIds.length)
    throw new Error('another process has brought people up to date meanwhile')
}
