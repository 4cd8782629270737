/** Writes the outcome of an attempt in one transaction: target, post, the account's health, webhook events, and messages about a failure. */
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { lockCredentials } from '../../postgres/tables/accounts/account-credentials.ts'
import { serializeAccount } from '../../postgres/tables/accounts/serialize-account.ts'
import { type AccountHealth, setAccountHealth } from '../../postgres/tables/accounts/social-accounts.ts'
import { type Telling, tellFailure } from '../../postgres/tables/messages/failure-alerts.ts'
import { insertEngagement } from '../../postgres/tables/posts/post-engagement.ts'
import { lockPost, readPost } from '../../postgres/tables/posts/posts.ts'
import type { StoredPublication } from '../../postgres/tables/posts/publication.ts'
import {
  type Claim,
  type ClaimedTarget,
  holdAccount,
  retryTarget,
  settlePost,
  settleTarget,
} from '../../postgres/tables/posts/publishing.ts'
import { forgetParts, type SentPart } from '../../postgres/tables/posts/sent-parts.ts'
import { serializePost } from '../../postgres/tables/posts/serialize-post.ts'
import { changeAndTouchPost } from '../../postgres/tables/posts/touch-post.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { appendSystemChange } from '../../postgres/tables/workspaces/audit.ts'
import { backoffMs } from '../../runtime/retry.ts'
import { publishRetryFirstMs, publishRetryMaxMs, publishWaitMaxMs } from '../../schemas/limits/publish-limits.ts'
import { firstReadAt } from '../engagement/next-read.ts'
import type { EngagementReader, Failure, Published } from './adapter.ts'

export interface Failed {
  readonly failure: Failure
  readonly message: string
  /** Stands before the message in the target's result. */
  readonly progress: string
  readonly forgetsSent: boolean
}

export interface PublishedBy extends Published {
  readonly provider: string
  /** Now, where it isn't said. */
  readonly publishedAt?: Date
  /** Undefined where the platform doesn't say how its posts do. */
  readonly reader: EngagementReader | undefined
  /** Undefined where the post has none there. */
  readonly comment?: CommentOutcome | undefined
}

/** The first comment, or why there is none: the post is published all the same. */
export type CommentOutcome = SentPart | Failed

export type Outcome = 'published' | 'failed' | 'retried'

/** Where outcomes are written. */
export interface Settling {
  readonly pg: Postgres
  readonly isMailSetUp: boolean
}

/** @returns null where the claim has expired: another process records the outcome */
export function settlePublished(
  { pg, isMailSetUp }: Settling,
  target: ClaimedTarget,
  claim: Claim,
  { provider, externalId, url, publishedAt = new Date(), reader, comment }: PublishedBy,
): Promise<Outcome | null> {
  const telling = { now: new Date(), withMails: isMailSetUp }
  const result = {
    provider,
    external_id: externalId,
    url,
    published_at: publishedAt.toISOString(),
    ...(comment && { first_comment: commentResult(comment) }),
  }
  const failed = comment && 'failure' in comment ? comment : null
  return pg.transaction(async (tx) => {
    const settled = await settle(tx, target, claim, { status: 'published', result, telling })
    if (settled === null) return null
    const health = failed === null ? wellHealth : await healthLearnt(tx, target, failed.failure, failed.message)
    if (reader !== undefined) {
      const dueAt = firstReadAt(publishedAt, reader.isCharged === true)
      await insertEngagement(tx, { targetId: target.id, publishedAt, dueAt })
    }
    await settleHealth(tx, target, health, settled.ended, telling)
    return 'published'
  })
}

export function settleFailed(
  { pg, isMailSetUp }: Settling,
  target: ClaimedTarget,
  claim: Claim,
  { failure, message, progress, forgetsSent }: Failed,
): Promise<Outcome | null> {
  const telling = { now: new Date(), withMails: isMailSetUp }
  return pg.transaction(async (tx) => {
    const result = errorResult(failure, progress + message)
    const { partsLeft } = failure
    const settled = await settle(tx, target, claim, { status: 'failed', result, forgetsSent, partsLeft, telling })
    if (settled === null) return null
    if (failure.kind === 'unknown' && failure.retryAfterMs !== undefined) {
      await holdAccount(tx, target.social_account_id, Math.min(failure.retryAfterMs, publishWaitMaxMs))
    }
    const health = await healthLearnt(tx, target, failure, message)
    await settleHealth(tx, target, health, settled.ended, telling)
    return 'failed'
  })
}

/**
 * For another attempt: after a pause that grows, or at the time that the platform names where that is later. Where a limit
 * refused it, the account's other targets wait as well.
 * @param isCounted whether the attempt is one of those that a target has
 */
