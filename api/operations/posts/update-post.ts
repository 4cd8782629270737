import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Choice, mediaOf, type Named, readChoice, targetsOf, threadOf } from '../../../authoring/posts/choice.ts'
import { type GivenTime, readGivenTime } from '../../../authoring/posts/given-time.ts'
import { refusalsOf } from '../../../authoring/posts/issue.ts'
import { type Content, judgeTime } from '../../../authoring/posts/readiness.ts'
import { isBegun, isPublishedOnAll, judgePost, namedBy, partsOf, requireNone } from '../../../authoring/posts/stored.ts'
import type { Queryable } from '../../../postgres/client.ts'
import { setReview } from '../../../postgres/tables/posts/post-reviews.ts'
import { type ChosenTarget, setPostTargets } from '../../../postgres/tables/posts/post-targets.ts'
import {
  markPostPublished,
  type Post,
  type PostFields,
  setPostMedia,
  type ThreadPart,
  updatePostFields,
} from '../../../postgres/tables/posts/posts.ts'
import { serializePost } from '../../../postgres/tables/posts/serialize-post.ts'
import { insertOutbox } from '../../../postgres/tables/webhooks/outbox.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { PostResource, PostUpdate } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'
import { lockPostIn, readLockedPost, requireAsSeen, requireWritable } from './locked-post.ts'

type Body = z.output<typeof PostUpdate>

export const updatePost = defineOperation({
  name: 'post.update',
  http: { method: 'PATCH', path: '/v1/posts/{post_id}' },
  tool: 'svc.update_post',
  summary: 'Change a draft or scheduled post.',
  description:
    'Fields that are left out stay. Null is ignored for `title` and `base_caption`, and clears the others. A scheduled post must stay ready.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  input: { path: z.object({ post_id: idInPath('post') }), body: PostUpdate },
  output: PostResource,
  problems: ['post_not_found', 'post_not_editable', 'post_changed', 'post_target_published', 'post_part_published'],
  emits: 'post.updated',
  writesOutbox: true,
  async handle({ path: { post_id }, body, workspace, scopes, actor, clock, stores: { pg } }) {
    const post = await lockPostIn(pg, workspace.id, post_id, ['draft', 'scheduled'], 'post_not_editable')
    requireWritable(post, { scopes, actor })
    await requireAsSeen(pg, post, body.updated_at, { workspace, actor })
    requirePublishedKept(post, body)
    const time = readNewTime(post, body, workspace.timezone, clock.now())
    const choice = await readChoice(pg, workspace.id, namedAfter(post, body))
    const errors = [...time.errors, ...refusalsOf(choice.unknown)]
    if (errors.length > 0) throw invalid(errors)
    const isPublished = isPublishedOnAll(post, choice.accounts)
    const baseCaption = body.base_caption ?? post.base_caption
    const firstComment = body.first_comment === undefined ? post.first_comment : body.first_comment
    if (!isPublished) requireStaysReady(post, body, { ...choice, baseCaption, firstComment })
    const fields: PostFields = {
      title: body.title ?? post.title,
      baseCaption,
      thread: threadOf(choice),
      firstComment,
      scheduledAt: time.scheduledAt,
      tags: body.tags === undefined ? post.tags : (body.tags ?? []),
    }
    if (!isPublished && isAsStored(post, fields, choice)) return serializePost(post)
    await updatePostFields(pg, post.id, fields)
    await replaceChosen(pg, post, body, choice)
    if (post.review?.status === 'waiting') await noteChange(pg, workspace.id, post, clock.now())
    if (isPublished) await markPostPublished(pg, post.id)
    const changed = serializePost(await readLockedPost(pg, workspace.id, post.id))
    await insertOutbox(pg, workspace.id, 'post.updated', changed)
    if (isPublished) await insertOutbox(pg, workspace.id, 'post.published', changed)
    return changed
  },
})

/** A target that is published, or its first part, can't be removed, nor can texts that are published change. */
function requirePublishedKept({ targets, thread }: Post, { social_account_ids, thread: changed }: Body): void {
  const shown = thread.slice(0, Math.max(0, ...targets.map((target) => partsOf(target) - 1)))
  const begun = new Set(targets.filter(isBegun).map(({ platform }) => platform))
  const isRewritten = changed !== undefined && shown.some((part, at) => !isSamePart(part, changed?.[at], begun))
  if (isRewritten) throw problem('post_part_published')
  if (social_account_ids === undefined) return
  const kept = new Set(social_account_ids ?? [])
  const isTakenOut = targets.some((target) => isBegun(target) && !kept.has(target.social_account_id))
  if (isTakenOut) throw problem('post_target_published')
}

/**
 * Repeated media and empty captions aren't stored.
 * @param begun the platforms that show parts: captions for others may change
 */
