import { afterAll, beforeAll, expect, test } from 'vitest'
import { setPlan } from '../../postgres/tables/workspaces/workspaces.ts'
import { sleep } from '../../runtime/retry.ts'
import { publishAttemptsMax } from '../../schemas/limits/publish-limits.ts'
import { setUpApi } from '../support/api.ts'
import { runSvc } from '../support/command-line.ts'
import {
  endedPost,
  failed,
  reschedule,
  resultOf,
  runPublisher,
  scheduleForLater,
  schedulePost,
  type TestPublisher,
  toldTo,
} from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
let publisher: TestPublisher
beforeAll(() => {
  publisher = runPublisher(stores)
})
afterAll(() => publisher.close())

const account = (platform: 'x' | 'linkedin' = 'x') => makeAccount(stores, mine.workspaceId, platform)
const accountShown = async (id: number) =>
  (await ask('GET', '/v1/social-accounts')).body.find((one: { id: number }) => one.id === id)

/** Newest first. */
async function auditedOf(id: number, type = 'post'): Promise<string[][]> {
  const { body } = await ask('GET', '/v1/audit-log?limit=200')
  const rows = body as {
    resource_type: string
    resource_id: number
    action: string
    actor_type: string
    actor_name: string
  }[]
  const own = rows.filter((row) => row.resource_type === type && row.resource_id === id)
  return own.map(({ action, actor_type, actor_name }) => [action, actor_type, actor_name])
}

test('a post is published when its time has come, to each of its accounts, and webhooks are told once', async () => {
  const ids = [await account(), await account('linkedin')]
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'Everything must go.', accounts: ids }))
  expect(post.status).toBe('published')
  expect(post.targets.map(({ status, publish_result }) => [status, publish_result])).toEqual(
    Array(2).fill([
      'published',
      {
        provider: 'simulated',
        external_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        url: expect.stringContaining('https://'),
        published_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]),
  )
  const [told, ...more] = await toldTo(stores, mine.workspaceId)
  expect(more).toEqual([])
  // Visits through its links are counted when it is asked for.
  expect(post).toMatchObject(told!.object)
  expect(told!.type).toBe('post.published')
  expect(await auditedOf(post.id)).toEqual([
    ['post.publish', 'system', 'pipeline'],
    ['post.schedule', 'api_key', expect.any(String)],
    ['post.create', 'api_key', expect.any(String)],
  ])
})

test('a post that is not due, or was unscheduled, is left alone', async () => {
  const accounts = [await account()]
  const make = async () =>
    (await ask<ShownPost>('POST', '/v1/posts', { title: 't', base_caption: 'later', social_account_ids: accounts }))
      .body.id
  const [later, unscheduled] = [await make(), await make()]
  for (const id of [later, unscheduled]) await scheduleForLater(ask, id)
  await ask('POST', `/v1/posts/${unscheduled}/unschedule`)
  await endedPost(ask, await schedulePost(ask, { caption: 'now', accounts }))
  expect((await ask<ShownPost>('GET', `/v1/posts/${later}`)).body.status).toBe('scheduled')
  expect((await ask<ShownPost>('GET', `/v1/posts/${unscheduled}`)).body.status).toBe('draft')
})

test('after a restore, posts of a time before the given one become drafts, also in the middle of publishing, and later ones are published', async () => {
  await publisher.close()
  const due = { caption: 'Published since the backup?', accounts: [await account()] }
  const held = [await schedulePost(ask, due), await schedulePost(ask, due)]
  await stores.pg.transaction(async (tx) => {
    await tx.query(`UPDATE posts SET status = 'publishing' WHERE id = $1`, [held[1]])
    await tx.query(`UPDATE post_targets SET status = 'publishing', next_attempt_at = now() WHERE post_id = $1`, [
      held[1],
    ])
  })
  const [last] = await stores.pg.query<{ at: Date }>('SELECT max(scheduled_at) AS at FROM posts WHERE id = ANY ($1)', [
    held,
  ])
  const given = last!.at.getTime() + 300
  publisher = runPublisher(stores, new Date(given))
  await sleep(given + 100 - Date.now())
  expect((await endedPost(ask, await schedulePost(ask, due))).status).toBe('published')
  for (const id of held) {
    const { body } = await ask<ShownPost>('GET', `/v1/posts/${id}`)
    expect([body.status, body.scheduled_at, body.targets[0]!.status]).toEqual(['draft', null, 'draft'])
    expect((await auditedOf(id))[0]).toEqual(['post.unschedule', 'system', 'pipeline'])
  }
})

test('a target that is refused fails the post; scheduled anew, only that target is published', async () => {
  const [x, linkedin] = [await account(), await account('linkedin')]
  const captions = { linkedin: 'Refused [simulate:fail]' }
  const id = await schedulePost(ask, { caption: 'Taken.', accounts: [x, linkedin], captions })
  const { status, targets } = await endedPost(ask, id)
  expect(status).toBe('failed')
  expect(targets.map((target) => target.status)).toEqual(['published', 'failed'])
  expect(targets[1]!.publish_result).toEqual(failed('simulated_failure', ''))
  expect(await accountShown(linkedin)).toMatchObject({ status: 'connected', health_status: 'warning' })
  expect((await toldTo(stores, mine.workspaceId)).map(({ type }) => type).sort()).toEqual([
    'post.failed',
    'social_account.health_changed',
  ])
  // One row for the post, whatever number of targets it has.
  expect((await auditedOf(id)).filter(([, actor]) => actor === 'system')).toEqual([['post.fail', 'system', 'pipeline']])

  await scheduleForLater(ask, id)
  await ask('PATCH', `/v1/posts/${id}`, { platform_captions: { linkedin: 'Taken as well.' } })
  await reschedule(ask, id)
  const published = await endedPost(ask, id)
  expect(published.status).toBe('published')
  expect(published.targets[0]).toEqual(targets[0])
  expect(await accountShown(linkedin)).toMatchObject({ health_status: 'ok', health_message: '' })
  expect(await auditedOf(linkedin, 'social_account')).toEqual(
    Array(2).fill(['social_account.change_health', 'system', 'pipeline']),
  )
  expect(await auditedOf(x, 'social_account')).toEqual([])
})

