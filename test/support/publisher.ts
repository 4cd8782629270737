/** The publisher in the test's own process, and posts that are soon due. */
import { type Dispatcher, MockAgent } from 'undici'
import { expect, vi } from 'vitest'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { makeRenewals } from '../../pipeline/publishing/account-session.ts'
import { makeCredentialsBox } from '../../pipeline/publishing/adapters.ts'
import { makeMediaUrls } from '../../pipeline/publishing/media-urls.ts'
import { type Publisher, startPublisher } from '../../pipeline/publishing/publisher.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { sleep } from '../../runtime/retry.ts'
import { testApiHost } from './api.ts'
import { makePauses } from './paced.ts'
import type { asking, ShownPost } from './publishing.ts'
import type { TestStores } from './stores.ts'

export interface TestPublisher extends Publisher {
  metrics(): Promise<string>
  /** Its pauses, in ms as they are in the product. */
  readonly pauses: readonly number[]
  /** Closes it without the eight seconds that attempts under way have to end. */
  cut(): Promise<void>
}

/** @param agent for links of captions: by default they lead nowhere but to this machine */
export function runPublisher(
  stores: Pick<TestStores, 'pg' | 'media' | 'secretKey'>,
  holdBefore?: Date,
  agent: Dispatcher = onThisMachine(),
  apiHost = testApiHost,
): TestPublisher {
  const metrics = makeMetrics('pipeline', false)
  const { sleep, asked: pauses } = makePauses(stores.pg)
  const publisher = startPublisher({
    sleep,
    fetching: { agent, allowPrivate: true },
    pg: stores.pg,
    media: stores.media,
    clock: systemClock,
    log: makeLog('test', 'silent'),
    box: makeCredentialsBox(stores.secretKey),
    renewals: makeRenewals(),
    holdBefore,
    isMailSetUp: true,
    mediaUrl: makeMediaUrls(stores.secretKey, apiHost, systemClock),
    metrics: makePipelineMetrics(metrics),
  })
  return { ...publisher, metrics: () => metrics.text(), pauses, cut: () => cut(publisher) }
}

function cut(publisher: Publisher): Promise<void> {
  const { setTimeout: wait } = globalThis
  // The first timer that it sets is that of the attempts.
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementationOnce(((end: () => void) => wait(end, 0)) as never)
  const closed = publisher.close()
  timers.mockRestore()
  return closed
}

function onThisMachine(): Dispatcher {
  const agent = new MockAgent()
  agent.enableNetConnect(/^127\.0\.0\.1:/)
  return agent
}

type Ask = ReturnType<typeof asking>

export interface DuePost {
  readonly title?: string | undefined
  readonly caption: string
  readonly accounts: readonly number[]
  readonly media?: readonly number[]
  readonly captions?: Readonly<Record<string, string>>
  readonly thread?: readonly (string | object)[]
  readonly firstComment?: string | undefined
}

/** A post that is scheduled, and due in a moment. @returns its id */
export async function schedulePost(
  ask: Ask,
  { title = 'A post', caption, accounts, media = [], captions = {}, thread = [], firstComment }: DuePost,
): Promise<number> {
  const made = await ask<ShownPost>('POST', '/v1/posts', {
    title,
    base_caption: caption,
    social_account_ids: accounts,
    media_ids: media,
    platform_captions: captions,
    thread,
    ...(firstComment !== undefined && { first_comment: firstComment }),
  })
  if (made.status !== 200) throw new Error(`the post wasn't made: ${JSON.stringify(made.body)}`)
  await reschedule(ask, made.body.id, 'schedule')
  return made.body.id
}

export async function reschedule(ask: Ask, id: number, by: 'schedule' | 'reschedule' = 'reschedule'): Promise<void> {
  for (let inMs = 100; ; inMs *= 2) {
    const scheduled_at = new Date(Date.now() + inMs).toISOString()
    const { status, body } = await ask('POST', `/v1/posts/${id}/${by}`, { scheduled_at })
    if (status === 200) return
    // On a slow machine the time has passed before the API reads it.
    const text = JSON.stringify(body)
    if (!text.includes('must lie in the future')) throw new Error(`the post wasn't scheduled: ${text}`)
  }
}

/** Keeps a post from being published at once, so that it can be changed. */
export const scheduleForLater = (ask: Ask, id: number) =>
  ask<ShownPost>('POST', `/v1/posts/${id}/schedule`, { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() })

/** The post once it is published or has failed. Asks for the list: a post alone comes with its performance, which is dear. */
export async function endedPost(ask: Ask, id: number, withinMs = 120_000): Promise<ShownPost> {
  for (const deadline = Date.now() + withinMs; ; await sleep(100)) {
    const [post] = (await ask<ShownPost[]>('GET', `/v1/posts?before_id=${id + 1}&limit=1`)).body
    if (post?.id === id && (post.status === 'published' || post.status === 'failed')) return post
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${JSON.stringify(post)}`)
  }
}

/** Waits until a limit delays a post. Ends the wait. @returns how long it would have been, in seconds */
export async function endLimit({ pg }: Pick<TestStores, 'pg'>, postId: number): Promise<number> {
  for (;;) {
    const [limited] = await pg.query<{ wait: number }>(
      `UPDATE post_targets SET next_attempt_at = now() FROM post_targets before
       WHERE before.id = post_targets.id AND post_targets.post_id = $1 AND before.publish_result->'error'->>'code' = 'rate_limited'
       RETURNING extract(epoch FROM before.next_attempt_at - now())::float8 AS wait`,
      [postId],
    )
    if (limited !== undefined) {
      await pg.query('UPDATE social_accounts SET held_until = now() WHERE held_until IS NOT NULL')
      return limited.wait
    }
    await sleep(50)
  }
}

/** The result of a post's first target. */
export const resultOf = ({ targets }: ShownPost) => targets[0]!.publish_result

/** The result of a target that failed. @param said a part of its message */
export const failed = (code: string, said: string, retryable = false) => ({
  error: { code, message: expect.stringContaining(said), retryable },
})

/** Webhook events of a workspace, in its order: names and objects. */
export function toldTo({ pg }: Pick<TestStores, 'pg'>, workspaceId: number) {
  // biome-ignore lint/suspicious/noExplicitAny: what an event shows is what a test looks at
  return pg.query<{ type: string; object: any }>(
    `SELECT type, object FROM outbox WHERE workspace_id = $1
       AND type IN ('post.published', 'post.failed', 'social_account.health_changed') ORDER BY id`,
    [workspaceId],
  )
}
