/** Ad costs, a row for each day, source and campaign. */
import type { AdLine } from '../../../schemas/revenue-imports.ts'
import type { Queryable } from '../../client.ts'
import { ownCents, sumOfCents } from './revenue-rates.ts'

/** Replaces earlier values of a day and campaign; among repeated lines the last counts. */
export async function replaceAdSpend(q: Queryable, workspaceId: number, days: readonly AdLine[]): Promise<void> {
  const last = new Map(days.map((one) => [JSON.stringify([one.day, one.source, one.campaign]), one]))
  await q.query(
    `INSERT INTO ad_spend AS had (workspace_id, day, source, campaign, currency, cost_cents, clicks, import_day)
     SELECT $1, day, source, campaign, currency, cost_cents, clicks, (now() AT TIME ZONE 'UTC')::date
     FROM jsonb_to_recordset($2::jsonb) AS row
       (day date, source text, campaign text, currency text, cost_cents bigint, clicks bigint)
     ON CONFLICT (workspace_id, day, source, campaign) DO UPDATE
     SET cost_cents = excluded.cost_cents, clicks = excluded.clicks, currency = excluded.currency,
       import_day = CASE WHEN had.currency = excluded.currency THEN had.import_day ELSE excluded.import_day END`,
    [workspaceId, JSON.stringify([...last.values()])],
  )
}

export interface AdSpend {
  /** In the workspace's currency. */
  readonly cents: number
  /** Amounts without a rate, by currency. */
  readonly apart: Readonly<Record<string, number>>
}

export interface AdRequest {
  readonly workspaceId: number
  /** The workspace's. */
  readonly currency: string
  /** Local days, both included. */
  readonly from: string
  readonly to: string
}

/** Rows of the days, with their cost in the workspace's currency, or null. */
const spent = `SELECT s.source, s.campaign, s.currency, s.cost_cents, s.clicks,
    ${ownCents('s.cost_cents', 's.currency')} AS own
  FROM ad_spend s LEFT JOIN revenue_rates r
    ON r.workspace_id = s.workspace_id AND r.currency = s.currency AND r.to_currency = $2 AND r.day = s.import_day
  WHERE s.workspace_id = $1 AND s.day BETWEEN $3::date AND $4::date`

export async function sumAdSpend(q: Queryable, request: AdRequest): Promise<AdSpend> {
  const rows = await q.query<{ currency: string | null; cents: number }>(
    `WITH spent AS (${spent})
     SELECT NULL AS currency, ${sumOfCents('own')} AS cents FROM spent
     UNION ALL SELECT currency, ${sumOfCents('cost_cents')} FROM spent WHERE own IS NULL GROUP BY currency`,
    paramsOf(request),
  )
  const apart = rows.filter(({ currency }) => currency !== null).map(({ currency, cents }) => [currency, cents])
  return { cents: rows.find(({ currency }) => currency === null)!.cents, apart: Object.fromEntries(apart) }
}

export interface AdCampaign {
  readonly source: string
  readonly campaign: string
  readonly cost_cents: number
  readonly clicks: number
}

/** Those with the highest cost first; a cost that has no rate is 0. */
export function listAdCampaigns(q: Queryable, request: AdRequest, limit: number): Promise<AdCampaign[]> {
  return q.query<AdCampaign>(
    `WITH spent AS (${spent})
     SELECT source, campaign, ${sumOfCents('own')} AS cost_cents, sum(clicks)::bigint AS clicks
     FROM spent GROUP BY source, campaign ORDER BY cost_cents DESC, clicks DESC, source, campaign LIMIT $5`,
    [...paramsOf(request), limit],
  )
}

function paramsOf({ workspaceId, currency, from, to }: AdRequest): unknown[] {
  return [workspaceId, currency, from, to]
}
