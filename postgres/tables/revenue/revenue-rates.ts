/** Exchange rates of import days, which convert payments into the workspace's currency. */
import { decimalsOf } from '../../../schemas/reference/currencies.ts'
import type { Queryable } from '../../client.ts'

export interface Rate {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  readonly currency: string
  /** Whole units of the workspace's currency for one whole unit of this one, as a decimal text. */
  readonly rate: string
}

/** The last of a day and currency counts, here and before. */
export async function replaceRates(
  q: Queryable,
  { workspaceId, currency }: { workspaceId: number; currency: string },
  rates: readonly Rate[],
): Promise<void> {
  const last = new Map(rates.map((rate) => [`${rate.day} ${rate.currency}`, rate]))
  const rows = [...last.values()].map((rate) => ({
    ...rate,
    shift: decimalsOf(currency) - decimalsOf(rate.currency),
  }))
  await q.query(
    `INSERT INTO revenue_rates (workspace_id, to_currency, currency, day, factor)
     SELECT $1, $2, currency, day, rate * power(10::numeric, shift)
     FROM jsonb_to_recordset($3::jsonb) AS row (currency text, day date, rate numeric, shift integer)
     ON CONFLICT (workspace_id, currency, to_currency, day) DO UPDATE SET factor = excluded.factor`,
    [workspaceId, currency, JSON.stringify(rows)],
  )
}

/**
 * SQL of a sum of cents, which is 0 for no rows. One that a mistyped rate makes too large for a number of JSON is the largest:
 * else no overview could be read.
 */
export const sumOfCents = (cents: string) =>
  `greatest(least(coalesce(sum(${cents}), 0), ${Number.MAX_SAFE_INTEGER}), ${Number.MIN_SAFE_INTEGER})::bigint`

/** SQL of cents in the workspace's currency, which is $2; null where no rate `r` converts them. Arguments are SQL. */
export const ownCents = (cents: string, currency: string) =>
  `CASE WHEN ${currency} = $2 THEN ${cents} ELSE round(${cents} * r.factor) END`

/**
 * The same of an entry `e` of the ledger. A refund is what the payment is worth after it, less what it was worth before it.
 * So refunds of all of a payment leave no cent of rounding.
 */
export const ownCentsOfEntry = `CASE WHEN e.currency = $2 OR e.entry = 'payment' THEN ${ownCents('e.value_cents', 'e.currency')} ELSE (
  SELECT round(sum(one.value_cents) * r.factor) - round((sum(one.value_cents) - e.value_cents) * r.factor) FROM revenue_entries one
  WHERE one.payment_id = e.payment_id AND one.currency = e.currency
    AND (one.entry = 'payment' OR (one.occurred_at, one.id) <= (e.occurred_at, e.id))) END`
