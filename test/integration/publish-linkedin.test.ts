import { open } from 'node:fs/promises'
import { type Dispatcher, MockAgent } from 'undici'
import { expect, test } from 'vitest'
import { linkedin } from '../../pipeline/publishing/platforms/linkedin.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import {
  linkedinListedMs,
  linkedinPollMs,
  linkedinPostsEach,
  publishWaitMaxMs,
} from '../../schemas/limits/publish-limits.ts'
import { serve } from '../support/feeds.ts'
import { linkedinApp, linkedinToken, member, pageUrn, startLinkedin } from '../support/linkedin-server.ts'
import { exif, film, jpeg, png } from '../support/media-files.ts'
import { onOneDay } from '../support/one-day.ts'
import { answerOnce, type Hindrance } from '../support/provider-server.ts'
import { endedPost, endLimit, failed, reschedule, resultOf, runPublisher, schedulePost } from '../support/publisher.ts'
import { setUpReceiver } from '../support/receiver.ts'
import { connectLinkedin, setUpPublishing } from '../support/social-platforms.ts'

const { stores, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startLinkedin())
const site = setUpReceiver()

const renewable = JSON.stringify({ access_token: linkedinToken, ...linkedinApp })
const connect = async (...words: string[]): Promise<number> => (await connectLinkedin(stores, mine, ...words)).json.id
const connectPage = () => connect('--page', '5583111')
const stepsOf = (step: string) => on.server.asked.filter((asking) => asking.step === step)
const postStep = 'POST /rest/posts'
const postOf = (text: string) => on.server.posts.find((one) => one.text === text)!

test('a person and a page are connected by a token that LinkedIn takes, and that can list the page’s posts', async () => {
  const refusals: [string[], string][] = [
    [['--secret', 'other'], 'Invalid access token'],
    [['--page', '77'], 'Not enough permissions to access: partnerApiPostsExternal.FINDER-author'],
  ]
  for (const [words, said] of refusals) {
    expect(await connectLinkedin(stores, mine, ...words)).toMatchObject({ code: 1, err: expect.stringContaining(said) })
  }
  const person = await connectLinkedin(stores, mine, '--secret', renewable)
  expect(person.json).toMatchObject({
    handle: 'Ada Shop (782bbtaQ)',
    display_name: 'Ada Shop',
    external_id: member.urn,
    connection_type: 'oauth',
    status: 'connected',
  })
  const { json: renamed } = await connectLinkedin(stores, mine, '--handle', 'ada')
  expect(renamed).toMatchObject({ id: person.json.id, handle: 'ada' })
  const taken = await connectLinkedin(stores, mine, '--page', '5583111', '--handle', 'ada')
  expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('linkedin ada is another account') })
  const page = await connectLinkedin(stores, mine, '--page', '5583111')
  expect(page.json).toMatchObject({ handle: 'the-shop', display_name: 'The Shop', external_id: pageUrn })
  expect(await accounts()).toHaveLength(2)
})

test('a page whose name the token can’t read goes by its id', async () => {
  on.server.state.scopes = ['w_organization_social', 'r_organization_social']
  expect((await connectLinkedin(stores, mine, '--page', '5583111')).json).toMatchObject({ handle: '5583111' })
})

test('a text is published as it was written, with its hashtags', async () => {
  const caption =
    'Sale (up to 50%) @noon <now> {a|b} [c] *d* ~e~ \\f a_b #größe, #b2b_x #1 #️⃣ #1️⃣ ☀️#sun (#Spring)! https://example.com/a_b#top x#y\nEnd'
  const post = await publishNow(caption, await connect())
  expect(on.server.posts).toMatchObject([
    { author: member.urn, text: caption, hashtags: ['größe', 'b2b_x', 'sun', 'Spring'] },
  ])
  const { id } = on.server.posts[0]!
  expect(resultOf(post)).toMatchObject({
    provider: 'linkedin',
    external_id: id,
    url: `https://www.linkedin.com/feed/update/${id}/`,
  })
})

