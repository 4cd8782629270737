/**
 * The queue of mails and chat messages about traffic alerts. A row is claimed before its message is sent, and deleted
 * afterwards. A claim that nobody ended is taken over at `due_at`, and counted as uncertain: its message may be there. Held by
 * test/integration/traffic-alerts.test.ts.
 */
import type { AlertKind, TrafficAlert } from '../../schemas/resources/traffic-alert.ts'
import type { Queryable } from '../client.ts'
import type { Destination } from './report-recipients.ts'

export interface ClaimedMail extends Destination {
  /** That of the recipient. */
  readonly id: number
  readonly kind: AlertKind
  readonly createdAt: Date
  /** False: the recipient wants no alerts any more. */
  readonly isWanted: boolean
  readonly workspace: { readonly id: number; readonly name: string; readonly timezone: string }
  readonly told: TrafficAlert
  readonly toldAt: Date
  /** This attempt included. */
  readonly attempts: number
  readonly uncertain: number
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
       SELECT m.recipient_id, m.kind FROM alert_mails m JOIN report_recipients r ON r.id = m.recipient_id
       WHERE m.due_at <= $1 AND ($4 OR r.channel_id IS NOT NULL)
       ORDER BY m.due_at LIMIT $3 FOR UPDATE OF m SKIP LOCKED)
     UPDATE alert_mails m SET is_sending = true, due_at = $2, attempts = m.attempts + 1,
       uncertain = m.uncertain + m.is_sending::int
     FROM due JOIN report_recipients r ON r.id = due.recipient_id JOIN workspaces w ON w.id = r.workspace_id
     JOIN traffic_alerts a ON a.workspace_id = w.id AND a.kind = due.kind
     WHERE m.recipient_id = due.recipient_id AND m.kind = due.kind
     RETURNING r.id, m.kind, r.email, r.channel_id AS "channelId", r.created_at AS "createdAt", r.alerts AS "isWanted",
       json_build_object('id', w.id, 'name', w.name, 'timezone', w.timezone) AS workspace,
       a.told, a.told_at AS "toldAt", m.attempts, m.uncertain`,
    [now, until, max, withMail],
  )
}

const isClaim = 'recipient_id = $1 AND kind = $2 AND is_sending AND attempts = $3'
const claimOf = ({ id, kind, attempts }: ClaimedMail) => [id, kind, attempts]

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
  await q.query(`UPDATE alert_mails SET due_at = $4, is_sending = $5 WHERE ${isClaim}`, [
    ...claimOf(claim),
    dueAt,
    isUncertain,
  ])
}
