/** All operations of the customer API. What each face shows, and what the contract tests try, comes from this list. */
import { readAnalyticsOverview } from './analytics/read-overview.ts'
import { listAudit } from './audit/list-audit-events.ts'
import type { Operation } from './define.ts'
import { createWebhook } from './webhooks/create-webhook.ts'
import { deleteWebhook } from './webhooks/delete-webhook.ts'
import { listDeliveries } from './webhooks/list-deliveries.ts'
import { listWebhooks } from './webhooks/list-webhooks.ts'
import { getWorkspace } from './workspace/get-workspace.ts'

export const operations: readonly Operation[] = [
  getWorkspace,
  readAnalyticsOverview,
  listAudit,
  createWebhook,
  listWebhooks,
  deleteWebhook,
  listDeliveries,
]
