import { expect, test } from 'vitest'
import { askProvider } from '../../pipeline/publishing/request.ts'
import { providerRequestMs, publishAtOnceMax } from '../../schemas/limits/publish-limits.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { type MadeMedia, startMastodon } from '../support/mastodon-server.ts'
import { film, png } from '../support/media-files.ts'
import { paced } from '../support/paced.ts'
import type { Hindrance } from '../support/provider-server.ts'
import { endedPost, reschedule, schedulePost, setUpPlatform } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'
import { isLong } from '../support/short-form.ts'
import { connectMastodon, uploadFile } from '../support/social-platforms.ts'

/** A request that hangs takes until its deadline. */
const losses = isLong ? (['cut after', 'hang after'] as const) : (['cut after'] as const)

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
const on = setUpPlatform(stores, () => startMastodon())

const connect = async (): Promise<number> => (await connectMastodon(stores, mine, on.server)).json.id
const serializeAccount = async () => (await ask('GET', '/v1/social-accounts')).body[0]
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
  expect(await serializeAccount()).toEqual(json)
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
  const media = [
    await uploadFile(api, mine.apiKey, pictures[0]!, { altText: 'Ein Bär – "groß"' }),
    await uploadFile(api, mine.apiKey, pictures[1]!),
  ]
  const caption = 'Räumung 🐻\nhttps://example.com/spring'
  const bytes = film({ data: 300_000 })
  const films = [await uploadFile(api, mine.apiKey, bytes, { type: 'video/mp4', altText: 'A film' })]
  // A question that meets a limit is asked later, and the film isn't uploaded again.
  let isRefused = false
  on.server.hinder = ({ step }) => {
    if (step !== 'GET /api/v1/media/:id' || isRefused) return undefined
    isRefused = true
    return { status: 429, headers: { 'x-ratelimit-reset': new Date(Date.now() + 9_000).toISOString() }, body: {} }
  }
  const watch = await schedulePost(ask, { caption: 'Watch', accounts: [account], media: films })
  const post = await endedPost(ask, await schedulePost(ask, { caption, accounts: [account], media }))
  // A film is attached once the instance has worked on it.
  expect((await endedPost(ask, watch)).status).toBe('published')
  const [made, ...again] = on.server.media.filter(({ contentType }) => contentType === 'video/mp4') as [MadeMedia]
  expect([stepsOf('GET /api/v1/media/:id').length, again]).toEqual([3, []])
  expect(on.publisher.pauses.some((ms) => ms > 8_000 && ms <= 9_000)).toBe(true)
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
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'Odd', accounts: [account] }))
  expect(post).toMatchObject({ status: 'published', targets: [{ publish_result: { external_id: '7', url: uri } }] })
  const asked = { url: `${on.server.url}/api/v1/statuses`, method: 'POST', token: on.server.state.token } as const
  const { body } = await askProvider({ ...asked, signal: new AbortController().signal })
  expect(String(body['url'])).toBe('[object Object]')
})

test.each(losses)(
  'what fails for now is tried again under its key, and a status whose answer was lost (%s) is found',
  async (how) => {
    const account = await connect()
    const schedule = (caption: string) => schedulePost(ask, { caption, accounts: [account] })
    await endedPost(ask, await schedule('Twice'))
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
    for (const id of ids) expect((await endedPost(ask, id)).status).toBe('published')
    expect(on.server.statuses.map(({ text }) => text).sort()).toEqual([...captions, 'Twice'].sort())
    const lost = on.server.statuses.find(({ text }) => text === 'Lost')!
    const { targets } = (await ask<ShownPost>('GET', `/v1/posts/${ids[0]}`)).body
    expect(targets[0]!.publish_result).toMatchObject({ external_id: lost.id })
    for (const caption of ['Again', 'Guarded', 'Slow']) {
      const tried = stepsOf(publishStep).filter(({ json }) => json.status === caption)
      const keys = tried.map(({ headers }) => headers['idempotency-key'])
      expect([caption, keys]).toEqual([caption, [keys[0], keys[0]]])
    }
    expect(await serializeAccount()).toMatchObject({ health_status: 'ok' })
  },
)

test('posts of more pictures than an instance takes in a while are published one after the other, and no attempt is lost', async () => {
  const account = await connect()
  const media: number[] = []
  for (const width of [40, 41, 42, 43]) media.push(await uploadFile(api, mine.apiKey, png({ width })))
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

test('an account that is connected anew while its old token is refused goes on with the new one', async () => {
  const account = await connect()
  on.server.hinder = async ({ step }) => {
    if (step !== publishStep) return undefined
    on.server.hinder = () => undefined
    on.server.state.token = 'a-new-token'
    await connect()
    return { status: 401, body: { error: 'The access token is invalid' } }
  }
  const id = await schedulePost(ask, { caption: 'In between', accounts: [account] })
  expect((await endedPost(ask, id)).status).toBe('published')
  expect(await serializeAccount()).toMatchObject({ status: 'connected', health_status: 'ok' })
})

test('a token that was revoked fails the target, and the account has expired until it is connected anew; disconnecting deletes the new one', async () => {
  const account = await connect()
  on.server.state.token = 'another-token'
  const id = await schedulePost(ask, { caption: 'Refused', accounts: [account] })
  const post = await endedPost(ask, id)
  expect(post.targets[0]!.publish_result).toEqual({
    error: { code: 'not_authorized', message: expect.stringContaining('access token is invalid'), retryable: false },
  })
  expect(await serializeAccount()).toMatchObject({ status: 'expired', health_status: 'error' })
  expect(await connect()).toBe(account)
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).status).toBe('published')
  expect(await serializeAccount()).toMatchObject({ status: 'connected', health_status: 'ok', health_message: '' })
  await svcOn(stores, 'accounts', 'disconnect', String(account))
  const left = 'SELECT 1 FROM social_account_credentials WHERE social_account_id = $1'
  expect(await stores.pg.query(left, [account])).toEqual([])
})

