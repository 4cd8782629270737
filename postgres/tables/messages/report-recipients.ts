/**
 * Recipients of reports: an address of mail, or a chat channel (postgres/tables/messages/chat-channels.ts). A row says what they get,
 * and how far the reports to them are (postgres/tables/messages/due-reports.ts).
 */
import type { Subscription } from '../../../runtime/crypto/unsubscribe-token.ts'
import type { ReportKind } from '../../../schemas/resources/report-recipient.ts'
import type { Queryable } from '../../client.ts'
import { appendSystemChange } from '../workspaces/audit.ts'

/** How far the reports to a recipient are. */
export interface RecipientState {
  readonly sent_at: Date | null
  readonly has_failed: boolean
  /** The last request for a report at once: postgres/tables/messages/asked-reports.ts. */
  readonly asked_at: Date | null
  readonly asked_state: 'waiting' | 'sending' | 'sent' | 'failed' | null
  readonly asked_failure: string | null
}

/** They are those of a row `r`. */
export const stateColumns = `r.sent_at, coalesce(r.state = 'failed', false) AS has_failed,
  r.asked_at, r.asked_state, r.asked_failure`

/** By mail. */
export interface ReportRecipient extends RecipientState {
  readonly id: number
  readonly email: string
  readonly every: ReportKind
  /** Gets traffic alerts too. */
  readonly alerts: boolean
  /** Is told of posts that failed, and of accounts to be connected again. */
  readonly failures: boolean
  /** Is told of conversions of these events, of all where there are none: conversion-messages.ts. */
  readonly conversions: boolean
  readonly conversion_names: readonly string[]
  /** Is told of payments and refunds. */
  readonly payments: boolean
  readonly created_at: Date
}

/** Columns of what a recipient gets beside reports. */
export type RecipientSwitch = 'alerts' | 'failures' | 'conversions' | 'payments'
type Switches = { readonly [Switch in RecipientSwitch]?: boolean | undefined } & {
  readonly conversion_names?: readonly string[] | undefined
}

/** Those of mail, in the order in which they were added. */
export function listReportRecipients(q: Queryable, workspaceId: number): Promise<ReportRecipient[]> {
  return q.query<ReportRecipient>(
    `SELECT r.id, r.email, r.every, r.alerts, r.failures, r.conversions, r.conversion_names, r.payments, r.created_at, ${stateColumns} FROM report_recipients r
     WHERE r.workspace_id = $1 AND r.email IS NOT NULL ORDER BY r.id`,
    [workspaceId],
  )
}

/** Those of mail, over all workspaces. */
export async function countAllMailRecipients(q: Queryable): Promise<number> {
  const [row] = await q.query<{ recipients: number }>(
    'SELECT count(*)::int AS recipients FROM report_recipients WHERE email IS NOT NULL',
  )
  return row!.recipients
}

/** Those of mail, and channels, of a workspace. */
export async function countRecipients(q: Queryable, workspaceId: number): Promise<number> {
  const [row] = await q.query<{ recipients: number }>(
    `SELECT (SELECT count(*) FROM report_recipients WHERE workspace_id = $1 AND email IS NOT NULL)::int
       + (SELECT count(*) FROM chat_channels WHERE workspace_id = $1)::int AS recipients`,
    [workspaceId],
  )
  return row!.recipients
}

export interface NewReportRecipient extends Pick<ReportRecipient, 'email' | 'every'>, Switches {
  readonly workspaceId: number
  readonly createdAt: Date
}

/** @returns null where the address gets these reports already */
export async function insertReportRecipient(
  tx: Queryable,
  { workspaceId, email, every, createdAt, ...switches }: NewReportRecipient,
): Promise<number | null> {
  const { alerts = false, failures = false, conversions = false, payments = false, conversion_names = [] } = switches
  const [made] = await tx.query<{ id: number }>(
    `INSERT INTO report_recipients (workspace_id, email, every, created_at, alerts, failures, conversions, payments, conversion_names)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id`,
    [workspaceId, email, every, createdAt, alerts, failures, conversions, payments, conversion_names],
  )
  return made?.id ?? null
}

/**
 * A switch that isn't given stays. Messages that wait aren't sent either where it is off in all rows of the address.
 * @returns false where the workspace has no such recipient of mail
 */
export async function setRecipientSwitches(
  tx: Queryable,
  { id, workspaceId }: { readonly id: number; readonly workspaceId: number },
  { alerts, failures, conversions, payments, conversion_names }: Switches,
): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE report_recipients SET alerts = coalesce($3, alerts), failures = coalesce($4, failures),
       conversions = coalesce($5, conversions), payments = coalesce($6, payments), conversion_names = coalesce($7, conversion_names)
     WHERE id = $1 AND workspace_id = $2 AND email IS NOT NULL RETURNING 1`,
    [
      id,
      workspaceId,
      alerts ?? null,
      failures ?? null,
      conversions ?? null,
      payments ?? null,
      conversion_names ?? null,
    ],
  )
  return changed.length > 0
}

/** @returns false where the workspace has no such recipient of mail */
export async function deleteReportRecipient(tx: Queryable, id: number, workspaceId: number): Promise<boolean> {
  const gone = await tx.query(
    'DELETE FROM report_recipients WHERE id = $1 AND workspace_id = $2 AND email IS NOT NULL RETURNING 1',
    [id, workspaceId],
  )
  return gone.length > 0
}

/**
 * Ends the mails of a link to its address in the workspace: those of one kind, or all with the reports. Weekly and
 * monthly reports of an address are two recipients. Does nothing where they have ended.
 */
export async function unsubscribe(
  tx: Queryable,
  { workspaceId, addressHash, from: mails }: Subscription,
): Promise<void> {
  const isNamed = `workspace_id = $1 AND encode(sha256(convert_to(email, 'UTF8')), 'hex') = $2`
  const gone = await tx.query<{ id: number }>(
    mails === 'reports'
      ? `DELETE FROM report_recipients WHERE ${isNamed} RETURNING id`
      : `UPDATE report_recipients SET ${ended[mails]} WHERE ${isNamed} AND (${wanted[mails]}) RETURNING id`,
    [workspaceId, addressHash],
  )
  for (const { id } of gone) {
    const change = { action: 'report_recipient.unsubscribe', actorName: 'recipient', resourceId: id } as const
    await appendSystemChange(tx, { ...change, workspaceId, metadata: { from: mails } })
  }
}

/** A message about conversions tells of payments, too. */
const wanted = { alerts: 'alerts', failures: 'failures', conversions: 'conversions OR payments' } as const
const ended = {
  alerts: 'alerts = false',
  failures: 'failures = false',
  conversions: 'conversions = false, payments = false',
} as const

/** Where a message goes: one of the two is null. */
export interface Destination {
  readonly email: string | null
  readonly channelId: number | null
}

/** Condition of a row `r`: mail is set up, or it is a channel that isn't turned off. @param withMail a parameter */
export const isReachable = (withMail: string) =>
  `(CASE WHEN r.channel_id IS NULL THEN ${withMail}::boolean
    ELSE EXISTS (SELECT FROM chat_channels c WHERE c.id = r.channel_id AND c.disabled_at IS NULL) END)`
