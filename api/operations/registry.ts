/** All operations of the customer API. REST, MCP, OpenAPI and the contract tests take their operations from this list. */
import { listSocialAccounts } from './accounts/list-social-accounts.ts'
import { listConversions } from './analytics/list-conversions.ts'
import { listEventNames } from './analytics/list-event-names.ts'
import { readBotAnalytics } from './analytics/read-bot-analytics.ts'
import { readAnalyticsBreakdown } from './analytics/read-breakdown.ts'
import { readAnalyticsFunnel } from './analytics/read-funnel.ts'
import { readAnalyticsGoals } from './analytics/read-goals.ts'
import { readAnalyticsOverview } from './analytics/read-overview.ts'
import { readAnalyticsPageFlow } from './analytics/read-page-flow.ts'
import { readAnalyticsPages } from './analytics/read-pages.ts'
import { readAnalyticsRetention } from './analytics/read-retention.ts'
import { readSearchTerms } from './analytics/read-search-terms.ts'
import { listAudit } from './audit/list-audit-events.ts'
import { readClickMap } from './click-map/read-click-map.ts'
import type { Operation } from './define.ts'
import {
  changeShortDomain,
  createShortDomain,
  listShortDomains,
  removeShortDomain,
  verifyShortDomain,
} from './domains/domains.ts'
import { getExclusions, updateExclusions } from './exclusions/exclusions.ts'
import { changeFeed, checkFeed, createFeed, listOwnFeeds, removeFeed } from './feeds/feeds.ts'
import { savedFunnelOperations } from './funnels/saved-funnels.ts'
import { goalOperations } from './goals/goals.ts'
import { archiveLink, unarchiveLink } from './links/archive-link.ts'
import { createLink } from './links/create-link.ts'
import { createLinks } from './links/create-links.ts'
import { getLink } from './links/get-link.ts'
import { importLinks, previewLinksImport } from './links/import-links.ts'
import { listLinks } from './links/list-links.ts'
import { updateLink } from './links/update-link.ts'
import { deleteMedia } from './media/delete-media.ts'
import { listMedia } from './media/list-media.ts'
import { readMediaUsage } from './media/media-usage.ts'
import { readMediaFile } from './media/read-media-file.ts'
import { updateMedia } from './media/update-media.ts'
import { uploadMedia } from './media/upload-media.ts'
import { changeNote, createNote, listOwnNotes, removeNote } from './notes/notes.ts'
import { listPeople } from './people/list-people.ts'
import { readJourney } from './people/read-journey.ts'
import { archivePost } from './posts/archive-post.ts'
import { createPost } from './posts/create-post.ts'
import { deletePost } from './posts/delete-post.ts'
import { getPost } from './posts/get-post.ts'
import { listPosts } from './posts/list-posts.ts'
import { readPostingTimes, updatePostingTimes } from './posts/posting-times.ts'
import { previewPost } from './posts/preview-post.ts'
import { queuePost } from './posts/queue-post.ts'
import { reschedulePost } from './posts/reschedule-post.ts'
import { returnPost } from './posts/return-post.ts'
import { schedulePost } from './posts/schedule-post.ts'
import { submitPost } from './posts/submit-post.ts'
import { unschedulePost } from './posts/unschedule-post.ts'
import { updatePost } from './posts/update-post.ts'
import { associateProfileMedia } from './profile/associate-media.ts'
import { getProfile } from './profile/get-profile.ts'
import { refreshProfile } from './profile/refresh-profile.ts'
import { removeProfileMediaAsset } from './profile/remove-media.ts'
import { updateProfileSources } from './profile/update-sources.ts'
import { getReplay } from './replays/get-replay.ts'
import { listReplays } from './replays/list-replays.ts'
import { segmentOperations } from './segments/segments.ts'
import { snippetOperations } from './snippets/snippets.ts'
import { createWebhook } from './webhooks/create-webhook.ts'
import { deleteWebhook } from './webhooks/delete-webhook.ts'
import { listDeliveries } from './webhooks/list-deliveries.ts'
import { listWebhooks } from './webhooks/list-webhooks.ts'
import { redeliverWebhook } from './webhooks/redeliver-webhook.ts'
import { testWebhook } from './webhooks/test-webhook.ts'
import { getWorkspace } from './workspace/get-workspace.ts'

export const operations: readonly Operation[] = [
  getWorkspace,
  getProfile,
  updateProfileSources,
  associateProfileMedia,
  removeProfileMediaAsset,
  refreshProfile,
  listSocialAccounts,
  listMedia,
  uploadMedia,
  updateMedia,
  deleteMedia,
  readMediaUsage,
  readMediaFile,
  listPosts,
  createPost,
  previewPost,
  getPost,
  updatePost,
  schedulePost,
  queuePost,
  reschedulePost,
  unschedulePost,
  submitPost,
  returnPost,
  archivePost,
  deletePost,
  readPostingTimes,
  updatePostingTimes,
  ...snippetOperations,
  listOwnFeeds,
  createFeed,
  changeFeed,
  removeFeed,
  checkFeed,
  readAnalyticsOverview,
  readAnalyticsBreakdown,
  readAnalyticsPages,
  readAnalyticsPageFlow,
  listEventNames,
  readAnalyticsFunnel,
  readAnalyticsGoals,
  readAnalyticsRetention,
  readBotAnalytics,
  readSearchTerms,
  listConversions,
  readClickMap,
  ...goalOperations,
  listOwnNotes,
  createNote,
  changeNote,
  removeNote,
  ...segmentOperations,
  ...savedFunnelOperations,
  getExclusions,
  updateExclusions,
  listPeople,
  readJourney,
  listReplays,
  getReplay,
  listLinks,
  createLink,
  createLinks,
  previewLinksImport,
  importLinks,
  getLink,
  updateLink,
  archiveLink,
  unarchiveLink,
  listShortDomains,
  createShortDomain,
  changeShortDomain,
  verifyShortDomain,
  removeShortDomain,
  listAudit,
  createWebhook,
  listWebhooks,
  deleteWebhook,
  testWebhook,
  listDeliveries,
  redeliverWebhook,
]
