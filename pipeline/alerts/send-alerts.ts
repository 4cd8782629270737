/**
 * Sends the mails of traffic alerts, in a loop of its own: a slow mail server delays neither looks nor reports. Postgres holds
 * what waits (postgres/tables/alert-mails.ts). A process that dies in a send is followed by one more attempt, as with reports:
 * pipeline/reports/send-reports.ts.
 */
import {
  type ClaimedMail,
  claimAlertMails,
  endAlertMail,
  postponeAlertMail,
} from '../../postgres/tables/alert-mails.ts'
import { makeUnsubscribeToken } from '../../runtime/crypto/unsubscribe-token.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import { alertLateMaxMs, alertMailsEveryMs, alertRetryDelaysMs } from '../../schemas/limits/alert-limits.ts'
import { reportClaimMs, reportsAtOnce, reportUncertainAttemptsMax } from '../../schemas/limits/report-limits.ts'
import type { JobLoop } from '../job-loop.ts'
import { MailFailed } from '../reports/mailer.ts'
import { type Signals, startReportLoop } from '../reports/report-loop.ts'
import type { MailContext } from '../reports/send-reports.ts'
import { writeAlert } from './write-alert.ts'

export function startAlertMailer(context: MailContext): JobLoop {
  const whenFailing = 'mails of traffic alerts can not be sent now'
  return startReportLoop(context, { name: 'send-alerts', whenFailing, pauseMs: alertMailsEveryMs }, sendAlerts)
}

/** Sends all that is due. */
export async function sendAlerts(context: MailContext, { stopping, giveUp }: Signals): Promise<void> {
  const { pg, clock } = context
  while (!stopping.aborted) {
    const now = clock.now()
    // No more than are sent at once: the time of a claim runs.
    const max = reportsAtOnce
    const claims = await claimAlertMails(pg, { now: new Date(now), until: new Date(now + reportClaimMs), max })
    if (claims.length === 0) return
    // All at once, so that `stopping` leaves none of them claimed.
    await forEachAtMost(max, claims, new AbortController().signal, (claim) => sendClaimed(context, claim, giveUp))
  }
}

async function sendClaimed(context: MailContext, claim: ClaimedMail, giveUp: AbortSignal): Promise<void> {
  const { pg, clock, log, metrics } = context
  if (!claim.isWanted) return endAlertMail(pg, claim)
  const about = { recipient: claim.id, kind: claim.kind }
  if (claim.uncertain >= reportUncertainAttemptsMax || clock.now() >= tooLateAt(claim)) {
    log.warn(about, 'an alert is given up: it is too late, or two attempts ended without an answer')
    metrics.reported('failed')
    return endAlertMail(pg, claim)
  }
  try {
    await send(context, claim, giveUp)
    metrics.reported('sent')
    await endAlertMail(pg, claim)
  } catch (error) {
    if (!(error instanceof MailFailed)) throw error
    const delayMs = alertRetryDelaysMs[claim.attempts - 1]
    const isOver = delayMs === undefined || clock.now() + delayMs >= tooLateAt(claim)
    log.warn({ ...about, err: error, attempt: claim.attempts }, 'an alert could not be sent')
    metrics.reported(isOver ? 'failed' : 'retried')
    if (isOver) await endAlertMail(pg, claim)
    else {
      const dueAt = new Date(clock.now() + delayMs)
      await postponeAlertMail(pg, claim, { dueAt, isUncertain: error.isUncertain })
    }
  }
}

/** @throws MailFailed */
async function send({ box, apiHost, mailer }: MailContext, claim: ClaimedMail, giveUp: AbortSignal): Promise<void> {
  const { id, email, createdAt, workspace, kind, toldAt } = claim
  const unsubscribeUrl = `${apiHost}/unsubscribe/${makeUnsubscribeToken(box, { workspaceId: workspace.id, email, from: 'alerts' })}`
  const mail = writeAlert(claim, { apiHost, unsubscribeUrl })
  const messageId = `alert-${kind}-${toldAt.getTime()}-${id}-${createdAt.getTime()}`
  await mailer.send({ ...mail, to: email, messageId }, giveUp)
}

function tooLateAt({ toldAt }: ClaimedMail): number {
  return toldAt.getTime() + alertLateMaxMs
}
