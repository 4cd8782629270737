/**
 * The queue of mails and chat messages about traffic, failed posts, accounts to be connected again, and conversions
 * (conversion-messages.ts, where rows stay). A row is claimed, with
 * what its message tells, before the message is sent, and deleted afterwards. A claim that nobody ended is taken over at
 * `due_at`, and counted as uncertain: its message may be there. Held by test/integration/traffic-alerts.test.ts and
 * failure-alerts.test.ts.
 */
import { day } from '../../../schemas/limits/units.ts'
import type { AlertKind, TrafficAlert } from '../../../schemas/resources/traffic-alert.ts'
import type { ToldConversions } from '../../../schemas/told-conversions.ts'
import type { Queryable } from '../../client.ts'
import { isPast, type Leasing } from '../../leasing.ts'
import { isInUse } from '../workspaces/is-in-use.ts'
import {
  type FailedFeed,
  type FailedPost,
  failedFeedSql,
  failedPostSql,
  type LostAccount,
  lostAccountSql,
} from './failures-told.ts'
import { type Destination, isReachable, type RecipientSwitch } from './report-recipients.ts'

/** A post that failed, an account that needs to be connected again, or a feed that was turned off: failure-alerts.ts. */
export const failureKinds = ['post', 'account', 'feed'] as const
export type FailureKind = (typeof failureKinds)[number]

interface Claimed extends Destination {
  /** That of the recipient. */
  readonly id: number
  readonly createdAt: Date
  /** False: none of the address's or channel's rows wants to be told any more, or the plan of conversions has ended. */
  readonly isWanted: boolean
  readonly workspace: { readonly id: number; readonly name: string; readonly timezone: string }
  /** The post, account or feed; 0 for others. */
  readonly subjectId: number
  readonly toldAt: Date
  /** When the row began anew, or its message; null for traffic. */
  readonly begunAt: Date | null
  /** This attempt included. */
  readonly attempts: number
  readonly uncertain: number
}

interface OfTraffic {
  readonly kind: AlertKind
  readonly told: TrafficAlert
}

interface OfPost {
  readonly kind: 'post'
  /** Null: the post isn't failed any more. */
  readonly told: FailedPost | null
}

interface OfAccount {
  readonly kind: 'account'
  /** Null: the account isn't lost any more. */
  readonly told: LostAccount | null
}

interface OfFeed {
  readonly kind: 'feed'
  /** Null: the feed isn't turned off any more. */
  readonly told: FailedFeed | null
}

interface OfConversions {
  readonly kind: 'conversions'
  /** Without `told` there is only something left out: how many since the message before. */
  readonly told: { readonly told: ToldConversions | null; readonly leftOut: number }
}

export type ClaimedMail = Claimed & (OfTraffic | OfPost | OfAccount | OfFeed | OfConversions)