test('what the instance refuses, and what its own limits would, fails at once', async () => {
  const account = await connect()
  // Postgres takes neither NUL nor half a character, wherever the text is cut.
  const error = `Validation failed: Text contains a forbidden word\0\ud83d ${'🙂'.repeat(500)}`
  const refuse = { status: 422, body: { error } }
  on.server.hinder = ({ step }) => (step === publishStep ? refuse : undefined)
  const refused = await endedPost(ask, await schedulePost(ask, { caption: 'Refused', accounts: [account] }))
  expect(refused.targets[0]!.publish_result).toMatchObject({
    error: { code: 'refused', message: expect.stringContaining('forbidden word'), retryable: false },
  })
  on.server.state.maxCharacters = 20
  await connect()
  const askedBefore = on.server.asked.length
  const caption = 'More than twenty characters are written here.'
  const long = await endedPost(ask, await schedulePost(ask, { caption, accounts: [account] }))
  expect(long.targets[0]!.publish_result).toMatchObject({ error: { code: 'invalid', retryable: false } })
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
  await postOnEight(mine)
  await expect.poll(hanging).toBe(publishAtOnceMax / 4)
  await postOnEight(theirs)
  await expect.poll(hanging).toBe(publishAtOnceMax / 2)
  const startedAt = performance.now()
  for (const [who, { workspaceId }] of [[ask, mine] as const, [askAsThem, theirs] as const]) {
    const account = await makeAccount(stores, workspaceId, 'x')
    const post = await endedPost(who, await schedulePost(who, { caption: 'Elsewhere', accounts: [account] }))
    expect(post.status).toBe('published')
  }
  expect(performance.now() - startedAt).toBeLessThan(providerRequestMs)
  expect(hanging()).toBe(publishAtOnceMax / 2)
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
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'By the old one', accounts: [account] }))
  expect(post.targets[0]!.publish_result).toMatchObject({ error: { code: 'not_authorized' } })
  expect(await serializeAccount()).toMatchObject({ status: 'connected', health_status: 'ok', health_message: '' })
  const next = await schedulePost(ask, { caption: 'By the new one', accounts: [account] })
  expect((await endedPost(ask, next)).status).toBe('published')
})

test('a post whose account is disconnected in the middle of an attempt fails with that', async () => {
  const account = await connect()
  on.server.hinder = async ({ step }) => {
    if (step === 'POST /api/v2/media') await svcOn(stores, 'accounts', 'disconnect', String(account))
    return undefined
  }
  const media = [await uploadFile(api, mine.apiKey, png({ width: 9 }))]
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'Too late', accounts: [account], media }))
  const error = { code: 'account_not_connected', message: 'The account is disconnected', retryable: false }
  expect(post.targets[0]!.publish_result).toEqual({ error })
  expect(await serializeAccount()).toMatchObject({ status: 'disconnected', health_status: 'ok' })
  expect(on.server.statuses).toEqual([])
})

test('an account whose answer was lost, and that is taken off the post and put back, has it once', async () => {
  const [account, other] = [await connect(), await makeAccount(stores, mine.workspaceId, 'x')]
  on.server.hinder = ({ step }) => {
    if (step === publishStep) return 'cut after'
    return step.endsWith('/statuses') ? { status: 422, body: { error: 'No' } } : undefined
  }
  const id = await schedulePost(ask, { caption: 'Once', accounts: [account] })
  expect((await endedPost(ask, id)).status).toBe('failed')
  on.server.hinder = () => undefined
  on.server.forgetKeys()
  await ask('POST', `/v1/posts/${id}/schedule`, { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() })
  for (const accounts of [[other], [account, other], [other], [account]]) {
    expect((await ask('PATCH', `/v1/posts/${id}`, { social_account_ids: accounts })).status).toBe(200)
  }
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).targets[0]!.publish_result).toMatchObject({
    external_id: on.server.statuses[0]!.id,
  })
  expect(on.server.statuses).toHaveLength(1)
})

test('a limit of the credentials before ends once the account is connected again', async () => {
  const account = await connect()
  const limit = { status: 429, headers: { 'retry-after': '3600' }, body: { error: 'Too many requests' } }
  on.server.hinder = ({ step }) => (step === publishStep ? limit : undefined)
  const posts = [await schedulePost(ask, { caption: 'Limited', accounts: [account] })]
  await expect.poll(async () => (await serializeAccount()).health_status).toBe('warning')
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
    const id = await schedulePost(ask, { caption: 'Meanwhile', accounts: [account] })
    expect((await endedPost(ask, id)).status).toBe('published')
    expect(await serializeAccount()).toMatchObject({ status: 'connected', health_status: 'ok' })
  },
)
