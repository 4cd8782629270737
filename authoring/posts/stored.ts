/** Reads what a stored post refers to, and checks its readiness. */
import type { Queryable } from '../../postgres/client.ts'
import type { Post, PostTarget } from '../../postgres/tables/posts/posts.ts'
import { invalid } from '../../schemas/errors/problems.ts'
import { type Choice, type Named, readChoice } from './choice.ts'
import { errorsAmong, type Issue, refusalsOf } from './issue.ts'
import { type Content, judgeReadiness } from './readiness.ts'

/**
 * The post's own media, accounts and captions. A target that is published, or its first part, keeps its caption, whatever others of its platform
 * get: what these have counts.
 */
export function namedBy({ media_ids, targets, thread }: Post): Named {
  const begun = targets.filter(isBegun)
  const waiting = targets.filter((target) => !isBegun(target))
  return {
    mediaIds: media_ids,
    thread,
    accountIds: targets.map(({ social_account_id }) => social_account_id),
    captions: Object.fromEntries(
      [...begun, ...waiting].map(({ platform, caption_override }) => [platform, caption_override ?? '']),
    ),
  }
}

/** Whether the platform shows the post, or the first part of its thread. */
export function isBegun({ status, publish_result }: PostTarget): boolean {
  return status === 'published' || Object.hasOwn(publish_result, 'parts')
}

/** How many parts of the post's thread the platform shows; 0 without a thread. */
export function partsOf({ publish_result }: PostTarget): number {
  const { parts } = publish_result as { readonly parts?: readonly unknown[] }
  return parts?.length ?? 0
}

/** The errors of readiness. Published targets aren't published again, and not judged. */
export function judgePost(post: Post, content: Content): Issue[] {
  const { accounts } = content
  const { issues } = judgeReadiness({ ...content, accounts: waitingAmong(post, accounts) })
  const isAllPublished = isPublishedOnAll(post, accounts)
  return errorsAmong(issues).map((issue) => {
    const isOfNone = isAllPublished && issue.code === 'no_connected_account'
    return isOfNone ? { ...issue, message: 'The post is published on all of its accounts already' } : issue
  })
}

/** Whether nothing is left to publish on these accounts. */
export function isPublishedOnAll(post: Post, accounts: Choice['accounts']): boolean {
  return accounts.length > 0 && waitingAmong(post, accounts).length === 0
}

function waitingAmong({ targets }: Post, accounts: Choice['accounts']): Choice['accounts'] {
  const published = new Set(
    targets.filter(({ status }) => status === 'published').map(({ social_account_id }) => social_account_id),
  )
  return accounts.filter(({ id }) => !published.has(id))
}

/** @throws Problem with all that keeps the post from being published */
export async function requireReady(pg: Queryable, workspaceId: number, post: Post, more: readonly Issue[]) {
  const choice = await readChoice(pg, workspaceId, namedBy(post))
  const content = { ...choice, baseCaption: post.base_caption, firstComment: post.first_comment }
  requireNone([...more, ...judgePost(post, content)])
}

/** @throws Problem with all of `issues`, where there are any */
export function requireNone(issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(refusalsOf(issues))
}
