/** All operations of the customer API. What each face shows, and what the contract tests try, comes from this list. */
import { readAnalyticsOverview } from './analytics/read-overview.ts'
import type { Operation } from './define.ts'
import { getWorkspace } from './workspace/get-workspace.ts'

export const operations: readonly Operation[] = [getWorkspace, readAnalyticsOverview]
