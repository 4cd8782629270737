import { expect, test } from 'vitest'
import { askProvider } from '../../pipeline/publishing/request.ts'
import {
  mastodonStatusesEach,
  mastodonStatusPagesMax,
  providerRequestMs,
  publishAtOnceMax,
} from '../../schemas/limits/publish-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { type MadeMedia, startMastodon } from '../support/mastodon-server.ts'
import { film, png } from '../support/media-files.ts'
import { paced } from '../support/paced.ts'
import { answerOnce, type Hindrance } from '../support/provider-server.ts'
import { endedPost, failed, reschedule, resultOf, scheduleForLater, schedulePost } from '../support/publisher.ts'
import { asking, makeAccount } from '../support/publishing.ts'
import { isLong } from '../support/short-form.ts'
import { connectMastodon, setUpPublishing } from '../support/social-platforms.ts'

/** A request that hangs takes until its deadline. */
const losses = isLong ? (['cut after', 'hang after'] as const) : (['cut after'] as const)

const { stores, api, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startMastodon())

const connect = async (): Promise<number> => (await connectMastodon(stores, mine, on.server)).json.id
const stepsOf = (step: string) => on.server.asked.filter((asking) => asking.step === step)
const publishStep = 'POST /api/v1/statuses'

test('an account is connected by its token', async () => {
  const { code, json } = await connectMastodon(stores, mine, on.server)
  expect(code).toBe(0)
  expect(json).toMatchObject({
    platform: 'mastodon',
    handle: '@shop@social.test',
    display_name: 'The Shop',
    external_id: '4711',
    connection_type: 'oauth',
    status: 'connected',
    health_status: 'ok',
    provider_metadata: { url: on.server.url, characters_max: 500, media_max: 4 },
  })
  expect(await accounts()).toEqual([json])
  // Known by its id on its instance, whatever it was called.
  await stores.pg.query(`UPDATE social_accounts SET handle = '@old@social.test' WHERE id = $1`, [json.id])
  expect((await connectMastodon(stores, mine, on.server)).json).toEqual(json)
  const elsewhere = `UPDATE social_accounts SET handle = '@shop@else.test', provider_metadata = '{"url": "https://else.test"}'`
  await stores.pg.query(`${elsewhere} WHERE id = $1`, [json.id])
  const other = await connect()
  expect(other).not.toBe(json.id)
})

test('text, images and films are published as they are, with their alternative texts, in their order', async () => {
  const account = await connect()
  const pictures = [png({ width: 40 }), png({ width: 50 })]
  const media = [await upload(pictures[0]!, 'Ein Bär – "groß"'), await upload(pictures[1]!)]
  const caption = 'Räumung 🐻\nhttps://example.com/spring'
  const bytes = film({ data: 300_000 })
  const films = [await upload(bytes, 'A film')]
  // A question that meets a limit is asked later, and the film isn't uploaded again.
  let isRefused = false
  on.server.hinder = ({ step }) => {
    if (step !== 'GET /api/v1/media/:id' || isRefused) return undefined
    isRefused = true
    return { status: 429, headers: { 'x-ratelimit-reset': new Date(Date.now() + 60_000).toISOString() }, body: {} }
  }
  const watch = await schedulePost(ask, { caption: 'Watch', accounts: [account], media: films })
  const post = await publishNow(caption, account, media)
  // A film is attached once the instance has worked on it.
  expect((await endedPost(ask, watch)).status).toBe('published')
  const [made, ...again] = on.server.media.filter(({ contentType }) => contentType === 'video/mp4') as [MadeMedia]
  expect([stepsOf('GET /api/v1/media/:id').length, again]).toEqual([3, []])
  expect(on.publisher.pauses.some((ms) => ms > 40_000 && ms <= 60_000)).toBe(true)
  expect([made.description, made.isAttached, made.bytes.equals(bytes)]).toEqual(['A film', true, true])
  expect(on.server.statuses).toHaveLength(2)
  const status = on.server.statuses.find(({ text }) => text === caption)
  const attached = status!.mediaIds.map((id) => on.server.media.find((one) => one.id === id)!)
  expect(attached.map(({ bytes, contentType, description }) => ({ bytes, contentType, description }))).toEqual([
    { bytes: pictures[0], contentType: 'image/png', description: 'Ein Bär – "groß"' },
    { bytes: pictures[1], contentType: 'image/png', description: undefined },
  ])
  const result = { provider: 'mastodon', external_id: status!.id, url: `https://social.test/@shop/${status!.id}` }
  expect(post).toMatchObject({ status: 'published', targets: [{ publish_result: result }] })
})

