/**
 * Sends due reports by mail and to chats. The loop is its own and has deadlines, so that a slow server delays nothing
 * else. Postgres holds what was sent (postgres/tables/messages/due-reports.ts), so several pipelines share the work.
 *
 * | a process dies …                | afterwards                                                                        |
 * |---------------------------------|-----------------------------------------------------------------------------------|
 * | before the claim                | due as before                                                                     |
 * | after the claim, before its end | taken over after `reportClaimMs`: perhaps a second message, and after another death none |
 *
 * Held by test/integration/reports.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { readFoldedAsOf } from '../../postgres/tables/figures/folds.ts'
import {
  claimReport,
  type DueReport,
  endReport,
  failLateReports,
  listDueReports,
  listReportTimezones,
  type ReportClaim,
} from '../../postgres/tables/messages/due-reports.ts'
import type { Destination } from '../../postgres/tables/messages/report-recipients.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import type { Log } from '../../runtime/log.ts'
import {
  reportClaimMs,
  reportRetryDelaysMs,
  reportsAtOnce,
  reportsEveryMs,
  reportsReadEach,
  reportUncertainAttemptsMax,
} from '../../schemas/limits/report-limits.ts'
import type { JobLoop } from '../job-loop.ts'
import { type Signals, startMailLoop } from '../mail-loop.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { type DeliveryContext, deliver, wayOf } from './deliver.ts'
import { describeReport } from './describe-report.ts'
import { duePeriods, latePeriods, tooLateAt } from './due-periods.ts'
import { type Report, readReport } from './read-report.ts'
import { SendFailed } from './send-failed.ts'

/** All that a loop of messages needs. */
export interface MessageContext extends DeliveryContext {
  readonly log: Log
  readonly metrics: PipelineMetrics
}

export interface ReportContext extends MessageContext {
  readonly ch: Pick<ClickHouse, 'query'>
}

export function startReporter(context: ReportContext): JobLoop {
  const whenFailing = 'reports can not be sent now'
  return startMailLoop(context, { name: 'send-reports', whenFailing, pauseMs: reportsEveryMs }, sendReports)
}

/** Sends all that is due. One report that fails keeps none of the others. @throws the last failure of figures */
export async function sendReports(context: ReportContext, signals: Signals): Promise<void> {
  const { stopping } = signals
  const { pg, clock, mailer } = context
  const now = clock.now()
  const { asOf } = await readFoldedAsOf(pg)
  const timezones = await listReportTimezones(pg)
  await failLate(context, timezones, now)
  const periods = timezones.flatMap((timezone) => duePeriods(timezone, now)).filter(({ end }) => end <= asOf)
  if (periods.length === 0) return
  let failure: unknown
  for (let after: DueReport | undefined; !stopping.aborted; ) {
    const page = await listDueReports(pg, periods, {
      now: new Date(now),
      after,
      max: reportsReadEach,
      withMail: mailer !== undefined,
    })
    for (const due of page) {
      if (stopping.aborted) break
      await sendToAll(context, due, signals).catch((error) => {
        failure = error
      })
    }
    after = page.at(-1)
    if (page.length < reportsReadEach) break
  }
  if (failure !== undefined) throw failure
}

/** Attempts whose process died, or whose next one came too late. */
async function failLate({ pg, log, metrics }: ReportContext, timezones: readonly string[], now: number): Promise<void> {
  const late = timezones.flatMap((timezone) => latePeriods(timezone, now))
  for (const failed of await failLateReports(pg, late, new Date(now))) {
    log.warn({ recipient: failed.id, period: failed.first }, 'a report is given up: it is too late')
    metrics.reported(wayOf(failed), 'failed')
  }
}

/** Reads the figures once for all recipients. */
async function sendToAll(context: ReportContext, due: DueReport, signals: Signals): Promise<void> {
  const report = await readReport(context, due)
  if (report === undefined) return
  await forEachAtMost(reportsAtOnce, due.recipients, signals.stopping, (recipient) =>
    sendTo(context, { due, report, recipient }, signals),
  )
}

interface Sending {
  readonly due: DueReport
  readonly report: Report
  readonly recipient: DueReport['recipients'][number]
}

async function sendTo(context: ReportContext, sending: Sending, { giveUp }: Signals): Promise<void> {
  const { pg, clock, log, metrics } = context
  const { due, report, recipient } = sending
  const now = clock.now()
  const claim = await claimReport(pg, recipient.id, {
    first: due.first,
    now: new Date(now),
    until: new Date(now + reportClaimMs),
  })
  if (claim === undefined) return
  const about = { recipient: recipient.id, period: due.first }
  const end = (outcome: Parameters<typeof endReport>[2]['end'], dueAt: number | null) =>
    endReport(pg, recipient.id, {
      first: due.first,
      claim,
      now: new Date(clock.now()),
      end: outcome,
      dueAt: dueAt === null ? null : new Date(dueAt),
    })
  if (claim.uncertain >= reportUncertainAttemptsMax) {
    log.warn(about, 'a report is given up: nobody knows whether it was sent twice')
    metrics.reported(wayOf(recipient), 'failed')
    return end('failed', null)
  }
  try {
    const more = { workspaceId: due.workspaceId, createdAt: new Date(recipient.createdAt) }
    await sendReport(context, { report, recipient: { ...recipient, ...more } }, giveUp)
    metrics.reported(wayOf(recipient), 'sent')
    await end('sent', null)
  } catch (error) {
    if (!(error instanceof SendFailed)) throw error
    const again = nextAttempt(claim, due, { error, now: clock.now() })
    log.warn({ ...about, err: error, attempt: claim.attempts }, 'a report could not be sent')
    metrics.reported(wayOf(recipient), again === null ? 'failed' : 'retried')
    await end(again === null ? 'failed' : error.isUncertain ? 'uncertain' : 'waiting', again)
  }
}

interface OneReport {
  readonly report: Report
  readonly recipient: Destination & { readonly id: number; readonly workspaceId: number; readonly createdAt: Date }
  /** Tells its `Message-ID` from that of the period's other mails. */
  readonly suffix?: string
}

/** @throws SendFailed */
export async function sendReport(
  context: ReportContext,
  { report, recipient: { id, workspaceId, createdAt, ...to }, suffix = '' }: OneReport,
  giveUp: AbortSignal,
): Promise<void> {
  const messageId = `report-${report.first}-${report.every}-${id}-${createdAt.getTime()}${suffix}`
  const message = describeReport(report, context.apiHost)
  await deliver(context, { message, to, workspaceId, from: 'reports', messageId }, giveUp)
}

interface Failure {
  readonly error: SendFailed
  readonly now: number
}

/** @returns null where there is none, or it would be too late */
function nextAttempt({ attempts }: ReportClaim, due: DueReport, { error, now }: Failure): number | null {
  const delayMs = error.isFinal ? undefined : reportRetryDelaysMs[attempts - 1]
  if (delayMs === undefined) return null
  const at = now + Math.max(delayMs, error.waitMs)
  return at >= tooLateAt(due) ? null : at
}
