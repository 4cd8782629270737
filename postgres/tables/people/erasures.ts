/** Erasures of people: what Postgres holds goes at once, with the order to remove the events (pipeline/people/erase.ts). */
import { clocksApartMaxMs } from '../../../schemas/limits/store-limits.ts'
import type { Queryable } from '../../client.ts'
import { intervalOf, milliseconds } from '../../clock.ts'
import { columnsOf } from '../../columns-of.ts'
import { isTooFarAhead } from '../../leasing.ts'
import type { BuildDay } from '../figures/figure-builds.ts'
import { forgetToldConversions } from '../messages/conversion-messages.ts'
import { forgetOutbox } from '../webhooks/outbox.ts'
import { forgetSighting, inLockOrder, noteSightingAnew, type Sighting } from './contact-sightings.ts'
import { forgetPayer } from './erased-payers.ts'

/** From a moment and id on, up to another; null: to the end. */
interface ErasedTime {
  readonly fromAt: number
  readonly fromId: number
  readonly toAt: number | null
  readonly toId: number | null
}

/** A browser's events of a time. */
export interface ErasedBrowser extends ErasedTime {
  /** Decimal text. */
  readonly visitor: string
}

export interface Erasure {
  readonly id: number
  readonly workspaceId: number
  /** Decimal text; null: a visitor without one. */
  readonly emailHash: string | null
  readonly browsers: readonly ErasedBrowser[]
  readonly requestedAt: number
  /** A later time of receipt is from a fast clock, so the event may have come before the order. */
  readonly aheadAfter: number
  /** Null: not looked up yet. */
  readonly places: readonly ErasedPlace[] | null
  /** A version of the fold from when no event was left; null: some may be. Not null: `places` isn't either. */
  readonly clearedVersion: number | null
  /** Nothing derived from the events is left but cells, and those are marked stale. */
  readonly isRepaired: boolean
  /** Days whose cells aren't written anew yet; empty before the repair. */
  readonly daysLeft: readonly ErasedDay[]
}

/** A local day of a build. */
export type ErasedDay = Pick<BuildDay, 'build' | 'day'>

/** A visitor's UTC hour (since 1970) with so many events that are to be removed. */
export interface ErasedPlace {
  /** Decimal text; '0' stands for server events. */
  readonly visitor: string
  readonly hour: number
  readonly events: number
}

export interface ErasedPerson {
  readonly workspaceId: number
  readonly contactId: number | null
  readonly email: string | null
  readonly emailHash: string | null
  /** Those that only this person used. */
  readonly anonymousIds: readonly string[]
  readonly browsers: readonly ErasedBrowser[]
  /** When the person used browsers that others used as well. */
  readonly sharedTimes: readonly (ErasedTime & { readonly anonymousId: string })[]
}

/** The columns of an erased time in JSON. */
const timeColumns = '"fromAt" bigint, "fromId" bigint, "toAt" bigint, "toId" bigint'

/** SQL condition of `time`: it has the event of this moment and id (SQL). */
const isWithin = (at: string, id: string) =>
  `(${at}, ${id}) >= ("fromAt", "fromId") AND ("toAt" IS NULL OR (${at}, ${id}) < ("toAt", "toId"))`

/**
 * Deletes what Postgres has of a person: the contact with facts and bindings, inbox rows, sightings, who paid, and what
 * webhooks are to be told. Orders the rest. @returns the order's id
 */
