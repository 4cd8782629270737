/** Payments whose credit is due, their payers, and the resulting credits. */

import { payerBrowsersMax } from '../../../schemas/limits/revenue-limits.ts'
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { inboxUserId } from '../people/inbox.ts'
import { payerByBrowser, payerEmail, payerField, paymentsNaming } from './payer-choice.ts'
import { lockLedger } from './revenue-ledger.ts'

/** Times are milliseconds since 1970. */
export interface DuePayment {
  readonly id: number
  readonly workspaceId: number
  readonly occurredAt: number
  readonly recordedAt: number
  /** As a text, by which it is known whether the payment became due again meanwhile. */
  readonly due: string
  readonly rule: Credit['rule']
  /** When the session began that it is credited to; null where none is known. */
  readonly sessionAt: number | null
  readonly email: string | null
  readonly userId: string | null
  readonly anonymousId: string | null
}

/** The longest due first. */
export function listDuePayments(q: Queryable, limit: number): Promise<DuePayment[]> {
  return q.query<DuePayment>(
    `SELECT p.id, p.workspace_id AS "workspaceId", ${milliseconds('p.occurred_at')} AS "occurredAt",
       ${milliseconds('p.recorded_at')} AS "recordedAt", p.credit_due_at::text AS due, p.rule, ${milliseconds('p.session_at')} AS "sessionAt",
       ${payerField('email')} AS email, ${payerField('user_id')} AS "userId", ${payerField('anonymous_id')} AS "anonymousId"
     FROM revenue_payments p WHERE p.credit_due_at <= now() ORDER BY p.credit_due_at LIMIT $1`,
    [limit],
  )
}

export interface Payer {
  /** Null: nobody known, or not known yet. */
  readonly contactId: number | null
  /** Anonymous ids of browsers that are the payer's besides, at all times. */
  readonly browsers: readonly string[]
}

/**
 * Who paid, by what identify and conversion events said: the contact of the first e-mail that is known. Most counts that of
 * the workspace's user id, by the inbox, and once its rows are deleted by the contact. Then comes the payer's e-mail, then the
 * browser that the payment names. That browser is the payer's where it is nobody's. So are those of the e-mail, as long as
 * there is no contact.
 * @returns by payment
 */
export async function listPayers(q: Queryable, payments: readonly DuePayment[]): Promise<ReadonlyMap<number, Payer>> {
  const wanted = payments.map(({ id, workspaceId, occurredAt, email, userId, anonymousId }) => ({
    id,
    workspaceId,
    occurredAt,
    email,
    userId,
    anonymousId,
  }))
  const rows = await q.query<Payer & { id: number; unbound: string | null }>(
    `SELECT w.id, ARRAY(
         SELECT i.anonymous_id FROM inbox i
         WHERE i.workspace_id = w."workspaceId" AND i.email = payer.email AND i.anonymous_id != ''
         GROUP BY i.anonymous_id ORDER BY min(i.occurred_at), i.anonymous_id LIMIT $2) AS browsers,
       coalesce((SELECT c.id FROM contacts c WHERE c.workspace_id = w."workspaceId" AND c.email = payer.email),
         ${payerByBrowser('w."workspaceId"', 'w."anonymousId"', 'w."occurredAt"')}) AS "contactId",
       CASE WHEN NOT EXISTS (SELECT FROM bindings b WHERE b.workspace_id = w."workspaceId" AND b.anonymous_id = w."anonymousId")
         THEN w."anonymousId" END AS unbound
     FROM jsonb_to_recordset($1::jsonb)
       AS w (id bigint, "workspaceId" integer, "occurredAt" float8, email text, "userId" text, "anonymousId" text)
     CROSS JOIN LATERAL (
       SELECT ${payerEmail('w."workspaceId"', 'w."userId"', 'w.email')} AS email) AS payer`,
    [JSON.stringify(wanted), payerBrowsersMax],
  )
  const named = new Map(payments.map(({ id, anonymousId }) => [id, anonymousId]))
  return new Map(
    rows.map(({ id, contactId, browsers, unbound }) => {
      const own = contactId === null ? named.get(id) : unbound
      const others = contactId === null ? browsers : []
      return [id, { contactId, browsers: [...new Set([...others, ...(own == null ? [] : [own])])] }]
    }),
  )
}

