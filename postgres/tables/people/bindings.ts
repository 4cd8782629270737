/** Identity facts, and the bindings of browsers that follow from them (pipeline/people/bind.ts). */
import type { Queryable } from '../../client.ts'
import { columnsOf } from '../../columns-of.ts'

export interface StoredFact {
  readonly workspaceId: number
  readonly anonymousId: string
  readonly contactId: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly eventId: number
}

export interface StoredBinding {
  readonly workspaceId: number
  readonly anonymousId: string
  /** Decimal text. */
  readonly visitor: string
  readonly contactId: number
  readonly fromAt: number
  readonly fromId: number
}

const factColumns = `workspace_id AS "workspaceId", anonymous_id AS "anonymousId", contact_id AS "contactId", at, event_id AS "eventId"`
const bindingColumns = `workspace_id AS "workspaceId", anonymous_id AS "anonymousId", visitor::text AS visitor,
  contact_id AS "contactId", from_at AS "fromAt", from_id AS "fromId"`

/** A fact that is there already stays as it is. */
export async function insertFacts(tx: Queryable, facts: readonly StoredFact[]): Promise<void> {
  await tx.query(
    `INSERT INTO identity_facts (workspace_id, anonymous_id, contact_id, at, event_id)
     SELECT * FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) ON CONFLICT DO NOTHING`,
    columnsOf(facts, 'workspaceId', 'anonymousId', 'contactId', 'at', 'eventId'),
  )
}

export interface FactLimits {
  /** Binding periods: facts of one contact that follow each other are one. */
  readonly periodsMax: number
  readonly factsMax: number
}

/**
 * Forgets facts of these browsers behind their first binding periods, and behind their first facts. Whatever comes later
 * can only bring that end forward. So the facts that are left don't depend on the order in which all of them came.
 * @returns of each its contact
 */
export async function forgetFurtherFacts(
  tx: Queryable,
  workspaceId: number,
  anonymousIds: readonly string[],
  { periodsMax, factsMax }: FactLimits,
): Promise<number[]> {
  const forgotten = await tx.query<{ id: number }>(
    `DELETE FROM identity_facts AS fact USING (
       SELECT anonymous_id, at, event_id, row_number() OVER past AS place, count(*) FILTER (WHERE is_first) OVER past AS period
       FROM (SELECT *, ${beginsPeriod} AS is_first FROM identity_facts
             WHERE workspace_id = $1 AND anonymous_id = ANY ($2::text[])) AS known
       WINDOW past AS (PARTITION BY anonymous_id ORDER BY at, event_id ROWS UNBOUNDED PRECEDING)) AS placed
     WHERE (period > $3 OR place > $4) AND fact.workspace_id = $1
       AND (fact.anonymous_id, fact.at, fact.event_id) = (placed.anonymous_id, placed.at, placed.event_id)
     RETURNING contact_id AS id`,
    [workspaceId, anonymousIds, periodsMax, factsMax],
  )
  return forgotten.map(({ id }) => id)
}

/** SQL over the facts of one workspace: the contact is another than that of the browser's fact before. */
const beginsPeriod =
  'contact_id IS DISTINCT FROM lag(contact_id) OVER (PARTITION BY anonymous_id ORDER BY at, event_id)'

/** The first fact of each binding period, for these browsers. The others change no binding. */
export function readFactsOfBrowsers(
  tx: Queryable,
  workspaceId: number,
  anonymousIds: readonly string[],
): Promise<StoredFact[]> {
  return tx.query<StoredFact>(
    `SELECT ${factColumns} FROM (
       SELECT *, ${beginsPeriod} AS is_first FROM identity_facts
       WHERE workspace_id = $1 AND anonymous_id = ANY ($2::text[])) AS known
     WHERE is_first`,
    [workspaceId, anonymousIds],
  )
}

/** Each contact's first fact on each browser, for the `max` + 1 earliest browsers. */
export function readFirstFacts(tx: Queryable, contactIds: readonly number[], max: number): Promise<StoredFact[]> {
  return tx.query<StoredFact>(`${placedFirsts} SELECT ${factColumns} FROM placed WHERE place <= $2`, [
    contactIds,
    max + 1,
  ])
}

/** Each contact's first fact on each browser, with its place. One look-up a browser, however many facts it has. */
const placedFirsts = `WITH RECURSIVE firsts AS (
    (SELECT fact.* FROM unnest($1::bigint[]) AS contact (id) CROSS JOIN LATERAL (
       SELECT * FROM identity_facts WHERE contact_id = contact.id ORDER BY anonymous_id, at, event_id LIMIT 1) AS fact)
    UNION ALL
    SELECT fact.* FROM firsts CROSS JOIN LATERAL (
      SELECT * FROM identity_facts WHERE contact_id = firsts.contact_id AND anonymous_id > firsts.anonymous_id
      ORDER BY anonymous_id, at, event_id LIMIT 1) AS fact),
  placed AS (SELECT *, row_number() OVER (PARTITION BY contact_id ORDER BY at, event_id) AS place FROM firsts)`

/** Forgets what these contacts have on browsers behind their first `max`: such facts bind nothing. */
export async function forgetFurtherBrowsers(tx: Queryable, contactIds: readonly number[], max: number): Promise<void> {
  await tx.query(
    `${placedFirsts} DELETE FROM identity_facts AS fact USING placed
     WHERE place > $2 AND (fact.contact_id, fact.anonymous_id) = (placed.contact_id, placed.anonymous_id)`,
    [contactIds, max],
  )
}