test('one image, several, and a video in parts are published with alternative texts, as a person and as a page', async () => {
  const [person, page] = [await connect(), await connectPage()]
  const photo = jpeg({ width: 40, height: 30, segments: exif(6) })
  const first = await upload(photo, 'Ein Bär – "groß"')
  const movie = film({ data: 250_000 })
  const films = [await upload(movie, 'A film')]
  const ended = await Promise.all([
    publishNow('One', person, [first]),
    publishNow('Several', page, [first, await upload(png({ width: 40 })), await upload(png({ width: 9 }), 'Third')]),
    publishNow('Film', page, films),
  ])
  expect(ended.map(({ status }) => status)).toEqual(['published', 'published', 'published'])
  expect(on.publisher.pauses).toContain(linkedinPollMs)
  const { media } = postOf('One').content
  expect(media.altText).toBe('Ein Bär – "groß"')
  // A photo loses what its camera noted.
  expect([photo.includes('GPS'), on.server.bytesOf(media.id).includes('GPS')]).toEqual([true, false])
  const { images } = postOf('Several').content.multiImage
  expect(images.map(({ altText }: { altText?: string }) => altText)).toEqual(['Ein Bär – "groß"', undefined, 'Third'])
  expect(on.server.bytesOf(images[1].id).equals(png({ width: 40 }))).toBe(true)
  expect(on.server.bytesOf(postOf('Film').content.media.id).equals(movie)).toBe(true)
  on.server.state.canPlay = false
  expect(resultOf(await publishNow('Unplayable', page, films))).toEqual(failed('refused', 'Unsupported codec'))
})

test('a link without media has its page’s title and picture', async () => {
  const page = `<title>A &amp; B</title><meta name="description" content="About"><meta property="og:image" content="/p.png">`
  const picture = png({ width: 40 })
  serve(site, {
    '/card': { body: page, headers: { 'Content-Type': 'text/html' } },
    '/p.png': { body: picture, headers: { 'Content-Type': 'image/png' } },
  })
  const account = await connect()
  const [card, none] = ['card', 'none'].map((path) => `See ${site.url}/${path}`) as [string, string]
  await Promise.all([publishNow(card, account), publishNow(none, account)])
  const { article } = postOf(card).content
  const thumbnail = expect.stringMatching(/image/)
  expect(article).toEqual({ source: `${site.url}/card`, title: 'A & B', description: 'About', thumbnail })
  expect(on.server.bytesOf(article.thumbnail).equals(picture)).toBe(true)
  expect(postOf(none).content).toBe(undefined)
})

test('a file goes over https to public addresses alone, and the token to LinkedIn’s own hosts alone', async () => {
  const file = {
    id: 1,
    contentType: 'image/png',
    bytes: 0,
    altText: '',
    width: 1,
    height: 1,
    publicUrl: null,
    open: () => open('/dev/null'),
  }
  const unkept = { place: 0, replyTo: null, reference: null, keep: async () => {} }
  const publication = { key: '', targetId: 1, title: 'x', text: 'x', media: [file], sentAt: null, ...unkept }
  const prepare = (uploadUrl: string, agent: Dispatcher) => {
    on.server.state.uploadUrl = uploadUrl
    const account = { id: 1, platform: 'linkedin', handle: 'ada', externalId: member.urn, metadata: {} }
    const credentials = { accessToken: linkedinToken, renewal: null }
    const { signal } = new AbortController()
    const fetching = { agent, allowPrivate: false }
    return linkedin.prepare({ account, credentials, signal, sleep, fetching }, publication)
  }
  const guarded = makeGuardedAgent({ allowPrivate: false, connectMs: 1_000 })
  await expect(prepare(on.server.url, guarded)).rejects.toThrow('no https address')
  await expect(prepare('https://127.0.0.1:1', guarded)).rejects.toThrow('The host has no public address')
  const sent: unknown[] = []
  const elsewhere = new MockAgent()
  elsewhere
    .get('https://linkedin.com.example')
    .intercept({ path: () => true, method: 'PUT' })
    .reply(201, ({ headers }) => sent.push(Object.keys(headers as object)) && '')
  await prepare('https://linkedin.com.example', elsewhere)
  expect(sent).toEqual([expect.not.arrayContaining(['authorization'])])
})

