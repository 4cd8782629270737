/** Contacts: people known by an e-mail, with their traits and the figures of their events. Times are milliseconds since 1970. */
import type { Touch } from '../../../schemas/event/touch.ts'
import type { Queryable } from '../../client.ts'
import { bindFromBeginning } from './bindings.ts'

export interface Contact {
  readonly id: number
  readonly workspaceId: number
  readonly email: string
  readonly fullName: string
  readonly company: string
  readonly firstIdentifiedAt: number
  readonly lastIdentifiedAt: number
  readonly firstSeenAt: number
  readonly lastSeenAt: number
  readonly sessionCount: number
  readonly eventCount: number
  readonly conversionCount: number
  readonly firstTouch: Touch | null
  readonly lastTouch: Touch | null
}

/** A `Contact`. */
export const contactColumns = `id, workspace_id AS "workspaceId", email, full_name AS "fullName", company,
  first_identified_at AS "firstIdentifiedAt", last_identified_at AS "lastIdentifiedAt",
  first_seen_at AS "firstSeenAt", last_seen_at AS "lastSeenAt",
  session_count AS "sessionCount", event_count AS "eventCount", conversion_count AS "conversionCount",
  CASE WHEN first_touch_at IS NOT NULL THEN json_build_object('at', first_touch_at, 'source', first_source,
    'medium', first_medium, 'campaign', first_campaign, 'content', first_content) END AS "firstTouch",
  CASE WHEN last_touch_at IS NOT NULL THEN json_build_object('at', last_touch_at, 'source', source,
    'medium', medium, 'campaign', campaign, 'content', content) END AS "lastTouch"`

/** Facts from identify and conversion events about one e-mail. A trait is empty where none of them has one. */
export interface Identified {
  readonly workspace_id: number
  readonly email: string
  readonly email_hash: string
  readonly first: number
  readonly last: number
  readonly full_name: string
  readonly full_name_at: number
  readonly company: string
  readonly company_at: number
  readonly user_id: string
  readonly user_id_at: number
}

/** The newest trait wins, of one moment the greater text: whatever the order in which they come. */
const newest = (trait: string) => `
  ${trait} = CASE WHEN ${isNewer(trait)} THEN excluded.${trait} ELSE known.${trait} END,
  ${trait}_at = CASE WHEN ${isNewer(trait)} THEN excluded.${trait}_at ELSE known.${trait}_at END`
const isNewer = (trait: string) => `excluded.${trait} != '' AND (known.${trait} = '' OR
  (excluded.${trait}_at, excluded.${trait} COLLATE "C") > (known.${trait}_at, known.${trait} COLLATE "C"))`

/**
 * Inserts contacts, or updates their traits and times; a repeat changes nothing.
 * @param identified one an e-mail, in an order that is always the same
 * @returns their ids, in the same order
 */
export async function saveContacts(tx: Queryable, identified: readonly Identified[]): Promise<number[]> {
  const rows = await tx.query<{ id: number; workspace_id: number; email: string }>(
    `INSERT INTO contacts AS known (workspace_id, email, email_hash, first_identified_at, last_identified_at,
       first_seen_at, last_seen_at, full_name, full_name_at, company, company_at, user_id, user_id_at)
     SELECT workspace_id, email, email_hash::numeric, first, last, first, last,
       full_name, full_name_at, company, company_at, user_id, user_id_at
     FROM jsonb_to_recordset($1::jsonb) AS row (workspace_id integer, email text, email_hash text, first bigint, last bigint,
       full_name text, full_name_at bigint, company text, company_at bigint, user_id text, user_id_at bigint)
     ON CONFLICT (workspace_id, email) DO UPDATE SET
       first_identified_at = least(known.first_identified_at, excluded.first_identified_at),
       last_identified_at = greatest(known.last_identified_at, excluded.last_identified_at),
       first_seen_at = least(known.first_seen_at, excluded.first_seen_at),
       last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at),
       ${['full_name', 'company', 'user_id'].map(newest).join(',')}
     RETURNING id, workspace_id, email`,
    [JSON.stringify(identified)],
  )
  const ids = new Map(rows.map(({ id, workspace_id, email }) => [`${workspace_id} ${email}`, id]))
  return identified.map(({ workspace_id, email }) => ids.get(`${workspace_id} ${email}`)!)
}

/** Figures of a contact's events. */
export interface ContactFigures {
  readonly contactId: number
  readonly sessions: number
  readonly events: number
  readonly conversions: number
  readonly firstAt: number
  readonly lastAt: number
  readonly firstTouch: Touch | null
  readonly lastTouch: Touch | null
}

