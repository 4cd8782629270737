/**
 * Sends the reports that owners ask for: of the last whole week or month, within seconds, once. The owner sees the end in the
 * dashboard and may ask again, so nothing is tried a second time. Held by test/integration/reports.test.ts.
 */

import { readFoldedAsOf } from '../../postgres/tables/figures/folds.ts'
import {
  type AskedReport,
  claimAskedReport,
  endAskedReport,
  listAskedReports,
} from '../../postgres/tables/messages/asked-reports.ts'
import type { DuePeriod } from '../../postgres/tables/messages/due-reports.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import {
  askedReportMaxMs,
  askedReportsEveryMs,
  reportsAtOnce,
  reportsReadEach,
} from '../../schemas/limits/report-limits.ts'
import type { JobLoop } from '../job-loop.ts'
import { type Signals, startMailLoop } from '../mail-loop.ts'
import { wayOf } from './deliver.ts'
import { lastPeriods } from './due-periods.ts'
import { readReport } from './read-report.ts'
import { SendFailed } from './send-failed.ts'
import { type ReportContext, sendReport } from './send-reports.ts'

export function startAskedReporter(context: ReportContext): JobLoop {
  const whenFailing = 'reports that are asked for can not be sent now'
  return startMailLoop(
    context,
    { name: 'send-asked-reports', whenFailing, pauseMs: askedReportsEveryMs },
    sendAskedReports,
  )
}

/** Reports whose period isn't complete in the figures yet wait. @throws the first failure to read figures */
export async function sendAskedReports(context: ReportContext, signals: Signals): Promise<void> {
  const { pg, clock, mailer } = context
  const now = clock.now()
  const asked = await listAskedReports(pg, {
    since: new Date(now - askedReportMaxMs),
    max: reportsReadEach,
    withMail: mailer !== undefined,
  })
  if (asked.length === 0) return
  const { asOf } = await readFoldedAsOf(pg)
  const waiting = asked.flatMap((request) => {
    const period = lastPeriods(request.timezone, now).find(({ every }) => every === request.every)!
    return period.end <= asOf ? [{ request, period }] : []
  })
  await forEachAtMost(reportsAtOnce, waiting, signals.stopping, (one) => sendAsked(context, one, signals))
}

async function sendAsked(
  context: ReportContext,
  { request, period }: { readonly request: AskedReport; readonly period: DuePeriod },
  { giveUp }: Signals,
): Promise<void> {
  const { pg, clock, log, metrics } = context
  if (!(await claimAskedReport(pg, request))) return
  const end = (failure: string | null) => endAskedReport(pg, request, { failure, now: new Date(clock.now()) })
  let failure: string | null = null
  try {
    const report = await readReport(context, { ...period, workspaceId: request.workspaceId })
    if (report === undefined) failure = 'the workspace has no plan'
    else {
      // Makes its id another than the scheduled report's: a receiver may drop a repeat.
      await sendReport(context, { report, recipient: request, suffix: `-${request.askedAt.getTime()}` }, giveUp)
      metrics.reported(wayOf(request), 'sent')
    }
  } catch (error) {
    if (!(error instanceof SendFailed)) {
      await end('the figures can’t be read now')
      throw error
    }
    log.warn({ recipient: request.id, err: error }, 'a report that was asked for could not be sent')
    metrics.reported(wayOf(request), 'failed')
    failure = error.message
  }
  await end(failure)
}