export interface Credit {
  readonly rule: 'touch' | 'session' | 'none'
  readonly source: string
  readonly medium: string
  readonly campaign: string
  /** The page on which the credited session began; null where there is none. */
  readonly path: string | null
  readonly device: string
  readonly browser: string
  readonly country: string
  readonly link_id: number | null
  readonly post_id: number | null
  /** The credited session, as decimal texts, and its beginning (milliseconds since 1970); null where none is known. */
  readonly visitor: string | null
  readonly session: string | null
  readonly session_at: number | null
}

export interface NextDue {
  readonly id: number
  readonly due: string
  /** Milliseconds since 1970; null: its credit is final. */
  readonly nextDue: number | null
}
export type CreditedPayment = Credit & NextDue

/** Payments whose credit stays as it is. One that became due again meanwhile stays due. */
export async function postponeCredits(q: Queryable, kept: readonly NextDue[]): Promise<void> {
  await q.query(
    `UPDATE revenue_payments p SET credit_due_at = to_timestamp(c."nextDue" / 1000)
     FROM jsonb_to_recordset($1::jsonb) AS c (id bigint, due timestamptz, "nextDue" float8)
     WHERE p.id = c.id AND p.credit_due_at = c.due`,
    [JSON.stringify(kept)],
  )
}

/** One that was credited or became due again meanwhile stays as it is: another process may have known more of its payer. */
export async function saveCredits(q: Queryable, credited: readonly CreditedPayment[]): Promise<void> {
  await q.query(
    `UPDATE revenue_payments p SET rule = c.rule, source = c.source, medium = c.medium, campaign = c.campaign, path = c.path,
       device = c.device, browser = c.browser, country = c.country, link_id = c.link_id, post_id = c.post_id,
       visitor = c.visitor, session = c.session, session_at = to_timestamp(c.session_at / 1000), credited_at = now(),
       credit_due_at = to_timestamp(c."nextDue" / 1000)
     FROM jsonb_to_recordset($1::jsonb) AS c (id bigint, due timestamptz, "nextDue" float8, rule text, source text,
       medium text, campaign text, path text, device text, browser text, country text, link_id bigint, post_id bigint,
       visitor text, session text, session_at float8)
     WHERE p.id = c.id AND p.credit_due_at = c.due AND NOT p.is_payer_erased`,
    [JSON.stringify(credited)],
  )
}

/**
 * Payments of these contacts, as of what is known of them now, are due. Those that were never credited are already. User ids
 * that a contact had before are in the inbox alone, which is read where payments name user ids.
 */
export async function recreditContacts(tx: Queryable, contactIds: readonly number[]): Promise<void> {
  // Events and imports change the same payments in another order.
  const workspaces = 'SELECT DISTINCT workspace_id AS id FROM contacts WHERE id = ANY ($1::bigint[]) ORDER BY id'
  for (const { id } of await tx.query<{ id: number }>(workspaces, [contactIds])) await lockLedger(tx, id)
  await tx.query(
    `WITH news AS (
       SELECT c.workspace_id, 'email' AS field, c.email AS value FROM contacts c WHERE c.id = ANY ($1::bigint[])
       UNION SELECT c.workspace_id, 'user_id', c.user_id FROM contacts c WHERE c.id = ANY ($1::bigint[]) AND c.user_id != ''
       UNION SELECT c.workspace_id, 'user_id', former.value FROM contacts c CROSS JOIN LATERAL (
         SELECT ${inboxUserId('i')} AS value FROM inbox i
         WHERE i.workspace_id = c.workspace_id AND i.email = c.email AND i.properties ->> 'user_id' IS NOT NULL OFFSET 0) AS former
       WHERE c.id = ANY ($1::bigint[]) AND EXISTS (
         SELECT FROM revenue_payers WHERE workspace_id = c.workspace_id AND field = 'user_id')
       UNION SELECT b.workspace_id, 'anonymous_id', b.anonymous_id FROM bindings b WHERE b.contact_id = ANY ($1::bigint[])
     ), found AS (
       SELECT p.id FROM news
       CROSS JOIN LATERAL (SELECT * FROM revenue_payers
         WHERE workspace_id = news.workspace_id AND field = news.field AND value = news.value OFFSET 0) AS y
       CROSS JOIN LATERAL ${paymentsNaming('y.reference')} AS p
       WHERE p.workspace_id = y.workspace_id AND p.provider = y.provider
     ), due AS (
       SELECT id FROM revenue_payments WHERE id = ANY (ARRAY (SELECT id FROM found))
         AND credited_at IS NOT NULL AND NOT is_payer_erased ORDER BY id FOR UPDATE)
     UPDATE revenue_payments SET credit_due_at = now() WHERE id = ANY (ARRAY (SELECT id FROM due))`,
    [contactIds],
  )
}
