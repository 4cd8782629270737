/**
 * The ledger of revenue: from what providers and imports tell, a payment, its entries, and who paid.
 *
 * It is a function of the set of facts: their order, and how often each comes, change nothing. Held by
 * test/property/revenue-ledger.test.ts.
 */
import { groupBy } from '../../../runtime/lists.ts'
import type { Payer } from '../../../schemas/revenue.ts'
import type { MoneyLine } from '../../../schemas/told-conversions.ts'
import type { Queryable } from '../../client.ts'
import { takeNamedLock } from '../../named-lock.ts'
import { insertOutboxRows, type OutboxRow } from '../webhooks/outbox.ts'
import { renameCharges, underIntents } from './charge-names.ts'
import { paymentsNaming } from './payer-choice.ts'
import {
  type Entry,
  entriesOf,
  gatherPayments,
  keyOf,
  type ReportedFacts,
  type ReportedPayment,
} from './reported-payments.ts'

interface Ledger {
  readonly workspaceId: number
  /** Milliseconds since 1970: nothing is dated later, and its UTC day is the import day. */
  readonly now: number
}

interface KnownPayment {
  readonly id: number
  readonly provider: string
  readonly payment: string
  readonly is_paid: boolean
  readonly refunded_cents: number
}

/**
 * Run it in a transaction. Others of the workspace wait for its end. The number of statements doesn't grow with the facts.
 *
 * @returns the payments and the refunds that became known by them
 */
export async function recordRevenue(
  tx: Queryable,
  ledger: Ledger,
  given: readonly ReportedFacts[],
): Promise<MoneyLine[]> {
  await lockLedger(tx, ledger.workspaceId)
  await renameCharges(tx, ledger.workspaceId, given)
  const reported = await underIntents(tx, ledger.workspaceId, given)
  for (const [provider, own] of groupBy(reported, (each) => each.provider)) await notePayers(tx, ledger, provider, own)
  const payments = gatherPayments(reported, ledger.now)
  if (payments.size === 0) return []
  const before = await findOrMakePayments(tx, ledger, [...payments.values()])
  const ids = before.map(({ id }) => id)
  await insertEntries(tx, ledger.workspaceId, before, payments)
  await countTotals(tx, ids)
  await tx.query(
    `UPDATE revenue_payments p SET occurred_at = first.occurred_at
     FROM (SELECT payment_id, coalesce(min(occurred_at) FILTER (WHERE entry = 'payment'), min(occurred_at)) AS occurred_at
           FROM revenue_entries WHERE payment_id = ANY ($1::bigint[]) GROUP BY payment_id) AS first
     WHERE p.id = first.payment_id`,
    [ids],
  )
  const changes = await enqueueEvents(tx, ledger.workspaceId, before)
  return before.flatMap((known) => {
    const changed = changes.get(known.id)
    return changed === undefined ? [] : linesOf(changed, known.provider, payments.get(keyOf(known))!.entries)
  })
}

/** Until the transaction's end, others that change a workspace's payments wait. */
export async function lockLedger(tx: Queryable, workspaceId: number): Promise<void> {
  await takeNamedLock(tx, `revenue ${workspaceId}`)
}

