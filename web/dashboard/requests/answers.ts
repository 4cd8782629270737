/** The API's answers, as the pages take them. */
import type { AnalyticsOverview, OverviewMetrics } from '../../../schemas/resources/overview.ts'
import type { WorkspaceResource } from '../../../schemas/resources/workspace.ts'

export interface Overview extends AnalyticsOverview {
  readonly metrics: OverviewMetrics
}

export type Workspace = (typeof WorkspaceResource)['_output']
