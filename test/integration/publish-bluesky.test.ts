import { expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { renewalLookMs } from '../../schemas/limits/publish-limits.ts'
import { knownHandles, startBluesky, testDid } from '../support/bluesky-server.ts'
import { serve } from '../support/feeds.ts'
import { exif, film, jpeg, png } from '../support/media-files.ts'
import type { Hindrance } from '../support/provider-server.ts'
import {
  endedPost,
  failed,
  reschedule,
  resultOf,
  runPublisher,
  scheduleForLater,
  schedulePost,
} from '../support/publisher.ts'
import { setUpReceiver } from '../support/receiver.ts'
import { isLong } from '../support/short-form.ts'
import { connectBluesky, connectTo, setUpPublishing } from '../support/social-platforms.ts'

/** A request that hangs takes until its deadline. */
const losses = isLong ? (['cut after', 'hang after'] as const) : (['cut after'] as const)

const { stores, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startBluesky())
const site = setUpReceiver()

const connect = async (): Promise<number> => (await connectBluesky(stores, mine, on.server)).json.id
const createStep = 'POST /xrpc/com.atproto.repo.createRecord'
const stepsOf = (step: string) => on.server.asked.filter((asking) => asking.step === step)

test('an account that has another handle is the same one, and what was scheduled for it is published', async () => {
  const account = await connect()
  const draft = { title: 'Later', base_caption: 'Under another name', social_account_ids: [account] }
  const { id } = (await ask('POST', '/v1/posts', draft)).body
  await scheduleForLater(ask, id)
  on.server.state.handle = 'shop.example.com'
  const { json } = await connectBluesky(stores, mine, on.server)
  expect(json).toMatchObject({ id: account, handle: 'shop.example.com', display_name: 'shop.example.com' })
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).status).toBe('published')
  // Where another account is known by the handle, only the connection is renewed.
  await connectTo(stores, mine, 'bluesky', '--handle', 'new')
  on.server.state.handle = 'new'
  const renewed = await connectBluesky(stores, mine, on.server)
  expect(renewed.json).toMatchObject({ id: account, handle: 'shop.example.com' })
})

/** The marked parts of a record's text: their place in the bytes, and their kind. */
function marksOf(caption: string): unknown[] {
  const { record } = on.server.records.find((one) => one.record.text === caption)!
  const bytes = Buffer.from(caption)
  return record.facets.map(({ index, features }: { index: Record<string, number>; features: object[] }) => [
    bytes.subarray(index['byteStart'], index['byteEnd']).toString(),
    ...features.map(({ $type, ...feature }: { $type?: string }) => [$type!.split('#')[1], ...Object.values(feature)]),
  ])
}

test('links, hashtags, and mentions of accounts that exist, are marked in the bytes of the text; all else is text', async () => {
  const links = 'Grüße 🐻: „https://example.com/ä?b=1“… (see https://example.org/wiki/Bear_(animal)).'
  const tags = 'Grüße #spring, #a_b (no#tag) #2026 #b2b! https://example.com/#part ＃夏 #️⃣ #'
  const mentions =
    'Grüße @Ada.bsky.test (@bob.example.com), \u202a@ada.bsky.test\u202c, @nobody.bsky.test, ada@ada.bsky.test and @ada.'
  const account = await connect()
  const posts = await Promise.all([links, tags, mentions].map((caption) => publishNow(caption, account)))
  const link = (uri: string) => [uri, ['link', uri]]
  expect(marksOf(links)).toEqual([link('https://example.com/ä?b=1'), link('https://example.org/wiki/Bear_(animal)')])
  expect(marksOf(tags).filter((mark) => JSON.stringify(mark).includes('"tag"'))).toEqual([
    ['#spring', ['tag', 'spring']],
    ['#a_b', ['tag', 'a_b']],
    ['#b2b', ['tag', 'b2b']],
    ['＃夏', ['tag', '夏']],
  ])
  expect(marksOf(mentions)).toEqual([
    ['@Ada.bsky.test', ['mention', knownHandles.get('ada.bsky.test')!]],
    ['@bob.example.com', ['mention', knownHandles.get('bob.example.com')!]],
    ['@ada.bsky.test', ['mention', knownHandles.get('ada.bsky.test')!]],
  ])
  const resolved = stepsOf('GET /xrpc/com.atproto.identity.resolveHandle').map(({ query }) => query.get('handle'))
  expect(resolved).toEqual(['ada.bsky.test', 'bob.example.com', 'nobody.bsky.test'])
  const { rkey } = on.server.records.find(({ record }) => record.text === links)!
  expect(posts[0]!.targets[0]).toMatchObject({
    status: 'published',
    publish_result: {
      provider: 'bluesky',
      external_id: `at://${testDid}/app.bsky.feed.post/${rkey}`,
      url: `https://bsky.app/profile/${testDid}/post/${rkey}`,
    },
  })
})