export async function erasePerson(tx: Queryable, person: ErasedPerson): Promise<number> {
  const { workspaceId, contactId, email, emailHash, anonymousIds, browsers, sharedTimes } = person
  const shared = sharedTimes.map(({ anonymousId }) => anonymousId)
  // First, while it is known who had which user id.
  await forgetPayer(tx, person)
  await tx.query('DELETE FROM contacts WHERE workspace_id = $1 AND id = $2', [workspaceId, contactId])
  if (email !== null) {
    await forgetOutbox(tx, workspaceId, `type LIKE 'contact.%' AND object ->> 'email' = $2`, [email])
    await tx.query('DELETE FROM inbox WHERE workspace_id = $1 AND email = $2', [workspaceId, email])
    await noteSightingAnew(tx, workspaceId, email)
  }
  await tx.query(
    `DELETE FROM inbox WHERE workspace_id = $1 AND email IS NULL AND anonymous_id = ANY ($4::text[])
       AND (anonymous_id = ANY ($2::text[]) OR EXISTS (
         SELECT FROM jsonb_to_recordset($3::jsonb) AS time ("anonymousId" text, ${timeColumns})
         WHERE "anonymousId" = anonymous_id AND ${isWithin(milliseconds('occurred_at'), 'event_id')}))`,
    [workspaceId, anonymousIds, JSON.stringify(sharedTimes), [...anonymousIds, ...shared]],
  )
  const [order] = await tx.query<{ id: number }>(
    `INSERT INTO erasures (workspace_id, email_hash, browsers, requested_at)
     -- Not when the transaction began: what came since is merged, and is the person's as well.
     VALUES ($1, $2, $3, clock_timestamp()) RETURNING id`,
    [workspaceId, emailHash, JSON.stringify(browsers)],
  )
  return order!.id
}

/** Deletes pending webhook events and messages about erased people's conversions. @param eventIds of one workspace */
export async function forgetConversions(
  tx: Queryable,
  workspaceId: number,
  eventIds: readonly number[],
): Promise<void> {
  await forgetToldConversions(tx, workspaceId, eventIds)
  await forgetOutbox(tx, workspaceId, `type = 'conversion.recorded' AND object ->> 'id' = ANY ($2::text[])`, [
    eventIds.map(String),
  ])
}

const columns = `id, workspace_id AS "workspaceId", email_hash::text AS "emailHash", browsers, places,
  cleared_version AS "clearedVersion", is_repaired AS "isRepaired", days_left AS "daysLeft",
  ${milliseconds('requested_at')} AS "requestedAt",
  ${milliseconds(`now() + ${intervalOf(String(clocksApartMaxMs))}`)} AS "aheadAfter"`

/**
 * The one to do next: never tried, or tried the longest ago; the oldest of several. One that may have deleted rows of
 * other people comes first until these are recorded for repair. Where it fails it gives way like any other.
 */
export async function nextErasure(q: Queryable): Promise<Erasure | undefined> {
  const [row] = await q.query<Erasure>(
    `SELECT ${columns} FROM erasures WHERE done_at IS NULL
     ORDER BY cleared_version IS NOT NULL AND NOT is_repaired AND NOT is_failing DESC, tried_at NULLS FIRST, id LIMIT 1`,
  )
  return row
}

/** To be called before a step: it counts as one that fails until `noteSuccess`, even if the process dies. */
export async function noteTry(q: Queryable, id: number): Promise<void> {
  await q.query('UPDATE erasures SET tried_at = clock_timestamp(), is_failing = true WHERE id = $1', [id])
}

export async function noteSuccess(q: Queryable, id: number): Promise<void> {
  await q.query('UPDATE erasures SET is_failing = false WHERE id = $1', [id])
}

/** Those that are done and still remembered. */
export function listDoneErasures(q: Queryable): Promise<Erasure[]> {
  return q.query<Erasure>(`SELECT ${columns} FROM erasures WHERE done_at IS NOT NULL ORDER BY id`)
}

export async function notePlaces(q: Queryable, id: number, places: readonly ErasedPlace[]): Promise<void> {
  await q.query('UPDATE erasures SET places = $2 WHERE id = $1', [id, JSON.stringify(places)])
}

/** No event is left, by a version of the fold that nothing was derived under yet. */
export async function noteCleared(q: Queryable, id: number, version: number): Promise<void> {
  await q.query('UPDATE erasures SET cleared_version = $2 WHERE id = $1', [id, version])
}

/** @param days whose cells are to be written anew */
export async function noteRepaired(q: Queryable, id: number, days: readonly ErasedDay[]): Promise<void> {
  await noteDaysLeft(q, id, days)
  await q.query('UPDATE erasures SET is_repaired = true WHERE id = $1', [id])
}

export async function noteDaysLeft(q: Queryable, id: number, days: readonly ErasedDay[]): Promise<void> {
  const left = days.map(({ build, day }) => ({ build, day }))
  await q.query('UPDATE erasures SET days_left = $2 WHERE id = $1', [id, JSON.stringify(left)])
}

