/** How posts do, as each network tells it. The servers refuse what the real ones refuse. */
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import { day, hour, minute } from '../../schemas/limits/units.ts'
import { setUpApi, testApiHost } from '../support/api.ts'
import { startBluesky } from '../support/bluesky-server.ts'
import { startDiscord, webhookUrl } from '../support/discord-server.ts'
import { engagementReader, readMeasured } from '../support/engagement.ts'
import { pageUrn, startLinkedin } from '../support/linkedin-server.ts'
import { film, jpeg } from '../support/media-files.ts'
import { page, startMeta, threadsToken } from '../support/meta-server.ts'
import { board, pinterestToken, startPinterest } from '../support/pinterest-server.ts'
import { endedPost, runPublisher, schedulePost, type TestPublisher } from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'
import {
  connectBluesky,
  connectLinkedin,
  connectMeta,
  connectTo,
  connectX,
  uploadFile,
} from '../support/social-platforms.ts'
import { startX } from '../support/x-server.ts'
import { googleClient, startYoutube } from '../support/youtube-server.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
let publisher: TestPublisher
beforeAll(() => {
  publisher = runPublisher(stores)
})
afterAll(() => publisher.close())
afterEach(() => stores.pg.query('DELETE FROM post_engagement'))

const imageOf = () => uploadFile(api, mine.apiKey, jpeg({ width: 40, height: 40 }))
const movieOf = () => uploadFile(api, mine.apiKey, film({ data: 1000 }))
/** A server for the test, which may not have found a fault in what it was asked. */
async function forTest<Server extends { faults: unknown[]; close(): Promise<void> }>(starting: Promise<Server>) {
  const server = await starting
  onTestFinished(async () => {
    await server.close()
    expect(server.faults).toEqual([])
  })
  return server
}
/** Takes one away, as its owner does. */
function remove<Made extends object>(made: Made[], isIt: (one: Made) => boolean): void {
  const at = made.findIndex(isIt)
  expect(at).toBeGreaterThanOrEqual(0)
  made.splice(at, 1)
}
const isGone = { gone_at: expect.any(String) }
const isThere = { gone_at: null, read_at: expect.any(String) }

/** @returns ids of posts, in the order of their captions */
async function publish(account: number, captions: readonly string[], media: readonly number[] = []) {
  const ids: number[] = []
  for (const caption of captions) ids.push(await schedulePost(ask, { caption, accounts: [account], media }))
  for (const id of ids) expect((await endedPost(ask, id)).status).toBe('published')
  return ids
}
const engagementOf = async (id: number) => (await readMeasured(ask, id)).targets[0]!.engagement
/** Reads as so long after the publication, and later. */
function later(ageMs = 15 * minute) {
  const clock = fixedClock(Date.now() + ageMs)
  return { clock, ...engagementReader(stores, clock) }
}

test('Bluesky is asked for several posts at once, in a session that is renewed; one that it leaves out is asked for again', async () => {
  const server = await forTest(startBluesky())
  const { json } = await connectBluesky(stores, mine, server)
  const [kept, deleted] = await publish(json.id, ['Stays', 'Goes'])
  server.state.counts = { likeCount: 3, replyCount: 0, repostCount: 2, quoteCount: 1 }
  remove(server.records, ({ record }) => record.text === 'Goes')
  server.expireAccess()
  const { read, counts } = later()
  await read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 3, comments: 0, shares: 3, views: null, gone_at: null })
  expect(await engagementOf(deleted!)).toBeNull()
  expect(await counts()).toMatchObject({ read: 1, failed: 1 })
  const steps = server.asked.map(({ step }) => step.split('.').at(-1))
  expect(steps.slice(-3)).toEqual(['getPosts', 'refreshSession', 'getPosts'])
})

