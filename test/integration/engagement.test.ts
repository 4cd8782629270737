/** How published posts do on their networks: when it is read, by whom, and what failures change. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { leaseAccounts } from '../../postgres/tables/posts/post-engagement.ts'
import { setPlan } from '../../postgres/tables/workspaces/workspaces.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { sleep } from '../../runtime/retry.ts'
import { engagementLeaseMs } from '../../schemas/limits/engagement-limits.ts'
import { day, hour, minute } from '../../schemas/limits/units.ts'
import { setUpApi } from '../support/api.ts'
import { startBluesky } from '../support/bluesky-server.ts'
import { engagementReader, type MeasuredPost, readMeasured } from '../support/engagement.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
import { endedPost, runPublisher, schedulePost, type TestPublisher } from '../support/publisher.ts'
import { asking, makeAccount } from '../support/publishing.ts'
import { connectBluesky, connectMastodon } from '../support/social-platforms.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
let publisher: TestPublisher
let instance: MastodonServer
beforeAll(() => {
  publisher = runPublisher(stores)
})
afterAll(() => publisher.close())
beforeEach(async () => {
  instance = await startMastodon()
})
afterEach(async () => {
  // Posts of other tests are due, too, and their platform is away.
  await stores.pg.query('DELETE FROM post_engagement')
  expect(instance.faults).toEqual([])
  await instance.close()
})

const statusStep = 'GET /api/v1/statuses/:id'
const asked = (server = instance) => server.asked.filter(({ step }) => step === statusStep).map(({ id }) => id)
const connect = async (server = instance): Promise<number> => (await connectMastodon(stores, mine, server)).json.id
const publish = async (accounts: readonly number[], caption = 'A post') => {
  const post = await endedPost(ask, await schedulePost(ask, { caption, accounts }))
  expect(post.status).toBe('published')
  return post.id
}
const readAccount = async () => (await ask('GET', '/v1/social-accounts')).body[0]
const nothing = { likes: null, comments: null, shares: null, views: null }
/** A reader for which the publication was a quarter of an hour ago. */
const later = () => {
  const clock = fixedClock(Date.now() + 15 * minute)
  return { clock, reader: engagementReader(stores, clock) }
}

test('a post shows what its networks say as of the last read, and their sums; a simulated one says nothing', async () => {
  const network = await startBluesky()
  const other: number = (await connectBluesky(stores, mine, network)).json.id
  const simulated = await makeAccount(stores, mine.workspaceId, 'threads')
  const post = await publish([await connect(), other, simulated])
  const clock = fixedClock(Date.now() + 14 * minute)
  const reader = engagementReader(stores, clock)
  await reader.read()
  expect([asked(), await readMeasured(ask, post)]).toMatchObject([[], { engagement: nothing }])

  clock.advance(minute + 10_000)
  instance.state.counts = { favourites_count: 7, reblogs_count: 2, replies_count: 1 }
  network.state.counts = { likeCount: 30, replyCount: 4, repostCount: 5, quoteCount: 6 }
  await reader.read()
  const read_at = new Date(clock.now()).toISOString()
  const times = { views: null, read_at, gone_at: null }
  expect(await readMeasured(ask, post)).toMatchObject({
    targets: [
      { engagement: { likes: 7, comments: 1, shares: 2, ...times } },
      { engagement: { likes: 30, comments: 4, shares: 11, ...times } },
      { engagement: null },
    ],
    engagement: { likes: 37, comments: 5, shares: 13, views: null },
  })
  const { body: listed } = await ask<Pick<MeasuredPost, 'id' | 'engagement'>[]>('GET', '/v1/posts')
  expect(listed.map(({ id, engagement }) => [id, engagement])).toContainEqual([
    post,
    { likes: 37, comments: 5, shares: 13, views: null },
  ])

  // The newest figures take the place of those before, also where they are lower.
  instance.state.counts = { favourites_count: 6, reblogs_count: 2, replies_count: 3 }
  clock.advance(59 * minute)
  await reader.read()
  expect(asked()).toHaveLength(1)
  clock.advance(minute)
  await reader.read()
  expect((await readMeasured(ask, post)).targets[0]!.engagement).toMatchObject({ likes: 6, comments: 3, shares: 2 })

  clock.advance(31 * day)
  await reader.read()
  const all = asked().length
  clock.advance(day)
  await reader.read()
  expect([all, asked().length]).toEqual([3, 3])
  expect(await reader.counts()).toEqual({ read: 6, gone: 0 })
  await network.close()
})