/**
 * Writes figures. Values from before `keptFrom` stay, because their events may be deleted by now.
 * @param keptFrom by contact's workspace, milliseconds since 1970
 */
export async function writeFigures(
  tx: Queryable,
  figures: readonly ContactFigures[],
  keptFrom: ReadonlyMap<number, number>,
): Promise<void> {
  const rows = figures.map(({ firstTouch, lastTouch, ...figure }) => ({
    ...figure,
    f_at: firstTouch?.at ?? null,
    f_source: firstTouch?.source ?? '',
    f_medium: firstTouch?.medium ?? '',
    f_campaign: firstTouch?.campaign ?? '',
    f_content: firstTouch?.content ?? '',
    l_at: lastTouch?.at ?? null,
    l_source: lastTouch?.source ?? '',
    l_medium: lastTouch?.medium ?? '',
    l_campaign: lastTouch?.campaign ?? '',
    l_content: lastTouch?.content ?? '',
  }))
  const kept = `coalesce(($2::jsonb ->> known.workspace_id::text)::numeric, 0)`
  const isFirstKept = `known.first_touch_at < ${kept} AND known.first_touch_at <= coalesce(f_at, known.first_touch_at)`
  const isLastKept = `known.last_touch_at < ${kept} AND l_at IS NULL`
  const firstOf = (name: string) =>
    `first_${name} = CASE WHEN ${isFirstKept} THEN known.first_${name} ELSE f_${name} END`
  const lastOf = (name: string) => `${name} = CASE WHEN ${isLastKept} THEN known.${name} ELSE l_${name} END`
  const parts = ['source', 'medium', 'campaign', 'content']
  await tx.query(
    `UPDATE contacts AS known SET session_count = sessions, event_count = events, conversion_count = conversions,
       oldest_event_at = nullif("firstAt", 0),
       first_seen_at = least(CASE WHEN known.first_seen_at < ${kept} THEN known.first_seen_at END,
         nullif("firstAt", 0), first_identified_at),
       last_seen_at = greatest("lastAt", last_identified_at),
       first_touch_at = CASE WHEN ${isFirstKept} THEN known.first_touch_at ELSE f_at END,
       last_touch_at = CASE WHEN ${isLastKept} THEN known.last_touch_at ELSE l_at END,
       ${[...parts.map(firstOf), ...parts.map(lastOf)].join(', ')}
     FROM jsonb_to_recordset($1::jsonb) AS row ("contactId" bigint, sessions integer, events integer, conversions integer,
       "firstAt" bigint, "lastAt" bigint, f_at bigint, f_source text, f_medium text, f_campaign text, f_content text,
       l_at bigint, l_source text, l_medium text, l_campaign text, l_content text)
     WHERE known.id = "contactId"`,
    [JSON.stringify(rows), JSON.stringify(Object.fromEntries(keptFrom))],
  )
}

/** For a contact whose figures stay as they are. */
export async function noteSeen(
  tx: Queryable,
  { contactId, lastAt }: { readonly contactId: number; readonly lastAt: number },
): Promise<void> {
  await tx.query('UPDATE contacts SET last_seen_at = greatest(last_seen_at, $2) WHERE id = $1', [contactId, lastAt])
}

export interface EmailHash {
  readonly workspaceId: number
  /** Decimal text. */
  readonly hash: string
}

export interface ContactKey {
  readonly contactId: number
  readonly workspaceId: number
  /** Decimal text. */
  readonly emailHash: string
}

const keyColumns = `id AS "contactId", workspace_id AS "workspaceId", email_hash::text AS "emailHash"`

export function readContactKeys(q: Queryable, ids: readonly number[]): Promise<ContactKey[]> {
  return q.query<ContactKey>(`SELECT ${keyColumns} FROM contacts WHERE id = ANY ($1::bigint[])`, [ids])
}