/** @returns ids of those whose amount or currency differs from the ledger's, in their order: the ledger keeps the first */
export async function listOtherAmounts(
  q: Queryable,
  workspaceId: number,
  reported: readonly ReportedFacts[],
): Promise<string[]> {
  const entries = (await underIntents(q, workspaceId, reported)).flatMap(({ provider, facts: { payment } }) =>
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
 * The value of a total is the difference to the next lower one. A total that was reported after a refund failed lacks the
 * failed one, whose own entry brings the money back.
 */
async function countTotals(tx: Queryable, paymentIds: readonly number[]): Promise<void> {
  await tx.query(
    `UPDATE revenue_entries e SET value_cents = anew.value_cents
     FROM (SELECT id, lag(total, 1, 0::bigint) OVER (PARTITION BY payment_id ORDER BY total, occurred_at, id) - total AS value_cents
           FROM (SELECT id, payment_id, occurred_at, total_cents + coalesce((
                   SELECT sum(value_cents)::bigint FROM revenue_entries failed
                   WHERE payment_id = reported.payment_id AND value_cents > 0 AND entry LIKE 'refund % failed'
                     AND failed.occurred_at < reported.occurred_at), 0) AS total
                 FROM revenue_entries reported WHERE payment_id = ANY ($1::bigint[]) AND total_cents IS NOT NULL) totals) anew
     WHERE e.id = anew.id AND e.value_cents != anew.value_cents`,
    [paymentIds],
  )
}

/**
 * Facts about a payer go to each name that the event has for the payment or the customer. The newest value counts, in a
 * list of facts as in the table. A customer who pays again as before makes none of the earlier payments due: there may be
 * very many.
 */
async function notePayers(
  tx: Queryable,
  { workspaceId, now }: Ledger,
  provider: string,
  reported: readonly ReportedFacts[],
): Promise<void> {
  const rows = reported.flatMap(({ facts: { references, payer, reportedAt } }) =>
    references.flatMap((reference) =>
      Object.entries(fieldsOf(payer)).flatMap(([field, value]) =>
        value ? [{ reference, field, value, at: Math.min(reportedAt, now) }] : [],
      ),
    ),
  )
  if (rows.length === 0) return
  const changed = await tx.query<{ reference: string }>(
    `WITH told AS (
       INSERT INTO revenue_payers AS known (workspace_id, provider, reference, field, value, told_at)
       SELECT DISTINCT ON (reference, field) $1::int, $2, reference, field, value, to_timestamp(at / 1000)
       FROM jsonb_to_recordset($3::jsonb) AS row (reference text, field text, value text, at float8)
       ORDER BY reference, field, at DESC, value DESC
       ON CONFLICT (workspace_id, provider, reference, field) DO UPDATE SET value = excluded.value, told_at = excluded.told_at
       WHERE (known.told_at, known.value) < (excluded.told_at, excluded.value)
       RETURNING reference, field, value)
     SELECT DISTINCT reference FROM told WHERE split_part(reference, ':', 1) NOT IN ('subscription', 'customer') OR NOT EXISTS (
       SELECT FROM revenue_payers had WHERE had.workspace_id = $1 AND had.provider = $2
         AND (had.reference, had.field, had.value) = (told.reference, told.field, told.value))`,
    [workspaceId, provider, JSON.stringify(rows)],
  )
  if (changed.length === 0) return
  const due = await tx.query<{ id: number }>(
    `SELECT DISTINCT id FROM unnest($3::text[]) AS changed (reference)
     CROSS JOIN LATERAL ${paymentsNaming('changed.reference')} AS payment
     WHERE workspace_id = $1 AND provider = $2 AND NOT is_payer_erased`,
    [workspaceId, provider, changed.map(({ reference }) => reference)],
  )
  if (due.length === 0) return
  await tx.query(
    'UPDATE revenue_payments SET credit_due_at = now() WHERE id = ANY ($1::bigint[]) AND NOT is_payer_erased',
    [due.map(({ id }) => id)],
  )
}

function fieldsOf({ email, userId, anonymousId }: Payer): Record<string, string | undefined> {
  return { email, user_id: userId, anonymous_id: anonymousId }
}

/** @returns them with what was known of them before, in the order in which they are reported */
async function findOrMakePayments(
  tx: Queryable,
  { workspaceId, now }: Ledger,
  reported: readonly ReportedPayment[],
): Promise<KnownPayment[]> {
  const rows = reported.map(({ provider, payment, references }) => ({ provider, payment, refs: [...references] }))
  // The entries tell when it was paid.
  const made = await tx.query<{ id: number }>(
    `INSERT INTO revenue_payments AS known (workspace_id, provider, payment, refs, occurred_at, import_day)
     SELECT $1, provider, payment, refs, to_timestamp($3::float8 / 1000), (to_timestamp($3::float8 / 1000) AT TIME ZONE 'UTC')::date
     FROM jsonb_to_recordset($2::jsonb) AS reported (provider text, payment text, refs text[])
     ON CONFLICT (workspace_id, provider, payment) DO UPDATE SET
       refs = known.refs || ARRAY(SELECT reported FROM unnest(excluded.refs) AS reported WHERE reported != ALL (known.refs)),
       credit_due_at = CASE WHEN NOT known.is_payer_erased THEN now() END
     RETURNING id`,
    [workspaceId, JSON.stringify(rows), now],
  )
  const known = await readPayments(
    tx,
    made.map(({ id }) => id),
  )
  const byKey = new Map(known.map((payment) => [keyOf(payment), payment]))
  return reported.map((payment) => byKey.get(keyOf(payment))!)
}

interface StoredPayment extends KnownPayment {
  readonly value_cents: number
  /** Null where it has no entries yet. */
  readonly currency: string | null
  readonly occurred_at: Date
}

/** Payments with the sums of their entries. */
function readPayments(tx: Queryable, ids: readonly number[]): Promise<StoredPayment[]> {
  return tx.query<StoredPayment>(
    `SELECT p.id, provider, payment, p.occurred_at, min(currency) AS currency,
       count(*) FILTER (WHERE entry = 'payment') > 0 AS is_paid,
       coalesce(max(value_cents) FILTER (WHERE entry = 'payment'), 0)::bigint AS value_cents,
       coalesce(-sum(value_cents) FILTER (WHERE entry != 'payment'), 0)::bigint AS refunded_cents
     FROM revenue_payments p LEFT JOIN revenue_entries e ON e.payment_id = p.id
     WHERE p.id = ANY ($1::bigint[]) GROUP BY p.id`,
    [ids],
  )
}

/** In the order in which they are reported: totals of one amount and time are counted by their ids. */
async function insertEntries(
  tx: Queryable,
  workspaceId: number,
  payments: readonly KnownPayment[],
  reported: ReadonlyMap<string, ReportedPayment>,
): Promise<void> {
  const rows = payments.flatMap((known) =>
    [...reported.get(keyOf(known))!.entries.values()].map((entry) => ({ ...entry, paymentId: known.id })),
  )
  await tx.query(
    `INSERT INTO revenue_entries AS known (workspace_id, payment_id, entry, total_cents, value_cents, currency, occurred_at)
     SELECT $1, payment_id, entry, total_cents, value_cents, currency, to_timestamp(at / 1000)
     FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS
         ("paymentId" bigint, entry text, "totalCents" bigint, "valueCents" bigint, currency text, "occurredAt" float8))
       WITH ORDINALITY AS reported (payment_id, entry, total_cents, value_cents, currency, at, place)
     ORDER BY place
     ON CONFLICT (payment_id, entry) DO UPDATE SET occurred_at = least(known.occurred_at, excluded.occurred_at)
     WHERE excluded.occurred_at < known.occurred_at`,
    [workspaceId, JSON.stringify(rows)],
  )
}

interface PaymentChange {
  readonly paidCents: number
  /** Negative: money came back. */
  readonly refundedCents: number
  readonly currency: string
}

/**
 * Values of `revenue.refunded` add up to what was refunded in all, less what came back, in whatever order it becomes known.
 * @returns what has changed, by payment
 */
async function enqueueEvents(
  tx: Queryable,
  workspaceId: number,
  before: readonly KnownPayment[],
): Promise<ReadonlyMap<number, PaymentChange>> {
  const stored = await readPayments(
    tx,
    before.map(({ id }) => id),
  )
  const after = new Map(stored.map((payment) => [payment.id, payment]))
  const changes = new Map<number, PaymentChange>()
  const rows: OutboxRow[] = []
  for (const known of before) {
    const { id, is_paid, occurred_at, ...money } = after.get(known.id)!
    const isNewlyPaid = is_paid && !known.is_paid
    const refundedCents = money.refunded_cents - known.refunded_cents
    if (!isNewlyPaid && refundedCents === 0) continue
    const object = { id, object_id: `payment_${id}`, ...money, occurred_at: occurred_at.toISOString() }
    if (isNewlyPaid) rows.push({ workspaceId, type: 'revenue.recorded', object })
    if (refundedCents !== 0) {
      rows.push({ workspaceId, type: 'revenue.refunded', object: { ...object, refund_cents: refundedCents } })
    }
    changes.set(id, { paidCents: isNewlyPaid ? money.value_cents : 0, refundedCents, currency: money.currency! })
  }
  await insertOutboxRows(tx, rows)
  return changes
}

function linesOf(changed: PaymentChange, provider: string, reported: ReadonlyMap<string, Entry>): MoneyLine[] {
  const entries = [...reported.values()]
  const { paidCents, refundedCents, currency } = changed
  const lastOf = (isWanted: (entry: Entry) => boolean) =>
    Math.max(...entries.filter(isWanted).map(({ movedAt }) => movedAt), 0)
  const paid = { kind: 'payment', cents: paidCents, at: lastOf(({ entry }) => entry === 'payment') } as const
  const refund = { kind: 'refund', cents: refundedCents, at: lastOf(({ entry }) => entry !== 'payment') } as const
  return [paid, refund].filter(({ cents }) => cents > 0).map((line) => ({ ...line, provider, currency }))
}