test('a post that its network has no more keeps its last figures, is shown as gone and is asked for no more', async () => {
  const post = await publish([await connect()])
  const { clock, reader } = later()
  instance.state.counts = { favourites_count: 3, reblogs_count: 0, replies_count: 0 }
  await reader.read()
  // A proxy's page says nothing of the post.
  instance.hinder = () => ({ status: 404, body: '<html>' })
  clock.advance(hour)
  await reader.read()
  expect((await readMeasured(ask, post)).targets[0]!.engagement).toMatchObject({ likes: 3, gone_at: null })
  instance.hinder = () => undefined
  instance.statuses.length = 0
  clock.advance(hour)
  await reader.read()
  const gone_at = new Date(clock.now()).toISOString()
  expect(await readMeasured(ask, post)).toMatchObject({
    status: 'published',
    engagement: { likes: 3 },
    targets: [{ status: 'published', engagement: { likes: 3, gone_at } }],
  })
  for (let days = 0; days < 3; days++) {
    clock.advance(day)
    await reader.read()
  }
  expect(asked()).toHaveLength(3)
})

test('two processes ask for each post once, however slow its network answers', async () => {
  const servers = [instance, await startMastodon(), await startMastodon()]
  const accounts: number[] = []
  for (const server of servers) {
    server.hinder = async ({ step }) => void (step === statusStep && (await sleep(50)))
    // Else the next one is the same account: all are called alike.
    await stores.pg.query('UPDATE social_accounts SET handle = handle || id')
    accounts.push(await connect(server))
  }
  for (let posts = 0; posts < 2; posts++) await publish(accounts, `Post ${posts}`)
  const { clock, reader } = later()
  const other = engagementReader(stores, clock)
  await Promise.all([reader.read(), other.read(), reader.read(), other.read()])
  for (const server of servers) {
    expect(asked(server).sort()).toEqual(server.statuses.map(({ id }) => id).sort())
  }
  const counts = [await reader.counts(), await other.counts()].map(({ read = 0 }) => read)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6)
  await Promise.all(servers.slice(1).map((server) => server.close()))
})

test('a limit of the network is waited for by all posts of the account, and by none of its publications', async () => {
  const account = await connect()
  const posts = [await publish([account], 'One'), await publish([account], 'Two')]
  const { clock, reader } = later()
  instance.hinder = ({ step }) =>
    step === statusStep ? { status: 429, headers: { 'retry-after': '7200' }, body: { error: 'Too many' } } : undefined
  await reader.read()
  expect(asked()).toHaveLength(1)
  instance.hinder = () => undefined
  clock.advance(2 * hour - 1)
  await reader.read()
  expect(asked()).toHaveLength(1)
  await publish([account], 'Three')
  clock.advance(1)
  await reader.read()
  expect(asked()).toHaveLength(4)
  expect((await readMeasured(ask, posts[0]!)).engagement).toMatchObject({ likes: 0 })
  expect(await reader.counts()).toMatchObject({ limited: 1, read: 3 })
})

test.each([
  ['is away', 503, {}, 10 * minute],
  ['refuses the credentials', 401, { error: 'The access token is invalid' }, 6 * hour],
])('a network that %s changes neither post nor account, and is asked again later', async (_, status, body, waitMs) => {
  const post = await publish([await connect()])
  const { clock, reader } = later()
  const before = await readAccount()
  instance.hinder = ({ step }) => (step === statusStep ? { status, body } : undefined)
  await reader.read()
  expect(await readAccount()).toEqual(before)
  expect(await readMeasured(ask, post)).toMatchObject({ status: 'published', targets: [{ engagement: null }] })
  expect(await reader.counts()).toMatchObject({ failed: 1 })
  const first = asked().length
  clock.advance(waitMs / 2 - 1)
  await reader.read()
  expect(asked()).toHaveLength(first)
  instance.hinder = () => undefined
  clock.advance(day)
  await reader.read()
  expect((await readMeasured(ask, post)).engagement).toMatchObject({ likes: 0 })
})

test('an account that has to be connected again is left alone until it is', async () => {
  const account = await connect()
  const posts = [await publish([account], 'One'), await publish([account], 'Two')]
  const likes = async () =>
    Promise.all(posts.map(async (post) => (await readMeasured(ask, post)).engagement['likes'] as number | null))
  const { clock, reader } = later()
  instance.hinder = ({ step }) =>
    step === statusStep ? { status: 401, body: { error: 'The access token is invalid' } } : undefined
  await reader.read()
  // Publishing found it out as well.
  await stores.pg.query(`UPDATE social_accounts SET status = 'expired' WHERE id = $1`, [account])
  instance.hinder = () => undefined
  const first = asked().length
  clock.advance(7 * hour)
  await reader.read()
  expect(asked()).toHaveLength(first)
  clock.advance(-7 * hour + minute)
  expect(await connect()).toBe(account)
  await reader.read()
  expect(await likes()).toEqual([0, 0])
})