export function giveBack(
  pg: Postgres,
  target: ClaimedTarget,
  claim: Claim,
  { attempt_count: failedBefore, late_ms: lateMs }: Pick<StoredPublication, 'attempt_count' | 'late_ms'>,
  { failure, message, progress, forgetsSent }: Failed,
  isCounted: boolean,
): Promise<Outcome | null> {
  const { retryAfterMs = 0, isSimulated = false } = failure
  // An attempt that isn't counted waits as long again as the post is late.
  const firstMs = isCounted ? publishRetryFirstMs : Math.max(publishRetryFirstMs, lateMs)
  const backoff = isSimulated ? 0 : backoffMs(isCounted ? failedBefore : 0, firstMs, publishRetryMaxMs)
  const waitMs = Math.max(Math.min(retryAfterMs, publishWaitMaxMs), backoff)
  const result = errorResult(failure, progress + message)
  return pg.transaction(async (tx) => {
    const retry = { waitMs, isCounted, forgetsSent }
    if (!(await changeAndTouchPost(tx, target.post_id, () => retryTarget(tx, claim, retry, result)))) return null
    if (failure.kind === 'rate_limited') await holdAccount(tx, target.social_account_id, waitMs)
    await settleHealth(tx, target, { status: 'warning', message }, null)
    return 'retried'
  })
}

function errorResult({ kind, code }: Failure, message: string) {
  return { error: { code, message, retryable: kind === 'transient' || kind === 'rate_limited' } }
}

/** A published target isn't tried again, whatever refused its comment. */
function commentResult(comment: CommentOutcome) {
  if (!('failure' in comment)) return comment
  return { error: { ...errorResult(comment.failure, comment.message).error, retryable: false } }
}

const wellHealth = { status: 'ok', message: '' } as const

/**
 * A failure's word on the account; null where that was connected again since its credentials were refused. Then the account stays
 * locked till the end of the transaction.
 */
async function healthLearnt(
  tx: Queryable,
  { social_account_id: accountId }: ClaimedTarget,
  failure: Failure,
  message: string,
): Promise<AccountHealth | null> {
  const { refusedVersion, isOfWorkspace } = failure
  if (isOfWorkspace) return null
  const isEarlier = refusedVersion !== undefined && (await lockCredentials(tx, accountId)) !== refusedVersion
  return isEarlier ? null : healthAfter(failure, message)
}

/** A post that is refused says little of its account; one that failed again and again, that it is out of order. */
function healthAfter({ kind }: Failure, message: string): AccountHealth {
  if (kind === 'permanent' || kind === 'unknown') return { status: 'warning', message }
  return { status: 'error', message, isExpired: kind === 'reauthenticate' }
}

/** @returns null where the claim has ended; `ended` is null while other targets of the post are on their way */
async function settle(
  tx: Queryable,
  { post_id, workspace_id }: ClaimedTarget,
  claim: Claim,
  { status, result, forgetsSent = false, partsLeft, telling }: Settled,
): Promise<{ ended: EndedStatus | null } | null> {
  await lockPost(tx, workspace_id, post_id)
  if (partsLeft !== undefined && !(await forgetParts(tx, claim, partsLeft))) return null
  if (!(await settleTarget(tx, claim, status, result, forgetsSent))) return null
  const ended = await settlePost(tx, post_id)
  if (ended !== 'published' && ended !== 'failed') return { ended: null }
  const post = await readPost(tx, workspace_id, post_id)
  await insertOutbox(tx, workspace_id, `post.${ended}`, serializePost(post!))
  if (ended === 'failed')
    await tellFailure(tx, { workspaceId: workspace_id, kind: 'post', subjectId: post_id }, telling)
  return { ended }
}

interface Settled {
  readonly status: EndedStatus
  readonly result: object
  readonly forgetsSent?: boolean
  readonly partsLeft?: number | undefined
  readonly telling: Telling
}

type EndedStatus = 'published' | 'failed'

/**
 * Last in its transaction: other changes of the workspace wait for the end of its audit chain.
 * @param health null: nothing is learnt of the account
 */
async function settleHealth(
  tx: Queryable,
  { workspace_id: workspaceId, social_account_id: accountId, post_id: postId }: ClaimedTarget,
  health: AccountHealth | null,
  ended: EndedStatus | null,
  telling?: Telling,
): Promise<void> {
  const changed = health && (await setAccountHealth(tx, accountId, health))
  if (changed !== null) {
    await insertOutbox(tx, workspaceId, 'social_account.health_changed', serializeAccount(changed))
    if (changed.status === 'expired' && telling !== undefined) {
      await tellFailure(tx, { workspaceId, kind: 'account', subjectId: accountId }, telling)
    }
    await appendSystemChange(tx, {
      workspaceId,
      actorName: 'pipeline',
      action: 'social_account.change_health',
      resourceId: accountId,
      metadata: { status: changed.status, health_status: changed.health_status },
    })
  }
  if (ended === null) return
  const action = ended === 'published' ? 'post.publish' : 'post.fail'
  await appendSystemChange(tx, { workspaceId, actorName: 'pipeline', action, resourceId: postId, metadata: {} })
}
