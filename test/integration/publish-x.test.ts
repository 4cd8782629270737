import { expect, test } from 'vitest'
import { publishWaitMaxMs } from '../../schemas/limits/publish-limits.ts'
import { film, png } from '../support/media-files.ts'
import { answerOnce, type Hindrance } from '../support/provider-server.ts'
import { endedPost, endLimit, failed, reschedule, resultOf, schedulePost } from '../support/publisher.ts'
import { isLong } from '../support/short-form.ts'
import { connectTo, connectX, setUpPublishing } from '../support/social-platforms.ts'
import { secretOf, startX, xUserId } from '../support/x-server.ts'

/** A request that hangs takes until its deadline. */
const losses = isLong ? (['cut after', 'hang after'] as const) : (['cut after'] as const)

const { stores, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startX())

const publishStep = 'POST /2/tweets'
const connect = async (): Promise<number> => (await connectX(stores, mine, on.server)).json.id

test('an account is known by its id, whatever it is called; values that X refuses, or in another order, are not connected', async () => {
  const { json } = await connectX(stores, mine, on.server)
  expect(json).toMatchObject({ handle: '@shop', display_name: 'The Shop', external_id: xUserId })
  on.server.state.username = 'renamed'
  expect((await connectX(stores, mine, on.server)).json).toMatchObject({ id: json.id, handle: '@renamed' })
  const { keys } = on.server.state
  const refusals = [
    [{ ...keys, tokenSecret: 'other' }, '401: Unauthorized'],
    [{ ...keys, apiKey: keys.token, token: keys.apiKey }, 'API key, API key secret, access token'],
  ] as const
  for (const [wrong, said] of refusals) {
    const { code, err } = await connectTo(stores, mine, 'x', '--url', on.server.url, '--secret', secretOf(wrong))
    expect([code, err]).toEqual([1, expect.stringContaining(said)])
  }
})

test('text, images and films are published as they are, in segments, with alternative texts', async () => {
  const account = await connect()
  const pictures = [png({ padTo: 4_900_000 }), png({ width: 50 })]
  const media = [await upload(pictures[0]!, 'Ein Bär – "groß"'), await upload(pictures[1]!)]
  const bytes = film({ data: 300_000 })
  const films = [await upload(bytes, 'A film')]
  const caption = 'Räumung 🐻\n\nhttps://example.com/spring?a=1&b=(2)'
  const [look, watch] = await Promise.all([publishNow(caption, account, media), publishNow('Watch', account, films)])
  expect(watch.status).toBe('published')
  // As long as X says.
  expect(on.publisher.pauses).toContain(2_000)
  const made = on.server.posts.find(({ text }) => text === caption)!
  expect(resultOf(look)).toMatchObject({
    provider: 'x',
    external_id: made.id,
    url: `https://x.com/shop/status/${made.id}`,
  })
  const attached = made.mediaIds.map((id) => on.server.media.find((one) => one.id === id)!)
  expect(attached.map(({ segments, altText }) => [segments.length, altText])).toEqual([
    [2, 'Ein Bär – "groß"'],
    [1, undefined],
  ])
  const uploaded = [...attached, on.server.media.find(({ contentType }) => contentType === 'video/mp4')!]
  const whole = uploaded.map(({ segments }) => Buffer.concat(segments))
  expect([...pictures, bytes].map((file, at) => file.equals(whole[at]!))).toEqual([true, true, true])
})

