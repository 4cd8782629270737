/** The figures of reports and alerts: the API's own overview, asked as a client asks it. */
import { computeOverview, type OverviewContext, OverviewQuery } from '../../api/operations/analytics/read-overview.ts'
import type { DueReport } from '../../postgres/tables/messages/due-reports.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { reportRows } from '../../schemas/limits/report-limits.ts'
import type { AnalyticsOverview, OverviewMetrics } from '../../schemas/resources/overview.ts'
import type { ReportContext } from './send-reports.ts'

export interface Report
  extends Pick<DueReport, 'every' | 'first' | 'last'>,
    Pick<AnalyticsOverview, 'top_sources' | 'top_pages'> {
  readonly workspace: { readonly id: number; readonly name: string; readonly currency: string }
  readonly metrics: OverviewMetrics
}

/** All that figures are read with. */
export type FigureSource = Pick<ReportContext, 'pg' | 'ch' | 'clock' | 'apiHost'>

/** @returns undefined where the workspace, or its plan, is gone meanwhile */
export async function readReport(
  source: FigureSource,
  { workspaceId, every, first, last }: Omit<DueReport, 'recipients'>,
): Promise<Report | undefined> {
  const read = await askOverview(source, workspaceId, {
    start: first,
    end: last,
    limit: String(reportRows),
    include: ['metrics', 'top_sources', 'top_pages'],
  })
  if (read === undefined) return undefined
  const { workspace, answer } = read
  const { metrics, top_sources, top_pages } = answer
  return { every, first, last, workspace, metrics: metrics as OverviewMetrics, top_sources, top_pages }
}

/** The first sources and pages since a moment. @returns undefined as `readReport` */
export async function readBusiest(
  source: FigureSource,
  workspaceId: number,
  { since, rows }: { readonly since: Date; readonly rows: number },
): Promise<Pick<AnalyticsOverview, 'top_sources' | 'top_pages'> | undefined> {
  const read = await askOverview(source, workspaceId, {
    start: since.toISOString(),
    limit: String(rows),
    include: ['top_sources', 'top_pages'],
  })
  return read?.answer
}

async function askOverview(
  { pg, ch, clock, apiHost }: FigureSource,
  workspaceId: number,
  query: Readonly<Record<string, string | readonly string[]>>,
) {
  const workspace = await readWorkspace(pg, workspaceId)
  if (workspace === null || workspace.plan_key === null) return undefined
  const context: OverviewContext = {
    query: OverviewQuery.parse(query),
    scopes: ['analytics:read'],
    workspace: { ...workspace, plan_key: workspace.plan_key },
    stores: { pg, ch, share: (_, work) => work() },
    clock,
    config: { apiHost },
  }
  return { workspace, answer: await computeOverview(context) }
}
