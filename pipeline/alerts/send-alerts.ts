/**
 * Sends traffic alerts, and messages about failed posts, accounts and conversions, by mail and to chats. It has a loop of
 * its own: a slow server delays neither looks nor reports. Postgres holds what waits (postgres/tables/messages/alert-mails.ts). A
 * process that dies in a send is followed by one more attempt, as with reports: pipeline/reports/send-reports.ts.
 */
import {
  type ClaimedMail,
  claimAlertMails,
  endAlertMail,
  endSentMail,
  failureKinds,
  postponeAlertMail,
} from '../../postgres/tables/messages/alert-mails.ts'
import { endConversionMail } from '../../postgres/tables/messages/conversion-messages.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import {
  alertLateMaxMs,
  alertMailsEveryMs,
  alertRetryDelaysMs,
  conversionsLateMaxMs,
} from '../../schemas/limits/alert-limits.ts'
import { reportClaimMs, reportsAtOnce, reportUncertainAttemptsMax } from '../../schemas/limits/report-limits.ts'
import type { JobLoop } from '../job-loop.ts'
import { type Signals, startMailLoop } from '../mail-loop.ts'
import { deliver, wayOf } from '../reports/deliver.ts'
import type { Message } from '../reports/message.ts'
import { SendFailed } from '../reports/send-failed.ts'
import type { MessageContext } from '../reports/send-reports.ts'
import { describeAlert } from './describe-alert.ts'
import { describeConversions } from './describe-conversions.ts'
import { describeExpiredAccount, describeFailedFeed, describeFailedPost } from './describe-failure.ts'

export function startAlertMailer(context: MessageContext): JobLoop {
  const whenFailing = 'alerts can not be sent now'
  return startMailLoop(context, { name: 'send-alerts', whenFailing, pauseMs: alertMailsEveryMs }, sendAlerts)
}

/** Sends all that is due. */
export async function sendAlerts(context: MessageContext, { stopping, giveUp }: Signals): Promise<void> {
  const { pg, clock, mailer } = context
  while (!stopping.aborted) {
    const now = clock.now()
    // No more than are sent at once: the time of a claim runs.
    const max = reportsAtOnce
    const claims = await claimAlertMails(pg, {
      now: new Date(now),
      until: new Date(now + reportClaimMs),
      max,
      withMail: mailer !== undefined,
    })
    if (claims.length === 0) return
    // All at once, so that `stopping` leaves none of them claimed.
    await forEachAtMost(max, claims, new AbortController().signal, (claim) => sendClaimed(context, claim, giveUp))
  }
}

async function sendClaimed(context: MessageContext, claim: ClaimedMail, giveUp: AbortSignal): Promise<void> {
  const { pg, clock, log, metrics } = context
  if (!claim.isWanted) return endAlertMail(pg, claim)
  const message = describe(claim, context)
  if (message === undefined) return endAlertMail(pg, claim)
  const about = { recipient: claim.id, kind: claim.kind }
  if (claim.uncertain >= reportUncertainAttemptsMax || clock.now() >= tooLateAt(claim)) {
    log.warn(about, 'an alert is given up: it is too late, or two attempts ended without an answer')
    metrics.reported(wayOf(claim), 'failed')
    return end(context, claim, false)
  }
  try {
    await send(context, claim, message, giveUp)
    metrics.reported(wayOf(claim), 'sent')
    await end(context, claim, true)
  } catch (error) {
    if (!(error instanceof SendFailed)) throw error
    const delayMs = alertRetryDelaysMs[claim.attempts - 1]
    const nextAt = clock.now() + Math.max(delayMs ?? 0, error.waitMs)
    const isOver = delayMs === undefined || error.isFinal || nextAt >= tooLateAt(claim)
    log.warn({ ...about, err: error, attempt: claim.attempts }, 'an alert could not be sent')
    metrics.reported(wayOf(claim), isOver ? 'failed' : 'retried')
    if (isOver) await end(context, claim, false)
    else await postponeAlertMail(pg, claim, { dueAt: new Date(nextAt), isUncertain: error.isUncertain })
  }
}

/** The message was sent, or is given up. */
function end({ pg, clock }: MessageContext, claim: ClaimedMail, isSent: boolean): Promise<void> {
  if (claim.kind === 'conversions') return endConversionMail(pg, claim, { now: clock.now(), isSent })
  return isSent ? endSentMail(pg, claim) : endAlertMail(pg, claim)
}

/** @returns undefined where the failure is over */
function describe(claim: ClaimedMail, { apiHost }: MessageContext): Message | undefined {
  const place = { workspace: claim.workspace, apiHost }
  if (claim.kind === 'post') return claim.told === null ? undefined : describeFailedPost(claim.told, place)
  if (claim.kind === 'account') return claim.told === null ? undefined : describeExpiredAccount(claim.told, place)
  if (claim.kind === 'feed') return claim.told === null ? undefined : describeFailedFeed(claim.told, place)
  return claim.kind === 'conversions' ? describeConversions(claim, apiHost) : describeAlert(claim, apiHost)
}

/** @throws SendFailed */
async function send(context: MessageContext, claim: ClaimedMail, message: Message, giveUp: AbortSignal): Promise<void> {
  const { id, createdAt, workspace, kind, subjectId, toldAt } = claim
  const messageId = `alert-${kind}-${subjectId}-${toldAt.getTime()}-${id}-${createdAt.getTime()}`
  const from = kind === 'conversions' ? kind : isFailure(kind) ? 'failures' : 'alerts'
  await deliver(context, { message, to: claim, workspaceId: workspace.id, from, messageId }, giveUp)
}

function isFailure(kind: ClaimedMail['kind']): boolean {
  return (failureKinds as readonly string[]).includes(kind)
}

function tooLateAt({ kind, toldAt }: ClaimedMail): number {
  return toldAt.getTime() + (kind === 'conversions' ? conversionsLateMaxMs : alertLateMaxMs)
}