test('YouTube is asked for several videos at once; hidden likes are null, and a quota is waited for', async () => {
  const server = await forTest(startYoutube())
  const { json } = await connectTo(stores, mine, 'youtube', '--secret', JSON.stringify(googleClient))
  const [first, second] = await publish(json.id, ['One', 'Two'], [await movieOf()])
  server.state.statistics = { viewCount: '1234', favoriteCount: '0', commentCount: '5' }
  const asked = () => server.asked.filter(({ query }) => query.get('part') === 'statistics')
  server.hinder = ({ query }) =>
    query.get('part') === 'statistics'
      ? { status: 403, body: { error: { code: 403, message: 'Quota', errors: [{ reason: 'rateLimitExceeded' }] } } }
      : undefined
  const { clock, read, counts } = later()
  await read()
  clock.advance(14 * minute)
  await read()
  expect(asked()).toHaveLength(1)
  server.hinder = () => undefined
  remove(server.videos, ({ description }) => description === 'Two')
  clock.advance(hour)
  await read()
  expect(await engagementOf(first!)).toMatchObject({ likes: null, comments: 5, shares: null, views: 1234 })
  expect(await engagementOf(second!)).toMatchObject({ views: null, gone_at: new Date(clock.now()).toISOString() })
  expect(asked()).toHaveLength(2)
  expect(await counts()).toEqual({ limited: 2, read: 1, gone: 1 })
})

test('Discord is asked for one message each, and counts reactions; one that was deleted is gone', async () => {
  const server = await forTest(startDiscord())
  const { json } = await connectTo(stores, mine, 'discord', '--secret', webhookUrl)
  const [kept, deleted] = await publish(json.id, ['Stays', 'Goes'])
  server.state.reactions = [{ count: 3 }, { count: 4 }]
  remove(server.messages, ({ content }) => content === 'Goes')
  await later().read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 7, comments: null, shares: null, views: null, ...isThere })
  expect(await engagementOf(deleted!)).toMatchObject(isGone)
})

test('X is asked for several posts at once; a deleted one is gone, and one that it only doesn’t show is asked for again', async () => {
  const server = await forTest(startX())
  const { json } = await connectX(stores, mine, server)
  const [kept, deleted, locked] = await publish(json.id, ['Stays', 'Goes', 'Locked'])
  remove(server.posts, ({ text }) => text === 'Goes')
  server.state.locked = 'Locked'
  const counts = { retweet_count: 2, reply_count: 3, like_count: 40, quote_count: 1 }
  server.state.metrics = { ...counts, bookmark_count: 9, impression_count: 900 }
  const reader = later(day)
  await reader.read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 40, comments: 3, shares: 3, views: 900, ...isThere })
  expect(await engagementOf(deleted!)).toMatchObject(isGone)
  expect(await engagementOf(locked!)).toBeNull()
  expect(await reader.counts()).toEqual({ read: 1, gone: 1, failed: 1 })
  server.state.locked = ''
  reader.clock.advance(hour)
  await reader.read()
  expect(await engagementOf(locked!)).toMatchObject(isThere)
  expect(server.asked.filter(({ step }) => step === 'GET /2/tweets')).toHaveLength(2)
})

test('Facebook tells likes, comments and shares of a page’s posts, no shares of its videos, and lists nobody', async () => {
  const server = await forTest(startMeta())
  const { json } = await connectMeta(stores, mine, 'facebook', '--page', page.id)
  const [kept, deleted] = await publish(json.id, ['Stays', 'Goes'])
  const [movie] = await publish(json.id, ['A film'], [await movieOf()])
  remove(server.posts, ({ text }) => text === 'Goes')
  server.state.counts.facebook = { likes: 12, comments: 2 }
  const reader = later()
  await reader.read()
  // Without any share Facebook leaves them out.
  expect(await engagementOf(kept!)).toMatchObject({ likes: 12, comments: 2, shares: 0, views: null, ...isThere })
  expect(await engagementOf(movie!)).toMatchObject({ likes: 12, comments: 2, shares: null, ...isThere })
  expect(await engagementOf(deleted!)).toMatchObject(isGone)
  server.state.counts.facebook = { likes: 13, comments: 2, shares: 4 }
  reader.clock.advance(hour)
  await reader.read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 13, shares: 4 })
})

