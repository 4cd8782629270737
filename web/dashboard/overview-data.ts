/** The API's answers, as the pages take them. */
import type { AnalyticsOverview, OverviewMetrics } from '../../schemas/resources/overview.ts'

export interface Overview extends AnalyticsOverview {
  readonly metrics: OverviewMetrics
}

export interface Workspace {
  readonly id: number
  readonly object_id: string
  readonly name: string
  readonly timezone: string
  readonly currency: string
  readonly plan_key: string
}
