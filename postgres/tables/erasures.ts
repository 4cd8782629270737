/** Erasures of people: what Postgres holds goes at once, with the order to remove the events (pipeline/people/erase.ts). */
import type { Queryable } from '../client.ts'
import { milliseconds } from '../clock.ts'
import { columnsOf } from '../columns-of.ts'
import { forgetSighting, inLockOrder, noteSightingAnew, type Sighting } from './contact-sightings.ts'
import { inboxUserId } from './inbox.ts'
import { forgetOutbox } from './outbox.ts'
import { payerEmail, payerField } from './payer-choice.ts'

/** From a moment and id on, up to another; null: to the end. */
export interface ErasedTime {
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
  /** Null: not looked up yet. */
  readonly places: readonly ErasedPlace[] | null
  /** A version of the fold from when no event was left; null: some may be. Not null: `places` isn't either. */
  readonly clearedVersion: number | null
  /** Nothing derived from the events is left but cells, and those are marked stale. */
  readonly isRepaired: boolean
}

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
  // First, while it is known who had which user id.
  await forgetPayer(tx, person)
  await tx.query('DELETE FROM contacts WHERE workspace_id = $1 AND id = $2', [workspaceId, contactId])
  if (email !== null) {
    await forgetOutbox(tx, workspaceId, `type LIKE 'contact.%' AND object ->> 'email' = $2`, [email])
    await tx.query('DELETE FROM inbox WHERE workspace_id = $1 AND email = $2', [workspaceId, email])
    await noteSightingAnew(tx, workspaceId, email)
  }
  await tx.query(
    `DELETE FROM inbox WHERE workspace_id = $1 AND email IS NULL AND (anonymous_id = ANY ($2::text[]) OR EXISTS (
       SELECT FROM jsonb_to_recordset($3::jsonb) AS time ("anonymousId" text, ${timeColumns})
       WHERE "anonymousId" = anonymous_id AND ${isWithin(milliseconds('occurred_at'), 'event_id')}))`,
    [workspaceId, anonymousIds, JSON.stringify(sharedTimes)],
  )
  const [order] = await tx.query<{ id: number }>(
    `INSERT INTO erasures (workspace_id, email_hash, browsers, requested_at)
     -- Not when the transaction began: what came since is merged, and is the person's as well.
     VALUES ($1, $2, $3, clock_timestamp()) RETURNING id`,
    [workspaceId, emailHash, JSON.stringify(browsers)],
  )
  return order!.id
}

/**
 * Forgets who paid, in the ledger. Payments stay, with what they are credited to, but no longer say by which session.
 * They are the person's by the e-mail, a user id that is theirs, or a browser. On a shared browser the time decides. A
 * payment that names several people is the one's whom its credit chooses: it loses what names the person, and keeps the rest.
 */