export interface AlertMails {
  readonly workspaceId: number
  readonly kind: AlertKind | FailureKind
  /** The post, account or feed; 0 for traffic. */
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

interface Taking extends Leasing {
  /** False: those of mail are left. */
  readonly withMail: boolean
}

/** A message waits no longer: a receiver's `Retry-After`, or the next day of one about conversions. */
export const alertDueMaxMs = day

/** Rows of targets `t` that failed with a post `p.subject_id`, on an account `m.subject_id`. */
const failedWithPost = `FROM post_targets t WHERE t.post_id = p.subject_id AND t.social_account_id = m.subject_id AND t.status = 'failed'`

/** A row `m` whose next message begins: what comes from now on is told by another one. */
const takesNow = `m.kind = 'conversions' AND m.taken IS NULL`

/**
 * Takes due messages, those that are due for longest. One about an account waits for the one about its failed post, which tells
 * of both: if that one isn't sent, this one is.
 */
export function claimAlertMails(q: Queryable, { now, until, max, withMail }: Taking): Promise<ClaimedMail[]> {
  return q.query<ClaimedMail>(
    `WITH due AS (
       SELECT m.recipient_id, m.kind, m.subject_id FROM alert_mails m JOIN report_recipients r ON r.id = m.recipient_id
       WHERE ${isPast('m.due_at', '$1', alertDueMaxMs)} AND ($4 OR r.channel_id IS NOT NULL)
         AND (m.kind <> 'conversions' OR m.taken IS NOT NULL OR m.gathered IS NOT NULL OR (m.left_out > 0 AND m.told_at IS NOT NULL))
         AND NOT (m.kind = 'account' AND EXISTS (SELECT FROM alert_mails p WHERE p.recipient_id = m.recipient_id AND p.kind = 'post' AND EXISTS (SELECT ${failedWithPost})))
       ORDER BY m.due_at LIMIT $3 FOR UPDATE OF m SKIP LOCKED)
     UPDATE alert_mails m SET is_sending = true, due_at = $2, attempts = m.attempts + 1,
       uncertain = m.uncertain + m.is_sending::int,
       told_at = CASE WHEN ${takesNow} THEN coalesce(to_timestamp((m.gathered ->> 'since')::float8 / 1000), $1) ELSE m.told_at END,
       taken = CASE WHEN ${takesNow} THEN jsonb_build_object('told', m.gathered, 'leftOut', m.left_out) ELSE m.taken END,
       gathered = CASE WHEN ${takesNow} THEN NULL ELSE m.gathered END,
       left_out = CASE WHEN ${takesNow} THEN 0 ELSE m.left_out END
     FROM due JOIN report_recipients r ON r.id = due.recipient_id JOIN workspaces w ON w.id = r.workspace_id
     JOIN owners p ON p.id = w.owner_id LEFT JOIN traffic_alerts a ON a.workspace_id = w.id AND a.kind = due.kind
     WHERE m.recipient_id = due.recipient_id AND m.kind = due.kind AND m.subject_id = due.subject_id
     RETURNING r.id, m.kind, r.email, r.channel_id AS "channelId", r.created_at AS "createdAt", m.subject_id AS "subjectId",
       EXISTS (SELECT FROM report_recipients o WHERE o.workspace_id = r.workspace_id
         AND (o.email = r.email OR o.channel_id = r.channel_id)
         AND CASE WHEN m.kind = ANY ($5::text[]) THEN o.failures WHEN m.kind = 'conversions'
           THEN (o.conversions OR o.payments) AND ${isInUse('p')} ELSE o.alerts END) AS "isWanted",
       json_build_object('id', w.id, 'name', w.name, 'timezone', w.timezone) AS workspace,
       CASE m.kind WHEN 'post' THEN ${failedPostSql('m.subject_id', 'w.id')}
         WHEN 'account' THEN ${lostAccountSql('m.subject_id', 'w.id')}
         WHEN 'feed' THEN ${failedFeedSql('m.subject_id', 'w.id')}
         WHEN 'conversions' THEN m.taken ELSE a.told END AS told,
       coalesce(m.told_at, a.told_at) AS "toldAt", m.told_at AS "begunAt", m.attempts, m.uncertain`,
    [now, until, max, withMail, failureKinds],
  )
}

/** A row that began anew while it was sent has its attempts from 0 again, so it may have the same number of them. */
export const isClaim = `recipient_id = $1 AND kind = $2 AND subject_id = $3 AND is_sending AND attempts = $4
  AND told_at IS NOT DISTINCT FROM $5`
export const claimOf = ({ id, kind, subjectId, attempts, begunAt }: ClaimedMail) => [
  id,
  kind,
  subjectId,
  attempts,
  begunAt,
]

/** The message is given up, or nobody wants it. Does nothing if another has it by now. */
export async function endAlertMail(q: Queryable, claim: ClaimedMail): Promise<void> {
  await q.query(`DELETE FROM alert_mails WHERE ${isClaim}`, claimOf(claim))
}

/** The message was sent. One about a post told of the accounts that it had lost by then, too. */
export async function endSentMail(q: Queryable, claim: ClaimedMail): Promise<void> {
  await q.query(
    `WITH ended AS (DELETE FROM alert_mails WHERE ${isClaim})
     DELETE FROM alert_mails m USING (SELECT $3::bigint AS subject_id) p
     WHERE $2 = 'post' AND m.recipient_id = $1 AND m.kind = 'account' AND NOT m.is_sending AND m.told_at <= $5
       AND EXISTS (SELECT ${failedWithPost})`,
    claimOf(claim),
  )
}

/** @param isUncertain the message may be there, though the attempt failed */
export async function postponeAlertMail(
  q: Queryable,
  claim: ClaimedMail,
  { dueAt, isUncertain }: { readonly dueAt: Date; readonly isUncertain: boolean },
): Promise<void> {
  await q.query(`UPDATE alert_mails SET due_at = $6, is_sending = $7 WHERE ${isClaim}`, [
    ...claimOf(claim),
    dueAt,
    isUncertain,
  ])
}
