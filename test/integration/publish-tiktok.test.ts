/** Each post has an account of its own: they are published side by side, which takes less time. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publishWaitMaxMs, tiktokArrivalMs, tiktokPartBytes } from '../../schemas/limits/publish-limits.ts'
import { setUpApi } from '../support/api.ts'
import { film } from '../support/media-files.ts'
import type { Hindrance } from '../support/provider-server.ts'
import {
  endedPost,
  endLimit,
  failed,
  reschedule,
  resultOf,
  runPublisher,
  schedulePost,
  type TestPublisher,
} from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'
import { connectTo, uploadFile } from '../support/social-platforms.ts'
import { startTiktok, type TiktokCreator, type TiktokServer, tiktokApp, tiktokError } from '../support/tiktok-server.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
const ask = asking(api, () => mine.apiKey)
let server: TiktokServer
let publisher: TestPublisher
beforeAll(async () => {
  server = await startTiktok()
  server.hinder = (asked) => {
    const creator = server.creatorOf(asked)
    return creator && hindered.get(creator)?.[asked.step]?.shift()
  }
  publisher = runPublisher(stores, undefined, server.agent)
})
afterAll(async () => {
  await publisher.close()
  expect(server.faults).toEqual([])
  await server.close()
})

const steps = {
  renewal: 'POST /v2/oauth/token/',
  video: 'POST /v2/post/publish/video/init/',
  upload: 'PUT /video/',
  status: 'POST /v2/post/publish/status/fetch/',
}
/** For the next requests of an account, by their step. */
type Hindrances = Partial<Record<string, Hindrance[]>>
const hindered = new Map<TiktokCreator, Hindrances>()
const away: Hindrance = { status: 503, body: '' }

const tokensOf = ({ accessToken, refreshToken }: TiktokCreator) => ({
  access_token: accessToken,
  refresh_token: refreshToken,
})
const connect = (tokens: object, words = ['--privacy', 'everyone']) =>
  connectTo(stores, mine, 'tiktok', '--secret', JSON.stringify({ ...tiktokApp, ...tokens }), ...words)
async function connectCreator(creator = server.addCreator(), privacy = 'everyone') {
  const id: number = (await connect(tokensOf(creator), ['--privacy', privacy])).json.id
  return { creator, id }
}
type Account = Awaited<ReturnType<typeof connectCreator>>

const movieOf = (bytes = film({ data: 300_000 })) => uploadFile(api, mine.apiKey, bytes)
const schedule = ({ id }: Account, caption: string, movie: number) =>
  schedulePost(ask, { caption, accounts: [id], media: [movie] })
const publishNow = async (...args: Parameters<typeof schedule>) => endedPost(ask, await schedule(...args))
const postsOf = ({ creator }: Account, text: string) => creator.posts().filter(({ info }) => info.title === text)

/** As the only one of its text. */
function published(account: Account, text: string) {
  const [{ postId } = { postId: 'none' }, ...others] = postsOf(account, text)
  expect(others).toEqual([])
  const url = `https://www.tiktok.com/@${account.creator.username}/video/${postId}`
  return expect.objectContaining({ provider: 'tiktok', external_id: postId, url })
}
const renewalsOf = (...tokens: string[]) =>
  server.asked.filter(({ step, bytes }) => step === steps.renewal && tokens.some((token) => bytes.includes(token)))
/** Parts of videos that were sent. */
const uploadsOf = ({ begun }: TiktokCreator) =>
  server.asked.filter(
    ({ step, query }) => step === steps.upload && begun.some(({ publishId }) => publishId === query.get('upload_id')),
  ).length

test.concurrent('an account is connected by its tokens, for a privacy level that it has', async () => {
  const creator = server.addCreator()
  const { refreshToken, openId, username } = creator
  const { json } = await connect(tokensOf(creator), ['--privacy', 'friends'])
  expect(json).toMatchObject({
    handle: `@${username}`,
    display_name: creator.nickname,
    external_id: openId,
    connection_type: 'oauth',
    provider_metadata: { privacy_level: 'MUTUAL_FOLLOW_FRIENDS' },
  })
  const everyone = ['--privacy', 'everyone']
  const own = tokensOf(creator)
  const refusals: [object, string[], number, string][] = [
    [{ access_token: 'act.old', refresh_token: 'rft.old' }, everyone, 1, 'invalid or expired'],
    [own, ['--privacy', 'followers'], 1, 'everyone, friends, self'],
    [own, [], 2, '--privacy'],
  ]
  for (const [secret, words, code, said] of refusals) {
    expect(await connect(secret, words)).toMatchObject({ code, err: expect.stringContaining(said) })
  }
  creator.hasScope = false
  expect(await connect(own)).toMatchObject({ code: 1, err: expect.stringContaining('scope_not_authorized') })
  creator.hasScope = true
  // None of these has used the refresh token up. An access token that is over by now is renewed.
  expect(renewalsOf(refreshToken)).toEqual([])
  expect(await connect({ ...own, access_token: 'act.old' })).toMatchObject({ code: 0 })
})

