/**
 * Pages of contacts, and the search among them. The index of trigrams reads all contacts that have one of a text's
 * trigrams, and most contacts have a common one, as `com`. So the search looks up rare parts only, and then compares the
 * whole text. A sample of contacts says which parts are rare.
 */
import { shortSearchContactsMax } from '../../../schemas/limits/people-limits.ts'
import type { Queryable } from '../../client.ts'
import { type Contact, contactColumns } from './contacts.ts'

export interface ContactPage {
  readonly limit: number
  /** Letters of a contact, in either case. */
  readonly q: string | undefined
  /** Only those last seen before this person: a contact's id tells apart those of one moment. */
  readonly before: { readonly at: number; readonly id: number } | undefined
  /** Only those last seen since. */
  readonly since: number
}

/**
 * Last seen first; those of one moment by id, the greatest first. A text that is too short for the index of trigrams is
 * looked for among the newest contacts of the page and behind it.
 */
export async function listContacts(q: Queryable, workspaceId: number, page: ContactPage): Promise<Contact[]> {
  const range = `workspace_id = $1 AND last_seen_at >= $2 AND ($3::bigint IS NULL OR (last_seen_at, id) < ($3, $4))`
  const order = 'ORDER BY last_seen_at DESC, id DESC'
  const params = [workspaceId, page.since, page.before?.at ?? null, page.before?.id ?? 0, page.limit]
  if (page.q === undefined) {
    return q.query<Contact>(`SELECT ${contactColumns} FROM contacts WHERE ${range} ${order} LIMIT $5`, params)
  }
  const lookUp = /[\p{L}\p{N}]{3}/u.test(page.q) ? await chooseLookUp(q, workspaceId, page.q) : 'newest'
  const patterns = typeof lookUp === 'string' ? [] : lookUp
  const isLike = patterns.map((_, at) => `searched LIKE lower($${7 + at})`)
  // The order's index is no help to these: OFFSET 0 keeps Postgres from reading the contacts by it until enough are found.
  const candidates =
    lookUp === 'newest'
      ? `SELECT * FROM contacts WHERE ${range} ${order} LIMIT ${shortSearchContactsMax}`
      : `SELECT * FROM contacts WHERE ${[range, ...isLike].join(' AND ')} ${lookUp === 'in order' ? '' : 'OFFSET 0'}`
  return q.query<Contact>(
    `SELECT ${contactColumns} FROM (${candidates}) AS contacts WHERE position(lower($6) IN searched) > 0 ${order} LIMIT $5`,
    [...params, page.q, ...patterns],
  )
}

/** Contacts of the sample, at even distances between the one seen first and the one seen last. */
const sampled = 200
/** A text is common when so many of the sample have it: a page of them is found soon by looking at one after another. */
const commonFrom = 2
/** Parts to look up, at most. */
const lookedUpMax = 3
/** Parts are looked up when at most so many of the sample have all of them. Else the whole text is. */
const comparedMax = sampled / 50
/** Parts of a text that are compared with the sample. */
const triedMax = 40

/**
 * @param text with three letters or digits in a row
 * @returns patterns to look up in the index; or that contacts are looked at in the order of the list, without the index
 */
async function chooseLookUp(q: Queryable, workspaceId: number, text: string): Promise<readonly string[] | 'in order'> {
  const rows = await q.query<{ part: string | null; having: number[] }>(
    `WITH sample AS MATERIALIZED (
       SELECT nth, searched FROM (SELECT min(last_seen_at) AS first, max(last_seen_at) AS last FROM contacts WHERE workspace_id = $1) AS seen,
         generate_series(1, ${sampled}) AS nth,
         LATERAL (SELECT searched FROM contacts
           WHERE workspace_id = $1 AND last_seen_at >= first + (last - first) * (nth - 1) / ${sampled - 1}
           ORDER BY last_seen_at, id LIMIT 1) AS one)
     SELECT part, ARRAY (SELECT nth FROM sample WHERE position(lower(coalesce(part, $2)) IN searched) > 0) AS having
     FROM unnest($3::text[]) AS part`,
    [workspaceId, text, [null, ...partsOf(text)]],
  )
  const [whole, ...parts] = rows
  if (whole !== undefined && whole.having.length >= commonFrom) return 'in order'
  const chosen: string[] = []
  let left: readonly number[] = Array.from({ length: sampled }, (_, at) => at + 1)
  while (chosen.length < lookedUpMax && left.length > 0) {
    const [rarest] = parts
      .map(({ part, having }) => ({ part: part!, both: left.filter((nth) => having.includes(nth)) }))
      .sort((a, b) => a.both.length - b.both.length)
    // A part that most of them have would be read for little.
    if (rarest === undefined || rarest.both.length > left.length / 2) break
    chosen.push(rarest.part)
    left = rarest.both
  }
  const patterns = left.length <= comparedMax ? chosen : [text.replace(/[\\%_]/g, '\\$&')]
  return patterns.map((pattern) => `%${pattern}%`)
}

/**
 * Three letters or digits in a row, or up to three with the space before them. Only those of ASCII: of others Postgres
 * might see another case than we do.
 */
function partsOf(text: string): readonly string[] {
  const all = Array.from(text.matchAll(/(?=( [a-z0-9]{1,3}|[a-z0-9]{3}))/gi), ([, part]) => part!.toLowerCase())
  return [...new Set(all)].slice(0, triedMax)
}
