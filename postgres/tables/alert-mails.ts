/**
 * The queue of mails and chat messages about traffic, failed posts, and accounts to be connected again. A row is claimed before its message is sent, and deleted
 * afterwards. A claim that nobody ended is taken over at `due_at`, and counted as uncertain: its message may be there. Held by
 * test/integration/traffic-alerts.test.ts and failure-alerts.test.ts.
 */
import type { AlertKind, TrafficAlert } from '../../schemas/resources/traffic-alert.ts'
import type { Queryable } from '../client.ts'
import { type Destination, isReachable, type RecipientSwitch } from './report-recipients.ts'

/** A post that failed, or an account that needs to be connected again: failure-alerts.ts. */
export type FailureKind = 'post' | 'account'

interface Claimed extends Destination {
  /** That of the recipient. */
  readonly id: number
  readonly createdAt: Date
  /** False: the recipient doesn't want to be told any more. */
  readonly isWanted: boolean
  readonly workspace: { readonly id: number; readonly name: string; readonly timezone: string }
  /** The post or account; 0 for traffic. */
  readonly subjectId: number
  readonly toldAt: Date
  /** This attempt included. */
  readonly attempts: number
  readonly uncertain: number
}

interface OfTraffic {
  readonly kind: AlertKind
  readonly told: TrafficAlert
}

interface OfFailure {
  readonly kind: FailureKind
  readonly told: null
}

export type ClaimedMail = Claimed & (OfTraffic | OfFailure)

export interface AlertMails {
  readonly workspaceId: number
  readonly kind: AlertKind | FailureKind
  /** The post or account; 0 for traffic. */
  readonly subjectId: number
  /** Null for traffic, where `traffic_alerts` has it. */
  readonly toldAt: Date | null
  readonly dueAt: Date
  /** False: mail isn't set up, so addresses get none. */
  readonly withMails: boolean
}

/**
 * Adds a message for each channel and address with the switch. One about the same that still waits begins anew.
 * One who gets weekly and monthly reports has two rows, and one message.
 */
export async function insertAlertMails(tx: Queryable, wanted: RecipientSwitch, mails: AlertMails): Promise<void> {
  const { workspaceId, kind, subjectId, toldAt, dueAt, withMails } = mails
  await tx.query(
    `INSERT INTO alert_mails (recipient_id, kind, subject_id, told_at, due_at)
     SELECT min(r.id), $2, $3, $4, $5 FROM report_recipients r
     WHERE r.workspace_id = $1 AND r.${wanted} AND ${isReachable('$6')} GROUP BY r.email, r.channel_id
     ON CONFLICT (recipient_id, kind, subject_id) DO UPDATE SET told_at = excluded.told_at, due_at = excluded.due_at,
       is_sending = false, attempts = 0, uncertain = 0`,
    [workspaceId, kind, subjectId, toldAt, dueAt, withMails],
  )
}

interface Taking {
  readonly now: Date
  /** When others may take them over. */
  readonly until: Date
  readonly max: number
  /** False: those of mail are left. */
  readonly withMail: boolean
}

/** Takes due messages, those that are due for longest. */
export function claimAlertMails(q: Queryable, { now, until, max, withMail }: Taking): Promise<ClaimedMail[]> {
  return q.query<ClaimedMail>(
    `WITH due AS (
       SELECT m.recipient_id, m.kind, m.subject_id FROM alert_mails m JOIN report_recipients r ON r.id = m.recipient_id
       WHERE m.due_at <= $1 AND ($4 OR r.channel_id IS NOT NULL)
       ORDER BY m.due_at LIMIT $3 FOR UPDATE OF m SKIP LOCKED)
     UPDATE alert_mails m SET is_sending = true, due_at = $2, attempts = m.attempts + 1,
       uncertain = m.uncertain + m.is_sending::int
     FROM due JOIN report_recipients r ON r.id = due.recipient_id JOIN workspaces w ON w.id = r.workspace_id
     LEFT JOIN traffic_alerts a ON a.workspace_id = w.id AND a.kind = due.kind
     WHERE m.recipient_id = due.recipient_id AND m.kind = due.kind AND m.subject_id = due.subject_id
     RETURNING r.id, m.kind, r.email, r.channel_id AS "channelId", r.created_at AS "createdAt", m.subject_id AS "subjectId",
       CASE WHEN m.kind IN ('post', 'account') THEN r.failures ELSE r.alerts END AS "isWanted",
       json_build_object('id', w.id, 'name', w.name, 'timezone', w.timezone) AS workspace,
       a.told, coalesce(m.told_at, a.told_at) AS "toldAt", m.attempts, m.uncertain`,
    [now, until, max, withMail],
  )
}

const isClaim = 'recipient_id = $1 AND kind = $2 AND subject_id = $3 AND is_sending AND attempts = $4'
const claimOf = ({ id, kind, subjectId, attempts }: ClaimedMail) => [id, kind, subjectId, attempts]

/** The message was sent, or is given up. Does nothing if another has it by now. */
export async function endAlertMail(q: Queryable, claim: ClaimedMail): Promise<void> {
  await q.query(`DELETE FROM alert_mails WHERE ${isClaim}`, claimOf(claim))
}

/** @param isUncertain the message may be there, though the attempt failed */
export async function postponeAlertMail(
  q: Queryable,
  claim: ClaimedMail,
  { dueAt, isUncertain }: { readonly dueAt: Date; readonly isUncertain: boolean },
): Promise<void> {
  await q.query(`UPDATE alert_mails SET due_at = $5, is_sending = $6 WHERE ${isClaim}`, [
    ...claimOf(claim),
    dueAt,
    isUncertain,
  ])
}