/** In order of time within a browser. */
export function readBindingsOfBrowsers(
  q: Queryable,
  workspaceId: number,
  anonymousIds: readonly string[],
): Promise<StoredBinding[]> {
  return q.query<StoredBinding>(
    `SELECT ${bindingColumns} FROM bindings WHERE workspace_id = $1 AND anonymous_id = ANY ($2::text[])
     ORDER BY anonymous_id, from_at, from_id`,
    [workspaceId, anonymousIds],
  )
}

/** All bindings of every browser that has one to these contacts. */
export function readBindingsOfContacts(q: Queryable, contactIds: readonly number[]): Promise<StoredBinding[]> {
  return q.query<StoredBinding>(
    `SELECT ${bindingColumns} FROM bindings WHERE (workspace_id, anonymous_id) IN (
       SELECT workspace_id, anonymous_id FROM bindings WHERE contact_id = ANY ($1::bigint[]))
     ORDER BY workspace_id, anonymous_id, from_at, from_id`,
    [contactIds],
  )
}

export interface VisitorKey {
  readonly workspaceId: number
  /** Decimal text. */
  readonly visitor: string
}

/** Bindings of those of the visitors that have some, in order of time within each. */
export function readBindingsOfVisitors(q: Queryable, visitors: readonly VisitorKey[]): Promise<StoredBinding[]> {
  return q.query<StoredBinding>(
    `SELECT ${bindingColumns} FROM bindings
     WHERE (workspace_id, visitor) IN (SELECT * FROM unnest($1::int[], $2::numeric[]))
     ORDER BY workspace_id, visitor, from_at, from_id`,
    [visitors.map(({ workspaceId }) => workspaceId), visitors.map(({ visitor }) => visitor)],
  )
}

/** Gives the browsers these bindings, in place of whichever they had. */
export async function replaceBindings(
  tx: Queryable,
  workspaceId: number,
  anonymousIds: readonly string[],
  bindings: readonly StoredBinding[],
): Promise<void> {
  await tx.query('DELETE FROM bindings WHERE workspace_id = $1 AND anonymous_id = ANY ($2::text[])', [
    workspaceId,
    anonymousIds,
  ])
  await tx.query(
    `INSERT INTO bindings (workspace_id, anonymous_id, visitor, contact_id, from_at, from_id)
     SELECT * FROM unnest($1::int[], $2::text[], $3::numeric[], $4::bigint[], $5::bigint[], $6::bigint[])`,
    [
      bindings.map(() => workspaceId),
      ...columnsOf(bindings, 'anonymousId', 'visitor', 'contactId', 'fromAt', 'fromId'),
    ],
  )
}

/** Gives the first contact of each browser all of its time before, which was that of somebody who is gone. */
export async function bindFromBeginning(
  tx: Queryable,
  workspaceId: number,
  visitors: readonly string[],
): Promise<void> {
  await tx.query(
    `UPDATE bindings b SET from_at = 0, from_id = 0
     FROM (SELECT DISTINCT ON (anonymous_id) anonymous_id, from_at, from_id FROM bindings
           WHERE workspace_id = $1 AND visitor = ANY ($2::numeric[]) ORDER BY anonymous_id, from_at, from_id) AS first
     WHERE b.workspace_id = $1 AND first.from_at > 0
       AND (b.anonymous_id, b.from_at, b.from_id) = (first.anonymous_id, first.from_at, first.from_id)`,
    [workspaceId, visitors],
  )
}

export type FactPlace = Pick<StoredFact, 'anonymousId' | 'at' | 'eventId'>
/** Before all facts of a workspace. */
export const firstFact: FactPlace = { anonymousId: '', at: Number.MIN_SAFE_INTEGER, eventId: 0 }

/**
 * Looks at the next `limit` facts of a workspace, in their order. It deletes those from before a time, save the last of each
 * browser, which says whose the browser was then. So all facts are read once, however many stay.
 * @returns how many went, and the last fact that it looked at; undefined when there are no more
 */
export async function deleteOldFacts(
  q: Queryable,
  workspaceId: number,
  { before, after, limit }: { before: number; after: FactPlace; limit: number },
): Promise<{ rows: number; last: FactPlace | undefined }> {
  const [row] = await q.query<{ rows: number; last: FactPlace | null }>(
    `WITH next AS MATERIALIZED (
       SELECT anonymous_id, at, event_id FROM identity_facts
       WHERE workspace_id = $1 AND (anonymous_id, at, event_id) > ($3, $4, $5)
       ORDER BY anonymous_id, at, event_id LIMIT $6
     ), gone AS (
       DELETE FROM identity_facts AS fact USING next AS old
       WHERE fact.workspace_id = $1 AND (fact.anonymous_id, fact.at, fact.event_id) = (old.anonymous_id, old.at, old.event_id)
         AND old.at < $2 AND EXISTS (SELECT FROM identity_facts AS later WHERE later.workspace_id = $1
           AND later.anonymous_id = old.anonymous_id AND later.at < $2 AND (later.at, later.event_id) > (old.at, old.event_id))
       RETURNING 1
     )
     SELECT (SELECT count(*) FROM gone) AS rows, (
       SELECT json_build_object('anonymousId', anonymous_id, 'at', at, 'eventId', event_id) FROM next
       ORDER BY anonymous_id, at, event_id OFFSET $6 - 1) AS last`,
    [workspaceId, Math.floor(before), after.anonymousId, after.at, after.eventId, limit],
  )
  return { rows: row!.rows, last: row!.last ?? undefined }
}
