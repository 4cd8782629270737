/** The names of outgoing webhook events. */
export const webhookEventTypes = [
  'post.created',
  'post.updated',
  'post.scheduled',
  'post.unscheduled',
  'post.archived',
  'post.review_requested',
  'post.published',
  'post.failed',
  'media.created',
  'link.created',
  'link.clicked',
  'contact.created',
  'contact.updated',
  'contact.merged',
  'conversion.recorded',
  'revenue.recorded',
  'revenue.refunded',
  'company_profile.updated',
  'social_account.health_changed',
  'traffic.spike',
  'traffic.drop',
  'webhook.test',
] as const

export type WebhookEventType = (typeof webhookEventTypes)[number]
