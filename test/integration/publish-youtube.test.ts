import { expect, test } from 'vitest'
import {
  providerPollMs,
  publishWaitMaxMs,
  youtubeListedMs,
  youtubePartBytes,
} from '../../schemas/limits/publish-limits.ts'
import { dayMs, wallTimeAt } from '../../schemas/time/time-zone.ts'
import { film } from '../support/media-files.ts'
import { onOneDay } from '../support/one-day.ts'
import { type Answered, answerOnce, type Hindrance } from '../support/provider-server.ts'
import { endedPost, endLimit, failed, reschedule, resultOf, runPublisher, schedulePost } from '../support/publisher.ts'
import { connectTo, setUpPublishing } from '../support/social-platforms.ts'
import { channel, googleClient, googleError, startYoutube } from '../support/youtube-server.ts'

const { stores, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startYoutube())

const connect = (secret = JSON.stringify(googleClient)) => connectTo(stores, mine, 'youtube', '--secret', secret)
const connectChannel = async (): Promise<number> => (await connect()).json.id
const moviesOf = async (bytes = film({ data: 300_000 })) => [await upload(bytes)]
const videosOf = (text: string) => on.server.videos.filter(({ description }) => description === text)
const published = (text: string) => {
  const { id } = videosOf(text)[0]!
  const url = `https://www.youtube.com/watch?v=${id}`
  return expect.objectContaining({ provider: 'youtube', external_id: id, url })
}
/** Hinders the first requests that bring a video's last bytes, in their order. */
function hinderLast(...hindrances: Hindrance[]): void {
  on.server.hinder = ({ headers }) => {
    const [, last, size] = /^bytes \d+-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []
    return last !== undefined && Number(last) + 1 === Number(size) ? hindrances.shift() : undefined
  }
}

test('a channel is connected by a client and a refresh token', async () => {
  const { json } = await connect()
  expect(json).toMatchObject({
    handle: channel.customUrl,
    display_name: channel.title,
    external_id: channel.id,
    connection_type: 'oauth',
  })
  const { client_id, client_secret, refresh_token } = googleClient
  const lines = await connect(`${client_id}\n${client_secret}\n${refresh_token}`)
  expect(lines.json).toMatchObject({ id: json.id })
})

test('what Google refuses, and a token that can’t upload or read, are not connected', async () => {
  const refused = async (said: string, secret?: string) =>
    expect(await connect(secret)).toMatchObject({ code: 1, err: expect.stringContaining(said) })
  await refused('expired or revoked', JSON.stringify({ ...googleClient, refresh_token: 'other' }))
  await refused('Unauthorized', JSON.stringify({ ...googleClient, client_secret: 'other' }))
  await refused('three lines', `${googleClient.client_secret}\n${googleClient.client_id}\n1//refresh`)
  on.server.state.hasChannel = false
  await refused('has no channel')
  on.server.state.scopes = ['youtube.readonly']
  await refused('youtube.upload')
  on.server.state.scopes = ['youtube.upload']
  await refused('insufficient authentication scopes')
})

test('a video goes in parts, with title and description as YouTube takes them', async () => {
  const account = await connectChannel()
  const bytes = film({ data: youtubePartBytes + 300_000 })
  on.server.state.polls = 1
  const title = `Sale <now>\n${'ä'.repeat(120)}`
  const post = await publishNow('Up to <50 %> & more\nhttps://example.com', account, await moviesOf(bytes), title)
  const text = 'Up to ‹50 %› & more\nhttps://example.com'
  expect(resultOf(post)).toEqual(published(text))
  expect(on.server.videos).toMatchObject([
    { title: `Sale ‹now› ${'ä'.repeat(89)}`, status: { privacyStatus: 'public' } },
  ])
  expect(on.server.videos[0]!.bytes.equals(bytes)).toBe(true)
  expect(on.server.asked.filter(({ step }) => step.startsWith('PUT '))).toHaveLength(2)
  on.server.state.polls = 0
  const captions = { youtube: '<'.repeat(5_000) }
  const id = await schedulePost(ask, { caption: 'Long', captions, accounts: [account], media: await moviesOf() })
  expect((await endedPost(ask, id)).status).toBe('published')
})

test('a video that YouTube can’t process, rejects or keeps private fails with the reason', async () => {
  const account = await connectChannel()
  const media = await moviesOf()
  on.server.state.outcome = { uploadStatus: 'failed', failureReason: 'codec' }
  expect(resultOf(await publishNow('Odd', account, media))).toEqual(failed('refused', 'codec'))
  on.server.state.outcome = { uploadStatus: 'rejected', rejectionReason: 'duplicate' }
  expect(resultOf(await publishNow('Again', account, media))).toEqual(failed('refused', 'duplicate'))
  on.server.state.outcome = { uploadStatus: 'processed' }
  on.server.state.isAudited = false
  expect(resultOf(await publishNow('Unaudited', account, media))).toEqual(failed('refused', 'private'))
})