async function forgetPayer(tx: Queryable, person: ErasedPerson): Promise<void> {
  const { workspaceId, contactId, email, anonymousIds, sharedTimes } = person
  await tx.query(
    `WITH user_ids AS (
       SELECT user_id FROM contacts WHERE id = $4 AND user_id != ''
       UNION SELECT ${inboxUserId('inbox')} FROM inbox WHERE workspace_id = $1 AND email = $2
     ), own_ids AS (
       SELECT user_id FROM user_ids WHERE ${payerEmail('$1', 'user_ids.user_id', '$2')} = $2
     ), own AS (
       SELECT provider, reference, field FROM revenue_payers
       WHERE workspace_id = $1 AND ((field = 'email' AND value = $2) OR (field = 'anonymous_id' AND value = ANY ($3::text[]))
         OR (field = 'user_id' AND value IN (SELECT user_id FROM own_ids)))
     ), known AS (
       SELECT provider, reference, bool_or(field = 'anonymous_id') AS by_browser, bool_or(field != 'anonymous_id') AS by_name
       FROM own GROUP BY provider, reference
     ), times AS (
       SELECT * FROM jsonb_to_recordset($5::jsonb) AS t ("anonymousId" text, "fromAt" float8, "toAt" float8)
     ), shared AS (
       SELECT p.id, y.provider, y.reference, y.value FROM times
       JOIN revenue_payers y ON y.workspace_id = $1 AND y.field = 'anonymous_id' AND y.value = times."anonymousId"
       JOIN revenue_payments p ON p.workspace_id = $1 AND p.provider = y.provider AND p.refs && ARRAY[y.reference]
         AND p.occurred_at >= to_timestamp("fromAt" / 1000) AND ("toAt" IS NULL OR p.occurred_at < to_timestamp("toAt" / 1000))
     ), naming AS (
       SELECT p.id, known.provider, known.reference, by_browser, by_name FROM known LEFT JOIN revenue_payments p
         ON p.workspace_id = $1 AND p.provider = known.provider AND p.refs && ARRAY[known.reference]
     ), told AS MATERIALIZED (
       SELECT p.id, by_browser, ${payerField('email')} AS email, ${payerField('user_id')} AS user_id
       FROM (SELECT id, by_browser FROM naming UNION SELECT id, true FROM shared) AS named
       JOIN revenue_payments p ON p.id = named.id
     ), theirs AS (
       SELECT id, bool_or(is_payer) AS is_payer FROM (
         SELECT told.id, by_browser, coalesce(payer.email = $2, false) OR (by_browser AND NOT EXISTS (
           SELECT FROM contacts c WHERE c.workspace_id = $1 AND c.email = payer.email)) AS is_payer
         FROM told CROSS JOIN LATERAL (SELECT ${payerEmail('$1', 'told.user_id', 'told.email')} AS email) AS payer) AS paid
       -- A browser without a contact is also of a payer who is known by other means: its sessions go.
       WHERE is_payer OR (by_browser AND $4::bigint IS NULL) GROUP BY id
     ), whole AS (
       -- The references that name nobody else's payment; some name no payment yet.
       SELECT provider, reference FROM naming LEFT JOIN theirs ON theirs.id = naming.id
       GROUP BY provider, reference HAVING bool_and(coalesce(is_payer, naming.id IS NULL AND by_name))
     ), gone AS (
       DELETE FROM revenue_payers WHERE workspace_id = $1 AND ((provider, reference) IN (SELECT provider, reference FROM whole)
         OR (provider, reference, field) IN (SELECT provider, reference, field FROM own)
         OR (field = 'anonymous_id' AND (provider, reference, value) IN (SELECT provider, reference, value FROM shared)))
     )
     UPDATE revenue_payments p SET visitor = NULL, session = NULL, session_at = NULL, credit_due_at = NULL, is_payer_erased = true
     FROM theirs WHERE p.id = theirs.id`,
    [workspaceId, email, anonymousIds, contactId, JSON.stringify(sharedTimes)],
  )
}

/** Whether a provider or an import named the e-mail as a payer's. */
export async function isPayer(q: Queryable, workspaceId: number, email: string): Promise<boolean> {
  const found = await q.query(
    `SELECT FROM revenue_payers WHERE workspace_id = $1 AND field = 'email' AND value = $2 LIMIT 1`,
    [workspaceId, email],
  )
  return found.length > 0
}

/** Deletes pending webhook events about erased people's conversions. @param eventIds of one workspace */
export function forgetConversions(tx: Queryable, workspaceId: number, eventIds: readonly number[]): Promise<void> {
  return forgetOutbox(tx, workspaceId, `type = 'conversion.recorded' AND object ->> 'id' = ANY ($2::text[])`, [
    eventIds.map(String),
  ])
}

const columns = `id, workspace_id AS "workspaceId", email_hash::text AS "emailHash", browsers, places,
  cleared_version AS "clearedVersion", is_repaired AS "isRepaired", ${milliseconds('requested_at')} AS "requestedAt"`

/** The one to do next: never tried, or tried the longest ago; the oldest of several. */
export async function nextErasure(q: Queryable): Promise<Erasure | undefined> {
  const [row] = await q.query<Erasure>(
    `SELECT ${columns} FROM erasures WHERE done_at IS NULL ORDER BY tried_at NULLS FIRST, id LIMIT 1`,
  )
  return row
}

export async function noteTry(q: Queryable, id: number): Promise<void> {
  await q.query('UPDATE erasures SET tried_at = clock_timestamp() WHERE id = $1', [id])
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

export async function noteRepaired(q: Queryable, id: number): Promise<void> {
  await q.query('UPDATE erasures SET is_repaired = true WHERE id = $1', [id])
}

/** Has one that is done looked up and done again. */
export async function reopenErasure(q: Queryable, id: number): Promise<void> {
  await q.query(
    `UPDATE erasures SET done_at = NULL, places = NULL, cleared_version = NULL, is_repaired = false
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
       AND inbox.received_at <= erasures.requested_at
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
