/** Who paid, as the ledger has it, when a person is erased. */
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { payerByBrowser, payerEmail, payerField, paymentsNaming } from '../revenue/payer-choice.ts'
import { lockLedger } from '../revenue/revenue-ledger.ts'
import type { ErasedPerson } from './erasures.ts'
import { inboxUserId } from './inbox.ts'

/** By its index alone, as `paymentsNaming`. */
const paymentOf = (id: string) => `(SELECT * FROM revenue_payments WHERE id = ${id} OFFSET 0)`

/**
 * Forgets who paid, in the ledger. Payments stay, with what they are credited to, but no longer say by which session.
 * They are the person's by the e-mail, a user id that is theirs, or a browser. On a shared browser the time decides. A
 * payment that names several people is the one's whom its credit chooses: it loses what names the person, and keeps the rest.
 */
export async function forgetPayer(tx: Queryable, person: ErasedPerson): Promise<void> {
  const { workspaceId, contactId, email, anonymousIds, sharedTimes } = person
  // Events and imports change the same rows in another order.
  await lockLedger(tx, workspaceId)
  await tx.query(
    `WITH user_ids AS (
       SELECT user_id FROM contacts WHERE id = $4 AND user_id != ''
       UNION SELECT ${inboxUserId('inbox')} FROM inbox WHERE workspace_id = $1 AND email = $2
     ), own_ids AS (
       SELECT user_id FROM user_ids WHERE ${payerEmail('$1', 'user_ids.user_id', '$2')} = $2
     ), own AS (
       SELECT provider, reference, y.field FROM (
         SELECT 'email' AS field, $2 AS value UNION ALL SELECT 'anonymous_id', unnest($3::text[])
         UNION ALL SELECT 'user_id', user_id FROM own_ids) AS named
       CROSS JOIN LATERAL (
         SELECT * FROM revenue_payers WHERE workspace_id = $1 AND field = named.field AND value = named.value OFFSET 0) AS y
     ), known AS (
       SELECT provider, reference, bool_or(field = 'anonymous_id') AS by_browser, bool_or(field != 'anonymous_id') AS by_name
       FROM own GROUP BY provider, reference
     ), times AS (
       SELECT * FROM jsonb_to_recordset($5::jsonb) AS t ("anonymousId" text, "fromAt" float8, "toAt" float8)
     ), shared AS (
       SELECT p.id, y.provider, y.reference FROM times
       CROSS JOIN LATERAL (
         SELECT * FROM revenue_payers WHERE workspace_id = $1 AND field = 'anonymous_id' AND value = times."anonymousId" OFFSET 0) AS y
       JOIN LATERAL ${paymentsNaming('y.reference')} AS p ON p.workspace_id = $1 AND p.provider = y.provider
         AND p.occurred_at >= to_timestamp("fromAt" / 1000) AND ("toAt" IS NULL OR p.occurred_at < to_timestamp("toAt" / 1000))
     ), naming AS (
       SELECT p.id, known.provider, known.reference, by_browser, by_name FROM known
       LEFT JOIN LATERAL ${paymentsNaming('known.reference')} AS p ON p.workspace_id = $1 AND p.provider = known.provider
     ), told AS MATERIALIZED (
       SELECT p.id, by_browser, ${payerField('email')} AS email, ${payerField('user_id')} AS user_id,
         ${payerField('anonymous_id')} AS browser, ${milliseconds('p.occurred_at')} AS at
       FROM (SELECT id, by_browser FROM naming UNION SELECT id, true FROM shared) AS named
       CROSS JOIN LATERAL ${paymentOf('named.id')} AS p
     ), theirs AS (
       SELECT id, bool_or(is_payer) AS is_payer FROM (
         -- An e-mail that is no contact's names the payer where the browser was no contact's either.
         SELECT told.id, by_browser, (coalesce(payer.email = $2, false)
             AND ($4::bigint IS NOT NULL OR ${payerByBrowser('$1', 'told.browser', 'told.at')} IS NULL)) OR (by_browser AND NOT EXISTS (
           SELECT FROM contacts c WHERE c.workspace_id = $1 AND c.email = payer.email)) AS is_payer
         FROM told CROSS JOIN LATERAL (SELECT ${payerEmail('$1', 'told.user_id', 'told.email')} AS email) AS payer) AS paid
       -- A browser without a contact is also of a payer who is known by other means: its sessions go.
       WHERE is_payer OR (by_browser AND $4::bigint IS NULL) GROUP BY id
     ), whole AS (
       -- The references that name nobody else's payment; some name no payment yet.
       SELECT provider, reference FROM naming LEFT JOIN theirs ON theirs.id = naming.id
       GROUP BY provider, reference HAVING bool_and(coalesce(is_payer, naming.id IS NULL AND by_name))
       -- Their payments have names besides, which tell of another field: a charge may name the browser alone.
       UNION SELECT p.provider, reference FROM theirs CROSS JOIN LATERAL ${paymentOf('theirs.id')} AS p CROSS JOIN unnest(p.refs) AS reference
       WHERE is_payer AND 0 = (
         -- For EXISTS Postgres reads all payments until it finds one.
         SELECT count(*) FROM ${paymentsNaming('reference')} AS other
         WHERE other.workspace_id = $1 AND other.provider = p.provider AND other.id NOT IN (SELECT id FROM theirs WHERE is_payer))
     ), gone AS (
       DELETE FROM revenue_payers WHERE ctid = ANY (ARRAY (
         SELECT y.ctid FROM (
           SELECT provider, reference, NULL AS field FROM whole UNION SELECT provider, reference, field FROM own
           UNION SELECT provider, reference, 'anonymous_id' FROM shared) AS named
         CROSS JOIN LATERAL (
           SELECT ctid, field FROM revenue_payers
           WHERE workspace_id = $1 AND provider = named.provider AND reference = named.reference OFFSET 0) AS y
         WHERE y.field = coalesce(named.field, y.field)))
     )
     UPDATE revenue_payments p SET visitor = NULL, session = NULL, session_at = NULL, credit_due_at = NULL, is_payer_erased = true
     WHERE p.id = ANY (ARRAY (SELECT id FROM theirs))`,
    [workspaceId, email, anonymousIds, contactId, JSON.stringify(sharedTimes)],
  )
}

/** Whether a provider or an import named the e-mail as a payer's. */
export async function isPayer(q: Queryable, workspaceId: number, email: string): Promise<boolean> {
  const found = await q.query(
    `SELECT FROM revenue_payers WHERE workspace_id = $1 AND field = 'email' AND value = $2 LIMIT 1`,
    [workspaceId, email],
  )
  return found.length > 0
}
