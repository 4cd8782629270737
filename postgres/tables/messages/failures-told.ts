/** The content of messages about failed posts and lost accounts, read in the statement that claims them: alert-mails.ts. */
import type { Platform } from '../../../schemas/reference/providers.ts'

export interface AccountTold {
  readonly handle: string
  readonly platform: Platform
}

export interface LostAccount extends AccountTold {
  readonly message: string
}

export interface FailedPost {
  readonly title: string
  /** As JSON has it. */
  readonly scheduledAt: string | null
  /** Those that failed or were published, in the order of the post. */
  readonly targets: readonly TargetTold[]
}

export interface TargetTold extends AccountTold {
  readonly status: 'failed' | 'published'
  readonly isConnected: boolean
  /** Why it failed; null where it is published. */
  readonly message: string | null
}

export interface FailedFeed {
  readonly url: string
  readonly message: string
}

/** A `FailedPost`; null where the post isn't failed any more. @param post,workspace columns with their ids */
export const failedPostSql = (post: string, workspace: string) => `(
  SELECT jsonb_build_object('title', p.title, 'scheduledAt', p.scheduled_at, 'targets', jsonb_agg(jsonb_build_object(
    'handle', s.handle, 'platform', s.platform, 'status', t.status, 'isConnected', s.status = 'connected',
    'message', t.publish_result->'error'->>'message') ORDER BY t.place))
  FROM posts p JOIN post_targets t ON t.post_id = p.id JOIN social_accounts s ON s.id = t.social_account_id
  WHERE p.id = ${post} AND p.workspace_id = ${workspace} AND p.status = 'failed' AND t.status IN ('failed', 'published')
  GROUP BY p.id)`

/** A `LostAccount`; null where it was connected again or disconnected. @param account,workspace columns with their ids */
export const lostAccountSql = (account: string, workspace: string) => `(
  SELECT jsonb_build_object('handle', handle, 'platform', platform, 'message', health_message) FROM social_accounts
  WHERE id = ${account} AND workspace_id = ${workspace} AND status = 'expired')`

/** A `FailedFeed`; null where it was turned on again or deleted. @param feed,workspace columns with their ids */
export const failedFeedSql = (feed: string, workspace: string) => `(
  SELECT jsonb_build_object('url', url, 'message', last_error) FROM feeds
  WHERE id = ${feed} AND workspace_id = ${workspace} AND status = 'failed')`
