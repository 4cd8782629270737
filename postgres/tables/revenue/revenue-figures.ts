/** Sums of the ledger over a period, by what its payments are credited to. A refund counts when it happens, as its payment. */
import { filteredPaymentsMax } from '../../../schemas/limits/revenue-limits.ts'
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { ownCentsOfEntry, sumOfCents } from './revenue-rates.ts'

export interface RevenueRequest {
  readonly workspaceId: number
  /** The workspace's: others are converted with the rate of the payment's import day, where there is one. */
  readonly currency: string
  /** Milliseconds since 1970, `end` exclusive. */
  readonly start: number
  readonly end: number
  /** Those that count; all, where it is left out. */
  readonly payments?: readonly number[] | undefined
}

/** Cents by a key; of two texts it is a JSON list. */
export type RevenueByKey = ReadonlyMap<string, number>

export interface RevenueTotals {
  readonly cents: number
  /** Amounts without a rate, by currency. */
  readonly apart: Readonly<Record<string, number>>
}

export interface RevenueFigures extends RevenueTotals {
  /** By the number of the bucket, from 0. */
  readonly buckets: ReadonlyMap<number, number>
  /** By source and medium, and by source and campaign. */
  readonly sources: RevenueByKey
  readonly campaigns: RevenueByKey
  /** By the entry of the credited session. Payments without a session, or with one that viewed no page, are at none. */
  readonly pages: RevenueByKey
  readonly devices: RevenueByKey
  readonly browsers: RevenueByKey
  readonly countries: RevenueByKey
}

/** How `figures` are divided: each kind has rows of its own. */
const kinds = {
  bucket: 'bucket::text',
  source: 'json_build_array(source, medium)::text',
  campaign: 'json_build_array(source, campaign)::text',
  page: 'path',
  device: 'device',
  browser: 'browser',
  country: 'country',
} as const

/** Entries of the period, with their value in the workspace's currency, or null. */
const entries = `SELECT e.entry, e.value_cents, e.currency, e.occurred_at, p.source, p.medium, p.campaign, p.device, p.browser, p.country,
    p.path,
    ${ownCentsOfEntry} AS cents
  FROM revenue_entries e JOIN revenue_payments p ON p.id = e.payment_id
  LEFT JOIN revenue_rates r
    ON r.workspace_id = e.workspace_id AND r.currency = e.currency AND r.to_currency = $2 AND r.day = p.import_day
  WHERE e.workspace_id = $1 AND e.occurred_at >= to_timestamp($3::float8 / 1000) AND e.occurred_at < to_timestamp($4::float8 / 1000)
    AND ($5::bigint[] IS NULL OR p.id = ANY ($5))`

const totals = `SELECT 'total' AS kind, '' AS key, ${sumOfCents('cents')} AS cents FROM entries
  UNION ALL SELECT 'apart', currency, ${sumOfCents('value_cents')} FROM entries WHERE cents IS NULL GROUP BY currency`

interface Row {
  readonly kind: string
  readonly key: string
  readonly cents: number
}

export async function readRevenueTotals(q: Queryable, request: RevenueRequest): Promise<RevenueTotals> {
  return totalsOf(await q.query<Row>(`WITH entries AS MATERIALIZED (${entries}) ${totals}`, paramsOf(request)))
}

/** @param bucketStarts milliseconds since 1970, ascending, the first at or before `start` */
export async function readRevenueFigures(
  q: Queryable,
  request: RevenueRequest,
  bucketStarts: readonly number[],
): Promise<RevenueFigures> {
  const divided = Object.entries(kinds).map(
    ([kind, key]) =>
      `SELECT '${kind}' AS kind, ${key} AS key, ${sumOfCents('cents')} AS cents FROM divided WHERE cents IS NOT NULL AND ${key} IS NOT NULL GROUP BY ${key}`,
  )
  const rows = await q.query<Row>(
    `WITH entries AS MATERIALIZED (${entries}),
       divided AS (SELECT *, width_bucket(${milliseconds('occurred_at')}::float8, $6::float8[]) - 1 AS bucket FROM entries)
     ${totals} UNION ALL ${divided.join(' UNION ALL ')}`,
    [...paramsOf(request), bucketStarts],
  )
  const by = (kind: keyof typeof kinds) =>
    new Map(rows.filter((row) => row.kind === kind).map(({ key, cents }) => [key, cents]))
  return {
    ...totalsOf(rows),
    buckets: new Map([...by('bucket')].map(([bucket, cents]) => [Number(bucket), cents])),
    sources: by('source'),
    campaigns: by('campaign'),
    pages: by('page'),
    devices: by('device'),
    browsers: by('browser'),
    countries: by('country'),
  }
}

/** Sums by page alone, as `RevenueFigures.pages`. */
export async function readRevenueOfPages(q: Queryable, request: RevenueRequest): Promise<RevenueByKey> {
  const rows = await q.query<Omit<Row, 'kind'>>(
    `SELECT path AS key, ${sumOfCents('cents')} AS cents FROM (${entries}) AS entries
     WHERE cents IS NOT NULL AND path IS NOT NULL GROUP BY path`,
    paramsOf(request),
  )
  return new Map(rows.map(({ key, cents }) => [key, cents]))
}

/** Sums of the payments that a tracked link or a post led to. */
export async function readRevenueLedTo(
  q: Queryable,
  { column, id }: { readonly column: 'link_id' | 'post_id'; readonly id: number },
  request: RevenueRequest,
): Promise<RevenueTotals & { readonly payments: number }> {
  const rows = await q.query<Row>(
    `WITH entries AS MATERIALIZED (${entries} AND p.workspace_id = $1 AND p.${column} = $6)
     ${totals} UNION ALL SELECT 'payments', '', count(*) FROM entries WHERE entry = 'payment'`,
    [...paramsOf(request), id],
  )
  return { ...totalsOf(rows), payments: rows.find(({ kind }) => kind === 'payments')!.cents }
}

/** A payment with an entry in a span, and the session that it is credited to. */
export interface SessionOfPayment {
  readonly id: number
  readonly visitor: string
  readonly session: string
  /** Milliseconds since 1970. */
  readonly sessionAt: number
}

/** The newest so many of those that are credited to a session. */
export function listSessionsOfPayments(
  q: Queryable,
  { workspaceId, start, end }: Pick<RevenueRequest, 'workspaceId' | 'start' | 'end'>,
): Promise<SessionOfPayment[]> {
  return q.query<SessionOfPayment>(
    `SELECT p.id, p.visitor, p.session, ${milliseconds('p.session_at')} AS "sessionAt"
     FROM revenue_payments p JOIN revenue_entries e ON e.payment_id = p.id
     WHERE p.visitor IS NOT NULL AND e.workspace_id = $1
       AND e.occurred_at >= to_timestamp($2::float8 / 1000) AND e.occurred_at < to_timestamp($3::float8 / 1000)
     GROUP BY p.id ORDER BY max(e.occurred_at) DESC LIMIT ${filteredPaymentsMax}`,
    [workspaceId, start, end],
  )
}

function paramsOf({ workspaceId, currency, start, end, payments }: RevenueRequest): unknown[] {
  return [workspaceId, currency, start, Math.max(start, end), payments ?? null]
}

function totalsOf(rows: readonly Row[]): RevenueTotals {
  const apart = rows.filter(({ kind }) => kind === 'apart').map(({ key, cents }) => [key, cents])
  return { cents: rows.find(({ kind }) => kind === 'total')!.cents, apart: Object.fromEntries(apart) }
}