test.each(losses)('what fails for now is tried again, and a post whose answer is lost (%s) is found', async (how) => {
  const account = await connect()
  const media = [await upload(png({ width: 7 }), 'A bear')]
  const lost = '@bob: Größe > 5 & <b>: “https://Example.com/ä?b=1”, example.org/x und https://example.com/  !'
  const bare = 'Visit shop.com. shop.com, now (shop.com) shop.com! shop.com?ref=x, shop.com/größe'
  const hindered = new Map<string, () => Hindrance>([
    [lost, () => how],
    [bare, () => how],
    // This one isn't listed before X has refused it as a repetition.
    ['Refused later', () => how],
    // Another post than the next one.
    ['See https://example.com/a', () => how],
    ['See https://example.com/b', () => 'cut before'],
    ['Again', () => ({ status: 503, body: { title: 'Service Unavailable', detail: 'Service Unavailable' } })],
    // Another answers than X, which would give a title.
    ['Guarded', () => ({ status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' })],
    [
      'Slow',
      () => ({
        status: 429,
        body: { title: 'Too Many Requests', detail: 'Too Many Requests', status: 429 },
        headers: { 'x-rate-limit-reset': String(Math.ceil(Date.now() / 1000) + 2) },
      }),
    ],
  ])
  const captions = [...hindered.keys()]
  Object.assign(on.server.state, { pageMax: 2, unlisted: 'Refused later' })
  const asks = (text: string) => on.server.asked.filter(({ step, json }) => step === publishStep && json.text === text)
  on.server.hinder = ({ step, json }) => {
    if (asks('Refused later').length === 2) on.server.state.unlisted = ''
    const hindrance = step === publishStep ? hindered.get(json.text) : undefined
    if (hindrance !== undefined) hindered.delete(json.text)
    return hindrance?.()
  }
  const posts = await Promise.all(
    captions.map((caption) => publishNow(caption, account, caption === lost ? media : [])),
  )
  expect(posts.map(({ status }) => status)).toEqual(captions.map(() => 'published'))
  expect(on.server.posts.map(({ text }) => text).sort()).toEqual([...captions].sort())
  expect([asks('Refused later').length, asks('Slow').length]).toEqual([2, 2])
  const ids = posts.map((post) => resultOf(post)['external_id'])
  expect(ids).toEqual(captions.map((caption) => on.server.posts.find(({ text }) => text === caption)!.id))
  expect(await accounts()).toMatchObject([{ health_status: 'ok' }])
})

test('a limit of a day is waited for, at most as long as a platform is believed', async () => {
  const account = await connect()
  const inHours = (hours: number) => String(Math.ceil(Date.now() / 1000) + hours * 3600)
  const headers = {
    'x-rate-limit-remaining': '90',
    'x-rate-limit-reset': inHours(0.1),
    'x-app-limit-24hour-remaining': '0',
    'x-app-limit-24hour-reset': inHours(20),
  }
  const limit = { status: 429, headers, body: { errors: [{ code: 88, message: 'Rate limit exceeded' }] } }
  on.server.hinder = ({ step }) => (step === publishStep ? limit : undefined)
  const waitMs = 1000 * (await endLimit(stores, await schedulePost(ask, { caption: 'Tomorrow', accounts: [account] })))
  expect([waitMs > publishWaitMaxMs - 60_000, waitMs <= publishWaitMaxMs]).toEqual([true, true])
  expect((await accounts())[0].health_message).toContain('429: Rate limit exceeded')
})

test('keys that were revoked, or that may only read, expire the account until it is connected anew', async () => {
  const account = await connect()
  on.server.state.keys = { ...on.server.state.keys, tokenSecret: 'made-anew' }
  const revoked = await publishNow('Revoked', account)
  expect(resultOf(revoked)).toEqual(failed('not_authorized', 'Unauthorized'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
  expect(await connect()).toBe(account)
  on.server.state.isReadOnly = true
  const readOnly = await publishNow('Read only', account)
  expect(resultOf(readOnly)).toEqual(failed('not_authorized', 'oauth1 app permissions'))
  expect(await accounts()).toMatchObject([{ status: 'expired' }])
  on.server.state.isReadOnly = false
  await connect()
  await reschedule(ask, revoked.id)
  expect((await endedPost(ask, revoked.id)).status).toBe('published')
})

test('keys that X refuses for the clock of this machine stay, and the post goes out later', async () => {
  const account = await connect()
  const date = new Date(Date.now() + 3_600_000).toUTCString()
  const steps: string[] = []
  on.server.hinder = ({ step }) =>
    steps.push(step) === 1
      ? { status: 401, headers: { date }, body: { title: 'Unauthorized', detail: 'Unauthorized' } }
      : undefined
  expect((await publishNow('By a clock that is off', account)).status).toBe('published')
  // Nothing is looked for by a time of the wrong clock.
  expect(steps).toEqual([publishStep, publishStep])
  expect(await accounts()).toMatchObject([{ status: 'connected' }])
})

test('what X refuses fails at once: a repetition, a film that it can’t process, a post without credit', async () => {
  const account = await connect()
  expect(resultOf(await publishNow('Same', account))).toMatchObject({ provider: 'x' })
  expect(resultOf(await publishNow('Same', account))).toEqual(failed('refused', 'duplicate content'))
  on.server.state.failsVideos = true
  const films = [await upload(film({ data: 1_000 }))]
  expect(resultOf(await publishNow('Film', account, films))).toEqual(failed('refused', 'Unsupported video format'))
  answerOnce(on.server, publishStep, {
    status: 402,
    body: { title: 'Payment Required', detail: 'credits depleted', status: 402 },
  })
  expect(resultOf(await publishNow('Poor', account))).toEqual(failed('refused', '402: credits depleted'))
  expect(on.server.posts.map(({ text }) => text)).toEqual(['Same'])
  expect(await accounts()).toMatchObject([{ status: 'connected', health_status: 'warning' }])
})
