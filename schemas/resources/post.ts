/** Posts, their targets, and previews of a post. docs/posts.md has the states and the rules of readiness. */
import { z } from 'zod'
import { isBlank } from '../code-points.ts'
import { codedValueError, dictTooLong } from '../errors/validation-errors.ts'
import type { Build } from '../errors/zod-errors.ts'
import { isObject } from '../json-object.ts'
import { idInBody } from '../lax.ts'
import {
  postAccountsMax,
  postBaseCaptionLengthMax,
  postCaptionOverrideLengthMax,
  postFirstCommentLengthMax,
  postMediaMax,
  postPlatformCaptionsMax,
  postReviewNoteLengthMax,
  postTagLengthMax,
  postTagsMax,
  postThreadMax,
  postTitleLengthMax,
} from '../limits/api-limits.ts'
import { platforms } from '../reference/providers.ts'
import { writtenTime } from '../time/written-time.ts'
import { dateTime } from './date-time.ts'
import { LinkRevenue } from './link.ts'
import { objectId } from './object-id.ts'
import { tagsOf } from './tags.ts'

export const postStatuses = ['draft', 'scheduled', 'publishing', 'published', 'failed', 'archived'] as const
export type PostStatus = (typeof postStatuses)[number]
export const targetStatuses = ['draft', 'scheduled', 'publishing', 'published', 'failed'] as const
export type TargetStatus = (typeof targetStatuses)[number]

/** A draft has one once somebody asked for its approval. */
export const reviewStatuses = ['waiting', 'returned'] as const
export type ReviewStatus = (typeof reviewStatuses)[number]

const title = z.string().min(1).max(postTitleLengthMax)
const baseCaption = z.string().min(1).max(postBaseCaptionLengthMax)

const tags = tagsOf({ max: postTagsMax, each: postTagLengthMax })

/** Repeats stay here, so that errors found later name the place that was sent. */
const mediaIds = z.array(idInBody('media')).max(postMediaMax).meta({ description: 'In the order shown.' })
const accountIds = z.array(idInBody('social_account')).max(postAccountsMax)

export const strayPlatformText = 'None of the chosen accounts is of this platform'

/** Counted before each is looked at: a body may hold 100,000 of them. Zod would drop `__proto__` without a word. */
const captionsByPlatform = (caption: z.ZodType<string>) =>
  z.preprocess(
    (captions, context) => {
      if (!isObject(captions)) return captions
      const count = Object.keys(captions).length
      if (count > postPlatformCaptionsMax) {
        const build: Build = (loc, input) => dictTooLong(loc, input, postPlatformCaptionsMax, count)
        context.addIssue({ code: 'custom', params: { build } })
        return z.NEVER
      }
      if (Object.hasOwn(captions, '__proto__')) {
        const build: Build = (loc, input) =>
          codedValueError(loc, input, strayPlatformText, { code: 'platform_not_chosen' })
        context.addIssue({ code: 'custom', path: ['__proto__'], params: { build } })
      }
      return captions
    },
    z.record(z.string(), caption),
  )
const platformCaptions = captionsByPlatform(z.string().max(postCaptionOverrideLengthMax)).meta({
  maxProperties: postPlatformCaptionsMax,
  description: 'By platform, in place of the base caption; empty: none.',
})

/** Platforms refuse a text without a visible sign, and a thread that has begun can't be taken back. */
const threadText = baseCaption.refine((text) => !isBlank(text), 'A part of a thread is no blank text')
const partCaption = z
  .string()
  .max(postBaseCaptionLengthMax)
  .refine((text) => text === '' || !isBlank(text), 'A part of a thread is no blank text')
const partOf = (text: string) => ({ text, media_ids: [] as number[], platform_captions: {} as Record<string, string> })
const ThreadPart = z.object({
  text: threadText,
  media_ids: mediaIds.default([]),
  platform_captions: captionsByPlatform(partCaption).default({}).meta({ maxProperties: postPlatformCaptionsMax }),
})
const thread = z
  .array(z.union([threadText.transform(partOf), ThreadPart]))
  .max(postThreadMax)
  .meta({ description: 'Parts that follow as replies.' })

const firstComment = z
  .string()
  .min(1)
  .max(postFirstCommentLengthMax)
  .refine((text) => !isBlank(text), 'A comment is no blank text')
  .nullable()

export const PostCreate = z
  .object({
    title,
    base_caption: baseCaption,
    scheduled_at: writtenTime.nullable().default(null),
    tags: tags.default([]),
    media_ids: mediaIds.default([]),
    social_account_ids: accountIds.default([]),
    platform_captions: platformCaptions.default({}),
    thread: thread.default([]),
    first_comment: firstComment.default(null),
  })
  .meta({ id: 'PostCreate' })

/** Binds a change or an approval to the post that was looked at. Null in a body is as if it weren't sent. */
const seenText = { description: 'As it was read; else 409.' }
const seen = { updated_at: writtenTime.nullish().meta(seenText) }
export const SeenInQuery = z.object({ updated_at: writtenTime.optional().meta(seenText) })

export const PostUpdate = z
  .object({
    title: title.nullable().optional(),
    base_caption: baseCaption.nullable().optional(),
    scheduled_at: writtenTime.nullable().optional(),
    tags: tags.nullable().optional(),
    media_ids: mediaIds.nullable().optional(),
    social_account_ids: accountIds.nullable().optional(),
    platform_captions: platformCaptions.nullable().optional(),
    thread: thread.nullable().optional(),
    first_comment: firstComment.optional(),
    ...seen,
  })
  .meta({ id: 'PostUpdate' })

