/**
 * Looks each minute whether a workspace that wants to be told has a spike or a drop, and tells webhooks and mails of it.
 * Rules: decisions/0028. One transaction claims the alert and writes both, so that several processes tell once, and one that
 * dies told all or nothing. A failed look tells nothing and changes nothing. Held by test/integration/traffic-alerts.test.ts.
 */
import { countLiveVisitors, readLastVisit } from '../../clickhouse/queries/live-visitors.ts'
import { readFoldedAsOf, readLastBacklog } from '../../postgres/tables/folds.ts'
import { type DueAlert, listDueAlerts, postponeAlert, tellAlert } from '../../postgres/tables/traffic-alerts.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import {
  lastVisitDeadlineMs,
  spikeListsMs,
  spikeRows,
  trafficAtOnce,
  trafficEveryMs,
  trafficLagMaxMs,
  trafficReadEach,
} from '../../schemas/limits/alert-limits.ts'
import { hour } from '../../schemas/limits/units.ts'
import type { AlertKind, TrafficAlert } from '../../schemas/resources/traffic-alert.ts'
import { type JobLoop, startJobLoop } from '../job-loop.ts'
import { readBusiest } from '../reports/read-report.ts'
import type { ReportContext } from '../reports/send-reports.ts'

export interface TrafficContext extends Pick<ReportContext, 'pg' | 'ch' | 'clock' | 'apiHost' | 'log' | 'metrics'> {
  readonly isMailSetUp: boolean
}

export function startTrafficWatch(context: TrafficContext): JobLoop {
  const { clock, log, metrics } = context
  const whenFailing = 'traffic can not be looked at now: no alerts are sent'
  let wasWell = false
  return startJobLoop(
    { name: 'watch-traffic', whenFailing, pauseMs: trafficEveryMs, clock, log, metrics },
    async (signal) => {
      const isSteady = wasWell
      wasWell = false
      await watchTraffic(context, { isSteady }, signal)
      wasWell = true
      return false
    },
  )
}

/**
 * One look.
 *
 * @param isSteady the look before succeeded. Drops wait for that: when Postgres comes back, the fold goes on a moment before the
 *   nodes of ingest say what they hold back
 * @throws the first failure; it keeps none of the other workspaces
 */
export async function watchTraffic(
  context: TrafficContext,
  { isSteady }: { readonly isSteady: boolean },
  stopping: AbortSignal,
): Promise<void> {
  const looks = [lookForSpikes(context, stopping), isSteady ? lookForDrops(context, stopping) : undefined]
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
      const lists = await readBusiest(context, due.workspaceId, {
        ...{ since: new Date(now - spikeListsMs), rows: spikeRows },
      })
      if (lists === undefined) return
      await tell(context, due, {
        ...{ kind: 'spike', spike_visitors: due.threshold, live_visitors: live.get(due.workspaceId)! },
        at: new Date(now).toISOString(),
        top_sources: lists.top_sources.map(({ source, medium, visitors }) => ({ source, medium, visitors })),
        top_pages: lists.top_pages.map(({ path, title, pageviews }) => ({ path, title, pageviews })),
      })
    })
  })
}

/** Up to the moment as of which figures are complete: visitors who came after it may not be known. */
async function lookForDrops(context: TrafficContext, stopping: AbortSignal): Promise<void> {
  const { pg, clock } = context
  const { asOf } = await readFoldedAsOf(pg)
  if (clock.now() - asOf > trafficLagMaxMs) return
  const backlogAt = await readLastBacklog(pg, trafficLagMaxMs)
  await forEachPage(context, 'drop', stopping, (page) => {
    const complete = page.filter(({ threshold }) => backlogAt < asOf - threshold * hour)
    return forEachAtMost(trafficAtOnce, complete, stopping, (due) => lookForDrop(context, due, asOf))
  })
}

async function lookForDrop(context: TrafficContext, due: DueAlert, asOf: number): Promise<void> {
  const { pg, ch } = context
  const { workspaceId, threshold, toldAt } = due
  const silenceMs = threshold * hour
  const span = { workspaceId, from: asOf - 2 * silenceMs, to: asOf }
  const last = await readLastVisit(ch, span, lastVisitDeadlineMs)
  const isSilent = last !== undefined && last <= asOf - silenceMs
  // Nobody came since the last alert: it was about this silence.
  if (!isSilent || (toldAt !== null && last <= toldAt.getTime())) {
    // No silence can be long enough before that: so each event is read twice, and not each minute.
    return postponeAlert(pg, due, new Date((isSilent ? asOf : (last ?? asOf)) + silenceMs))
  }
  await tell(context, due, {
    ...{ kind: 'drop', drop_hours: threshold, last_visit_at: new Date(last).toISOString() },
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
