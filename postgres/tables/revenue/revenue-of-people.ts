/**
 * Payments of people. Each has one payer, chosen as for its credit: a contact by user id or e-mail, else whose the named
 * browser was then. An anonymous visitor has those that name its browser and no contact.
 */
import { journeyPaymentsMax } from '../../../schemas/limits/revenue-limits.ts'
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { inboxUserId } from '../people/inbox.ts'
import { payerByBrowser, payerEmail, payerField, paymentsNaming } from './payer-choice.ts'
import { ownCentsOfEntry, sumOfCents } from './revenue-rates.ts'

export interface PaymentsRequest {
  readonly workspaceId: number
  /** The workspace's: see `RevenueRequest`. */
  readonly currency: string
  /** Entries before this moment are as if they weren't there; milliseconds since 1970. */
  readonly since: number
  readonly contactIds: readonly number[]
  readonly anonymousIds: readonly string[]
}

export interface PaymentOfPerson {
  readonly id: number
  readonly provider: string
  readonly currency: string
  /** Less refunds, in its own currency. */
  readonly valueCents: number
  /** Milliseconds since 1970. */
  readonly occurredAt: number
  readonly source: string
  readonly campaign: string
}

const occurred = milliseconds('p.occurred_at')

/**
 * Ids of the payments that name any of those people. Mostly there are none. To plan the choice below takes several times
 * as long. A contact may have had other user ids, which the inbox alone knows. It is read where payments name user ids.
 */
async function readNaming(
  q: Queryable,
  { workspaceId, contactIds, anonymousIds }: PaymentsRequest,
): Promise<readonly number[]> {
  const rows = await q.query<{ id: number }>(
    `WITH asked AS (
       SELECT email, user_id FROM contacts WHERE workspace_id = $1 AND id = ANY ($2::bigint[])
     ), known (field, value) AS (
       SELECT 'email', email FROM asked
       UNION SELECT 'user_id', user_id FROM asked WHERE user_id != ''
       UNION SELECT 'user_id', former.value FROM asked CROSS JOIN LATERAL (
         SELECT ${inboxUserId('i')} AS value FROM inbox i
         WHERE i.workspace_id = $1 AND i.email = asked.email AND i.properties ->> 'user_id' IS NOT NULL OFFSET 0) AS former
       WHERE EXISTS (SELECT FROM revenue_payers WHERE workspace_id = $1 AND field = 'user_id')
       UNION SELECT 'anonymous_id', anonymous_id FROM bindings WHERE workspace_id = $1 AND contact_id = ANY ($2::bigint[])
       UNION SELECT 'anonymous_id', unnest($3::text[])
     )
     -- Each by the index alone: Postgres takes a few names for many, and reads all payers.
     SELECT DISTINCT p.id FROM known CROSS JOIN LATERAL (
       SELECT * FROM revenue_payers WHERE workspace_id = $1 AND field = known.field AND value = known.value OFFSET 0) AS y
     CROSS JOIN LATERAL ${paymentsNaming('y.reference')} AS p
     WHERE p.workspace_id = $1 AND p.provider = y.provider`,
    [workspaceId, contactIds, anonymousIds],
  )
  return rows.map(({ id }) => id)
}

/** A row for each payment of those people who were asked for, out of all that name them. */
const foundSql = `told AS MATERIALIZED (
       SELECT p.id, ${occurred} AS at, ${payerField('email')} AS email, ${payerField('user_id')} AS user_id,
         ${payerField('anonymous_id')} AS browser
       FROM revenue_payments p WHERE p.id = ANY ($6::bigint[])
     ), chosen AS MATERIALIZED (
       SELECT told.id, browser, coalesce((
         SELECT id FROM contacts WHERE workspace_id = $1 AND email = ${payerEmail('$1', 'told.user_id', 'told.email')}),
         ${payerByBrowser('$1', 'told.browser', 'told.at')}) AS contact
       FROM told
     ), found AS (
       SELECT id, contact, CASE WHEN contact IS NULL THEN browser END AS browser FROM chosen
       WHERE contact = ANY ($4::bigint[]) OR (contact IS NULL AND browser = ANY ($5::text[])))`

/** Their entries, with the rates that convert them. */
const entriesSql = `found JOIN revenue_payments p ON p.id = found.id JOIN revenue_entries e ON e.payment_id = p.id
     LEFT JOIN revenue_rates r ON r.workspace_id = $1 AND r.currency = e.currency AND r.to_currency = $2 AND r.day = p.import_day
     WHERE e.occurred_at >= to_timestamp($3::float8 / 1000)`

const centsSql = sumOfCents(ownCentsOfEntry)

/** Rows of a statement over the payments found and their entries. */
async function readFound<Row>(q: Queryable, request: PaymentsRequest, sql: string): Promise<Row[]> {
  const naming = await readNaming(q, request)
  if (naming.length === 0) return []
  const { workspaceId, currency, since, contactIds, anonymousIds } = request
  return q.query<Row>(`WITH ${foundSql} ${sql}`, [workspaceId, currency, since, contactIds, anonymousIds, naming])
}

/** Newest first, the newest so many. */
export function listPaymentsOfPeople(q: Queryable, request: PaymentsRequest): Promise<PaymentOfPerson[]> {
  return readFound(
    q,
    request,
    `SELECT p.id, p.provider, e.currency, sum(e.value_cents)::bigint AS "valueCents", ${occurred} AS "occurredAt",
       p.source, p.campaign
     FROM ${entriesSql}
     GROUP BY found.contact, found.browser, p.id, e.currency
     ORDER BY p.occurred_at DESC, p.id DESC LIMIT ${journeyPaymentsMax}`,
  )
}

/** Revenue of people, less refunds, in the workspace's currency. Amounts without a rate are left out. */
export interface RevenueOfPeople {
  readonly ofContacts: ReadonlyMap<number, number>
  /** By anonymous id. */
  readonly ofBrowsers: ReadonlyMap<string, number>
}

/** Who paid nothing is in neither. */
export async function sumRevenueOfPeople(q: Queryable, request: PaymentsRequest): Promise<RevenueOfPeople> {
  const rows = await readFound<{ contact: number | null; browser: string | null; cents: number }>(
    q,
    request,
    `SELECT found.contact, found.browser, ${centsSql} AS cents FROM ${entriesSql} GROUP BY found.contact, found.browser`,
  )
  return {
    ofContacts: new Map(rows.flatMap(({ contact, cents }) => (contact === null ? [] : [[contact, cents]]))),
    ofBrowsers: new Map(rows.flatMap(({ browser, cents }) => (browser === null ? [] : [[browser, cents]]))),
  }
}
