/**
 * Decides to which contact an event belongs. An event with the e-mail of a contact is that contact's. Any other event
 * belongs to the contact that its browser was bound to at that time. The file also sums up contacts' events and reads a
 * contact's newest ones.
 */
import { foldDeadlineMs } from '../../../schemas/limits/figure-limits.ts'
import { type BoundSql, tuplesIn } from '../../bound-sql.ts'
import type { ClickHouse } from '../../client.ts'
import { eventMs, isTouch, moment } from '../../rollups/event-sql.ts'
import { isBeforePoint, type NewestEvents, pointParams } from '../event-point.ts'
import { pairsIn } from './copy-events.ts'

/** The time of a browser that is a contact's; the end isn't part of it. 64 bits are decimal texts. */
interface BrowserTime extends BrowserBinding {
  /** Null: it goes on. */
  readonly toAt: number | null
  readonly toId: number | null
}

export interface ContactEmail {
  readonly workspaceId: number
  readonly contactId: number
  readonly emailHash: string
}

export interface ContactsEvents {
  /** All times of each browser of the contacts that are asked about. */
  readonly times: readonly BrowserTime[]
  /** E-mails of the contacts that are asked about. */
  readonly wanted: readonly ContactEmail[]
  /** E-mails of other contacts that these browsers' events have. */
  readonly others: readonly ContactEmail[]
}

/** A browser's events from a moment and id on are a contact's, up to the next binding of the browser. */
interface BrowserBinding {
  readonly workspaceId: number
  readonly visitor: string
  readonly contactId: number
  readonly fromAt: number
  readonly fromId: number
}

export interface KnownContacts {
  readonly wanted: readonly ContactEmail[]
  /** All of each browser that has one to a wanted contact; those of a browser together, in order of time. */
  readonly bindings: readonly BrowserBinding[]
  /** The contacts that there are of these e-mails. */
  readonly findByHash: (hashes: { workspaceId: number; hash: string }[]) => Promise<ContactEmail[]>
}

/** Gathers the contacts' browsers and e-mails for the two statements below. */
export async function gatherContacts(
  ch: Pick<ClickHouse, 'query'>,
  { wanted, bindings, findByHash }: KnownContacts,
): Promise<ContactsEvents> {
  const times = bindings.map((binding, at): BrowserTime => {
    const next = bindings[at + 1]
    const isSame = next?.visitor === binding.visitor && next.workspaceId === binding.workspaceId
    return { ...binding, toAt: isSame ? next.fromAt : null, toId: isSame ? next.fromId : null }
  })
  const ids = new Set(wanted.map(({ contactId }) => contactId))
  const hashes = bindings.length === 0 ? [] : await readEmailsOf(ch, bindings)
  const found = hashes.length === 0 ? [] : await findByHash(hashes)
  return { times, wanted, others: found.filter(({ contactId }) => !ids.has(contactId)) }
}

/**
 * About how many events may be these contacts', and when the newest was (milliseconds since 1970; 0: there is none). All
 * events of a browser count, whosever they are. A copy made again counts once.
 */
export async function measureEventsOf(
  ch: Pick<ClickHouse, 'query'>,
  { wanted, bindings }: Pick<KnownContacts, 'wanted' | 'bindings'>,
): Promise<{ readonly events: number; readonly lastAt: number }> {
  const browsers = browsersIn(bindings)
  const emails = emailsIn(wanted)
  const [row] = await ch.query<{ events: number; lastAt: number }>(
    `SELECT uniq(id) AS events, max(${eventMs}) AS lastAt FROM person_events
     WHERE known_by = 'visitor' AND (workspace_id, hash) IN ${browsers.sql}
       OR known_by = 'email' AND (workspace_id, hash) IN ${emails.sql}`,
    { ...browsers.params, ...emails.params },
    { deadlineMs: foldDeadlineMs },
  )
  return row!
}

