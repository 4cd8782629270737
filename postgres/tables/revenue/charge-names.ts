/**
 * Payments of Stripe that are reported by their charge. Webhooks name the payment intent and its charge, files of Stripe's
 * dashboard the charge alone. Both are one payment under the intent's name, whichever comes first.
 */
import type { Queryable } from '../../client.ts'
import type { ReportedFacts } from './reported-payments.ts'

const provider = 'stripe'
const kind = 'charge:'

/** Gives payments that the ledger knows by a charge the name of its intent, once that is reported. */
export async function renameCharges(
  tx: Queryable,
  workspaceId: number,
  reported: readonly ReportedFacts[],
): Promise<void> {
  const pairs = [...intentsIn(reported)].map(([charge, intent]) => ({ charge, intent }))
  if (pairs.length === 0) return
  await tx.query(
    `UPDATE revenue_payments p SET payment = reported.intent
     FROM (SELECT DISTINCT ON (intent) charge, intent FROM jsonb_to_recordset($3::jsonb) AS pair (charge text, intent text)
           JOIN revenue_payments known ON workspace_id = $1 AND provider = $2 AND payment = charge ORDER BY intent, charge) AS reported
     WHERE p.workspace_id = $1 AND p.provider = $2 AND p.payment = reported.charge AND NOT EXISTS (
       SELECT FROM revenue_payments WHERE workspace_id = $1 AND provider = $2 AND payment = reported.intent)`,
    [workspaceId, provider, JSON.stringify(pairs)],
  )
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
  // Each name by the index alone.
  const known = await q.query<{ charge: string; intent: string }>(
    `SELECT charge, payment AS intent FROM unnest($3::text[]) AS asked (charge)
     CROSS JOIN LATERAL (SELECT * FROM revenue_payments WHERE refs && ARRAY['${kind}' || charge] OFFSET 0) AS known
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
