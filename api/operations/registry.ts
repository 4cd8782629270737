/** All operations of the customer API. What each face shows, and what the contract tests try, comes from this list. */
import { readAnalyticsOverview } from './analytics/read-overview.ts'
import { listAudit } from './audit/list-audit-events.ts'
import type { Operation } from './define.ts'
import { createLink } from './links/create-link.ts'
import { getLink } from './links/get-link.ts'
import { listLinks } from './links/list-links.ts'
import { createWebhook } from './webhooks/create-webhook.ts'
import { deleteWebhook } from './webhooks/delete-webhook.ts'
import { listDeliveries } from './webhooks/list-deliveries.ts'
import { listWebhooks } from './webhooks/list-webhooks.ts'
import { getWorkspace } from './workspace/get-workspace.ts'

export const operations: readonly Operation[] = [
  getWorkspace,
  readAnalyticsOverview,
  listLinks,
  createLink,
  getLink,
  listAudit,
  createWebhook,
  listWebhooks,
  deleteWebhook,
  listDeliveries,
]
