import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { type BlueskyServer, knownHandles, startBluesky, testDid, testHandle } from '../support/bluesky-server.ts'
import { film, png } from '../support/media-files.ts'
import { endedPost, runPublisher, schedulePost, type TestPublisher } from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'
import { isLong } from '../support/short-form.ts'
import { connectBluesky, svcAccounts, uploadFile } from '../support/social-platforms.ts'

/** A request that hangs takes until its deadline. */
const losses = isLong ? (['cut after', 'hang after'] as const) : (['cut after'] as const)

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
let publisher: TestPublisher
let server: BlueskyServer
beforeAll(() => {
  publisher = runPublisher(stores)
})
afterAll(() => publisher.close())
beforeEach(async () => {
  server = await startBluesky()
})
afterEach(async () => {
  expect(server.faults).toEqual([])
  await server.close()
})

const connect = async (): Promise<number> => (await connectBluesky(stores, mine, server)).json.id
const serializeAccount = async () => (await ask('GET', '/v1/social-accounts')).body[0]
const createStep = 'POST /xrpc/com.atproto.repo.createRecord'
const stepsOf = (step: string) => server.asked.filter((asking) => asking.step === step)
const publishNow = async (caption: string, account: number, media: number[] = []) =>
  endedPost(ask, await schedulePost(ask, { caption, accounts: [account], media }))

test('an account is connected by its app password, which is stored encrypted and shown nowhere', async () => {
  const { code, json } = await connectBluesky(stores, mine, server)
  expect(code).toBe(0)
  expect(json).toMatchObject({
    ...{ platform: 'bluesky', handle: testHandle, external_id: testDid, connection_type: 'app_password' },
    ...{ status: 'connected', health_status: 'ok', provider_metadata: { url: server.url } },
  })
  const rows = await stores.pg.query('SELECT row_to_json(c)::text AS c FROM social_account_credentials c')
  const audit = (await ask('GET', '/v1/audit-log')).body
  for (const written of [server.state.password, Buffer.from(server.state.password).toString('hex')]) {
    expect(JSON.stringify([json, rows, audit])).not.toContain(written)
  }
})

test('an app password that is refused is not connected, nor one without a handle', async () => {
  const words = ['connect', '--workspace', String(mine.workspaceId), '--platform', 'bluesky', '--url', server.url]
  const wrong = await svcAccounts(stores, ...words, '--secret', 'wrong', '--handle', testHandle)
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('Invalid identifier or password') })
  const nameless = await svcAccounts(stores, ...words, '--secret', server.state.password)
  expect(nameless).toMatchObject({ code: 2, err: expect.stringContaining('--handle') })
})

test('accounts that exist are mentioned; other handles, and addresses of e-mail, are text', async () => {
  const caption = 'Grüße @Ada.bsky.test (@bob.example.com), @nobody.bsky.test, ada@ada.bsky.test and @ada.'
  await publishNow(caption, await connect())
  const [{ record }] = server.records as [(typeof server.records)[0]]
  const bytes = Buffer.from(caption)
  const marked = record.facets.map(({ index, features }: { index: Record<string, number>; features: object[] }) => [
    bytes.subarray(index['byteStart'], index['byteEnd']).toString(),
    features,
  ])
  const mention = (text: string, did: string) => [text, [{ $type: 'app.bsky.richtext.facet#mention', did }]]
  expect(marked).toEqual([
    mention('@Ada.bsky.test', knownHandles.get('ada.bsky.test')!),
    mention('@bob.example.com', knownHandles.get('bob.example.com')!),
  ])
  const resolved = stepsOf('GET /xrpc/com.atproto.identity.resolveHandle').map(({ query }) => query.get('handle'))
  expect(resolved).toEqual(['ada.bsky.test', 'bob.example.com', 'nobody.bsky.test'])
})

test('hashtags are marked, without what ends their sentence; numbers and parts of words are text', async () => {
  const caption = 'Grüße #spring, #a_b (no#tag) #2026 #b2b! https://example.com/#part ＃夏 #'
  await publishNow(caption, await connect())
  const [{ record }] = server.records as [(typeof server.records)[0]]
  const bytes = Buffer.from(caption)
  const tags = record.facets.flatMap(
    ({ index, features: [{ tag }] }: { index: Record<string, number>; features: [{ tag?: string }] }) =>
      tag === undefined ? [] : [[bytes.subarray(index['byteStart'], index['byteEnd']).toString(), tag]],
  )
  expect(tags).toEqual([
    ['#spring', 'spring'],
    ['#a_b', 'a_b'],
    ['#b2b', 'b2b'],
    ['＃夏', '夏'],
  ])
})

