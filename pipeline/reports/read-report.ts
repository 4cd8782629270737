/** The figures of a report: the API's own overview, asked as a client asks it. */
import { computeOverview, type OverviewContext, OverviewQuery } from '../../api/operations/analytics/read-overview.ts'
import type { DueReport } from '../../postgres/tables/report-recipients.ts'
import { readWorkspace } from '../../postgres/tables/workspaces.ts'
import { reportRows } from '../../schemas/limits/report-limits.ts'
import type { AnalyticsOverview, OverviewMetrics } from '../../schemas/resources/overview.ts'
import type { ReportContext } from './send-reports.ts'

export interface Report
  extends Pick<DueReport, 'every' | 'first' | 'last'>,
    Pick<AnalyticsOverview, 'top_sources' | 'top_pages'> {
  readonly workspace: { readonly name: string; readonly currency: string }
  readonly metrics: OverviewMetrics
}

/** @returns undefined where the workspace, or its plan, is gone meanwhile */
export async function readReport(
  { pg, ch, clock, apiHost }: Pick<ReportContext, 'pg' | 'ch' | 'clock' | 'apiHost'>,
  { workspaceId, every, first, last }: Omit<DueReport, 'recipients'>,
): Promise<Report | undefined> {
  const workspace = await readWorkspace(pg, workspaceId)
  if (workspace === null || workspace.plan_key === null) return undefined
  const context: OverviewContext = {
    query: OverviewQuery.parse({
      ...{ start: first, end: last, limit: String(reportRows) },
      include: ['metrics', 'top_sources', 'top_pages'],
    }),
    scopes: ['analytics:read'],
    workspace: { ...workspace, plan_key: workspace.plan_key },
    stores: { pg, ch, share: (_, work) => work() },
    clock,
    config: { apiHost },
  }
  const { metrics, top_sources, top_pages } = await computeOverview(context)
  return { every, first, last, workspace, metrics: metrics as OverviewMetrics, top_sources, top_pages }
}