/** E-mails of events of these browsers. */
function readEmailsOf(
  ch: Pick<ClickHouse, 'query'>,
  visitors: readonly { readonly workspaceId: number; readonly visitor: string }[],
): Promise<{ workspaceId: number; hash: string }[]> {
  const chosen = browsersIn(visitors)
  return ch.query(
    `SELECT DISTINCT workspace_id AS workspaceId, toString(email_hash) AS hash FROM person_events
     WHERE known_by = 'visitor' AND (workspace_id, person_events.hash) IN ${chosen.sql} AND email_hash != 0`,
    chosen.params,
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
}

/** Browsers that events with these e-mails have. */
export function readVisitorsWith(
  ch: Pick<ClickHouse, 'query'>,
  emails: readonly ContactEmail[],
): Promise<{ workspaceId: number; visitor: string }[]> {
  const chosen = emailsIn(emails)
  return ch.query(
    `SELECT DISTINCT workspace_id AS workspaceId, toString(visitor) AS visitor FROM person_events
     WHERE known_by = 'email' AND (workspace_id, hash) IN ${chosen.sql} AND person_events.visitor != 0`,
    chosen.params,
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
}

/** Columns of an event of `ownEvents`. */
export const facts = 'occurred_at, id, visitor, session, kind, source, medium, campaign, content'

/** Browsers, as a subselect of pairs. */
export function browsersIn(browsers: readonly { readonly workspaceId: number; readonly visitor: string }[]): BoundSql {
  return pairsIn(
    browsers.map(({ workspaceId, visitor }) => [workspaceId, visitor]),
    'browser',
  )
}

/** A subselect of (workspace, e-mail hash) pairs. */
function emailsIn(emails: readonly ContactEmail[]): BoundSql {
  return pairsIn(
    emails.map(({ workspaceId, emailHash }) => [workspaceId, emailHash]),
    'email',
  )
}

/** SQL of the contacts' events with `owner`, each once. @param where condition over the copies */
export function ownEvents(contacts: ContactsEvents, where: string): BoundSql {
  const { times, wanted, others } = contacts
  const browsers = browsersIn(times)
  const emails = emailsIn(wanted)
  const known = [...wanted, ...others]
  const contactOfEmail =
    'transform(email_hash, arrayMap(hash -> toUInt64(hash), {known_hashes:Array(String)}), {known_contacts:Array(UInt64)}, toUInt64(0))'
  const timesSql = `SELECT t.1 AS time_workspace, toUInt64(t.2) AS time_visitor, t.3 AS contact, t.4 AS from_at, t.5 AS from_id, t.6 AS to_at, t.7 AS to_id
    FROM ${tuplesIn({ times_workspaces: 'UInt32', times_visitors: 'String', times_contacts: 'UInt64', times_from: 'Int64', times_from_id: 'UInt64', times_to: 'Int64', times_to_id: 'UInt64' })}`
  const ofBrowsers = `SELECT ${contactOfEmail} AS of_email, if(of_email != 0, of_email, contact) AS owner, ${facts}
    FROM (SELECT * FROM person_events WHERE known_by = 'visitor' AND (workspace_id, hash) IN ${browsers.sql} AND ${where}) AS copies
    INNER JOIN (${timesSql}) AS times ON workspace_id = time_workspace AND hash = time_visitor
    WHERE (${eventMs}, id) >= (from_at, from_id) AND (${eventMs}, id) < (to_at, to_id)`
  const ofEmails = `SELECT ${contactOfEmail} AS of_email, of_email AS owner, ${facts}
    FROM person_events WHERE known_by = 'email' AND (workspace_id, hash) IN ${emails.sql} AND ${where}`
  return {
    sql: `SELECT DISTINCT owner, ${facts} FROM (${ofBrowsers} UNION ALL ${ofEmails}) WHERE owner IN {wanted:Array(UInt64)}`,
    params: {
      ...browsers.params,
      ...emails.params,
      wanted: wanted.map(({ contactId }) => contactId),
      known_hashes: known.map(({ emailHash }) => emailHash),
      known_contacts: known.map(({ contactId }) => contactId),
      times_workspaces: times.map(({ workspaceId }) => workspaceId),
      times_visitors: times.map(({ visitor }) => visitor),
      times_contacts: times.map(({ contactId }) => contactId),
      times_from: times.map(({ fromAt }) => fromAt),
      times_from_id: times.map(({ fromId }) => fromId),
      times_to: times.map(({ toAt }) => toAt ?? Number.MAX_SAFE_INTEGER),
      times_to_id: times.map(({ toId }) => toId ?? 0),
    },
  }
}

export type TouchParts = readonly [at: number, source: string, medium: string, campaign: string, content: string]

export interface ContactSums {
  readonly contactId: number
  readonly sessions: number
  readonly events: number
  readonly conversions: number
  readonly firstAt: number
  readonly lastAt: number
  /** 0: none of the events is one. */
  readonly touches: number
  readonly firstTouch: TouchParts
  readonly lastTouch: TouchParts
}

export interface SumOptions {
  /** The timezone of each workspace's figures. A workspace without figures has no events in them. */
  readonly timezones: ReadonlyMap<number, string>
  /** Only events from then on count; milliseconds since 1970. */
  readonly since?: number
}

/** A contact without events is not there. */
export async function sumContacts(
  ch: Pick<ClickHouse, 'query'>,
  contacts: ContactsEvents,
  { timezones, since = 0 }: SumOptions,
): Promise<ContactSums[]> {
  // Contacts may be deleted while their work waits.
  if (contacts.wanted.length === 0) return []
  const day = localDayOf(contacts, timezones)
  const own = ownEvents(contacts, `occurred_at >= ${moment('since')}`)
  const touch = `(${eventMs}, toString(source), toString(medium), toString(campaign), toString(content))`
  return ch.query<ContactSums>(
    // A session that is silent for a whole local day counts anew. So it counts once for each run of days: these are as many as
    // the days that come when each day's next one is added.
    `WITH ${day.sql} AS day
     SELECT owner AS contactId, uniqExactArrayIf([(visitor, session, day), (visitor, session, day + 1)], visitor != 0)
         - uniqExactIf((visitor, session, day), visitor != 0) AS sessions, count() AS events,
       countIf(kind = 'conversion') AS conversions, min(${eventMs}) AS firstAt, max(${eventMs}) AS lastAt,
       countIf(${isTouch}) AS touches, argMinIf(${touch}, (occurred_at, id), ${isTouch}) AS firstTouch,
       argMaxIf(${touch}, (occurred_at, id), ${isTouch}) AS lastTouch
     FROM (${own.sql}) GROUP BY owner`,
    { ...own.params, ...day.params, since },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
}

/** SQL of the local day of an event of `owner`. ClickHouse takes a timezone only as a constant. */
function localDayOf({ wanted }: ContactsEvents, timezones: ReadonlyMap<number, string>): BoundSql {
  const zoneOf = ({ workspaceId }: ContactEmail) => timezones.get(workspaceId) ?? 'UTC'
  const params: Record<string, unknown> = {}
  const branches = [...new Set(wanted.map(zoneOf))].map((zone, at) => {
    params[`zone_${at}`] = zone
    params[`zone_${at}_contacts`] = wanted.filter((one) => zoneOf(one) === zone).map(({ contactId }) => contactId)
    return `owner IN {zone_${at}_contacts:Array(UInt64)}, toRelativeDayNum(occurred_at, {zone_${at}:String})`
  })
  return { sql: `multiIf(${branches.join(', ')}, 0)`, params }
}

/** Where an event stands in `events`. */
export interface EventPlace {
  readonly id: number
  readonly visitor: string
  /** UTC, in hours since 1970. */
  readonly hour: number
}

/** The newest events of one contact, newest first. */
export function readNewestPlaces(
  ch: Pick<ClickHouse, 'query'>,
  contact: ContactsEvents,
  { since, before, limit }: NewestEvents,
): Promise<EventPlace[]> {
  const own = ownEvents(contact, `occurred_at >= ${moment('since')}`)
  return ch.query<EventPlace>(
    `SELECT id, toString(visitor) AS visitor, intDiv(${eventMs}, 3600000) AS hour FROM (${own.sql})
     WHERE ${isBeforePoint()} ORDER BY occurred_at DESC, id DESC LIMIT {limit:UInt32}`,
    { ...own.params, ...pointParams(before), since, limit },
  )
}
