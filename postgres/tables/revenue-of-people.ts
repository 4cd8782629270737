/**
 * Payments of people. Each has one payer, chosen as for its credit: a contact by user id or e-mail, else whose the named
 * browser was then. An anonymous visitor has those that name its browser and no contact.
 */
import { journeyPaymentsMax } from '../../schemas/limits/revenue-limits.ts'
import type { Queryable } from '../client.ts'
import { milliseconds } from '../clock.ts'
import { payerByBrowser, payerEmail, payerField } from './payer-choice.ts'

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
 * as long.
 */
async function readNaming(
  q: Queryable,
  { workspaceId, contactIds, anonymousIds }: PaymentsRequest,
): Promise<readonly number[]> {
  const rows = await q.query<{ id: number }>(
    `SELECT p.id FROM contacts c
     JOIN revenue_payers y ON y.workspace_id = $1 AND ((y.field = 'email' AND y.value = c.email) OR (y.field = 'user_id' AND y.value = c.user_id AND c.user_id != ''))
     JOIN revenue_payments p ON p.workspace_id = $1 AND p.provider = y.provider AND p.refs && ARRAY[y.reference]
     WHERE c.workspace_id = $1 AND c.id = ANY ($2::bigint[])
     UNION
     SELECT p.id FROM (
       SELECT anonymous_id FROM bindings WHERE workspace_id = $1 AND contact_id = ANY ($2::bigint[])
       UNION SELECT unnest($3::text[])) AS known
     JOIN revenue_payers y ON y.workspace_id = $1 AND y.field = 'anonymous_id' AND y.value = known.anonymous_id
     JOIN revenue_payments p ON p.workspace_id = $1 AND p.provider = y.provider AND p.refs && ARRAY[y.reference]`,
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

const centsSql =
  'sum(CASE WHEN e.currency = $2 THEN e.value_cents ELSE round(e.value_cents * r.factor)::bigint END)::bigint'

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
    `SELECT found.contact, found.browser, coalesce(${centsSql}, 0) AS cents FROM ${entriesSql} GROUP BY found.contact, found.browser`,
  )
  return {
    ofContacts: new Map(rows.flatMap(({ contact, cents }) => (contact === null ? [] : [[contact, cents]]))),
    ofBrowsers: new Map(rows.flatMap(({ browser, cents }) => (browser === null ? [] : [[browser, cents]]))),
  }
}
