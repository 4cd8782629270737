/** Each post has an account of its own: they are published side by side, which takes less time. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { publishWaitMaxMs, tiktokPartBytes } from '../../schemas/limits/publish-limits.ts'
import { setUpApi, testApiHost } from '../support/api.ts'
import type { FetchFile } from '../support/container-server.ts'
import { film, jpeg } from '../support/media-files.ts'
import type { Hindrance } from '../support/provider-server.ts'
import { endedPost, reschedule, runPublisher, schedulePost, type TestPublisher } from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'
import { connectTo, uploadFile } from '../support/social-platforms.ts'
import { startTiktok, type TiktokCreator, type TiktokServer, tiktokApp, tiktokError } from '../support/tiktok-server.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
const ask = asking(api, () => mine.apiKey)
const fetchFile: FetchFile = (url) => api.ask(url.replace(testApiHost, ''))
let server: TiktokServer
let publisher: TestPublisher
const run = (apiHost?: string) => runPublisher(stores, undefined, server.agent, apiHost)
beforeAll(async () => {
  server = await startTiktok(fetchFile, `${testApiHost}/media/`)
  server.hinder = (asked) => {
    const creator = server.creatorOf(asked)
    return creator && hindered.get(creator)?.[asked.step]?.shift()
  }
  publisher = run()
})
afterAll(async () => {
  await publisher.close()
  expect(server.faults).toEqual([])
  await server.close()
})

const steps = {
  ...{ renewal: 'POST /v2/oauth/token/', upload: 'PUT /video/', status: 'POST /v2/post/publish/status/fetch/' },
  ...{ video: 'POST /v2/post/publish/video/init/', photos: 'POST /v2/post/publish/content/init/' },
}
/** For the next requests of an account, by their step. */
const hindered = new Map<TiktokCreator, Partial<Record<string, (Hindrance | undefined)[]>>>()
const away: Hindrance = { status: 503, body: '' }

const tokensOf = ({ accessToken, refreshToken }: TiktokCreator) => ({
  access_token: accessToken,
  refresh_token: refreshToken,
})
const connect = (secret: object | string, words = ['--privacy', 'everyone']) => {
  const text = typeof secret === 'string' ? secret : JSON.stringify({ ...tiktokApp, ...secret })
  return connectTo(stores, mine, 'tiktok', '--secret', text, ...words)
}
async function connectCreator(creator = server.addCreator(), privacy = 'everyone') {
  const id: number = (await connect(tokensOf(creator), ['--privacy', privacy])).json.id
  return { creator, id }
}
type Account = Awaited<ReturnType<typeof connectCreator>>

const movieOf = (bytes = film({ data: 300_000 })) => uploadFile(api, mine.apiKey, bytes, { type: 'video/mp4' })
const photoOf = (fill = 1_000) => uploadFile(api, mine.apiKey, jpeg({ width: 40, fill }), { type: 'image/jpeg' })
const schedule = ({ id }: Account, caption: string, media: number[], title?: string) =>
  schedulePost(ask, { title, caption, accounts: [id], media })
const publishNow = async (...[account, caption, media, title]: Parameters<typeof schedule>) =>
  endedPost(ask, await schedule(account, caption, media, title))
const resultOf = (post: Awaited<ReturnType<typeof endedPost>>) => post.targets[0]!.publish_result
const postsOf = ({ creator }: Account, text: string) =>
  creator.posts().filter(({ info, isPhoto }) => info[isPhoto ? 'description' : 'title'] === text)

/** As the only one of its text. */
function published(account: Account, text: string) {
  const [{ postId, isPhoto } = { postId: 'none', isPhoto: false }, ...others] = postsOf(account, text)
  expect(others).toEqual([])
  const url = `https://www.tiktok.com/@${account.creator.username}/${isPhoto ? 'photo' : 'video'}/${postId}`
  return expect.objectContaining({ provider: 'tiktok', external_id: postId, url })
}
const failed = (code: string, said: string) => ({
  error: { code, message: expect.stringContaining(said), retryable: false },
})
/** `expect.poll` doesn't know which of the tests side by side asks. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await sleep(50)
}
/** Until an attempt has failed so, or later ones have ended the post. */
const untilSaid = (id: number, said: string) =>
  until(async () => {
    const [{ status, publish_result }] = (await ask('GET', `/v1/posts/${id}`)).body.targets
    return JSON.stringify(publish_result).includes(said) || ['published', 'failed'].includes(status)
  })
/** Then the next one comes at once. */
async function hasten(id: number, said: string): Promise<void> {
  await untilSaid(id, said)
  await stores.pg.query('UPDATE post_targets SET next_attempt_at = now() WHERE post_id = $1 AND claimed_by IS NULL', [
    id,
  ])
}
const renewalsOf = (...tokens: string[]) =>
  server.asked.filter(({ step, bytes }) => step === steps.renewal && tokens.some((token) => bytes.includes(token)))