test('links are marked by their place in the bytes of the text', async () => {
  const caption = 'Grüße 🐻: (https://example.com/ä?b=1), https://example.org/wiki/Bear_(animal).'
  const post = await publishNow(caption, await connect())
  const [{ rkey, record }] = server.records as [(typeof server.records)[0]]
  expect(record.text).toBe(caption)
  const bytes = Buffer.from(caption)
  const marked = record.facets.map(({ index, features }: { index: Record<string, number>; features: object[] }) => [
    bytes.subarray(index['byteStart'], index['byteEnd']).toString(),
    features,
  ])
  const link = (uri: string) => [uri, [{ $type: 'app.bsky.richtext.facet#link', uri }]]
  expect(marked).toEqual([link('https://example.com/ä?b=1'), link('https://example.org/wiki/Bear_(animal)')])
  expect(post.targets[0]).toMatchObject({
    status: 'published',
    publish_result: {
      ...{ provider: 'bluesky', external_id: `at://${testDid}/app.bsky.feed.post/${rkey}` },
      url: `https://bsky.app/profile/${testDid}/post/${rkey}`,
    },
  })
})

test('images are uploaded as they are, with alternative texts and shapes', async () => {
  const account = await connect()
  const picture = png({ width: 40, height: 30 })
  const media = [
    await uploadFile(api, mine.apiKey, picture, { altText: 'A bear' }),
    await uploadFile(api, mine.apiKey, png({ width: 7 })),
  ]
  expect((await publishNow('Look', account, media)).status).toBe('published')
  const { embed } = server.records[0]!.record
  expect(embed.images).toMatchObject([
    { alt: 'A bear', aspectRatio: { width: 40, height: 30 }, image: { mimeType: 'image/png', size: picture.length } },
    { alt: '' },
  ])
  expect(server.blobs.get(embed.images[0].image.ref.$link)!.bytes.equals(picture)).toBe(true)
})

test('a film is published as one', async () => {
  const account = await connect()
  const media = [await uploadFile(api, mine.apiKey, film({ data: 200_000 }), { type: 'video/mp4', altText: 'A film' })]
  expect((await publishNow('Watch', account, media)).status).toBe('published')
  expect(server.records[0]!.record.embed).toMatchObject({ $type: 'app.bsky.embed.video', alt: 'A film' })
})

test('a session that has expired is renewed once for all that wait, and by the app password when it is too old', async () => {
  const account = await connect()
  server.expireAccess()
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, at) => schedulePost(ask, { caption: `p${at}`, accounts: [account] })),
  )
  for (const id of ids) expect((await endedPost(ask, id)).status).toBe('published')
  expect(stepsOf('POST /xrpc/com.atproto.server.refreshSession')).toHaveLength(1)

  server.expireAccess()
  server.expireRefresh()
  expect((await publishNow('Months later', account)).status).toBe('published')
  // The first one was the connection's.
  expect(stepsOf('POST /xrpc/com.atproto.server.createSession')).toHaveLength(2)
  expect(await serializeAccount()).toMatchObject({ status: 'connected', health_status: 'ok' })
})

test('an app password that was revoked expires the account', async () => {
  const account = await connect()
  server.expireAccess()
  server.expireRefresh()
  server.state.password = 'another'
  const post = await publishNow('Refused', account)
  expect(post.targets[0]!.publish_result).toMatchObject({ error: { code: 'not_authorized', retryable: false } })
  expect(await serializeAccount()).toMatchObject({ status: 'expired', health_status: 'error' })
})

test.each(losses)('a record whose answer is lost (%s) is found, not made again', async (how) => {
  const account = await connect()
  let lost = 0
  server.hinder = ({ step }) => (step === createStep && lost++ === 0 ? how : undefined)
  const post = await publishNow('Once', account)
  expect(post.status).toBe('published')
  expect(server.records).toHaveLength(1)
})

test('a repeat is under the same key, and posts of one moment have keys of their own', async () => {
  const account = await connect()
  let failures = 0
  server.hinder = ({ step }) =>
    step === createStep && failures++ === 0 ? { status: 502, body: { error: 'UpstreamFailure' } } : undefined
  expect((await publishNow('Again', account)).status).toBe('published')
  const [first, second] = stepsOf(createStep).map(({ json }) => json.rkey)
  expect(first).toBe(second)
  const ids = await Promise.all(
    Array.from({ length: 5 }, () => schedulePost(ask, { caption: 'Same', accounts: [account] })),
  )
  for (const id of ids) expect((await endedPost(ask, id)).status).toBe('published')
  expect(new Set(server.records.map(({ rkey }) => rkey)).size).toBe(6)
})

test('what the server refuses fails at once; a rate limit is waited out until its window ends', async () => {
  const account = await connect()
  server.hinder = ({ step }) =>
    step === createStep ? { status: 400, body: { error: 'InvalidRequest', message: 'Not like this' } } : undefined
  const refused = await publishNow('Refused', account)
  expect(refused.targets[0]!.publish_result).toMatchObject({
    error: { code: 'refused', message: expect.stringContaining('Not like this'), retryable: false },
  })
  let refusals = 0
  server.hinder = ({ step }) =>
    step === createStep && refusals++ === 0
      ? {
          ...{ status: 429, body: { error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' } },
          headers: { 'ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 2) },
        }
      : undefined
  expect((await publishNow('Slow', account)).status).toBe('published')
})