test('a post is changed by the outcome of each of its targets, also while another one waits', async () => {
  const accounts = [await account(), await account('linkedin')]
  const hold = (until: string) =>
    stores.pg.query(`UPDATE social_accounts SET held_until = ${until} WHERE id = $1`, [accounts[1]])
  await hold("now() + interval '1 hour'")
  const id = await schedulePost(ask, { caption: 'Taken.', accounts })
  const read = async () => (await ask<ShownPost>('GET', `/v1/posts/${id}`)).body
  await expect.poll(async () => (await read()).targets.map(({ status }) => status)).toEqual(['published', 'publishing'])
  const { updated_at, targets } = await read()
  expect(Date.parse(updated_at)).toBeGreaterThanOrEqual(Date.parse(String(targets[0]!.publish_result['published_at'])))
  await hold('NULL')
  expect((await endedPost(ask, id)).status).toBe('published')
})

test('a rate limit is waited out, and fails the target for good after so many attempts', async () => {
  const id = await account()
  const posted = await schedulePost(ask, { caption: 'Too often [simulate:rate_limit]', accounts: [id] })
  await expect.poll(async () => (await accountShown(id)).health_status).toBe('warning')
  const post = await endedPost(ask, posted)
  expect(resultOf(post)).toEqual(failed('rate_limited', '', true))
  expect(await accountShown(id)).toMatchObject({ status: 'connected', health_status: 'error' })
  const targets = await stores.pg.query('SELECT attempt_count FROM post_targets WHERE post_id = $1', [posted])
  expect(targets).toEqual([{ attempt_count: publishAttemptsMax - 1 }])
})

test('nothing is published to an account that was disconnected, and the others are published all the same', async () => {
  const [gone, kept] = [await account(), await account()]
  await runSvc(['accounts', 'disconnect', String(gone)], { DATABASE_URL: stores.databaseUrl })
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'Half of it.', accounts: [gone, kept] }))
  expect(post.status).toBe('failed')
  expect(post.targets.map(({ status }) => status)).toEqual(['failed', 'published'])
  expect(post.targets[0]!.publish_result).toMatchObject({ error: { code: 'account_not_connected' } })
})

test.each([
  ['plan_missing', 'UPDATE owners SET plan_key = NULL WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1)'],
  ['workspace_suspended', 'UPDATE workspaces SET suspended_at = now() WHERE id = $1'],
])(
  'nothing is published while its people could not stop it (%s), and a schedule publishes it later',
  async (code, end) => {
    const x = await account()
    const post = { title: 't', base_caption: 'c', social_account_ids: [x] }
    const { body } = await ask<ShownPost>('POST', '/v1/posts', post)
    await scheduleForLater(ask, body.id)
    await stores.pg.query(end, [mine.workspaceId])
    await stores.pg.query('UPDATE posts SET scheduled_at = now() WHERE id = $1', [body.id])
    const told = async () => (await toldTo(stores, mine.workspaceId)).map(({ type }) => type)
    await expect.poll(told).toEqual(['post.failed'])
    await setPlan(stores.pg, mine.workspaceId, 'growth')
    await stores.pg.query('UPDATE workspaces SET suspended_at = NULL WHERE id = $1', [mine.workspaceId])
    expect(resultOf(await endedPost(ask, body.id))).toEqual(failed(code, 'The workspace'))
    expect(await accountShown(x)).toMatchObject({ health_status: 'ok', health_message: '' })
    await reschedule(ask, body.id)
    expect((await endedPost(ask, body.id)).status).toBe('published')
  },
)

test('hundreds of posts that are due in one minute are published once each, by two processes', async () => {
  const ids = [await account(), await account()]
  await stores.pg.query(
    `WITH made AS (
       INSERT INTO posts (workspace_id, title, base_caption, status, scheduled_at)
       SELECT $1, 'p' || n, 'caption ' || n, 'scheduled', now() - n % 60 * interval '1 second'
       FROM generate_series(1, 300) AS n RETURNING id
     ) INSERT INTO post_targets (post_id, place, social_account_id, status)
     SELECT id, 1, ($2::bigint[])[1 + id % 2], 'scheduled' FROM made`,
    [mine.workspaceId, ids],
  )
  const other = runPublisher(stores)
  const left = async () => {
    const [row] = await stores.pg.query<{ left: number }>(
      `SELECT count(*) AS left FROM posts WHERE workspace_id = $1 AND status <> 'published'`,
      [mine.workspaceId],
    )
    return row!.left
  }
  await expect.poll(left, { timeout: 120_000, interval: 200 }).toBe(0)
  await other.close()
  const told = await toldTo(stores, mine.workspaceId)
  expect(told).toHaveLength(300)
  expect(new Set(told.map(({ object }) => object.id)).size).toBe(300)
  for (const one of [publisher, other]) {
    expect(await one.metrics()).toMatch(/svc_publish_attempts_total\{[^}]*outcome="published"[^}]*\} [1-9]/)
  }
})