test.concurrent('an account is connected by its tokens, which are stored encrypted, for a privacy level that it has', async () => {
  const creator = server.addCreator()
  const { accessToken, refreshToken, openId, username } = creator
  const { json } = await connect(tokensOf(creator), ['--privacy', 'friends'])
  expect(json).toMatchObject({
    ...{ handle: `@${username}`, display_name: creator.nickname, external_id: openId, connection_type: 'oauth' },
    provider_metadata: { privacy_level: 'MUTUAL_FOLLOW_FRIENDS' },
  })
  const rows = await stores.pg.query('SELECT row_to_json(c)::text AS c FROM social_account_credentials c')
  const shown = JSON.stringify([json, rows, (await ask('GET', '/v1/audit-log')).body])
  for (const secret of [accessToken, refreshToken, tiktokApp.client_secret]) {
    expect([shown.includes(secret), shown.includes(Buffer.from(secret).toString('hex'))]).toEqual([false, false])
  }
  const everyone = ['--privacy', 'everyone']
  const own = tokensOf(creator)
  const refusals: [object | string, string[], number, string][] = [
    [{ access_token: 'act.old', refresh_token: 'rft.old' }, everyone, 1, 'invalid or expired'],
    [{ access_token: accessToken }, everyone, 1, 'refresh_token'],
    [accessToken, everyone, 1, 'JSON'],
    [own, ['--privacy', 'followers'], 1, 'everyone, friends, self'],
    [own, ['--privacy', 'all'], 2, '--privacy'],
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
  expect(await connectTo(stores, mine, 'x', '--secret', 'a', '--privacy', 'self')).toMatchObject({ code: 2 })
})

test.concurrent('a video goes in parts: one whose answer is lost, or that never came, goes on where it was, and there is one video', async () => {
  const account = await connectCreator()
  hindered.set(account.creator, { [steps.upload]: ['cut after', 'cut before', away, 'cut after'] })
  const bytes = film({ data: 2 * tiktokPartBytes + 1_234 })
  const text = `Sale 🎉 #spring\n${'ä'.repeat(2_000)}`
  expect(resultOf(await publishNow(account, text, [await movieOf(bytes)]))).toEqual(published(account, text))
  const [{ info, files, upload }, ...others] = account.creator.begun as [(typeof account.creator.begun)[0]]
  expect([files[0]!.equals(bytes), upload!.count, others]).toEqual([true, 2, []])
  expect(info).toMatchObject({ disable_comment: false, disable_duet: true, privacy_level: 'PUBLIC_TO_EVERYONE' })
})

test.concurrent('photos are fetched, with title and description; a private post has no address of its own', async () => {
  const [account, alone] = [await connectCreator(), await connectCreator(server.addCreator(), 'self')]
  const photos = [await photoOf(50_000), await photoOf()]
  const [shown, hidden] = await Promise.all([
    publishNow(account, 'Photos', photos, `All\n${'b'.repeat(100)}`),
    publishNow(alone, 'Mine', [await movieOf()]),
  ])
  expect(resultOf(shown)).toEqual(published(account, 'Photos'))
  const [{ info, files }] = account.creator.begun as [(typeof account.creator.begun)[0]]
  expect(info).toMatchObject({ title: `All ${'b'.repeat(86)}`, auto_add_music: false })
  expect(files).toEqual([50_000, 1_000].map((fill) => jpeg({ width: 40, fill })))
  const { publishId } = alone.creator.begun[0]!
  const url = `https://www.tiktok.com/@${alone.creator.username}`
  expect(resultOf(hidden)).toMatchObject({ external_id: publishId, url })
})

test.concurrent('what TikTok refuses fails with its code, and leaves no doubt: the same post can be sent anew', async () => {
  const [movie, photo] = [await movieOf(), await photoOf()]
  const refused: [string, Partial<TiktokCreator>, number][] = [
    ['unaudited_client_can_only_post_to_private_accounts', { isAudited: false }, movie],
    ['url_ownership_unverified', { verifiedPrefix: 'https://elsewhere.example/' }, photo],
    ['frame_rate_check_failed', { failReasons: ['frame_rate_check_failed'] }, movie],
    ['followers, self', { levels: ['FOLLOWER_OF_CREATOR', 'SELF_ONLY'] }, movie],
  ]
  const retry = async ([said, change, file]: (typeof refused)[0]) => {
    const account = await connectCreator()
    const { isAudited, verifiedPrefix, levels } = account.creator
    Object.assign(account.creator, change)
    const post = await publishNow(account, said, [file])
    expect(resultOf(post)).toEqual(failed('refused', said))
    Object.assign(account.creator, { isAudited, verifiedPrefix, levels })
    await reschedule(ask, post.id)
    expect(resultOf(await endedPost(ask, post.id))).toEqual(published(account, said))
  }
  await Promise.all(refused.map(retry))
})

test.concurrent('a later attempt asks for the earlier one by its name: a video is found, or sent if it was cut short', async () => {
  const [account, short] = [await connectCreator(), await connectCreator()]
  const movie = await movieOf()
  hindered.set(account.creator, { [steps.status]: [away] })
  account.creator.polls = 1
  // The last part never comes.
  hindered.set(short.creator, { [steps.upload]: [away, away, away] })
  const found = await schedule(account, 'Found', [movie])
  const cut = await schedule(short, 'Cut short', [movie])
  await Promise.all([found, cut].map((id) => hasten(id, '503')))
  expect(resultOf(await endedPost(ask, found))).toEqual(published(account, 'Found'))
  expect(resultOf(await endedPost(ask, cut))).toEqual(published(short, 'Cut short'))
  expect([account.creator.begun.length, short.creator.begun.length]).toEqual([1, 2])
})

test.concurrent('photos whose name was lost fail as unknown, and are not sent again', async () => {
  const [account, second] = [await connectCreator(), await connectCreator()]
  const media = [await photoOf()]
  hindered.set(account.creator, { [steps.photos]: ['cut after'] })
  // The first one fails, and the answer of the second is lost: the first one's name doesn't tell of it.
  hindered.set(second.creator, { [steps.status]: [away], [steps.photos]: [undefined, 'cut after'] })
  second.creator.failReasons = ['photo_pull_failed']
  const [lost, twice] = [await schedule(account, 'Lost', media), await schedule(second, 'Twice', media)]
  await hasten(twice, '503')
  for (const id of [lost, twice]) {
    await hasten(id, 'reached')
    expect(resultOf(await endedPost(ask, id))).toEqual(failed('outcome_unknown', 'may be there'))
  }
  expect([postsOf(account, 'Lost').length, postsOf(second, 'Twice').length]).toEqual([1, 1])
  expect(second.creator.begun).toHaveLength(2)
})

test.concurrent('limits are waited for: a minute, and as long as a platform is believed for those of a day', async () => {
  const movie = await movieOf()
  const wait = async (status: number, code: string, expectedMs: number) => {
    const account = await connectCreator()
    hindered.set(account.creator, { [steps.video]: [tiktokError(status, code)] })
    const id = await schedule(account, 'Limited', [movie])
    await untilSaid(id, code)
    const [row] = await stores.pg.query<{ wait: number }>(
      'SELECT extract(epoch FROM next_attempt_at - now())::float8 * 1000 AS wait FROM post_targets WHERE post_id = $1',
      [id],
    )
    expect(Math.abs(row!.wait - expectedMs)).toBeLessThan(30_000)
  }
  await Promise.all([wait(429, 'rate_limit_exceeded', 60_000), wait(403, 'spam_risk_too_many_posts', publishWaitMaxMs)])
})

test.concurrent('tokens are renewed ahead of their end or after it, each by the last refresh token, and no post is sent twice for it', async () => {
  const account = await connectCreator()
  const { creator } = account
  const tokens = [creator.refreshToken]
  const [movie, photo] = [await movieOf(), await photoOf()]
  await publishNow(account, 'Ahead', [movie])
  tokens.push(creator.refreshToken)
  // The session ends behind the request that publishes.
  hindered.set(creator, { [steps.status]: [tiktokError(401, 'access_token_invalid')] })
  expect(resultOf(await publishNow(account, 'Over', [photo]))).toEqual(published(account, 'Over'))
  expect(renewalsOf(...tokens)).toHaveLength(2)
  Object.assign(creator, { accessToken: `${creator.accessToken}-x`, refreshToken: `${creator.refreshToken}-x` })
  expect(resultOf(await publishNow(account, 'Revoked', [movie]))).toEqual(
    failed('not_authorized', 'invalid or expired'),
  )
  const shown = (await ask('GET', '/v1/social-accounts')).body.find(({ id }: { id: number }) => id === account.id)
  expect(shown).toMatchObject({ status: 'expired', health_status: 'error' })
})

test('photos that nobody outside could fetch fail before TikTok is asked', async () => {
  const account = await connectCreator()
  await publisher.close()
  publisher = run('http://localhost:8080')
  const post = await publishNow(account, 'Local', [await photoOf()])
  expect(resultOf(post)).toEqual(failed('invalid', 'API_HOST'))
  expect(account.creator.begun).toEqual([])
})
