/** SQL of who paid: what the most specific reference of a payment tells counts, and a user id counts before an e-mail. */
import { referenceKinds } from '../../../schemas/revenue.ts'
import { inboxUserId } from '../people/inbox.ts'

const kinds = referenceKinds.map((kind) => `'${kind}'`).join(', ')

/**
 * Payments of any workspace that have the reference, as a subselect. OFFSET 0 keeps the index: Postgres overestimates the
 * payments of a name, and would read all of them.
 */
export const paymentsNaming = (reference: string) =>
  `(SELECT * FROM revenue_payments WHERE refs && ARRAY[${reference}] OFFSET 0)`

/** A field of the payer of the payment `p`. */
export const payerField = (field: 'email' | 'user_id' | 'anonymous_id') => `(
  SELECT y.value FROM revenue_payers y
  WHERE y.workspace_id = p.workspace_id AND y.provider = p.provider AND y.reference = ANY (p.refs) AND y.field = '${field}'
  ORDER BY array_position(ARRAY[${kinds}], split_part(y.reference, ':', 1)), y.told_at DESC, y.value LIMIT 1)`

/**
 * The payer's e-mail. The workspace's user id gives it by the inbox, or by the contact once inbox rows are deleted;
 * else the reported one counts. Arguments are SQL.
 */
export const payerEmail = (workspaceId: string, userId: string, email: string) => `coalesce((
  SELECT u.email FROM inbox u
  WHERE u.workspace_id = ${workspaceId} AND ${inboxUserId('u')} = ${userId} AND u.email IS NOT NULL
  ORDER BY u.occurred_at DESC, u.event_id DESC LIMIT 1), (
  SELECT c.email FROM contacts c
  WHERE c.workspace_id = ${workspaceId} AND c.user_id = ${userId} AND c.user_id != ''
  ORDER BY c.user_id_at DESC, c.id DESC LIMIT 1), ${email})`

/** The contact whose the browser was at a moment in milliseconds since 1970. Arguments are SQL. */
export const payerByBrowser = (workspaceId: string, anonymousId: string, at: string) => `(
  SELECT b.contact_id FROM bindings b
  WHERE b.workspace_id = ${workspaceId} AND b.anonymous_id = ${anonymousId} AND b.from_at <= ${at}
  ORDER BY b.from_at DESC, b.from_id DESC LIMIT 1)`