test.concurrent('a video goes in parts: one whose answer is lost, or that never came, goes on where it was, and there is one video', async () => {
  const account = await connectCreator()
  hindered.set(account.creator, { [steps.upload]: ['cut after', 'cut before', 'cut after'] })
  const bytes = film({ data: 2 * tiktokPartBytes + 1_234 })
  const text = `Sale 🎉 #spring\n${'ä'.repeat(2_000)}`
  expect(resultOf(await publishNow(account, text, await movieOf(bytes)))).toEqual(published(account, text))
  const [{ info, received, upload }, ...others] = account.creator.begun as [(typeof account.creator.begun)[0]]
  expect([received.equals(bytes), upload.count, others]).toEqual([true, 2, []])
  expect(info).toMatchObject({ disable_comment: false, disable_duet: true, privacy_level: 'PUBLIC_TO_EVERYONE' })
})

test.concurrent('a private video has no address of its own', async () => {
  const account = await connectCreator(server.addCreator(), 'self')
  const post = await publishNow(account, 'Mine', await movieOf())
  const { publishId } = account.creator.begun[0]!
  const url = `https://www.tiktok.com/@${account.creator.username}`
  expect(resultOf(post)).toMatchObject({ external_id: publishId, url })
})

test.concurrent('what TikTok refuses fails with its code, and leaves no doubt: the same post can be sent anew', async () => {
  const movie = await movieOf()
  const refused: [string, Partial<TiktokCreator>][] = [
    ['unaudited_client_can_only_post_to_private_accounts', { isAudited: false }],
    ['frame_rate_check_failed', { failReasons: ['frame_rate_check_failed'] }],
    ['followers, self', { levels: ['FOLLOWER_OF_CREATOR', 'SELF_ONLY'] }],
  ]
  const retry = async ([said, change]: (typeof refused)[0]) => {
    const account = await connectCreator()
    const { isAudited, levels } = account.creator
    Object.assign(account.creator, change)
    const post = await publishNow(account, said, movie)
    expect(resultOf(post)).toEqual(failed('refused', said))
    Object.assign(account.creator, { isAudited, levels })
    await reschedule(ask, post.id)
    expect(resultOf(await endedPost(ask, post.id))).toEqual(published(account, said))
  }
  await Promise.all(refused.map(retry))
})

test.concurrent('a later attempt asks for the earlier one by its name: a video is found, or sent again if it was cut short or failed', async () => {
  const movie = await movieOf()
  const retry = async (text: string, steps: Hindrances, change: Partial<TiktokCreator>, sent: number) => {
    const account = await connectCreator()
    hindered.set(account.creator, steps)
    Object.assign(account.creator, change)
    const id = await schedule(account, text, movie)
    expect(resultOf(await endedPost(ask, id))).toEqual(published(account, text))
    expect(account.creator.begun).toHaveLength(sent)
  }
  await Promise.all([
    retry('Found', { [steps.status]: [away] }, { polls: 1 }, 1),
    // The last part never comes.
    retry('Cut short', { [steps.upload]: [away, away, away] }, {}, 2),
    retry('Failed', { [steps.status]: [away] }, { failReasons: ['internal'] }, 2),
  ])
  expect(publisher.pauses).toContain(tiktokArrivalMs)
})

test.concurrent('a video whose name TikTok has forgotten fails as unknown, and is not sent again', async () => {
  const account = await connectCreator()
  hindered.set(account.creator, { [steps.status]: [away, tiktokError(400, 'invalid_publish_id')] })
  const id = await schedule(account, 'Forgotten', await movieOf())
  expect(resultOf(await endedPost(ask, id))).toEqual(failed('outcome_unknown', 'may be there'))
  expect(account.creator.begun).toHaveLength(1)
})

test.concurrent('limits are waited for: a minute, and as long as a platform is believed for those of a day', async () => {
  const movie = await movieOf()
  const wait = async (status: number, code: string, expectedMs: number) => {
    const account = await connectCreator()
    hindered.set(account.creator, { [steps.video]: [tiktokError(status, code)] })
    const waitMs = 1000 * (await endLimit(stores, await schedule(account, 'Limited', movie)))
    expect(Math.abs(waitMs - expectedMs)).toBeLessThan(30_000)
  }
  await Promise.all([wait(429, 'rate_limit_exceeded', 60_000), wait(403, 'spam_risk_too_many_posts', publishWaitMaxMs)])
})

test.concurrent('tokens are renewed ahead of their end or after it, each by the last refresh token, and no post is sent twice for it', async () => {
  const account = await connectCreator()
  const { creator } = account
  const tokens = [creator.refreshToken]
  const movie = await movieOf()
  await publishNow(account, 'Ahead', movie)
  tokens.push(creator.refreshToken)
  // The session ends behind the request that publishes: its repeat sends no byte again.
  hindered.set(creator, { [steps.status]: [tiktokError(401, 'access_token_invalid')] })
  expect(resultOf(await publishNow(account, 'Over', movie))).toEqual(published(account, 'Over'))
  expect([renewalsOf(...tokens).length, uploadsOf(creator)]).toEqual([2, 2])
  Object.assign(creator, { accessToken: `${creator.accessToken}-x`, refreshToken: `${creator.refreshToken}-x` })
  expect(resultOf(await publishNow(account, 'Revoked', movie))).toEqual(failed('not_authorized', 'invalid or expired'))
  const shown = (await ask('GET', '/v1/social-accounts')).body.find(({ id }: { id: number }) => id === account.id)
  expect(shown).toMatchObject({ status: 'expired', health_status: 'error' })
})