const timed = { scheduled_at: writtenTime, ...seen }
export const ScheduleRequest = z.object(timed).meta({ id: 'ScheduleRequest' })
export const RescheduleRequest = z.object(timed).meta({ id: 'RescheduleRequest' })
export const QueueRequest = z.object(seen).meta({ id: 'QueueRequest' })
export const SubmitRequest = z.object(seen).meta({ id: 'SubmitRequest' })
export const UnscheduleRequest = z.object(seen).meta({ id: 'UnscheduleRequest' })
export const ArchiveRequest = z.object(seen).meta({ id: 'ArchiveRequest' })

const reviewNote = z.string().max(postReviewNoteLengthMax).nullable()
export const ReturnRequest = z.object({ note: reviewNote.default(null), ...seen }).meta({ id: 'ReturnRequest' })

const PostReview = z
  .object({
    status: z.enum(reviewStatuses),
    by: z.string().meta({ description: 'Who asked for approval, or sent it back.' }),
    at: dateTime,
    changed_at: dateTime.nullable().meta({ description: 'The last change since then.' }),
    note: z.string().nullable(),
  })
  .meta({ id: 'PostReview' })

const PostTarget = z
  .object({
    id: z.int(),
    object_id: objectId('post_target'),
    social_account_id: z.int(),
    platform: z.string(),
    caption_override: z.string().nullable(),
    status: z.enum(targetStatuses),
    publish_result: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'PostTarget' })

const PostThreadPart = z
  .object({
    text: z.string(),
    media_ids: z.array(z.int()),
    platform_captions: z.record(z.string(), z.string()),
  })
  .meta({ id: 'PostThreadPart' })

export const PostResource = z
  .object({
    id: z.int(),
    object_id: objectId('post'),
    title: z.string(),
    base_caption: z.string(),
    thread: z.array(PostThreadPart),
    first_comment: z.string().nullable(),
    scheduled_at: dateTime.nullable(),
    status: z.enum(postStatuses),
    review: PostReview.nullable(),
    tags: z.array(z.string()),
    media_ids: z.array(z.int()),
    targets: z.array(PostTarget),
    feed_id: z.int().nullable(),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: 'Post' })

const visits = z.int().min(0).nullable()

const PostPerformance = z
  .object({
    clicks: visits.meta({ description: "People's clicks on its short links." }),
    visitors: visits,
    sessions: visits,
    conversions: visits.meta({ description: 'Those whose credited touch it led to.' }),
    payments: LinkRevenue.shape.payments.nullable(),
    revenue_cents: LinkRevenue.shape.revenue_cents.nullable(),
    revenue_by_currency: LinkRevenue.shape.revenue_by_currency.nullable(),
  })
  .meta({ id: 'PostPerformance' })

const engagementCount = z.int().min(0).nullable()
const PostEngagement = z
  .object({ likes: engagementCount, comments: engagementCount, shares: engagementCount, views: engagementCount })
  .meta({ id: 'PostEngagement' })
const TargetEngagement = PostEngagement.extend({
  read_at: dateTime.nullable(),
  gone_at: dateTime.nullable().meta({ description: 'When the network had the post no more.' }),
}).meta({ id: 'TargetEngagement' })

/** As a list shows it. */
export const ListedPost = PostResource.extend({
  engagement: PostEngagement.meta({ description: 'Sums of its targets.' }),
}).meta({ id: 'ListedPost' })

export const PostWithPerformance = ListedPost.extend({
  targets: z.array(
    PostTarget.extend({ engagement: TargetEngagement.nullable() }).meta({ id: 'PostTargetWithEngagement' }),
  ),
  performance: PostPerformance,
}).meta({
  id: 'PostWithPerformance',
})

const PostIssue = z
  .object({
    loc: z.array(z.union([z.string(), z.int()])),
    severity: z.enum(['error', 'warning']),
    code: z.string(),
    message: z.string(),
    platform: z.string().nullable(),
    social_account_id: z.int().nullable(),
  })
  .meta({ id: 'PostIssue' })

const PreviewedPart = z
  .object({ caption: z.string(), character_count: z.int(), media_count: z.int() })
  .meta({ id: 'PreviewedPart' })

const PreviewedComment = z
  .object({ text: z.string(), character_count: z.int(), character_limit: z.int() })
  .meta({ id: 'PreviewedComment' })

const PreviewedTarget = z
  .object({
    social_account_id: z.int(),
    platform: z.enum(platforms),
    caption: z.string(),
    character_count: z.int(),
    character_limit: z.int(),
    media_count: z.int(),
    thread: z.array(PreviewedPart).meta({ description: 'The same of each part that follows.' }),
    first_comment: PreviewedComment.nullable(),
    valid: z.boolean(),
  })
  .meta({ id: 'PreviewedTarget' })

export const PostPreview = z
  .object({
    valid: z.boolean().meta({ description: 'No issue is an error.' }),
    issues: z.array(PostIssue),
    targets: z.array(PreviewedTarget),
    scheduled_at: dateTime.nullable(),
  })
  .meta({ id: 'PostPreview' })
