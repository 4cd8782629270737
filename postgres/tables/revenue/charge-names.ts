/**
 * Payments of Stripe that are reported by their charge. Webhooks name the payment intent and its charge, files of Stripe's
 * dashboard the charge alone. Both are one payment under the intent's name, whichever comes first.
 */
import type { Queryable } from '../../client.ts'
import { columnsOf } from '../../columns-of.ts'
import { paymentsNaming } from './payer-choice.ts'
import type { ReportedFacts } from './reported-payments.ts'

const provider = 'stripe'
const kind = 'charge:'

/**
 * Gives payments that the ledger knows by a charge the name of its intent, once that is reported. Files may have told of
 * both before: then the intent's payment takes the charge's entries, and keeps its own where both tell one.
 */
export async function renameCharges(
  tx: Queryable,
  workspaceId: number,
  reported: readonly ReportedFacts[],
): Promise<void> {
  // A charge without an intent is a payment of its own name.
  const pairs = [...intentsIn(reported)].flatMap(([charge, intent]) => (charge === intent ? [] : [{ charge, intent }]))
  if (pairs.length === 0) return
  const named = await tx.query<{ charge_id: number; intent: string; intent_id: number | null }>(
    `SELECT DISTINCT ON (intent) of_charge.id AS charge_id, intent, of_intent.id AS intent_id
     FROM jsonb_to_recordset($3::jsonb) AS pair (charge text, intent text)
     JOIN revenue_payments of_charge ON of_charge.workspace_id = $1 AND of_charge.provider = $2 AND of_charge.payment = charge
     LEFT JOIN revenue_payments of_intent ON of_intent.workspace_id = $1 AND of_intent.provider = $2 AND of_intent.payment = intent
     ORDER BY intent, charge`,
    [workspaceId, provider, JSON.stringify(pairs)],
  )
  const [alone, twice] = [named.filter((one) => one.intent_id === null), named.filter((one) => one.intent_id !== null)]
  if (alone.length > 0) {
    await tx.query(
      'UPDATE revenue_payments p SET payment = intent FROM unnest($1::bigint[], $2::text[]) AS named (id, intent) WHERE p.id = named.id',
      columnsOf(alone, 'charge_id', 'intent'),
    )
  }
  if (twice.length > 0) await unite(tx, columnsOf(twice, 'charge_id', 'intent_id'))
}

/** @param ids of the payments known by a charge, and of those known by its intent */
async function unite(tx: Queryable, ids: unknown[]): Promise<void> {
  const twice = 'unnest($1::bigint[], $2::bigint[]) AS twice (charge, intent)'
  await tx.query(
    `UPDATE revenue_entries e SET payment_id = intent FROM ${twice} WHERE e.payment_id = charge AND NOT EXISTS (
       SELECT FROM revenue_entries had WHERE had.payment_id = intent AND had.entry = e.entry)`,
    ids,
  )
  await tx.query(
    `UPDATE revenue_payments p SET import_day = least(p.import_day, of_charge.import_day),
       refs = p.refs || ARRAY(SELECT reference FROM unnest(of_charge.refs) AS reference WHERE reference != ALL (p.refs)),
       is_payer_erased = p.is_payer_erased OR of_charge.is_payer_erased
     FROM ${twice} JOIN revenue_payments of_charge ON of_charge.id = charge WHERE p.id = intent`,
    ids,
  )
  await tx.query('DELETE FROM revenue_payments WHERE id = ANY ($1::bigint[])', ids.slice(0, 1))
}

/** @returns the facts, where they are of charges under the names of their intents, as far as these are known */
export async function underIntents(
  q: Queryable,
  workspaceId: number,
  reported: readonly ReportedFacts[],
): Promise<readonly ReportedFacts[]> {
  const asked = reported.flatMap(({ provider: of, facts: { payment, references } }) =>
    of === provider && payment !== undefined && !references.some((one) => one.startsWith(kind)) ? [payment.id] : [],
  )
  if (asked.length === 0) return reported
  const known = await q.query<{ charge: string; intent: string }>(
    `SELECT charge, payment AS intent FROM unnest($3::text[]) AS asked (charge)
     CROSS JOIN LATERAL ${paymentsNaming(`'${kind}' || charge`)} AS known
     WHERE workspace_id = $1 AND provider = $2`,
    [workspaceId, provider, asked],
  )
  const intents = new Map([...known.map(({ charge, intent }) => [charge, intent] as const), ...intentsIn(reported)])
  return reported.map((one) => {
    const { payment } = one.facts
    const id = one.provider === provider && payment !== undefined ? intents.get(payment.id) : undefined
    return id === undefined ? one : { ...one, facts: { ...one.facts, payment: { ...payment!, id } } }
  })
}

/** By the charge. */
function intentsIn(reported: readonly ReportedFacts[]): ReadonlyMap<string, string> {
  return new Map(
    reported.flatMap(({ provider: of, facts: { payment, references } }) =>
      of === provider && payment !== undefined
        ? references.flatMap((one) => (one.startsWith(kind) ? [[one.slice(kind.length), payment.id] as const] : []))
        : [],
    ),
  )
}