test('an access token that has expired is renewed once for all that wait; a refresh token that is refused expires the account', async () => {
  const account = await connect('--secret', renewable)
  on.server.state.token = 'AQX-renewed'
  const captions = ['a', 'b', 'c', 'd']
  const posts = await Promise.all(captions.map((caption) => publishNow(caption, account)))
  expect(posts.map(({ status }) => status)).toEqual(captions.map(() => 'published'))
  expect(stepsOf('POST /oauth/v2/accessToken')).toHaveLength(1)
  Object.assign(on.server.state, { token: 'AQX-third', refreshToken: 'revoked' })
  const refused = await Promise.all(
    ['e', 'f'].map((name) => publishNow(`Refused: http://127.0.0.1:1/${name}`, account)),
  )
  // The other one may find the account expired already.
  expect(refused.map(resultOf)).toContainEqual(failed('not_authorized', 'expired or revoked'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
  // Nothing was published by them, so nothing has to be looked for.
  await connect('--secret', 'AQX-third')
  for (const { id } of refused) {
    await reschedule(ask, id)
    expect((await endedPost(ask, id)).status).toBe('published')
  }
})

test('a token without a refresh token, or without a scope, expires the account with LinkedIn’s words', async () => {
  const account = await connect()
  on.server.state.scopes = ['openid', 'profile']
  expect(resultOf(await publishNow('Unscoped', account))).toEqual(failed('not_authorized', 'Not enough permissions'))
  expect(await accounts()).toMatchObject([{ status: 'expired' }])
  on.server.state.scopes = ['openid', 'profile', 'w_member_social']
  await connect()
  on.server.state.token = 'another'
  const refused = await publishNow('Later', account)
  expect(resultOf(refused)).toEqual(failed('not_authorized', 'Invalid access token'))
  // Nothing was published by it, so nothing has to be looked for.
  await connect('--secret', 'another')
  await reschedule(ask, refused.id)
  expect((await endedPost(ask, refused.id)).status).toBe('published')
})

/** Hinders the first requests to publish texts that begin so, each as it says. */
function hinderFirst(hindrances: Readonly<Record<string, Hindrance[]>>): void {
  on.server.hinder = ({ step, json }) => {
    const text = Object.keys(hindrances).find((one) => step === postStep && json.commentary.startsWith(one))
    return text === undefined ? undefined : hindrances[text]!.shift()
  }
}

test('a post whose answer is lost is found or refused as a repeat, never there twice; else it fails, and a person decides', async () => {
  const [person, page] = [await connect(), await connectPage()]
  const media = [await upload(png({ width: 40 }), 'A bear')]
  const tooMany = { status: 429, body: { status: 429, serviceErrorCode: 101, message: 'Too many requests' } }
  hinderFirst({
    Lost: ['cut after', tooMany],
    Unsent: ['cut before'],
    Away: [{ status: 503, body: '' }],
    Slow: [tooMany],
    'Seen by nobody': ['cut after'],
    'On the page': ['cut after'],
    'Not on the page': ['cut before'],
  })
  const listed = 'On the page (#now), https://example.com/a/long/address_of_it'
  const posts = await Promise.all([
    ...['Lost', 'Unsent', 'Away'].map((caption) => publishNow(caption, person)),
    publishNow('Seen by nobody', person, media),
    publishNow('Slow', person, media),
    publishNow(listed, page, media),
    publishNow('Not on the page', page, media),
  ])
  const unknown = failed('outcome_unknown', 'Look there first')
  for (const post of posts) {
    const { base_caption: text } = post
    const expected = text === 'Seen by nobody' ? unknown : { external_id: postOf(text).id }
    expect([text, resultOf(post)]).toMatchObject([text, expected])
  }
  expect(new Set(on.server.posts.map(({ text }) => text)).size).toBe(on.server.posts.length)
  const { id } = posts.find(({ base_caption }) => base_caption === 'Seen by nobody')!
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).status).toBe('published')
  expect(on.server.posts.filter(({ text }) => text === 'Seen by nobody')).toHaveLength(2)
})

test('a post that LinkedIn’s hosts were away for is sent later, though it has a link', async () => {
  const account = await connect()
  on.server.state.isAway = true
  const id = await schedulePost(ask, { caption: 'Away: http://127.0.0.1:1/', accounts: [account] })
  await expect.poll(async () => (await accounts())[0].health_message).toContain('could not be reached')
  on.server.state.isAway = false
  expect((await endedPost(ask, id)).status).toBe('published')
})