/** Has one that is done looked up and done again. */
export async function reopenErasure(q: Queryable, id: number): Promise<void> {
  await q.query(
    `UPDATE erasures SET done_at = NULL, places = NULL, cleared_version = NULL, is_repaired = false, days_left = '[]'
     WHERE id = $1 AND done_at IS NOT NULL`,
    [id],
  )
}

/** Forgets erasures that were done before `beforeMs`: nothing comes in that late. @returns how many */
export async function deleteOldErasures(q: Queryable, beforeMs: number): Promise<number> {
  const deleted = await q.query('DELETE FROM erasures WHERE done_at < to_timestamp($1::float8 / 1000) RETURNING 1', [
    beforeMs,
  ])
  return deleted.length
}

/** @param events those that were removed now; one that was done before has removed others */
export async function endErasure(q: Queryable, id: number, events: number): Promise<void> {
  await q.query('UPDATE erasures SET done_at = now(), events = coalesce(events, 0) + $2 WHERE id = $1', [id, events])
}

/** Undefined: not there any more. `events` is null while it isn't done. */
export async function readErasure(q: Queryable, id: number): Promise<{ events: number | null } | undefined> {
  const [row] = await q.query<{ events: number | null }>(
    'SELECT CASE WHEN done_at IS NOT NULL THEN events END AS events FROM erasures WHERE id = $1',
    [id],
  )
  return row
}

/** Whether events of somebody in the workspace were removed since a moment, or are still to be. */
export async function isErasing(q: Queryable, workspaceId: number, since: Date): Promise<boolean> {
  const found = await q.query(
    'SELECT 1 FROM erasures WHERE workspace_id = $1 AND (done_at IS NULL OR done_at >= $2) LIMIT 1',
    [workspaceId, since],
  )
  return found.length > 0
}

/** A row of the inbox that an erasure may remove. */
export interface ErasableRow {
  readonly eventId: number
  readonly workspaceId: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly emailHash: string | null
  /** Null: without a browser. */
  readonly visitor: string | null
}

/**
 * Removes rows of the inbox that were sent before their person was erased, and came in after. A row without an e-mail is
 * the person's by browser and time. One with another e-mail is, where the browser alone was erased.
 */
export async function dropErasedInbox(tx: Queryable, rows: readonly ErasableRow[]): Promise<Set<number>> {
  interface Dropped {
    readonly event_id: number
    readonly workspace_id: number
    readonly email: string | null
    readonly occurred_at: number
    /** The e-mail is the erased person's, not another one's on the browser. */
    readonly is_theirs: boolean
  }
  const dropped = await tx.query<Dropped>(
    `DELETE FROM inbox USING erasures, unnest($1::bigint[], $2::int[], $3::bigint[], $4::numeric[], $5::text[])
       AS given (id, workspace, at, hash, row_visitor)
     WHERE inbox.event_id = given.id AND erasures.workspace_id = given.workspace
       AND (inbox.received_at <= erasures.requested_at OR ${isTooFarAhead('inbox.received_at', 'now()', 0)})
       AND (erasures.email_hash = given.hash OR ((given.hash IS NULL OR erasures.email_hash IS NULL) AND EXISTS (
         SELECT FROM jsonb_to_recordset(erasures.browsers) AS time (visitor text, ${timeColumns})
         WHERE visitor = given.row_visitor AND ${isWithin('given.at', 'given.id')})))
     RETURNING event_id, inbox.workspace_id, email, given.at AS occurred_at, erasures.email_hash IS NOT NULL AS is_theirs`,
    columnsOf(rows, 'eventId', 'workspaceId', 'at', 'emailHash', 'visitor'),
  )
  const withEmail = dropped.flatMap(({ email, ...row }) => (email === null ? [] : [{ ...row, email }]))
  const nameOf = ({ workspace_id, email }: Sighting) => `${workspace_id} ${email}`
  const theirs = new Set(withEmail.filter((row) => row.is_theirs).map(nameOf))
  for (const rowsOfEmail of inLockOrder(withEmail)) {
    const [{ workspace_id, email }] = rowsOfEmail
    if (theirs.has(nameOf(rowsOfEmail[0]))) await noteSightingAnew(tx, workspace_id, email)
    else await forgetSighting(tx, rowsOfEmail)
  }
  return new Set(dropped.map(({ event_id }) => event_id))
}
