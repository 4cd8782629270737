/** How posts do, as each network tells it. The servers refuse what the real ones refuse. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import { hour, minute } from '../../schemas/limits/units.ts'
import { setUpApi } from '../support/api.ts'
import { startBluesky } from '../support/bluesky-server.ts'
import { engagementReader, readMeasured } from '../support/engagement.ts'
import { film } from '../support/media-files.ts'
import { endedPost, runPublisher, schedulePost, type TestPublisher } from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'
import { connectBluesky, connectTo, uploadFile } from '../support/social-platforms.ts'
import { googleClient, startYoutube } from '../support/youtube-server.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
let publisher: TestPublisher
beforeAll(() => {
  publisher = runPublisher(stores)
})
afterAll(() => publisher.close())
afterEach(() => stores.pg.query('DELETE FROM post_engagement'))

/** @returns ids of posts, in the order of their captions */
async function publish(account: number, captions: readonly string[], media: readonly number[] = []) {
  const ids: number[] = []
  for (const caption of captions) ids.push(await schedulePost(ask, { caption, accounts: [account], media }))
  for (const id of ids) expect((await endedPost(ask, id)).status).toBe('published')
  return ids
}
const engagementOf = async (id: number) => (await readMeasured(ask, id)).targets[0]!.engagement
/** Reads as a quarter of an hour after the publication, and later. */
function later() {
  const clock = fixedClock(Date.now() + 15 * minute)
  return { clock, ...engagementReader(stores, clock) }
}

test('Bluesky is asked for several posts at once, in a session that is renewed; a deleted one is gone', async () => {
  const server = await startBluesky()
  const { json } = await connectBluesky(stores, mine, server)
  const [kept, deleted] = await publish(json.id, ['Stays', 'Goes'])
  server.state.counts = { likeCount: 3, replyCount: 0, repostCount: 2, quoteCount: 1 }
  server.records.splice(
    server.records.findIndex(({ record }) => record.text === 'Goes'),
    1,
  )
  server.expireAccess()
  const { read, counts } = later()
  await read()
  expect(await engagementOf(kept!)).toMatchObject({ likes: 3, comments: 0, shares: 3, views: null, gone_at: null })
  expect(await engagementOf(deleted!)).toMatchObject({ likes: null, read_at: null, gone_at: expect.any(String) })
  expect(await counts()).toMatchObject({ read: 1, gone: 1 })
  const steps = server.asked.map(({ step }) => step.split('.').at(-1))
  expect(steps.slice(-3)).toEqual(['getPosts', 'refreshSession', 'getPosts'])
  expect(server.faults).toEqual([])
  await server.close()
})

test('YouTube is asked for several videos at once; hidden likes are null, and a quota is waited for', async () => {
  const server = await startYoutube()
  const { json } = await connectTo(stores, mine, 'youtube', '--secret', JSON.stringify(googleClient))
  const movie = await uploadFile(api, mine.apiKey, film({ data: 1000 }), { type: 'video/mp4' })
  const [first, second] = await publish(json.id, ['One', 'Two'], [movie])
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
  server.videos.splice(
    server.videos.findIndex(({ description }) => description === 'Two'),
    1,
  )
  clock.advance(hour)
  await read()
  expect(await engagementOf(first!)).toMatchObject({ likes: null, comments: 5, shares: null, views: 1234 })
  expect(await engagementOf(second!)).toMatchObject({ views: null, gone_at: new Date(clock.now()).toISOString() })
  expect(asked()).toHaveLength(2)
  expect(await counts()).toEqual({ limited: 2, read: 1, gone: 1 })
  expect(server.faults).toEqual([])
  await server.close()
})