test('an answer of LinkedIn that can’t be stored while Postgres is away is stored when it is back', async () => {
  const account = await connect()
  await on.publisher.close()
  let failures = 0
  const transaction: typeof stores.pg.transaction = (work) =>
    on.server.posts.length > 0 && ++failures < 3
      ? Promise.reject(new StoreUnavailable('postgres', 'away'))
      : stores.pg.transaction(work)
  on.publisher = runPublisher({ ...stores, pg: { ...stores.pg, transaction } }, undefined, on.server.agent)
  // With media no look-up could tell.
  const post = await publishNow('Answered', account, [await upload(png({ width: 40 }))])
  expect(resultOf(post)).toMatchObject({ external_id: postOf('Answered').id })
  expect([failures > 2, on.server.posts.length]).toEqual([true, 1])
})

test('a pipeline that stops behind the request leaves one post, which the next one finds within an hour', async () => {
  const [person, page] = [await connect(), await connectPage()]
  hinderFirst({ Stopped: ['hang after', 'hang after', 'hang after'] })
  const ids = [
    await schedulePost(ask, { caption: 'Stopped', accounts: [person] }),
    await schedulePost(ask, { caption: 'Stopped on the page', accounts: [page] }),
    await schedulePost(ask, { caption: 'Stopped for an hour', accounts: [person] }),
  ]
  await expect.poll(() => on.server.posts.length).toBe(3)
  await on.publisher.cut()
  const hourAgo = `UPDATE post_targets SET sent_at = sent_at - interval '1 hour' WHERE post_id = $1`
  await stores.pg.query(hourAgo, [ids[2]])
  // It is listed late.
  answerOnce(on.server, 'GET /rest/posts', { status: 200, body: { elements: [] } })
  on.publisher = runPublisher(stores, undefined, on.server.agent)
  const posts = await Promise.all(ids.map((id) => endedPost(ask, id)))
  expect(on.publisher.pauses).toContain(linkedinListedMs)
  expect(posts.map(resultOf)).toMatchObject([
    { external_id: postOf('Stopped').id },
    { external_id: postOf('Stopped on the page').id },
    { error: { code: 'outcome_unknown' } },
  ])
  expect(on.server.posts).toHaveLength(3)
})

test('a second post of the same text, and one that LinkedIn refuses, fail at once', async () => {
  const [account, page] = [await connect(), await connectPage()]
  await publishNow('Twice', account)
  const byHand = { author: member.urn, commentary: 'Old', text: 'Old', hashtags: [], content: undefined, createdAt: 1 }
  on.server.posts.push({ ...byHand, id: 'urn:li:share:6759000000000000000' })
  const others = { ...byHand, author: pageUrn, createdAt: Date.now() }
  for (let at = 0; at < linkedinPostsEach; at++)
    on.server.posts.push({ ...others, commentary: `${at}`, id: `urn:li:share:${at}` })
  const count = on.server.posts.length
  hinderFirst({
    Linked: ['cut before'],
    Twice: ['cut before'],
    Old: ['cut before'],
    'Below others': ['cut before'],
    Refused: [{ status: 400, body: { status: 400, message: 'FIELD_LENGTH_TOO_LONG' } }],
  })
  const results = await Promise.all([
    // Another target's post, and one that is older than the attempt, aren't those of an attempt whose answer was lost.
    publishNow('Twice', account),
    publishNow('Old', account),
    publishNow('Refused', account),
    publishNow('Below others', page),
    publishNow('Linked: http://127.0.0.1:1/', account),
  ])
  expect(results.map(resultOf)).toEqual([
    failed('refused', on.server.posts[0]!.id),
    failed('refused', 'urn:li:share:6759000000000000000'),
    failed('refused', 'FIELD_LENGTH_TOO_LONG'),
    failed('outcome_unknown', 'Look there first'),
    failed('outcome_unknown', 'Look there first'),
  ])
  expect(on.server.posts).toHaveLength(count)
  expect((await accounts())[1]).toMatchObject({ status: 'connected', health_status: 'warning' })
})

test('a quota of a day that is used up is waited for until midnight UTC, at most six hours', async () => {
  await onOneDay()
  const message = 'Resource level throttle MEMBER DAY limit for calls to this resource is reached.'
  on.server.hinder = ({ step }) => (step === postStep ? { status: 429, body: { status: 429, message } } : undefined)
  const id = await schedulePost(ask, { caption: 'Too many', accounts: [await connect()] })
  const dayMs = 86_400_000
  const waitMs = Math.min(publishWaitMaxMs, dayMs - (Date.now() % dayMs))
  expect(Math.abs((await endLimit(stores, id)) * 1000 - waitMs)).toBeLessThan(60_000)
})