test('an instance that answers with objects in place of texts keeps no post from its end', async () => {
  const account = await connect()
  const odd = { toString: 1, valueOf: 1 }
  const uri = 'https://social.test/users/shop/statuses/7'
  on.server.hinder = ({ step }) =>
    step === publishStep ? { status: 200, body: { id: '7', url: odd, uri } } : undefined
  expect(resultOf(await publishNow('Odd', account))).toMatchObject({ external_id: '7', url: uri })
  const asked = { url: `${on.server.url}/api/v1/statuses`, method: 'POST', token: on.server.state.token } as const
  const { body } = await askProvider({ ...asked, signal: new AbortController().signal })
  expect(String(body['url'])).toBe('[object Object]')
})

test.each(losses)(
  'what fails for now is tried again under its key, and a status whose answer was lost (%s) is found',
  async (how) => {
    const account = await connect()
    const schedule = (caption: string) => schedulePost(ask, { caption, accounts: [account] })
    await publishNow('Twice', account)
    const reset = (ms: number) => ({
      'x-ratelimit-limit': '300',
      'x-ratelimit-reset': new Date(Date.now() + ms).toISOString(),
    })
    const hindered = new Map<string, () => Hindrance>([
      ['Lost', () => how],
      ['Twice', () => 'cut before'],
      // Every answer of an instance says when the window of its limit ends: that is no reason to wait for it.
      ['Again', () => ({ status: 503, headers: reset(3 * 3_600_000) })],
      // Another answers than the instance, which would name an error.
      ['Guarded', () => ({ status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' })],
      ['Slow', () => ({ status: 429, headers: reset(2_500), body: { error: 'Too many requests' } })],
    ])
    const captions = [...hindered.keys()]
    on.server.hinder = ({ step, json }) => {
      const hindrance = step === publishStep ? hindered.get(json.status) : undefined
      if (hindrance !== undefined) hindered.delete(json.status)
      return hindrance?.()
    }
    const ids = await Promise.all(captions.map(schedule))
    await expect.poll(() => on.server.statuses.some(({ text }) => text === 'Lost')).toBe(true)
    on.server.forgetKeys()
    const posts = await Promise.all(ids.map((id) => endedPost(ask, id)))
    expect(posts.map(({ status }) => status)).toEqual(captions.map(() => 'published'))
    expect(on.server.statuses.map(({ text }) => text).sort()).toEqual([...captions, 'Twice'].sort())
    const lost = on.server.statuses.find(({ text }) => text === 'Lost')!
    expect(resultOf(posts[0]!)).toMatchObject({ external_id: lost.id })
    for (const caption of ['Again', 'Guarded', 'Slow']) {
      const tried = stepsOf(publishStep).filter(({ json }) => json.status === caption)
      const keys = tried.map(({ headers }) => headers['idempotency-key'])
      expect([caption, keys]).toEqual([caption, [keys[0], keys[0]]])
    }
    expect(await accounts()).toMatchObject([{ health_status: 'ok' }])
  },
)

test('a status whose answer was lost is told by its key among hundreds of newer ones, and after an hour by nobody', async () => {
  const account = await connect()
  let idOfNext = 114_000_000_000_000
  const lose = async (caption: string, before: () => Promise<unknown> = async () => {}): Promise<number> => {
    let isLost = false
    on.server.hinder = async ({ step, json }) => {
      if (step !== publishStep || json.status !== caption || isLost) return undefined
      isLost = true
      await before()
      return 'cut after'
    }
    const id = await schedulePost(ask, { caption, accounts: [account] })
    await expect.poll(() => on.server.statuses.some(({ text }) => text === caption)).toBe(true)
    const createdAt = new Date().toISOString()
    for (let nth = 0; nth < mastodonStatusPagesMax * mastodonStatusesEach; nth++)
      on.server.statuses.push({ id: String(idOfNext++), text: 'Newer', mediaIds: [], inReplyTo: null, createdAt })
    return id
  }
  const soon = await endedPost(ask, await lose('Soon'))
  const made = on.server.statuses.filter(({ text }) => text === 'Soon')
  expect([made.length, resultOf(soon)]).toMatchObject([1, { external_id: made[0]!.id }])
  // Before the next attempt can begin.
  const longAgo = `UPDATE post_targets SET sent_at = sent_at - interval '1 hour' FROM posts
    WHERE posts.id = post_id AND workspace_id = $1 AND base_caption = 'Late'`
  const late = await lose('Late', () => stores.pg.query(longAgo, [mine.workspaceId]))
  expect(resultOf(await endedPost(ask, late))).toEqual(failed('outcome_unknown', 'Look there first'))
})

test('posts of more pictures than an instance takes in a while are published one after the other, and no attempt is lost', async () => {
  const account = await connect()
  const media: number[] = []
  for (const width of [40, 41, 42, 43]) media.push(await upload(png({ width })))
  const limit = { left: 30, resetAt: 0, refused: 0 }
  on.server.hinder = ({ step }) => {
    if (step !== 'POST /api/v2/media') return undefined
    if (limit.resetAt > 0 && Date.now() >= limit.resetAt) Object.assign(limit, { left: 30, resetAt: 0 })
    if (limit.left-- > 0) return undefined
    limit.refused += 1
    limit.resetAt ||= Date.now() + paced(5_000)
    const headers = { 'x-ratelimit-reset': new Date(Date.now() + 5_000).toISOString() }
    return { status: 429, headers, body: { error: 'Too many requests' } }
  }
  const post = { caption: 'Four pictures', accounts: [account], media }
  const ids = await Promise.all(Array.from({ length: 10 }, () => schedulePost(ask, post)))
  for (const id of ids) expect((await endedPost(ask, id)).status).toBe('published')
  expect([limit.refused, on.server.media.length]).toEqual([1, 10 * media.length + 2])
  const counted = 'SELECT sum(attempt_count)::int AS attempts FROM post_targets WHERE social_account_id = $1'
  expect(await stores.pg.query(counted, [account])).toEqual([{ attempts: 0 }])
})

test('a token that was revoked fails the target, and the account has expired until it is connected anew', async () => {
  const account = await connect()
  on.server.state.token = 'another-token'
  const post = await publishNow('Refused', account)
  expect(resultOf(post)).toEqual(failed('not_authorized', 'access token is invalid'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
  expect(await connect()).toBe(account)
  await reschedule(ask, post.id)
  expect((await endedPost(ask, post.id)).status).toBe('published')
  expect(await accounts()).toMatchObject([{ status: 'connected', health_status: 'ok', health_message: '' }])
})

test('what the instance refuses, and what its own limits would, fails at once', async () => {
  const account = await connect()
  // Postgres takes neither NUL nor half a character, wherever the text is cut.
  const error = `Validation failed: Text contains a forbidden word\0\ud83d ${'🙂'.repeat(500)}`
  answerOnce(on.server, publishStep, { status: 422, body: { error } })
  expect(resultOf(await publishNow('Refused', account))).toEqual(failed('refused', 'forbidden word'))
  on.server.state.maxCharacters = 20
  await connect()
  const askedBefore = on.server.asked.length
  const caption = 'More than twenty characters are written here.'
  expect(resultOf(await publishNow(caption, account))).toEqual(failed('invalid', 'takes 20 characters'))
  expect(on.server.asked).toHaveLength(askedBefore)
})

test('servers that hang take a quarter of the places for a workspace, half for a platform, and delay no other', async () => {
  const first = await connect()
  const theirs = await makeWorkspace(stores)
  const askAsThem = asking(api, () => theirs.apiKey)
  const postOnEight = ({ workspaceId }: { workspaceId: number }) =>
    stores.pg.query(
      `WITH made AS (
         INSERT INTO social_accounts (workspace_id, platform, handle, display_name, connection_type, external_id, provider_metadata)
         SELECT $2, platform, handle || n, handle, connection_type, external_id || n, provider_metadata
         FROM social_accounts, generate_series(1, 8) AS n WHERE id = $1 RETURNING id
       ), signed AS (
         INSERT INTO social_account_credentials (social_account_id, sealed)
         SELECT made.id, sealed FROM made, social_account_credentials c WHERE c.social_account_id = $1
       ), post AS (
         INSERT INTO posts (workspace_id, title, base_caption, status, scheduled_at)
         SELECT $2, 'Hangs', 'Hangs', 'scheduled', now() FROM generate_series(1, 16) RETURNING id
       ) INSERT INTO post_targets (post_id, place, social_account_id, status)
       SELECT post.id, row_number() OVER (), made.id, 'scheduled' FROM made, post`,
      [first, workspaceId],
    )
  on.server.hinder = () => 'hang before'
  const before = on.server.asked.length
  const hanging = () => on.server.asked.length - before
  const startedAt = performance.now()
  // On a slow machine the first ones reach their deadline before the last ones hang, and are asked for once more.
  const isInTime = () => performance.now() - startedAt < providerRequestMs
  await postOnEight(mine)
  await expect.poll(hanging).toBeGreaterThanOrEqual(publishAtOnceMax / 4)
  if (isInTime()) expect(hanging()).toBe(publishAtOnceMax / 4)
  await postOnEight(theirs)
  await expect.poll(hanging).toBeGreaterThanOrEqual(publishAtOnceMax / 2)
  for (const [who, { workspaceId }] of [[ask, mine] as const, [askAsThem, theirs] as const]) {
    const account = await makeAccount(stores, workspaceId, 'x')
    const post = await endedPost(who, await schedulePost(who, { caption: 'Elsewhere', accounts: [account] }))
    expect(post.status).toBe('published')
  }
  if (isLong) expect(isInTime()).toBe(true)
  if (isInTime()) expect(hanging()).toBe(publishAtOnceMax / 2)
})

test('an account that is connected again while an attempt by its old token fails stays connected', async () => {
  const account = await connect()
  on.server.hinder = async ({ step }) => {
    if (step === publishStep) return { status: 401, body: { error: 'The access token was revoked' } }
    if (!step.startsWith('GET /api/v1/accounts/:id/statuses')) return undefined
    on.server.hinder = () => undefined
    on.server.state.token = 'the-next-token'
    await connect()
    return undefined
  }
  expect(resultOf(await publishNow('By the old one', account))).toEqual(failed('not_authorized', 'was revoked'))
  expect(await accounts()).toMatchObject([{ status: 'connected', health_status: 'ok', health_message: '' }])
  expect((await publishNow('By the new one', account)).status).toBe('published')
})

test('a post whose account is disconnected in the middle of an attempt fails with that', async () => {
  const account = await connect()
  on.server.hinder = async ({ step }) => {
    if (step === 'POST /api/v2/media') await svcOn(stores, 'accounts', 'disconnect', String(account))
    return undefined
  }
  const post = await publishNow('Too late', account, [await upload(png({ width: 9 }))])
  expect(resultOf(post)).toEqual(failed('account_not_connected', 'The account is disconnected'))
  expect(await accounts()).toMatchObject([{ status: 'disconnected', health_status: 'ok' }])
  expect(on.server.statuses).toEqual([])
})

test('an account whose answer was lost, and that is taken off the post and put back, has it once', async () => {
  const [account, other] = [await connect(), await makeAccount(stores, mine.workspaceId, 'x')]
  on.server.hinder = ({ step }) => {
    if (step === publishStep) return 'cut after'
    return step.endsWith('/statuses') ? { status: 422, body: { error: 'No' } } : undefined
  }
  const { id, status } = await publishNow('Once', account)
  expect(status).toBe('failed')
  on.server.hinder = () => undefined
  on.server.forgetKeys()
  await scheduleForLater(ask, id)
  for (const accounts of [[other], [account, other], [other], [account]]) {
    expect((await ask('PATCH', `/v1/posts/${id}`, { social_account_ids: accounts })).status).toBe(200)
  }
  await reschedule(ask, id)
  expect(resultOf(await endedPost(ask, id))).toMatchObject({ external_id: on.server.statuses[0]!.id })
  expect(on.server.statuses).toHaveLength(1)
})

test('a limit of the credentials before ends once the account is connected again', async () => {
  const account = await connect()
  const limit = { status: 429, headers: { 'retry-after': '3600' }, body: { error: 'Too many requests' } }
  on.server.hinder = ({ step }) => (step === publishStep ? limit : undefined)
  const posts = [await schedulePost(ask, { caption: 'Limited', accounts: [account] })]
  await expect.poll(accounts).toMatchObject([{ health_status: 'warning' }])
  posts.push(await schedulePost(ask, { caption: 'Held', accounts: [account] }))
  on.server.hinder = () => undefined
  await connect()
  for (const id of posts) expect((await endedPost(ask, id)).status).toBe('published')
})

test.each([
  ['a limit', [{ status: 429, headers: { 'retry-after': '3600' }, body: { error: 'Too many requests' } }]],
  // An attempt goes on with other credentials once by itself.
  ['a refusal', [1, 2].map(() => ({ status: 401, body: { error: 'The access token was revoked' } }))],
])(
  '%s of a token that another took the place of meanwhile neither fails the post nor holds the account',
  async (_, answers) => {
    const account = await connect()
    const left = [...answers]
    on.server.hinder = async ({ step }) => {
      const answer = step === publishStep ? left.shift() : undefined
      if (answer !== undefined) await connect()
      return answer
    }
    expect((await publishNow('Meanwhile', account)).status).toBe('published')
    expect(await accounts()).toMatchObject([{ status: 'connected', health_status: 'ok' }])
  },
)