test('images and films are uploaded with alternative texts and shapes; a photo loses what its camera noted, and is upright', async () => {
  const account = await connect()
  const [picture, photo] = [png({ width: 40, height: 30 }), jpeg({ width: 40, height: 30, segments: exif(6) })]
  const media = [await upload(picture, 'A bear'), await upload(photo)]
  const films = [await upload(film({ data: 200_000 }), 'A film')]
  const posts = await Promise.all([publishNow('Look', account, media), publishNow('Watch', account, films)])
  expect(posts.map(({ status }) => status)).toEqual(['published', 'published'])
  const embedOf = (text: string) => on.server.records.find(({ record }) => record.text === text)!.record.embed
  const { images } = embedOf('Look')
  expect(images).toMatchObject([
    { alt: 'A bear', aspectRatio: { width: 40, height: 30 }, image: { mimeType: 'image/png', size: picture.length } },
    { alt: '', aspectRatio: { width: 30, height: 40 }, image: { mimeType: 'image/jpeg' } },
  ])
  const sent = images.map(({ image }: { image: { ref: { $link: string } } }) => on.server.blobs.get(image.ref.$link)!)
  expect(sent[0].bytes.equals(picture)).toBe(true)
  expect([photo.includes('GPS'), sent[1].bytes.includes('GPS')]).toEqual([true, false])
  expect(embedOf('Watch')).toMatchObject({ $type: 'app.bsky.embed.video', alt: 'A film' })
})

test('a link without media has a card of its page, in each attempt; a page that can’t be read has none', async () => {
  const picture = png({ width: 40 })
  const page = (tags: string) => ({ body: `<title>Heading</title>${tags}`, headers: { 'Content-Type': 'text/html' } })
  const headers = { 'Content-Type': 'image/png' }
  serve(site, {
    '/card': page(`<meta property="og:title" content="A &amp; B"><meta property="og:image" content="picture.png">`),
    '/plain': page(`<meta name="description" content="About"><meta property="og:image" content="/large.png">`),
    '/picture.png': { body: picture, headers },
    '/large.png': { body: Buffer.alloc(1_000_001), headers },
  })
  const account = await connect()
  let isFirst = true
  on.server.hinder = ({ step, json }) => {
    if (step !== createStep || !json.record.text.includes('/card') || !isFirst) return undefined
    isFirst = false
    return { status: 502, body: { error: 'UpstreamFailure' } }
  }
  const captions = ['card', 'plain', 'missing'].map((path) => `See “${site.url}/${path}”, and ${site.url}/card.`)
  const media = [await upload(png({ width: 7 }))]
  const posts = await Promise.all(captions.map((caption) => publishNow(caption, account)))
  posts.push(await publishNow(`With a picture: ${site.url}/card`, account, media))
  expect(posts.map(({ status }) => status)).toEqual(Array(4).fill('published'))
  const embeds = posts.map(
    ({ base_caption }) => on.server.records.find(({ record }) => record.text === base_caption)!.record.embed,
  )
  const thumb = expect.objectContaining({ mimeType: 'image/png', size: picture.length })
  const $type = 'app.bsky.embed.external'
  expect(embeds).toEqual([
    { $type, external: { uri: `${site.url}/card`, title: 'A & B', description: '', thumb } },
    { $type, external: { uri: `${site.url}/plain`, title: 'Heading', description: 'About' } },
    undefined,
    expect.objectContaining({ $type: 'app.bsky.embed.images' }),
  ])
  on.server.hinder = ({ step }) =>
    step.endsWith('uploadBlob') ? { status: 502, body: { error: 'UpstreamFailure' } } : undefined
  const { base_caption } = await publishNow(`Without its picture: ${site.url}/card`, account)
  const { embed } = on.server.records.find(({ record }) => record.text === base_caption)!.record
  expect(embed).toEqual({ $type, external: { uri: `${site.url}/card`, title: 'A & B', description: '' } })
  // As a program that makes previews.
  expect(new Set(site.received.map(({ headers }) => headers['user-agent']))).toEqual(new Set(['svc-card']))
})