function isSamePart(stored: ThreadPart, sent: ThreadPart | undefined, begun: ReadonlySet<string>): boolean {
  if (sent === undefined) return false
  const shownOf = ({ text, media_ids, platform_captions }: ThreadPart) => ({
    text,
    media_ids: [...new Set(media_ids)],
    captions: new Map(Object.entries(platform_captions).filter(([name, caption]) => caption !== '' && begun.has(name))),
  })
  return isDeepStrictEqual(shownOf(sent), shownOf(stored))
}

/** Whoever sends what is there makes no new version, which others would be refused for. */
function isAsStored(post: Post, fields: PostFields, choice: Choice): boolean {
  const { title, base_caption, thread, first_comment, scheduled_at, tags, media_ids, targets } = post
  const stored: PostFields = {
    title,
    baseCaption: base_caption,
    firstComment: first_comment,
    scheduledAt: scheduled_at,
    tags,
    thread: thread.map(({ text, platform_captions }) => ({ text, platform_captions })),
  }
  const files = [media_ids, ...thread.map((part) => part.media_ids)]
  const chosen = targets.map(({ social_account_id: accountId, caption_override: captionOverride }) => ({
    accountId,
    captionOverride,
  }))
  const begun = new Set(targets.filter(isBegun).map(({ social_account_id }) => social_account_id))
  // They keep their captions, whatever others of their platform get.
  const withoutKept = (target: ChosenTarget) => (begun.has(target.accountId) ? target.accountId : target)
  const [sent, had] = [targetsOf(choice), chosen].map((those) => those.map(withoutKept))
  return isDeepStrictEqual([fields, mediaOf(choice), sent], [stored, files, had])
}

/** A draft's time is a proposal; that of a scheduled post is moved as by rescheduling, and can't be taken away. */
function readNewTime(
  { status, scheduled_at }: Post,
  { scheduled_at: written }: Body,
  timeZone: string,
  now: number,
): GivenTime {
  if (written === undefined) return { scheduledAt: scheduled_at, errors: [] }
  const time = readGivenTime(written, timeZone)
  if (status !== 'scheduled' || time.errors.length > 0) return time
  const { scheduledAt } = time
  const errors =
    scheduledAt === null
      ? [valueError(['body', 'scheduled_at'], null, 'A scheduled post needs a time: unschedule it')]
      : refusalsOf(judgeTime(scheduledAt, now, written?.sent))
  return { scheduledAt, errors }
}

/** Overrides belong to platforms: those of accounts that stay go on, also for another account of the platform. */
function namedAfter(post: Post, { media_ids, social_account_ids, platform_captions, thread }: Body): Named {
  const stored = namedBy(post)
  return {
    mediaIds: media_ids === undefined ? stored.mediaIds : (media_ids ?? []),
    accountIds: social_account_ids === undefined ? stored.accountIds : (social_account_ids ?? []),
    captions: platform_captions === undefined ? stored.captions : (platform_captions ?? {}),
    isCaptionKept: platform_captions === undefined,
    thread: thread === undefined ? stored.thread : (thread ?? []),
    isThreadKept: thread === undefined,
  }
}

function requireStaysReady(post: Post, body: Body, content: Content): void {
  if (post.status !== 'scheduled') return
  const { base_caption, media_ids, social_account_ids, platform_captions, thread, first_comment } = body
  const isTouched =
    (base_caption ?? undefined) !== undefined ||
    [media_ids, social_account_ids, platform_captions, thread, first_comment].some((sent) => sent !== undefined)
  if (!isTouched) return
  requireNone(judgePost(post, content))
}

/** Whoever is asked for approval sees when the draft was changed. A change of its time or tags alone says nothing else. */
async function noteChange(pg: Queryable, workspaceId: number, before: Post, now: number): Promise<void> {
  const after = await readLockedPost(pg, workspaceId, before.id)
  if (isDeepStrictEqual(publishedOf(after), publishedOf(before))) return
  await setReview(pg, before.id, { ...before.review!, changed_at: new Date(now).toISOString() })
}

/** The title is seen on some networks. */
function publishedOf({ title, base_caption, thread, first_comment, media_ids, targets }: Post): object {
  const captions = targets.map(({ social_account_id, caption_override }) => [social_account_id, caption_override])
  return { title, base_caption, thread, first_comment, media_ids, captions }
}

async function replaceChosen(pg: Queryable, post: Post, body: Body, choice: Choice): Promise<void> {
  if (body.media_ids !== undefined || body.thread !== undefined) await setPostMedia(pg, post.id, mediaOf(choice))
  if (body.social_account_ids !== undefined || body.platform_captions !== undefined) {
    await setPostTargets(pg, post.id, targetsOf(choice), post.status === 'scheduled' ? 'scheduled' : 'draft')
  }
}
