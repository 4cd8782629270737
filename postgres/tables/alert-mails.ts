/**
 * The queue of mails about traffic alerts. A row is claimed before its mail is sent, and deleted afterwards. A claim that
 * nobody ended is taken over at `due_at`, and counted as uncertain: its mail may be there. Held by
 * test/integration/traffic-alerts.test.ts.
 */
import type { AlertKind, TrafficAlert } from '../../schemas/resources/traffic-alert.ts'
import type { Queryable } from '../client.ts'

export interface ClaimedMail {
  /** That of the recipient. */
  readonly id: number
  readonly kind: AlertKind
  readonly email: string
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

/** Takes due mails, those that are due for longest. @param until when others may take them over */
export function claimAlertMails(
  q: Queryable,
  { now, until, max }: { readonly now: Date; readonly until: Date; readonly max: number },
): Promise<ClaimedMail[]> {
  return q.query<ClaimedMail>(
    `WITH due AS (
       SELECT recipient_id, kind FROM alert_mails WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
     UPDATE alert_mails m SET is_sending = true, due_at = $2, attempts = m.attempts + 1,
       uncertain = m.uncertain + m.is_sending::int
     FROM due JOIN report_recipients r ON r.id = due.recipient_id JOIN workspaces w ON w.id = r.workspace_id
     JOIN traffic_alerts a ON a.workspace_id = w.id AND a.kind = due.kind
     WHERE m.recipient_id = due.recipient_id AND m.kind = due.kind
     RETURNING r.id, m.kind, r.email, r.created_at AS "createdAt", r.alerts AS "isWanted",
       json_build_object('id', w.id, 'name', w.name, 'timezone', w.timezone) AS workspace,
       a.told, a.told_at AS "toldAt", m.attempts, m.uncertain`,
    [now, until, max],
  )
}

const isClaim = 'recipient_id = $1 AND kind = $2 AND is_sending AND attempts = $3'
const claimOf = ({ id, kind, attempts }: ClaimedMail) => [id, kind, attempts]

/** The mail was sent, or is given up. Does nothing if another has it by now. */
export async function endAlertMail(q: Queryable, claim: ClaimedMail): Promise<void> {
  await q.query(`DELETE FROM alert_mails WHERE ${isClaim}`, claimOf(claim))
}

/** @param isUncertain the mail may be there, though the attempt failed */
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