test('a session that has expired is renewed once for all that wait, and by the app password when it is too old; one that was revoked expires the account', async () => {
  const account = await connect()
  on.server.expireAccess()
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, at) => schedulePost(ask, { caption: `p${at}`, accounts: [account] })),
  )
  for (const id of ids) expect((await endedPost(ask, id)).status).toBe('published')
  expect(stepsOf('POST /xrpc/com.atproto.server.refreshSession')).toHaveLength(1)

  on.server.expireAccess()
  on.server.expireRefresh()
  expect((await publishNow('Months later', account)).status).toBe('published')
  // The first one was the connection's.
  expect(stepsOf('POST /xrpc/com.atproto.server.createSession')).toHaveLength(2)
  expect(await accounts()).toMatchObject([{ status: 'connected', health_status: 'ok' }])

  on.server.expireAccess()
  on.server.expireRefresh()
  on.server.state.password = 'another'
  const refused = await publishNow('Refused', account)
  expect(resultOf(refused)).toEqual(failed('not_authorized', 'Invalid identifier or password'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
})

test('a session is renewed by one of two processes, whose refresh token works once; the other waits for it', async () => {
  const account = await connect()
  const refreshStep = 'POST /xrpc/com.atproto.server.refreshSession'
  on.server.expireAccess()
  // No other way to a session.
  on.server.state.password = 'another'
  let answer = () => {}
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve
  })
  let renewals = 0
  on.server.hinder = async ({ step }) => {
    if (step !== refreshStep) return undefined
    renewals++
    if (renewals > 1) return { status: 400, body: { error: 'ExpiredToken', message: 'Token has been revoked' } }
    await isAnswered
    return undefined
  }
  const first = await schedulePost(ask, { caption: 'By the one', accounts: [account] })
  while (renewals === 0) await sleep(20)
  // It ends the attempts that it has begun, and takes no other.
  const closed = on.publisher.close()
  on.publisher = runPublisher(stores)
  const second = await schedulePost(ask, { caption: 'By the other', accounts: [account] })
  while (stepsOf(createStep).length < 2) await sleep(20)
  // The other one has been refused, too, and would renew the session by now.
  await expect.poll(() => on.publisher.pauses.filter((ms) => ms === renewalLookMs).length).toBeGreaterThan(2)
  answer()
  for (const id of [first, second]) expect((await endedPost(ask, id)).status).toBe('published')
  expect(renewals).toBe(1)
  expect(await accounts()).toMatchObject([{ status: 'connected', health_status: 'ok' }])
  await closed
})

test('an account whose credentials are of another SECRET_KEY is expired, and the post says why', async () => {
  const account = await connect()
  await stores.pg.query("UPDATE social_account_credentials SET sealed = '\\x0102'")
  expect(resultOf(await publishNow('Unread', account))).toEqual(failed('not_authorized', 'another SECRET_KEY'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
})

test.each(losses)(
  'what fails for now is tried again under its key, and a record whose answer is lost (%s) is found',
  async (how) => {
    const account = await connect()
    const hindered = new Map<string, () => Hindrance>([
      ['Lost', () => how],
      ['Again', () => ({ status: 502, body: { error: 'UpstreamFailure' } })],
      [
        'Slow',
        () => ({
          status: 429,
          body: { error: 'RateLimitExceeded', message: 'Rate Limit Exceeded' },
          headers: { 'ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 2) },
        }),
      ],
    ])
    // Posts of one moment have keys of their own.
    const captions = [...hindered.keys(), ...Array<string>(5).fill('Same')]
    on.server.hinder = ({ step, json }) => {
      const hindrance = step === createStep ? hindered.get(json.record.text) : undefined
      if (hindrance !== undefined) hindered.delete(json.record.text)
      return hindrance?.()
    }
    const posts = await Promise.all(captions.map((caption) => publishNow(caption, account)))
    expect(new Set(posts.map(({ status }) => status))).toEqual(new Set(['published']))
    expect(on.server.records.map(({ record }) => record.text).sort()).toEqual([...captions].sort())
    expect(new Set(on.server.records.map(({ rkey }) => rkey)).size).toBe(captions.length)
    for (const caption of ['Again', 'Slow']) {
      const keys = stepsOf(createStep).flatMap(({ json }) => (json.record.text === caption ? [json.rkey] : []))
      expect([caption, keys]).toEqual([caption, [keys[0], keys[0]]])
    }
  },
)