test.each([
  ['suspended', 'UPDATE workspaces SET suspended_at = now() WHERE id = $1'],
  ['without a plan', 'UPDATE owners SET plan_key = NULL WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1)'],
])('the posts of a workspace that is %s wait: nobody could see their figures', async (_, end) => {
  const post = await publish([await connect()])
  const { clock, reader } = later()
  await stores.pg.query(end, [mine.workspaceId])
  await reader.read()
  expect(asked()).toEqual([])
  await setPlan(stores.pg, mine.workspaceId, 'growth')
  await stores.pg.query('UPDATE workspaces SET suspended_at = NULL WHERE id = $1', [mine.workspaceId])
  clock.advance(minute)
  await reader.read()
  expect((await readMeasured(ask, post)).engagement).toMatchObject({ likes: 0 })
})

test('a clock that ran three days ahead, and is right again, keeps no account from being read', async () => {
  const account = await connect()
  await publish([account], 'One')
  const { clock, reader } = later()
  clock.advance(3 * day)
  await reader.read()
  clock.advance(-3 * day + minute)
  await publish([account], 'Two')
  await reader.read()
  // Both of the second time: the first one's next read was days ahead.
  expect(asked()).toHaveLength(3)
})

test('an account has thirty posts in a turn, and the next turn a minute later', async () => {
  const account = await connect()
  await publish([account], 'The first')
  await stores.pg.query(
    `WITH made AS (
       INSERT INTO posts (workspace_id, title, base_caption, status)
       SELECT $1, 'a', 'b', 'published' FROM generate_series(1, 40) RETURNING id
     ), targets AS (
       INSERT INTO post_targets (post_id, place, social_account_id, status, publish_result)
       SELECT id, 1, $2, 'published', jsonb_build_object('external_id', $3::text) FROM made RETURNING id
     ) INSERT INTO post_engagement (target_id, social_account_id, published_at, due_at) SELECT id, $2, now(), now() FROM targets`,
    [mine.workspaceId, account, instance.statuses[0]!.id],
  )
  const { clock, reader } = later()
  await reader.read()
  await reader.read()
  expect(asked()).toHaveLength(30)
  clock.advance(minute)
  await reader.read()
  expect(asked()).toHaveLength(41)
})

test('a process that is stopped gives its accounts back, and one that died loses them after five minutes', async () => {
  const account = await connect()
  await publish([account])
  const { clock, reader } = later()
  instance.hinder = ({ step }) => (step === statusStep ? 'hang before' : undefined)
  const stopped = reader.read()
  while (asked().length === 0) await sleep(10)
  reader.stop()
  await stopped
  instance.hinder = () => undefined
  const other = engagementReader(stores, clock)
  await other.read()
  expect(asked()).toHaveLength(2)

  // As a process leaves it that dies in a turn.
  clock.advance(hour)
  const leasing = { now: new Date(clock.now()), until: new Date(clock.now() + engagementLeaseMs), max: 1 }
  expect(await leaseAccounts(stores.pg, leasing)).toMatchObject([{ id: account }])
  clock.advance(5 * minute - 1)
  await other.read()
  expect(asked()).toHaveLength(2)
  clock.advance(1)
  await other.read()
  expect(asked()).toHaveLength(3)
})

test('the renewal of a session goes on where the reader that began it is stopped', async () => {
  const network = await startBluesky()
  await publish([(await connectBluesky(stores, mine, network)).json.id])
  network.expireAccess()
  let goOn = () => {}
  const held = new Promise<undefined>((resolve) => {
    goOn = () => resolve(undefined)
  })
  const isRenewal = ({ step }: { readonly step: string }) => step.endsWith('refreshSession')
  network.hinder = (asking) => (isRenewal(asking) ? held : undefined)
  const { clock, reader } = later()
  const stopped = reader.read()
  while (!network.asked.some(isRenewal)) await sleep(10)
  reader.stop()
  goOn()
  await stopped
  // The refresh token is used up: whoever comes next needs the session that it gave.
  const other = engagementReader(stores, clock)
  await other.read()
  expect(await other.counts()).toMatchObject({ read: 1 })
  expect(network.asked.filter(isRenewal)).toHaveLength(1)
  await network.close()
})
