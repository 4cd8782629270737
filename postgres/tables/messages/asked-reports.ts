/**
 * Reports that an owner asks for, one a recipient at a time, beside those that are due by the calendar. The row holds the last
 * request:
 *
 *   waiting ─► sending ─► sent | failed
 *
 * Nobody takes a request over: one that isn't answered in time counts as failed, and the owner asks again. Held by
 * test/integration/reports.test.ts.
 */
import { askedReportPauseMs } from '../../../schemas/limits/report-limits.ts'
import type { ReportKind } from '../../../schemas/resources/report-recipient.ts'
import type { Queryable } from '../../client.ts'
import { isPast } from '../../leasing.ts'
import { type Destination, isReachable } from './report-recipients.ts'

interface ReportRequest {
  readonly id: number
  /** When it was asked for: an end of an older request changes nothing of a newer one. */
  readonly askedAt: Date
}

/** @returns undefined where the workspace has no such recipient; `isOff`: it is a channel that is turned off */
export async function findReportRecipient(
  q: Queryable,
  id: number,
  workspaceId: number,
): Promise<{ readonly isChannel: boolean; readonly isOff: boolean } | undefined> {
  const [found] = await q.query<{ isChannel: boolean; isOff: boolean }>(
    `SELECT r.channel_id IS NOT NULL AS "isChannel", c.disabled_at IS NOT NULL AS "isOff"
     FROM report_recipients r LEFT JOIN chat_channels c ON c.id = r.channel_id WHERE r.id = $1 AND r.workspace_id = $2`,
    [id, workspaceId],
  )
  return found
}

/** `lately`: the last request came after `lastBefore`. */
export async function askForReport(
  tx: Queryable,
  { id, workspaceId, askedAt, lastBefore }: ReportRequest & { readonly workspaceId: number; readonly lastBefore: Date },
): Promise<'asked' | 'lately' | 'unknown'> {
  const asked = await tx.query(
    `UPDATE report_recipients SET asked_at = $3, asked_state = 'waiting', asked_failure = NULL
     WHERE id = $1 AND workspace_id = $2 AND coalesce(${isPast('asked_at', '$4', askedReportPauseMs)}, true) RETURNING 1`,
    [id, workspaceId, askedAt, lastBefore],
  )
  if (asked.length > 0) return 'asked'
  const there = await tx.query('SELECT 1 FROM report_recipients WHERE id = $1 AND workspace_id = $2', [id, workspaceId])
  return there.length > 0 ? 'lately' : 'unknown'
}

export interface AskedReport extends ReportRequest, Destination {
  readonly workspaceId: number
  readonly timezone: string
  readonly every: ReportKind
  readonly createdAt: Date
}

/**
 * Requests since a moment that nobody has taken, oldest first; a channel without reports gets the weekly one. Those of workspaces
 * whose figures are being computed for another timezone wait.
 */
export function listAskedReports(
  q: Queryable,
  { since, max, withMail }: { readonly since: Date; readonly max: number; readonly withMail: boolean },
): Promise<AskedReport[]> {
  return q.query<AskedReport>(
    `SELECT r.id, r.asked_at AS "askedAt", w.id AS "workspaceId", w.timezone, coalesce(r.every, 'weekly') AS every,
       r.email, r.channel_id AS "channelId", r.created_at AS "createdAt"
     FROM report_recipients r JOIN workspaces w ON w.id = r.workspace_id AND w.suspended_at IS NULL
     WHERE r.asked_state = 'waiting' AND r.asked_at > $1 AND ${isReachable('$3')}
       AND NOT EXISTS (SELECT FROM figure_builds b WHERE b.workspace_id = w.id AND b.state = 'current' AND b.timezone != w.timezone)
     ORDER BY r.asked_at LIMIT $2`,
    [since, max, withMail],
  )
}

/** @returns false where another process has it, a newer request took its place, or the recipient is gone */
export async function claimAskedReport(q: Queryable, { id, askedAt }: ReportRequest): Promise<boolean> {
  const claimed = await q.query(
    `UPDATE report_recipients SET asked_state = 'sending'
     WHERE id = $1 AND asked_at = $2 AND asked_state = 'waiting' RETURNING 1`,
    [id, askedAt],
  )
  return claimed.length > 0
}

/**
 * One that was sent takes the place of the calendar's report that had failed: the recipient has the figures.
 *
 * @param failure why it couldn't be sent, without an address; null where it was sent
 */
export async function endAskedReport(
  q: Queryable,
  { id, askedAt }: ReportRequest,
  { failure, now }: { readonly failure: string | null; readonly now: Date },
): Promise<void> {
  await q.query(
    `UPDATE report_recipients SET asked_state = CASE WHEN $3::text IS NULL THEN 'sent' ELSE 'failed' END,
       asked_failure = $3, sent_at = CASE WHEN $3::text IS NULL THEN $4 ELSE sent_at END,
       state = CASE WHEN $3::text IS NULL AND state = 'failed' THEN 'sent' ELSE state END
     WHERE id = $1 AND asked_at = $2 AND asked_state = 'sending'`,
    [id, askedAt, failure, now],
  )
}
