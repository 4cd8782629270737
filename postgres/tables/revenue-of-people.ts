/**
 * Payments of people: those whose payer has the contact's e-mail or user id, or names a browser that was the contact's then; of
 * an anonymous visitor those that name its browser.
 */
import { journeyPaymentsMax } from '../../schemas/limits/revenue-limits.ts'
import type { Queryable } from '../client.ts'

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

const occurred = 'extract(epoch FROM p.occurred_at)::float8 * 1000'

/** A row for each payment of each person that was asked for. */
const foundSql = `found AS (
       SELECT c.id AS contact, NULL AS browser, p.id FROM contacts c
       JOIN revenue_payers y ON y.workspace_id = $1 AND ((y.field = 'email' AND y.value = c.email) OR (y.field = 'user_id' AND y.value = c.user_id AND c.user_id != ''))
       JOIN revenue_payments p ON p.workspace_id = $1 AND p.provider = y.provider AND p.refs && ARRAY[y.reference]
       WHERE c.workspace_id = $1 AND c.id = ANY ($4::bigint[])
       UNION
       SELECT b.contact_id, NULL, p.id FROM (SELECT DISTINCT anonymous_id FROM bindings WHERE workspace_id = $1 AND contact_id = ANY ($4::bigint[])) AS known
       JOIN revenue_payers y ON y.workspace_id = $1 AND y.field = 'anonymous_id' AND y.value = known.anonymous_id
       JOIN revenue_payments p ON p.workspace_id = $1 AND p.provider = y.provider AND p.refs && ARRAY[y.reference]
       JOIN LATERAL (
         SELECT contact_id FROM bindings WHERE workspace_id = $1 AND anonymous_id = known.anonymous_id
         ORDER BY from_at <= ${occurred} DESC, abs(from_at - ${occurred}) LIMIT 1) AS b ON b.contact_id = ANY ($4::bigint[])
       UNION
       SELECT NULL, y.value, p.id FROM revenue_payers y
       JOIN revenue_payments p ON p.workspace_id = $1 AND p.provider = y.provider AND p.refs && ARRAY[y.reference]
       WHERE y.workspace_id = $1 AND y.field = 'anonymous_id' AND y.value = ANY ($5::text[]))`

/** Their entries, with the rates that convert them. */
const entriesSql = `found JOIN revenue_payments p ON p.id = found.id JOIN revenue_entries e ON e.payment_id = p.id
     LEFT JOIN revenue_rates r ON r.workspace_id = $1 AND r.currency = e.currency AND r.to_currency = $2 AND r.day = p.import_day
     WHERE e.occurred_at >= to_timestamp($3::float8 / 1000)`

const centsSql =
  'sum(CASE WHEN e.currency = $2 THEN e.value_cents ELSE round(e.value_cents * r.factor)::bigint END)::bigint'

const paramsOf = ({ workspaceId, currency, since, contactIds, anonymousIds }: PaymentsRequest) => [
  ...[workspaceId, currency, since, contactIds, anonymousIds],
]

/** Newest first, the newest so many. */
export function listPaymentsOfPeople(q: Queryable, request: PaymentsRequest): Promise<PaymentOfPerson[]> {
  return q.query<PaymentOfPerson>(
    `WITH ${foundSql}
     SELECT p.id, p.provider, e.currency, sum(e.value_cents)::bigint AS "valueCents", ${occurred} AS "occurredAt",
       p.source, p.campaign
     FROM ${entriesSql}
     GROUP BY found.contact, found.browser, p.id, e.currency
     ORDER BY p.occurred_at DESC, p.id DESC LIMIT ${journeyPaymentsMax}`,
    paramsOf(request),
  )
}

/** What people paid, less refunds, in the workspace's currency. What no rate converts is left out. */
export interface RevenueOfPeople {
  readonly ofContacts: ReadonlyMap<number, number>
  /** By anonymous id. */
  readonly ofBrowsers: ReadonlyMap<string, number>
}

/** Who paid nothing is in neither. */
export async function sumRevenueOfPeople(q: Queryable, request: PaymentsRequest): Promise<RevenueOfPeople> {
  const rows = await q.query<{ contact: number | null; browser: string | null; cents: number }>(
    `WITH ${foundSql}
     SELECT found.contact, found.browser, coalesce(${centsSql}, 0) AS cents FROM ${entriesSql} GROUP BY found.contact, found.browser`,
    paramsOf(request),
  )
  return {
    ofContacts: new Map(rows.flatMap(({ contact, cents }) => (contact === null ? [] : [[contact, cents]]))),
    ofBrowsers: new Map(rows.flatMap(({ browser, cents }) => (browser === null ? [] : [[browser, cents]]))),
  }
}
