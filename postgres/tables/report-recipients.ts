/**
 * Recipients of reports, and the queue of the reports: a recipient's row is claimed for a period before the message is
 * sent, and marked afterwards. Times are the caller's, as due times follow from local time. A recipient is an address of
 * mail, or a chat channel (postgres/tables/chat-channels.ts).
 *
 *   (no claim of this period) ─► sending ─► sent | waiting ─► sending … | failed
 *
 * A claim that nobody ended is taken over at `due_at`, and counted as uncertain: its message may be there. A report that is
 * too late has failed. Held by test/integration/reports.test.ts.
 */
import type { Subscription } from '../../runtime/crypto/unsubscribe-token.ts'
import type { ReportKind } from '../../schemas/resources/report-recipient.ts'
import type { Queryable } from '../client.ts'
import { columnsOf } from '../columns-of.ts'
import { appendSystemChange } from './audit.ts'

/** How far the reports to a recipient are. */
export interface RecipientState {
  readonly sent_at: Date | null
  readonly has_failed: boolean
  /** The last wish for a report at once: postgres/tables/asked-reports.ts. */
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
export async function countReportRecipients(q: Queryable): Promise<number> {
  const [row] = await q.query<{ recipients: number }>(
    'SELECT count(*)::int AS recipients FROM report_recipients WHERE email IS NOT NULL',
  )
  return row!.recipients
}

/** Those of mail, and channels, of a workspace. */
export async function countRecipientsOf(q: Queryable, workspaceId: number): Promise<number> {
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
      ...[id, workspaceId, alerts ?? null, failures ?? null],
      ...[conversions ?? null, payments ?? null, conversion_names ?? null],
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

/** Timezones of workspaces that have recipients. */
export async function listReportTimezones(q: Queryable): Promise<string[]> {
  const rows = await q.query<{ timezone: string }>(
    'SELECT DISTINCT timezone FROM workspaces WHERE id IN (SELECT workspace_id FROM report_recipients)',
  )
  return rows.map(({ timezone }) => timezone)
}

/** A period that has a report now, in a timezone. */
export interface DuePeriod {
  readonly timezone: string
  readonly every: ReportKind
  /** `YYYY-MM-DD`, the local days, both included. */
  readonly first: string
  readonly last: string
  /** Recipients that were added later get none of it; milliseconds since 1970. */
  readonly sendAt: number
  /** The period's end. */
  readonly end: number
}

/** Where a message goes: one of the two is null. */
export interface Destination {
  readonly email: string | null
  readonly channelId: number | null
}

/** Condition of a row `r`: mail is set up, or it is a channel that isn't turned off. @param withMail a parameter */
export const isReachable = (withMail: string) =>
  `(CASE WHEN r.channel_id IS NULL THEN ${withMail}::boolean
    ELSE EXISTS (SELECT FROM chat_channels c WHERE c.id = r.channel_id AND c.disabled_at IS NULL) END)`

export interface DueReport extends Pick<DuePeriod, 'every' | 'first' | 'last' | 'sendAt'> {
  readonly workspaceId: number
  readonly recipients: readonly (Destination & { readonly id: number; readonly createdAt: number })[]
}

/** Conditions of a row `r` that can be claimed for a period at a moment. */
const isFree = (period: string, now: string) =>
  `(r.period IS NULL OR r.period < ${period}
    OR (r.period = ${period} AND r.state IN ('sending', 'waiting') AND r.due_at <= ${now}))`

interface DueQuery {
  readonly now: Date
  readonly after?: DueReport | undefined
  readonly max: number
  /** False: those of mail are left out. */
  readonly withMail: boolean
}

/**
 * Reports with recipients to whom they are due, by workspace. Workspaces without a plan or without figures have none, nor
 * have those whose figures are being computed for another timezone.
 */
export function listDueReports(
  q: Queryable,
  periods: readonly DuePeriod[],
  { now, after, max, withMail }: DueQuery,
): Promise<DueReport[]> {
  return q.query<DueReport>(
    `SELECT w.id AS "workspaceId", due.every, due.first::text AS first, due.last::text AS last,
       floor(extract(epoch FROM due.send_at) * 1000)::float8 AS "sendAt",
       json_agg(json_build_object('id', r.id, 'email', r.email, 'channelId', r.channel_id,
         'createdAt', floor(extract(epoch FROM r.created_at) * 1000)::bigint) ORDER BY r.id) AS recipients
     FROM unnest($1::text[], $2::text[], $3::date[], $4::date[], $5::timestamptz[]) AS due (timezone, every, first, last, send_at)
     JOIN workspaces w ON w.timezone = due.timezone AND w.suspended_at IS NULL
     JOIN owners o ON o.id = w.owner_id AND o.plan_key IS NOT NULL
     JOIN figure_builds b ON b.workspace_id = w.id AND b.state = 'current' AND b.timezone = w.timezone
     JOIN report_recipients r ON r.workspace_id = w.id AND r.every = due.every AND r.created_at <= due.send_at
     WHERE ${isFree('due.first', '$6')} AND ${isReachable('$10')} AND ($7::int IS NULL OR (w.id, due.every) > ($7::int, $8::text))
     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2 LIMIT $9`,
    [
      ...columnsOf(periods, 'timezone', 'every', 'first', 'last'),
      periods.map(({ sendAt }) => new Date(sendAt)),
      ...[now, after?.workspaceId ?? null, after?.every ?? null, max, withMail],
    ],
  )
}

export interface ReportClaim {
  /** This one included. */
  readonly attempts: number
  readonly uncertain: number
}

/** @returns undefined where another process has it, it has ended meanwhile, or the recipient is gone */
export async function claimReport(
  q: Queryable,
  id: number,
  { first, now, until }: { readonly first: string; readonly now: Date; readonly until: Date },
): Promise<ReportClaim | undefined> {
  const [claim] = await q.query<ReportClaim>(
    `UPDATE report_recipients AS r SET period = $2::date, state = 'sending', due_at = $4,
       attempts = CASE WHEN r.period = $2::date THEN r.attempts + 1 ELSE 1 END,
       uncertain = CASE WHEN r.period = $2::date THEN r.uncertain + (r.state = 'sending')::int ELSE 0 END
     WHERE r.id = $1 AND ${isFree('$2::date', '$3')} RETURNING attempts, uncertain`,
    [id, first, now, until],
  )
  return claim
}

/** `uncertain`: the claim is left, and taken over at `dueAt`. */
export type ReportEnd = 'sent' | 'failed' | 'waiting' | 'uncertain'

/** Ends a claim. Does nothing if another has it by now. */
export async function endReport(
  q: Queryable,
  id: number,
  {
    first,
    claim,
    now,
    end,
    dueAt,
  }: { first: string; claim: ReportClaim; now: Date; end: ReportEnd; dueAt: Date | null },
): Promise<void> {
  await q.query(
    `UPDATE report_recipients SET state = $3, due_at = $4, sent_at = CASE WHEN $3 = 'sent' THEN $5 ELSE sent_at END
     WHERE id = $1 AND period = $2::date AND state = 'sending' AND attempts = $6`,
    [id, first, end === 'uncertain' ? 'sending' : end, dueAt, now, claim.attempts],
  )
}

/**
 * Ends reports of these periods and of earlier ones, which are too late: those that wait, and claims that nobody ended.
 * @returns those that failed thereby
 */
export function failLateReports(
  q: Queryable,
  late: readonly Pick<DuePeriod, 'timezone' | 'every' | 'first'>[],
  now: Date,
): Promise<(Destination & { readonly id: number; readonly first: string })[]> {
  return q.query(
    `UPDATE report_recipients AS r SET state = 'failed', due_at = NULL
     FROM unnest($1::text[], $2::text[], $3::date[]) AS late (timezone, every, first)
     JOIN workspaces w ON w.timezone = late.timezone
     WHERE r.workspace_id = w.id AND r.every = late.every AND r.period <= late.first
       AND (r.state = 'waiting' OR (r.state = 'sending' AND r.due_at <= $4))
     RETURNING r.id, r.email, r.channel_id AS "channelId", r.period::text AS first`,
    [late.map(({ timezone }) => timezone), late.map(({ every }) => every), late.map(({ first }) => first), now],
  )
}
