/** Feeds whose new entries become posts. docs/posts.md has the rules. */
import { z } from 'zod'
import { idInBody } from '../lax.ts'
import { postAccountsMax } from '../limits/api-limits.ts'
import { feedTemplateLengthMax, feedUrlLengthMax } from '../limits/feed-limits.ts'
import { templateFault } from '../reference/feed-template.ts'
import { type HeldScope, publishScope } from '../scopes.ts'
import { isWebUrl } from '../web-url.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'

const feedModes = ['draft', 'queue'] as const
export type FeedMode = (typeof feedModes)[number]
const feedStatuses = ['active', 'paused', 'failed'] as const
export type FeedStatus = (typeof feedStatuses)[number]

const url = z
  .string()
  .max(feedUrlLengthMax)
  .refine(isWebUrl, 'The URL must begin with http:// or https://, and have a host, no credentials and no blanks')
  // As it is stored and fetched: a letter beyond ASCII takes up to twelve characters.
  .refine(
    (text) => !isWebUrl(text) || new URL(text).href.length <= feedUrlLengthMax,
    `The URL has more than ${feedUrlLengthMax} characters once it is percent-encoded`,
  )
  .meta({ examples: ['https://blog.example.com/feed'] })
const template = z
  .string()
  .min(1)
  .max(feedTemplateLengthMax)
  .superRefine((text, context) => {
    const message = templateFault(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  .meta({ description: 'Of captions: `{title}`, `{link}`, `{summary}` and `{author}` are those of the entry.' })
const accountIds = z
  .array(idInBody('social_account'))
  .max(postAccountsMax)
  .meta({ description: 'The accounts that its posts are for.' })
const mode = z
  .enum(feedModes)
  .meta({ description: '`queue`: a new entry is scheduled for the next free posting time. It needs `posts:publish`.' })
const shortensLinks = z
  .boolean()
  .meta({ description: 'The caption has a tracked short link in place of the entry’s own.' })

/** Scopes of whoever does by hand what such a feed does. */
export function scopesOfFeed({ mode, shortens_links }: { mode: FeedMode; shortens_links: boolean }): HeldScope[] {
  const needed: HeldScope[] = ['posts:write']
  if (mode === 'queue') needed.push(publishScope)
  if (shortens_links) needed.push('links:write')
  return needed
}

const templateDefault = '{title}\n\n{link}'

export const FeedCreate = z
  .object({
    url,
    social_account_ids: accountIds.default([]),
    mode: mode.default('draft'),
    template: template.default(templateDefault),
    shortens_links: shortensLinks.default(false),
    posts_newest: z
      .boolean()
      .default(false)
      .meta({ description: 'The newest entry that is there at the first look becomes a post. The others never do.' }),
  })
  .meta({ id: 'FeedCreate' })

export const FeedUpdate = z
  .object({
    template: template.meta({ examples: ['New: {title}\n\n{link}'] }),
    social_account_ids: accountIds,
    mode,
    shortens_links: shortensLinks.meta({ examples: [false] }),
    status: z.enum(['active', 'paused']).meta({ description: '`active` begins anew after failures, too.' }),
  })
  .partial()
  .meta({ id: 'FeedUpdate' })

export const FeedPreviewRequest = FeedCreate.pick({ url: true, template: true }).meta({ id: 'FeedPreviewRequest' })

const FeedNews = z
  .object({
    at: dateTime,
    posts: z.int().meta({ description: 'Posts that were made.' }),
    skipped: z.int().meta({ description: 'New entries that were passed over, as there were too many at once.' }),
    note: z.string().nullable().meta({ description: 'Why posts stayed drafts, or entries were passed over.' }),
  })
  .meta({ id: 'FeedNews' })
export type FeedNews = z.output<typeof FeedNews>

export const Feed = z
  .object({
    id: z.int(),
    object_id: objectId('feed'),
    url: z.string().meta({ description: 'A page’s becomes that of the feed which it names, once the feed was read.' }),
    title: z.string().meta({ description: 'As the feed calls itself; empty before the first look.' }),
    social_account_ids: z.array(z.int()),
    mode: z.enum(feedModes),
    template: z.string(),
    shortens_links: z.boolean(),
    posts_newest: z.boolean(),
    status: z.enum(feedStatuses).meta({ description: '`failed`: it was turned off, and `last_error` says why.' }),
    looked_at: dateTime.nullable(),
    next_look_at: dateTime.nullable().meta({ description: 'Null while it isn’t active.' }),
    last_error: z.string().nullable().meta({ description: 'Why the last look failed, or the feed was turned off.' }),
    failing_since: dateTime.nullable(),
    last_news: FeedNews.nullable().meta({ description: 'What came of the last look that found new entries.' }),
    created_at: dateTime,
  })
  .meta({ id: 'Feed' })

const FeedEntry = z
  .object({
    title: z.string(),
    link: z.string(),
    published_at: dateTime.nullable(),
    caption: z.string().meta({ description: 'As a post of it would read.' }),
  })
  .meta({ id: 'FeedEntry' })

export const FeedPreview = z
  .object({
    url: z.string().meta({ description: 'Where the feed is: a page that was sent may name another address.' }),
    title: z.string(),
    entries: z.array(FeedEntry).meta({ description: 'The newest ones, newest first.' }),
  })
  .meta({ id: 'FeedPreview' })
