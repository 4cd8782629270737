/**
 * Touches of contacts, to which their conversions and payments are credited. contact-events.ts says whose an event is.
 */
import type { Touch } from '../../../schemas/event/touch.ts'
import { creditWindowMs, foldDeadlineMs } from '../../../schemas/limits/figure-limits.ts'
import { personCreditsPerContactMax } from '../../../schemas/limits/people-limits.ts'
import { tuplesIn } from '../../bound-sql.ts'
import type { ClickHouse } from '../../client.ts'
import { eventMs, isTouch, moment } from '../../rollups/event-sql.ts'
import { type ConversionOf, newestTouchesBefore, spanOfTouches } from '../touches-before.ts'
import { browsersIn, type ContactsEvents, facts, ownEvents } from './contact-events.ts'

export interface TouchedConversion {
  readonly contactId: number
  readonly eventId: number
  /** Milliseconds since 1970, as `touchedAt`. */
  readonly at: number
  /** Decimal text; '0' of a server event. */
  readonly visitor: string
  /** Empty where the contact has no touch: that at `touchedAt` is another's on the same browser. */
  readonly source: string
  readonly medium: string
  readonly touchedAt: number
  /** The visitor whose touch it is: decimal text; '0' of a server event. */
  readonly touchedBy: string
}

/**
 * Conversions whose contact has another last touch than the event's own browser. For a server's
 * conversion the event itself stands in for the browser. Each touch is within the time for credit.
 */
export function readTouchedConversions(
  ch: Pick<ClickHouse, 'query'>,
  contacts: ContactsEvents,
): Promise<TouchedConversion[]> {
  const own = ownEvents(contacts, `(${isTouch} OR kind = 'conversion')`)
  // A browser's touches, whosever they are: its rows are derived from them.
  const browsers = browsersIn(contacts.times)
  const touch = `(${eventMs}, toString(source), toString(medium), visitor)`
  const lastOf = (partition: string) => `argMaxIf(${touch}, (occurred_at, id), ${isTouch})
    OVER (PARTITION BY ${partition} ORDER BY occurred_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`
  const none = "(toInt64(0), '', '', toUInt64(0))"
  const inTime = (last: string) => `if(${last}.1 >= at - ${creditWindowMs}, ${last}, ${none})`
  return ch.query<TouchedConversion>(
    `SELECT owner AS contactId, id AS eventId, at, toString(visitor) AS visitor, credit.2 AS source, credit.3 AS medium,
       if(credit.2 != '', credit.1, without.1) AS touchedAt, toString(if(credit.2 != '', credit.4, without.4)) AS touchedBy
     FROM (
       SELECT owner, id, at, visitor, is_conversion, ${inTime('of_owner')} AS credit, ${inTime('of_visitor')} AS without
       FROM (
         SELECT owner, id, ${eventMs} AS at, visitor, kind = 'conversion' AS is_conversion, ${lastOf('owner')} AS of_owner,
           if(visitor != 0, ${lastOf('visitor')}, if(${isTouch}, ${touch}, ${none})) AS of_visitor
         FROM (${own.sql} UNION ALL SELECT toUInt64(0), ${facts}
           FROM person_events WHERE known_by = 'visitor' AND (workspace_id, hash) IN ${browsers.sql} AND ${isTouch})))
     WHERE owner != 0 AND is_conversion AND credit != without
     ORDER BY at DESC, id DESC LIMIT ${personCreditsPerContactMax} BY owner`,
    { ...browsers.params, ...own.params },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
}

export interface ContactTouchEvent extends Touch {
  readonly contactId: number
  readonly id: number
  /** Decimal text; '0' of a server event. */
  readonly visitor: string
}

/** Touches of these conversions' contacts, newest first: of each conversion those that are shown. */
export function readTouchesOfContacts(
  ch: Pick<ClickHouse, 'query'>,
  contacts: ContactsEvents,
  conversions: readonly ConversionOf[],
): Promise<ContactTouchEvent[]> {
  const own = ownEvents(
    contacts,
    `occurred_at >= ${moment('start')} AND occurred_at <= ${moment('end')} AND ${isTouch}`,
  )
  const touches = newestTouchesBefore(
    `SELECT owner AS whose, owner AS contactId, id, ${eventMs} AS at, toString(visitor) AS visitor, toString(source) AS source,
       toString(medium) AS medium, toString(campaign) AS campaign, toString(content) AS content
     FROM (${own.sql})`,
    conversions,
  )
  return ch.query<ContactTouchEvent>(
    touches.sql,
    { ...own.params, ...touches.params, ...spanOfTouches(conversions) },
    { isLong: true },
  )
}

/** A moment up to which a contact's events are looked at. */
export interface ContactMoment {
  /** The key of the moment's answer. */
  readonly id: number
  readonly contactId: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/**
 * The contact's last event of a kind at or before each moment, within the time for credit; by the moment's id.
 * @param kind a touch, or any event that a browser sent
 */
export async function readLastEvents(
  ch: Pick<ClickHouse, 'query'>,
  contacts: ContactsEvents,
  moments: readonly ContactMoment[],
  kind: 'touch' | 'browser',
): Promise<Map<number, ContactTouchEvent>> {
  const which = kind === 'touch' ? isTouch : 'visitor != 0'
  const own = ownEvents(contacts, `occurred_at >= ${moment('start')} AND occurred_at <= ${moment('end')} AND ${which}`)
  const event = 'id, toString(visitor), toString(source), toString(medium), toString(campaign), toString(content)'
  const rows = await ch.query<ContactTouchEvent & { readonly moment_id: number }>(
    `SELECT moment_id, contact AS contactId, last.1 AS id, ${eventMs} AS at, last.2 AS visitor, last.3 AS source,
       last.4 AS medium, last.5 AS campaign, last.6 AS content
     FROM (SELECT t.1 AS moment_id, t.2 AS contact, fromUnixTimestamp64Milli(t.3, 'UTC') AS until
       FROM ${tuplesIn({ moments: 'UInt64', owners: 'UInt64', untils: 'Int64' })}) AS asked
     ASOF INNER JOIN (
       SELECT owner, occurred_at, argMax((${event}), id) AS last FROM (${own.sql}) GROUP BY owner, occurred_at) AS events
     ON contact = owner AND until >= occurred_at
     WHERE ${eventMs} >= toUnixTimestamp64Milli(until) - ${creditWindowMs}`,
    {
      ...own.params,
      start: Math.min(...moments.map(({ at }) => at)) - creditWindowMs,
      end: Math.max(...moments.map(({ at }) => at)),
      moments: moments.map(({ id }) => id),
      owners: moments.map(({ contactId }) => contactId),
      untils: moments.map(({ at }) => at),
    },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
  return new Map(rows.map(({ moment_id, ...last }) => [moment_id, last]))
}