test('an upload goes on where it was when a request or its answer is lost: there is one video', async () => {
  const account = await connectChannel()
  const media = await moviesOf()
  hinderLast('cut after', 'cut before', { status: 503, body: '' })
  for (const text of ['Answer lost', 'Request lost', 'Away']) {
    expect(resultOf(await publishNow(text, account, media))).toEqual(published(text))
  }
  // Before each request until bytes arrive again, and before the look at what became of each video.
  expect(on.publisher.pauses).toEqual(Array(8).fill(providerPollMs))
  const first = `bytes 0-${youtubePartBytes - 1}/`
  let hindered = 0
  on.server.hinder = ({ headers }) =>
    headers['content-range']?.startsWith(first) && hindered++ === 0 ? 'cut after' : undefined
  const bytes = film({ data: youtubePartBytes + 1_000 })
  expect(resultOf(await publishNow('In parts', account, await moviesOf(bytes)))).toEqual(published('In parts'))
  expect(hindered).toBe(1)
  expect(on.server.videos.map(({ description }) => description)).toEqual([
    'In parts',
    'Away',
    'Request lost',
    'Answer lost',
  ])
})

test.each([
  ['after', 'finds'],
  ['before', 'makes'],
] as const)(
  'a video whose pipeline stops while its last request hangs %s it is done is there once: the next one %s it',
  async (...[when]) => {
    const account = await connectChannel()
    hinderLast(`hang ${when}`)
    const id = await schedulePost(ask, { caption: 'Stopped', accounts: [account], media: await moviesOf() })
    const puts = () => on.server.asked.filter(({ step }) => step.startsWith('PUT ')).length
    await expect.poll(puts).toBe(1)
    await on.publisher.cut()
    // One that is there is listed late.
    answerOnce(on.server, 'GET /youtube/v3/playlistItems', { status: 200, body: { items: [] } })
    on.publisher = runPublisher(stores, undefined, on.server.agent)
    expect(resultOf(await endedPost(ask, id))).toEqual(published('Stopped'))
    expect(on.publisher.pauses).toContain(youtubeListedMs)
    expect(on.server.videos).toHaveLength(1)
  },
)

test('a quota is waited for until midnight in California, and a limit of uploads as long as a platform is believed', async () => {
  await onOneDay('America/Los_Angeles')
  const account = await connectChannel()
  const media = await moviesOf()
  const untilMidnightMs = dayMs - (wallTimeAt(Date.now(), 'America/Los_Angeles') % dayMs)
  const limits: [Answered, number][] = [
    [googleError(403, 'quotaExceeded', 'You have exceeded your quota.'), Math.min(untilMidnightMs, publishWaitMaxMs)],
    [googleError(400, 'uploadLimitExceeded', 'Too many videos.'), publishWaitMaxMs],
  ]
  for (const [answer, expectedMs] of limits) {
    answerOnce(on.server, 'POST /upload/youtube/v3/videos', answer)
    const id = await schedulePost(ask, { caption: 'Limited', accounts: [account], media })
    expect(Math.abs((await endLimit(stores, id)) * 1000 - expectedMs)).toBeLessThan(60_000)
    expect((await endedPost(ask, id)).status).toBe('published')
  }
})

test('an access token is renewed ahead of its end or after it; a refresh token that is revoked expires the account', async () => {
  on.server.state.expiresIn = 300
  const account = await connectChannel()
  const media = await moviesOf()
  const given = () => on.server.asked.filter(({ step }) => step === 'POST /token').length
  on.server.state.expiresIn = 3599
  expect((await publishNow('Ahead', account, media)).status).toBe('published')
  expect(given()).toBe(2)
  on.server.state.tokens.clear()
  expect((await publishNow('Over', account, media)).status).toBe('published')
  expect(given()).toBe(3)
  on.server.state.tokens.clear()
  on.server.state.refreshToken = 'revoked'
  const refused = await publishNow('Revoked', account, media)
  expect(resultOf(refused)).toEqual(failed('not_authorized', 'expired or revoked'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
  on.server.state.refreshToken = googleClient.refresh_token
  await connectChannel()
  await reschedule(ask, refused.id)
  expect((await endedPost(ask, refused.id)).status).toBe('published')
})
