/** Simulated accounts of the demo workspace, and posts to them: published ones, scheduled ones and drafts. Nothing is sent to a platform. */
import { connectAccount } from '../../pipeline/connecting/connect-account.ts'
import { markPostScheduled } from '../../postgres/tables/posts/posts.ts'
import { dayMs, hourMs } from '../../schemas/time/time-zone.ts'
import type { CallContext } from '../operations/define.ts'
import { createPost } from '../operations/posts/create-post.ts'
import { updatePostingTimes } from '../operations/posts/posting-times.ts'
import { schedulePost } from '../operations/posts/schedule-post.ts'
import { callOperation } from './call-operation.ts'

const accounts = [
  { platform: 'mastodon', handle: '@demo@social.example', displayName: 'Demo on Mastodon' },
  { platform: 'linkedin', handle: 'demo-company', displayName: 'Demo on LinkedIn' },
] as const
const postingTimes = [1, 3, 5].map((weekday) => ({ weekday, time: '09:00' }))

interface DemoPost {
  readonly title: string
  readonly base_caption: string
  readonly tags: readonly string[]
  /** Places in the list of accounts. */
  readonly to: readonly number[]
  /** Days from today, and the hour in UTC; a draft has none. Those of the past are published as soon as the pipeline sees them. */
  readonly at?: readonly [inDays: number, hour: number]
}

const posts: readonly DemoPost[] = [
  {
    title: 'Release notes',
    tags: ['release'],
    to: [0, 1],
    at: [-12, 9],
    base_caption: 'Version 2.4 is here: funnels with five steps, faster exports, and a calendar for your posts.',
  },
  {
    title: 'How we measure visits',
    tags: ['blog'],
    to: [0],
    at: [-7, 9],
    base_caption: 'No cookie, no fingerprint: our new article explains how visits are counted without either.',
  },
  {
    title: 'New prices',
    tags: ['pricing'],
    to: [0, 1],
    at: [-3, 15],
    base_caption: 'Our prices are simpler now: one plan for each size of site, and every feature in each of them.',
  },
  {
    title: 'Five reports for Mondays',
    tags: ['blog'],
    to: [1],
    at: [1, 9],
    base_caption: 'Five reports that are worth a look on a Monday morning, and one that can wait until Friday.',
  },
  {
    title: 'Customer story',
    tags: ['customers'],
    to: [0, 1],
    at: [3, 15],
    base_caption: 'How a coffee roaster found out which newsletter fills the shop, in an afternoon.',
  },
  {
    title: 'Webinar',
    tags: ['events'],
    to: [0, 1],
    at: [6, 9],
    base_caption: 'Next month we show funnels and goals live. Bring your questions, we bring the answers.',
  },
  {
    title: 'Behind the release',
    tags: ['release'],
    to: [1],
    base_caption: 'Three things that we left out of version 2.4, and why.',
  },
  {
    title: 'Question of the week',
    tags: ['community'],
    to: [0],
    base_caption: 'Which figure do you look at first in the morning?',
  },
]

/** @param context of the demo workspace, within a transaction */
export async function fillPosts(context: CallContext): Promise<void> {
  const { workspace, stores, clock } = context
  const ids: number[] = []
  for (const account of accounts) {
    const simulated = { connectionType: 'simulated', externalId: null, metadata: {} } as const
    const wanted = { ...account, ...simulated, workspaceId: workspace.id }
    ids.push((await connectAccount(stores.pg, { account: wanted, sealed: null })).account.id)
  }
  await callOperation(context, updatePostingTimes, { times: postingTimes })
  const midnight = Math.floor(clock.now() / dayMs) * dayMs
  for (const { to, at, ...post } of posts) {
    const { id } = await callOperation(context, createPost, { ...post, social_account_ids: to.map((nth) => ids[nth]) })
    if (at === undefined) continue
    const [inDays, hour] = at
    const scheduledAt = new Date(midnight + inDays * dayMs + hour * hourMs)
    // No caller may choose a past time: the publisher finds such a post due at once.
    if (inDays < 0) await markPostScheduled(stores.pg, id, scheduledAt)
    else await callOperation(context, schedulePost, { scheduled_at: scheduledAt.toISOString() }, { post_id: id })
  }
}
