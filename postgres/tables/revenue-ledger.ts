/**
 * The ledger of revenue: from what providers and imports tell, a payment, its entries, and who paid.
 *
 * It is a function of the set of facts: their order, and how often each comes, change nothing. Held by
 * test/property/revenue-ledger.test.ts.
 */
import type { Money, Payer, RevenueFacts } from '../../schemas/revenue.ts'
import type { MoneyLine } from '../../schemas/told-conversions.ts'
import type { Queryable } from '../client.ts'
import { insertOutbox } from './outbox.ts'

export interface RevenueSource {
  readonly workspaceId: number
  readonly provider: string
  /** Milliseconds since 1970: nothing is dated later, and its UTC day is the import day. */
  readonly now: number
}

interface KnownPayment {
  readonly id: number
  readonly isPaid: boolean
  readonly refundedCents: number
}

interface Entry extends Money {
  readonly entry: string
  readonly totalCents: number | null
  readonly occurredAt: number
}

/**
 * Run it in a transaction. Others of the workspace wait for its end.
 *
 * @returns the payment and the refunds that became known by it
 */
export async function recordRevenue(tx: Queryable, source: RevenueSource, facts: RevenueFacts): Promise<MoneyLine[]> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('revenue', $1))`, [source.workspaceId])
  await notePayers(tx, source, facts)
  const entries = entriesOf(facts.payment, source.now)
  if (entries.length === 0) return []
  const before = await findOrMakePayment(tx, source, facts)
  for (const entry of entries) await insertEntry(tx, source.workspaceId, before.id, entry)
  await countTotals(tx, before.id)
  await tx.query(
    `UPDATE revenue_payments SET occurred_at = (
       SELECT coalesce(min(occurred_at) FILTER (WHERE entry = 'payment'), min(occurred_at))
       FROM revenue_entries WHERE payment_id = $1)
     WHERE id = $1`,
    [before.id],
  )
  const changed = await enqueueEvents(tx, source.workspaceId, before)
  return changed === undefined ? [] : linesOf(changed, source.provider, entries)
}

interface ToldFacts {
  readonly provider: string
  readonly facts: RevenueFacts
}

/** @returns ids of those whose amount or currency differs from the ledger's, in their order: the ledger keeps the first */
export async function listOtherAmounts(
  q: Queryable,
  workspaceId: number,
  told: readonly ToldFacts[],
): Promise<string[]> {
  const entries = told.flatMap(({ provider, facts: { payment } }) =>
    entriesOf(payment, Number.MAX_SAFE_INTEGER)
      .filter(({ totalCents }) => totalCents === null)
      .map(({ entry, valueCents, currency }) => ({ provider, payment: payment!.id, entry, valueCents, currency })),
  )
  const rows = await q.query<{ payment: string }>(
    `SELECT p.payment
     FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (provider text, payment text, entry text, "valueCents" bigint, currency text))
       WITH ORDINALITY AS t (provider, payment, entry, value_cents, currency, place)
     JOIN revenue_payments p ON p.workspace_id = $1 AND p.provider = t.provider AND p.payment = t.payment
     JOIN revenue_entries e ON e.payment_id = p.id AND e.entry = t.entry
     WHERE (e.value_cents, e.currency) != (t.value_cents, t.currency) ORDER BY place`,
    [workspaceId, JSON.stringify(entries)],
  )
  return rows.map(({ payment }) => payment)
}

/**
 * The value of a total is the difference to the next lower one. A total that was told after a refund failed lacks the
 * failed one, whose own entry brings the money back.
 */
async function countTotals(tx: Queryable, paymentId: number): Promise<void> {
  await tx.query(
    `UPDATE revenue_entries e SET value_cents = anew.value_cents
     FROM (SELECT id, lag(total, 1, 0::bigint) OVER (ORDER BY total, occurred_at, id) - total AS value_cents
           FROM (SELECT id, occurred_at, total_cents + coalesce((
                   SELECT sum(value_cents)::bigint FROM revenue_entries failed
                   WHERE payment_id = $1 AND value_cents > 0 AND entry LIKE 'refund % failed' AND failed.occurred_at < told.occurred_at), 0) AS total
                 FROM revenue_entries told WHERE payment_id = $1 AND total_cents IS NOT NULL) totals) anew
     WHERE e.id = anew.id AND e.value_cents != anew.value_cents`,
    [paymentId],
  )
}

/** Facts about a payer go to each name that the event has for the payment or the customer. */
async function notePayers(tx: Queryable, source: RevenueSource, facts: RevenueFacts): Promise<void> {
  const { workspaceId, provider, now } = source
  const told = Object.entries(fieldsOf(facts.payer)).filter(([, value]) => value)
  if (told.length === 0 || facts.references.length === 0) return
  const rows = facts.references.flatMap((reference) => told.map(([field, value]) => ({ reference, field, value })))
  const changed = await tx.query<{ reference: string }>(
    `INSERT INTO revenue_payers AS known (workspace_id, provider, reference, field, value, told_at)
     SELECT $1, $2, reference, field, value, to_timestamp($4::float8 / 1000)
     FROM jsonb_to_recordset($3::jsonb) AS row (reference text, field text, value text)
     ON CONFLICT (workspace_id, provider, reference, field) DO UPDATE SET value = excluded.value, told_at = excluded.told_at
     WHERE (known.told_at, known.value) < (excluded.told_at, excluded.value)
     RETURNING reference`,
    [workspaceId, provider, JSON.stringify(rows), Math.min(facts.toldAt, now)],
  )
  if (changed.length === 0) return
  await tx.query(
    `UPDATE revenue_payments SET credit_due_at = now()
     WHERE workspace_id = $1 AND provider = $2 AND refs && $3::text[] AND NOT is_payer_erased`,
    [workspaceId, provider, changed.map(({ reference }) => reference)],
  )
}

function fieldsOf({ email, userId, anonymousId }: Payer): Record<string, string | undefined> {
  return { email, user_id: userId, anonymous_id: anonymousId }
}

async function findOrMakePayment(tx: Queryable, source: RevenueSource, facts: RevenueFacts): Promise<KnownPayment> {
  const { workspaceId, provider, now } = source
  const { id, occurredAt } = facts.payment!
  const [row] = await tx.query<{ id: number }>(
    `INSERT INTO revenue_payments AS known (workspace_id, provider, payment, refs, occurred_at, import_day)
     VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), (to_timestamp($6::float8 / 1000) AT TIME ZONE 'UTC')::date)
     ON CONFLICT (workspace_id, provider, payment) DO UPDATE SET
       refs = known.refs || ARRAY(SELECT told FROM unnest(excluded.refs) AS told WHERE told != ALL (known.refs)),
       credit_due_at = CASE WHEN NOT known.is_payer_erased THEN now() END
     RETURNING id`,
    [workspaceId, provider, id, facts.references, Math.min(occurredAt, now), now],
  )
  const entries = await readEntries(tx, row!.id)
  return { id: row!.id, ...entries }
}

async function readEntries(tx: Queryable, paymentId: number): Promise<Omit<KnownPayment, 'id'>> {
  const [sums] = await tx.query<{ paid: number; refunded: number }>(
    `SELECT count(*) FILTER (WHERE entry = 'payment') AS paid,
       coalesce(-sum(value_cents) FILTER (WHERE entry != 'payment'), 0)::bigint AS refunded
     FROM revenue_entries WHERE payment_id = $1`,
    [paymentId],
  )
  return { isPaid: sums!.paid > 0, refundedCents: sums!.refunded }
}

/** Trials and full discounts are transactions of nothing: no payments. */
function entriesOf(payment: RevenueFacts['payment'], now: number): Entry[] {
  if (payment === undefined) return []
  const { occurredAt, paid, refunds } = payment
  const at = (moment: number) => Math.min(moment, now)
  const entries = [
    ...(paid ? [{ entry: 'payment', totalCents: null, ...paid, occurredAt: at(occurredAt) }] : []),
    ...refunds.map(({ refund, canTotalFall, valueCents, currency, occurredAt: refundedAt }) => ({
      entry:
        refund === undefined
          ? `total ${valueCents}${canTotalFall ? ` at ${new Date(refundedAt).toISOString()}` : ''}`
          : `refund ${refund}`,
      totalCents: refund === undefined ? valueCents : null,
      valueCents: -valueCents,
      currency,
      occurredAt: at(refundedAt),
    })),
  ]
  return entries.filter(({ valueCents }) => valueCents !== 0)
}

/** A repeat may tell an earlier time of a refund; the amount is the first one's. */
async function insertEntry(tx: Queryable, workspaceId: number, paymentId: number, entry: Entry): Promise<void> {
  await tx.query(
    `INSERT INTO revenue_entries AS known
       (workspace_id, payment_id, entry, total_cents, value_cents, currency, occurred_at)
     VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000))
     ON CONFLICT (payment_id, entry) DO UPDATE SET occurred_at = least(known.occurred_at, excluded.occurred_at)
     WHERE excluded.occurred_at < known.occurred_at`,
    [workspaceId, paymentId, entry.entry, entry.totalCents, entry.valueCents, entry.currency, entry.occurredAt],
  )
}

interface PublishedPayment {
  readonly id: number
  readonly provider: string
  readonly payment: string
  readonly value_cents: number
  readonly refunded_cents: number
  readonly currency: string
  readonly occurred_at: Date
}

/** Values of `revenue.refunded` add up to what was refunded in all, less what came back, in whatever order it becomes known. */
async function enqueueEvents(
  tx: Queryable,
  workspaceId: number,
  before: KnownPayment,
): Promise<PaymentChange | undefined> {
  const now = await readEntries(tx, before.id)
  const refunded = now.refundedCents - before.refundedCents
  if (now.isPaid === before.isPaid && refunded === 0) return undefined
  const [payment] = await tx.query<PublishedPayment>(
    `SELECT p.id, provider, payment, coalesce(max(value_cents) FILTER (WHERE entry = 'payment'), 0)::bigint AS value_cents,
       coalesce(-sum(value_cents) FILTER (WHERE entry != 'payment'), 0)::bigint AS refunded_cents,
       min(currency) AS currency, p.occurred_at
     FROM revenue_payments p JOIN revenue_entries e ON e.payment_id = p.id WHERE p.id = $1 GROUP BY p.id`,
    [before.id],
  )
  const { id, occurred_at, ...money } = payment!
  const object = { id, object_id: `payment_${id}`, ...money, occurred_at: occurred_at.toISOString() }
  const isNewlyPaid = now.isPaid && !before.isPaid
  if (isNewlyPaid) await insertOutbox(tx, workspaceId, 'revenue.recorded', object)
  if (refunded !== 0) await insertOutbox(tx, workspaceId, 'revenue.refunded', { ...object, refund_cents: refunded })
  return { paidCents: isNewlyPaid ? money.value_cents : 0, refundedCents: refunded, currency: money.currency }
}

interface PaymentChange {
  readonly paidCents: number
  /** Negative: money came back. */
  readonly refundedCents: number
  readonly currency: string
}

function linesOf(changed: PaymentChange, provider: string, entries: readonly Entry[]): MoneyLine[] {
  const { paidCents, refundedCents, currency } = changed
  const lastOf = (isWanted: (entry: Entry) => boolean) =>
    Math.max(...entries.filter(isWanted).map(({ occurredAt }) => occurredAt), 0)
  const paid = { kind: 'payment', cents: paidCents, at: lastOf(({ entry }) => entry === 'payment') } as const
  const refund = { kind: 'refund', cents: refundedCents, at: lastOf(({ entry }) => entry !== 'payment') } as const
  return [paid, refund].filter(({ cents }) => cents > 0).map((line) => ({ ...line, provider, currency }))
}
