/**
 * Sends traffic alerts, and messages about failed posts and accounts, by mail and to chats. It has a loop of its own: a slow
 * server delays neither looks nor reports. Postgres holds
 * what waits (postgres/tables/alert-mails.ts). A process that dies in a send is followed by one more attempt, as with reports:
 * pipeline/reports/send-reports.ts.
 */
import {
  type ClaimedMail,
  claimAlertMails,
  endAlertMail,
  endSentMail,
  failureKinds,
  postponeAlertMail,
} from '../../postgres/tables/alert-mails.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import { alertLateMaxMs, alertMailsEveryMs, alertRetryDelaysMs } from '../../schemas/limits/alert-limits.ts'
import { reportClaimMs, reportsAtOnce, reportUncertainAttemptsMax } from '../../schemas/limits/report-limits.ts'
import type { JobLoop } from '../job-loop.ts'
import { deliver, wayOf } from '../reports/deliver.ts'
import type { Message } from '../reports/message.ts'
import { type Signals, startReportLoop } from '../reports/report-loop.ts'
import { SendFailed } from '../reports/send-failed.ts'
import type { MessageContext } from '../reports/send-reports.ts'
import { describeAlert } from './describe-alert.ts'
import { describeExpiredAccount, describeFailedFeed, describeFailedPost } from './describe-failure.ts'

export function startAlertMailer(context: MessageContext): JobLoop {
  const whenFailing = 'alerts can not be sent now'
  return startReportLoop(context, { name: 'send-alerts', whenFailing, pauseMs: alertMailsEveryMs }, sendAlerts)
}

/** Sends all that is due. */
export async function sendAlerts(context: MessageContext, { stopping, giveUp }: Signals): Promise<void> {
  const { pg, clock, mailer } = context
  while (!stopping.aborted) {
    const now = clock.now()
    // No more than are sent at once: the time of a claim runs.
    const max = reportsAtOnce
    const claims = await claimAlertMails(pg, {
      ...{ now: new Date(now), until: new Date(now + reportClaimMs), max, withMail: mailer !== undefined },
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
    return endAlertMail(pg, claim)
  }
  try {
    await send(context, claim, message, giveUp)
    metrics.reported(wayOf(claim), 'sent')
    await endSentMail(pg, claim)
  } catch (error) {
    if (!(error instanceof SendFailed)) throw error
    const delayMs = alertRetryDelaysMs[claim.attempts - 1]
    const nextAt = clock.now() + Math.max(delayMs ?? 0, error.waitMs)
    const isOver = delayMs === undefined || error.isFinal || nextAt >= tooLateAt(claim)
    log.warn({ ...about, err: error, attempt: claim.attempts }, 'an alert could not be sent')
    metrics.reported(wayOf(claim), isOver ? 'failed' : 'retried')
    if (isOver) await endAlertMail(pg, claim)
    else await postponeAlertMail(pg, claim, { dueAt: new Date(nextAt), isUncertain: error.isUncertain })
  }
}

/** @returns undefined where the failure is over */
function describe(claim: ClaimedMail, { apiHost }: MessageContext): Message | undefined {
  const place = { workspace: claim.workspace, apiHost }
  if (claim.kind === 'post') return claim.told === null ? undefined : describeFailedPost(claim.told, place)
  if (claim.kind === 'account') return claim.told === null ? undefined : describeExpiredAccount(claim.told, place)
  if (claim.kind === 'feed') return claim.told === null ? undefined : describeFailedFeed(claim.told, place)
  return describeAlert(claim, apiHost)
}

/** @throws SendFailed */
async function send(context: MessageContext, claim: ClaimedMail, message: Message, giveUp: AbortSignal): Promise<void> {
  const { id, createdAt, workspace, kind, subjectId, toldAt } = claim
  const messageId = `alert-${kind}-${subjectId}-${toldAt.getTime()}-${id}-${createdAt.getTime()}`
  const from = isFailure(kind) ? 'failures' : 'alerts'
  await deliver(context, { message, to: claim, workspaceId: workspace.id, from, messageId }, giveUp)
}

function isFailure(kind: ClaimedMail['kind']): boolean {
  return (failureKinds as readonly string[]).includes(kind)
}

function tooLateAt({ toldAt }: ClaimedMail): number {
  return toldAt.getTime() + alertLateMaxMs
}