test('Instagram tells likes, unless they are hidden, and comments', async () => {
  const server = await forTest(startMeta((url) => api.ask(url.replace(testApiHost, ''))))
  const { json } = await connectMeta(stores, mine, 'instagram', '--page', page.id)
  const [kept, deleted] = await publish(json.id, ['Stays', 'Goes'], [await imageOf()])
  remove(server.instagram, ({ text }) => text === 'Goes')
  server.state.counts.instagram = { like_count: 21, comments_count: 3 }
  const reader = later()
  await reader.read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 21, comments: 3, shares: null, views: null, ...isThere })
  expect(await engagementOf(deleted!)).toMatchObject(isGone)
  server.state.counts.instagram = { comments_count: 4 }
  reader.clock.advance(hour)
  await reader.read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: null, comments: 4 })
})

test('Threads tells views too, by a permission of its own: without it posts are still published', async () => {
  const server = await forTest(startMeta())
  const { json } = await connectMeta(stores, mine, 'threads', '--secret', threadsToken)
  const [kept, deleted] = await publish(json.id, ['Stays', 'Goes'])
  remove(server.threads, ({ text }) => text === 'Goes')
  const permissions = server.state.permissions
  server.state.permissions = permissions.filter((name) => name !== 'threads_manage_insights')
  const reader = later()
  await reader.read()
  expect((await ask('GET', '/v1/social-accounts')).body).toMatchObject([{ status: 'connected', health_status: 'ok' }])
  expect(await engagementOf(kept!)).toBeNull()
  server.state.permissions = permissions
  server.state.counts.threads = { views: 500, likes: 8, replies: 2, reposts: 3, quotes: 1 }
  reader.clock.advance(6 * hour)
  await reader.read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 8, comments: 2, shares: 4, views: 500, ...isThere })
  expect(await engagementOf(deleted!)).toMatchObject(isGone)
})

test('Pinterest tells reactions, comments, saves and impressions of a pin, once it has counted them', async () => {
  const server = await forTest(startPinterest())
  const { json } = await connectTo(stores, mine, 'pinterest', '--secret', pinterestToken, '--board', board.id)
  const [kept, deleted] = await publish(json.id, ['Stays', 'Goes'], [await imageOf()])
  remove(server.pins, ({ description }) => description === 'Goes')
  const reader = later()
  await reader.read()
  const none = { likes: null, comments: null, shares: null, views: null }
  expect(await engagementOf(kept!)).toMatchObject({ ...none, ...isThere })
  expect(await engagementOf(deleted!)).toMatchObject(isGone)
  server.state.metrics = { pin_click: 7, impression: 250, clickthrough: 3, reaction: 10, comment: 2, save: 5 }
  reader.clock.advance(hour)
  await reader.read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 10, comments: 2, shares: 5, views: 250 })
})

test('LinkedIn tells reactions and comments of a page’s posts, and isn’t asked for a person’s', async () => {
  const server = await forTest(startLinkedin())
  const [person, ofPage] = [
    (await connectLinkedin(stores, mine)).json,
    (await connectLinkedin(stores, mine, '--page', '5583111')).json,
  ]
  const [kept, deleted] = await publish(ofPage.id, ['Stays', 'Goes'])
  const [own] = await publish(person.id, ['Mine'])
  remove(server.posts, ({ text, author }) => text === 'Goes' && author === pageUrn)
  server.state.reactions = { LIKE: 5, PRAISE: 2 }
  server.state.comments = 3
  await later().read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 7, comments: 3, shares: null, views: null, ...isThere })
  expect(await engagementOf(deleted!)).toMatchObject(isGone)
  expect(await engagementOf(own!)).toBeNull()
  expect(server.asked.filter(({ step }) => step === 'GET /rest/socialMetadata')).toHaveLength(1)
})