export async function listWorkspacesOfContacts(q: Queryable, ids: readonly number[]): Promise<number[]> {
  const rows = await q.query<{ id: number }>(
    'SELECT DISTINCT workspace_id AS id FROM contacts WHERE id = ANY ($1::bigint[])',
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** The contacts that there are of these e-mails. */
export function findContactsByHash(q: Queryable, hashes: readonly EmailHash[]): Promise<ContactKey[]> {
  return q.query<ContactKey>(
    `SELECT ${keyColumns} FROM contacts WHERE (workspace_id, email_hash) IN (SELECT * FROM unnest($1::int[], $2::numeric[]))`,
    [hashes.map(({ workspaceId }) => workspaceId), hashes.map(({ hash }) => hash)],
  )
}

/** E-mails of contacts by their hashes, as `events` has them, in decimal. */
export async function readEmailsOfHashes(
  q: Queryable,
  workspaceId: number,
  hashes: readonly string[],
): Promise<Map<string, string>> {
  const rows = await q.query<{ hash: string; email: string }>(
    'SELECT email_hash::text AS hash, email FROM contacts WHERE workspace_id = $1 AND email_hash = ANY ($2::numeric[])',
    [workspaceId, hashes],
  )
  return new Map(rows.map(({ hash, email }) => [hash, email]))
}

export async function findContact(
  q: Queryable,
  workspaceId: number,
  by: { readonly id: number } | { readonly email: string },
): Promise<Contact | undefined> {
  const [column, value] = 'id' in by ? ['id', by.id] : ['email', by.email]
  const [row] = await q.query<Contact>(
    `SELECT ${contactColumns} FROM contacts WHERE workspace_id = $1 AND ${column} = $2`,
    [workspaceId, value],
  )
  return row
}

export function readContacts(q: Queryable, ids: readonly number[]): Promise<Contact[]> {
  return q.query<Contact>(`SELECT ${contactColumns} FROM contacts WHERE id = ANY ($1::bigint[]) ORDER BY id`, [ids])
}

/** Traits of existing contacts with these e-mails, as lists of people show them. */
export type ShownTraits = Pick<Contact, 'fullName' | 'company'>

export async function readTraits(
  q: Queryable,
  workspaceId: number,
  emails: readonly string[],
): Promise<Map<string, ShownTraits>> {
  const rows = await q.query<ShownTraits & { email: string }>(
    'SELECT email, full_name AS "fullName", company FROM contacts WHERE workspace_id = $1 AND email = ANY ($2::text[])',
    [workspaceId, emails],
  )
  return new Map(rows.map(({ email, ...traits }) => [email, traits]))
}

/** A contact's place among those of its workspace by their oldest events. */
export interface ContactPlace {
  readonly at: number
  readonly id: number
}
/** Before all of them. */
export const firstContact: ContactPlace = { at: Number.MIN_SAFE_INTEGER, id: 0 }

/**
 * Has figures computed again where events that they count are deleted. A contact that waits already isn't added once more; if
 * it is just being computed without the deletion, the next run finds it again.
 * @returns the last of the `limit` contacts that it looked at; undefined when there are no more
 */
export async function addWorkOfOldContacts(
  q: Queryable,
  workspaceId: number,
  { before, after, limit }: { before: number; after: ContactPlace; limit: number },
): Promise<ContactPlace | undefined> {
  const [last] = await q.query<ContactPlace>(
    `WITH old AS MATERIALIZED (
       SELECT oldest_event_at AS at, id FROM contacts
       WHERE workspace_id = $1 AND oldest_event_at < $2 AND (oldest_event_at, id) > ($3, $4)
       ORDER BY oldest_event_at, id LIMIT $5
     ), added AS (
       INSERT INTO people_work (workspace_id, contact_id)
       SELECT $1, id FROM old WHERE NOT EXISTS (SELECT FROM people_work WHERE contact_id = old.id)
     )
     SELECT at, id FROM old ORDER BY at, id OFFSET $5 - 1`,
    [workspaceId, Math.floor(before), after.at, after.id, limit],
  )
  return last
}

/**
 * Deletes a workspace's contacts that were last seen before `beforeMs`, at most `limit`. Events of their time on a
 * browser that are sent later are those of whoever had it next. @returns how many
 */
export async function deleteOldContacts(
  q: Queryable,
  workspaceId: number,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const [deleted] = await q.query<{ rows: number; visitors: string[] }>(
    `WITH gone AS (
       DELETE FROM contacts WHERE id IN (
         SELECT id FROM contacts WHERE workspace_id = $1 AND last_seen_at < $2 LIMIT $3) AND last_seen_at < $2 RETURNING id
     )
     SELECT (SELECT count(*) FROM gone) AS rows,
       ARRAY(SELECT DISTINCT visitor::text FROM bindings WHERE contact_id IN (SELECT id FROM gone)) AS visitors`,
    [workspaceId, Math.floor(beforeMs), limit],
  )
  await bindFromBeginning(q, workspaceId, deleted!.visitors)
  return deleted!.rows
}
