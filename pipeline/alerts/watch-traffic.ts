/**
 * Looks each minute for spikes and drops of workspaces with alerts, and writes webhook events and messages about them.
 * Rules: decisions/0028. One transaction claims the alert and writes both, so that several processes write them once, and one
 * that dies wrote all or nothing. A failed look writes nothing. Held by test/integration/traffic-alerts.test.ts.
 */
import { countLiveVisitors, readLastVisit } from '../../clickhouse/queries/live-visitors.ts'
import { readFoldedAsOf, readLastBacklog } from '../../postgres/tables/figures/folds.ts'
import {
  type DueAlert,
  listDueAlerts,
  postponeAlert,
  tellAlert,
} from '../../postgres/tables/messages/traffic-alerts.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import {
  alertPauseMs,
  lastVisitDeadlineMs,
  spikeListsMs,
  spikeRows,
  trafficAtOnce,
  trafficEveryMs,
  trafficLagMaxMs,
  trafficReadEach,
  unseenMaxMs,
} from '../../schemas/limits/alert-limits.ts'
import { hour } from '../../schemas/limits/units.ts'
import type { AlertKind, TrafficAlert } from '../../schemas/resources/traffic-alert.ts'
import { isFromAhead } from '../../schemas/time/clock-ahead.ts'
import { type JobLoop, startJobLoop } from '../job-loop.ts'
import { readBusiest } from '../reports/read-report.ts'
import type { ReportContext } from '../reports/send-reports.ts'

export interface TrafficContext extends Pick<ReportContext, 'pg' | 'ch' | 'clock' | 'apiHost' | 'log' | 'metrics'> {
  readonly isMailSetUp: boolean
}

export function startTrafficWatch(context: TrafficContext): JobLoop {
  const whenFailing = 'traffic can not be looked at now: no alerts are sent'
  let wasWell = false
  return startJobLoop(context, { name: 'watch-traffic', whenFailing, pauseMs: trafficEveryMs }, async (signal) => {
    const isSteady = wasWell
    wasWell = false
    await watchTraffic(context, { isSteady, reached: () => (wasWell = true) }, signal)
    return false
  })
}

/**
 * One look.
 *
 * @param isSteady whether the look before reached Postgres too; else no drops are looked for. When Postgres comes back, the
 *   fold goes on a moment before the nodes of ingest report their backlog
 * @param reached called once this look has reached Postgres
 * @throws the first failure, after all workspaces were looked at
 */
export async function watchTraffic(
  context: TrafficContext,
  { isSteady, reached }: { readonly isSteady: boolean; readonly reached: () => void },
  stopping: AbortSignal,
): Promise<void> {
  const { asOf } = await readFoldedAsOf(context.pg)
  reached()
  const looks = [lookForSpikes(context, stopping), isSteady ? lookForDrops(context, asOf, stopping) : undefined]
  for (const look of await Promise.allSettled(looks)) if (look.status === 'rejected') throw look.reason
}

async function lookForSpikes(context: TrafficContext, stopping: AbortSignal): Promise<void> {
  const { ch, clock } = context
  await forEachPage(context, 'spike', stopping, async (page) => {
    const now = clock.now()
    const live = await countLiveVisitors(
      ch,
      page.map(({ workspaceId }) => workspaceId),
      now,
    )
    const spikes = page.filter(({ workspaceId, threshold }) => (live.get(workspaceId) ?? 0) >= threshold)
    await forEachAtMost(trafficAtOnce, spikes, stopping, async (due) => {
      const since = new Date(now - spikeListsMs)
      const lists = await readBusiest(context, due.workspaceId, { since, rows: spikeRows }).catch((error) => {
        // The spike's traffic itself may make these queries fail; the alert goes out without them.
        context.log.warn({ err: error, workspace: due.workspaceId }, 'sources and pages of a spike can not be read')
        return { top_sources: [], top_pages: [] }
      })
      if (lists === undefined) return
      await tell(context, due, {
        kind: 'spike',
        spike_visitors: due.threshold,
        live_visitors: live.get(due.workspaceId)!,
        at: new Date(now).toISOString(),
        top_sources: lists.top_sources.map(({ source, medium, visitors }) => ({ source, medium, visitors })),
        top_pages: lists.top_pages.map(({ path, title, pageviews }) => ({ path, title, pageviews })),
      })
    })
  })
}

/** Looks at the time up to `asOf`, until which figures are complete: later visitors may not be known. */
async function lookForDrops(context: TrafficContext, asOf: number, stopping: AbortSignal): Promise<void> {
  const { pg, clock } = context
  if (clock.now() - asOf > trafficLagMaxMs) return
  const backlogAt = await readLastBacklog(pg, trafficLagMaxMs)
  await forEachPage(context, 'drop', stopping, (page) => {
    const complete = page.filter(({ threshold }) => backlogAt < asOf - threshold * hour)
    return forEachAtMost(trafficAtOnce, complete, stopping, (due) => lookForDrop(context, due, asOf))
  })
}

async function lookForDrop(context: TrafficContext, due: DueAlert, asOf: number): Promise<void> {
  const { pg, ch } = context
  const { workspaceId, threshold, dueAt } = due
  // An alert that is dated by a clock that ran ahead doesn't tell who came since.
  const toldAt = due.toldAt !== null && isFromAhead(due.toldAt.getTime(), asOf) ? null : due.toldAt
  const silenceMs = threshold * hour
  // Nobody has looked since the last alert, or since the look was due: a drop that began meanwhile is told now.
  const isAfterPause = toldAt !== null && dueAt.getTime() <= toldAt.getTime() + alertPauseMs
  const unseenFrom = Math.min(asOf, (isAfterPause ? toldAt : dueAt).getTime())
  const from = Math.max(unseenFrom, asOf - unseenMaxMs) - 2 * silenceMs
  const span = { workspaceId, from, to: asOf }
  const last = await readLastVisit(ch, span, lastVisitDeadlineMs)
  const isSilent = last !== undefined && last <= asOf - silenceMs
  // Nobody came since the last alert: it was about this silence.
  if (!isSilent || (toldAt !== null && last <= toldAt.getTime())) {
    // No silence can be long enough before that: so each event is read twice, and not each minute.
    return postponeAlert(pg, due, new Date((isSilent ? asOf : (last ?? asOf)) + silenceMs))
  }
  await tell(context, due, {
    kind: 'drop',
    drop_hours: threshold,
    last_visit_at: new Date(last).toISOString(),
    as_of: new Date(asOf).toISOString(),
  })
}

async function tell({ pg, clock, isMailSetUp, log }: TrafficContext, due: DueAlert, told: TrafficAlert): Promise<void> {
  const isTold = await tellAlert(pg, due, { told, now: new Date(clock.now()), withMails: isMailSetUp })
  if (isTold) log.info({ workspace: due.workspaceId, kind: due.kind }, 'a traffic alert is told')
}

/** @throws the first failure, after all pages */
async function forEachPage(
  { pg, clock }: TrafficContext,
  kind: AlertKind,
  stopping: AbortSignal,
  look: (page: readonly DueAlert[]) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  for (let after = 0; !stopping.aborted; ) {
    const page = await listDueAlerts(pg, kind, { now: new Date(clock.now()), after, max: trafficReadEach })
    if (page.length > 0) await look(page).catch((error) => failures.push(error))
    after = page.at(-1)?.workspaceId ?? after
    if (page.length < trafficReadEach) break
  }
  if (failures.length > 0) throw failures[0]
}
