import { expect, test } from 'vitest'
import { metaListedMs, metaPostsEach } from '../../schemas/limits/publish-limits.ts'
import { graphError } from '../support/container-server.ts'
import { exif, film, jpeg, png } from '../support/media-files.ts'
import { type MetaServer, page, personToken, startMeta } from '../support/meta-server.ts'
import { answerOnce, type Hindrance } from '../support/provider-server.ts'
import {
  endedPost,
  endLimit,
  failed,
  reschedule,
  resultOf,
  scheduleForLater,
  schedulePost,
} from '../support/publisher.ts'
import { connectMeta, setUpPublishing } from '../support/social-platforms.ts'

const { stores, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startMeta())

const connect = (...words: string[]) => connectMeta(stores, mine, 'facebook', ...words)
const connectPage = async (): Promise<number> => (await connect('--page', page.id)).json.id
const published = (text: string) => {
  const { id } = on.server.posts.find((one) => one.text === text)!
  return expect.objectContaining({ provider: 'facebook', external_id: id, url: `https://www.facebook.com/${id}` })
}
const moviesOf = async () => [await upload(film({ data: 250_000 }))]
const publishSteps = ['POST /v25.0/:id/feed', 'POST /v25.0/:id/videos']

/** Hinders the first requests that publish texts that begin so, each as it says. */
function hinderFirst(hindrances: Readonly<Record<string, Hindrance[]>>): void {
  on.server.hinder = ({ step, bytes }) => {
    const sent = new URLSearchParams(bytes.toString())
    const text = sent.get('message') ?? (sent.get('upload_phase') === 'finish' ? sent.get('description') : null)
    const found = Object.keys(hindrances).find((one) => publishSteps.includes(step) && text?.startsWith(one))
    return found === undefined ? undefined : hindrances[found]!.shift()
  }
}

test('a page is connected by its token, or by a person’s, of which the page’s own is kept', async () => {
  const shown = { handle: page.username, display_name: page.name, external_id: page.id, connection_type: 'oauth' }
  expect((await connect('--page', page.id)).json).toMatchObject(shown)
  await connect('--page', page.id, '--secret', personToken)
  const account = (await accounts())[0]
  expect((await publishNow('By the page', account.id)).status).toBe('published')
  expect((await connect('--page', page.id, '--secret', 'other')).err).toContain('Session has expired')
  expect((await connect('--page', '77')).err).toContain('Unsupported get request')
  // The address is Meta's own.
  expect(await connect('--page', page.id, '--url', 'https://example.com')).toMatchObject({ code: 2 })
  on.server.state.permissions = ['pages_manage_posts']
  expect((await connect('--page', page.id)).err).toContain('Requires pages_read_engagement')
})

test('an app that requires proof of its secret gets it with each request', async () => {
  const appSecret = '6f1c-app-secret'
  on.server.state.appSecret = appSecret
  expect((await connect('--page', page.id)).err).toContain('appsecret_proof')
  const secretOf = (app_secret: unknown) => JSON.stringify({ access_token: personToken, app_secret })
  expect((await connect('--page', page.id, '--secret', secretOf('other'))).err).toContain('appsecret_proof')
  const { id } = (await connect('--page', page.id, '--secret', secretOf(appSecret))).json
  const photo = await upload(png({ width: 9 }))
  const posts = [await publishNow('Photo', id, [photo]), await publishNow('Film', id, await moviesOf())]
  expect(posts.map(resultOf)).toEqual([published('Photo'), published('Film')])
})

test('a text, a link, photos with alternative texts and a video in parts are published', async () => {
  const account = await connectPage()
  const bytes = jpeg({ width: 40, height: 30, segments: exif(6) })
  const photo = await upload(bytes, 'Ein Bär – "groß"')
  const movies = await moviesOf()
  const results = await Promise.all([
    publishNow('Sale (50 %) & more #now\nEnd', account),
    publishNow('See https://example.com/a_b#top.', account),
    publishNow('One', account, [photo]),
    publishNow('Several', account, [photo, await upload(png({ width: 9 }))]),
    publishNow('Film', account, movies),
  ])
  expect(results.map(resultOf)).toEqual(results.map(({ base_caption }) => published(base_caption)))
  const madeOf = (text: string) => {
    const { link, media } = on.server.posts.find((post) => post.text === text)!
    return { link, media: media.map(({ altText, bytes: sent }) => [altText, sent.length]) }
  }
  expect(madeOf('See https://example.com/a_b#top.')).toEqual({ link: 'https://example.com/a_b#top', media: [] })
  expect(madeOf('One').media).toEqual([['Ein Bär – "groß"', bytes.length]])
  expect(madeOf('Several').media).toEqual([
    ['Ein Bär – "groß"', bytes.length],
    [undefined, png({ width: 9 }).length],
  ])
  expect(on.server.posts.find(({ text }) => text === 'Film')!.media[0]!.bytes.equals(film({ data: 250_000 }))).toBe(
    true,
  )
  on.server.state.canPlay = false
  expect(resultOf(await publishNow('Unplayable', account, movies))).toEqual(failed('refused', 'Unsupported codec'))
})

test('a post whose answer is lost is found though it is listed late, one that never came or met a fault or limit of Meta’s is sent again', async () => {
  const account = await connectPage()
  const movies = await moviesOf()
  // The page's history is long to read.
  const before = { text: 'Ж'.repeat(6_000), link: undefined, media: [], createdAt: new Date(Date.now() - 3_600_000) }
  for (let at = 0; at < 90; at++) on.server.posts.push({ ...before, id: `${page.id}_8${at}` })
  const soon = { 'x-business-use-case-usage': '{"1":[{"type":"pages","estimated_time_to_regain_access":0}]}' }
  hinderFirst({
    Lost: ['cut after'],
    Unsent: ['cut before'],
    'Lost film': ['cut after'],
    Odd: [graphError(2, 'An unexpected error has occurred', { is_transient: true })],
    Limited: [{ ...graphError(32, '(#32) Page request limit reached'), headers: soon }],
  })
  const posts = await Promise.all([
    ...['Lost  #sale', 'Unsent', 'Odd', 'Limited'].map((caption) => publishNow(caption, account)),
    publishNow('Lost film', account, movies),
  ])
  on.server.hinder = ({ step }) => {
    if (step !== publishSteps[0]) return undefined
    answerOnce(on.server, 'GET /v25.0/:id/published_posts', { status: 200, body: { data: [] } })
    return 'cut after'
  }
  // With a photo: Facebook would refuse a text alone the second time.
  posts.push(await publishNow('Listed late', account, [await upload(png({ width: 9 }))]))
  expect(on.publisher.pauses).toContain(metaListedMs)
  expect(posts.map(resultOf)).toEqual(posts.map(({ base_caption }) => published(base_caption)))
  expect(on.server.posts).toHaveLength(90 + posts.length)
})

test('a film whose beginning, part or end Facebook asks to try again is sent again', async () => {
  const account = await connectPage()
  const movies = await moviesOf()
  const answers = {
    start: graphError(6000, 'There was a problem uploading your video file'),
    transfer: graphError(390, 'Please try uploading it again', { error_subcode: 1363019 }),
    finish: graphError(390, 'Please try uploading it again', { error_subcode: 1363011 }),
  }
  for (const [phase, answer] of Object.entries(answers)) {
    on.server.hinder = ({ step, bytes }) => {
      if (step !== publishSteps[1] || !bytes.toString('latin1').includes(phase)) return undefined
      on.server.hinder = () => undefined
      return answer
    }
    expect(resultOf(await publishNow(`Film ${phase}`, account, movies))).toEqual(published(`Film ${phase}`))
  }
  expect(on.server.posts).toHaveLength(3)
})

test('a post that nobody could look for when it failed is found later, though its text and files changed since', async () => {
  const account = await connectPage()
  const setStatus = (status: string) =>
    stores.pg.query('UPDATE social_accounts SET status = $2 WHERE id = $1', [account, status])
  on.server.hinder = async ({ step }) => {
    if (step !== publishSteps[0]) return undefined
    on.server.hinder = () => ({ status: 500, body: {} })
    await setStatus('disconnected')
    return 'cut after'
  }
  const post = await publishNow('Sent', account, [await upload(png({ width: 9 }))])
  expect(resultOf(post)).toEqual(failed('account_not_connected', 'disconnected'))
  on.server.hinder = () => undefined
  await setStatus('connected')
  await scheduleForLater(ask, post.id)
  const changed = { base_caption: 'Changed', media_ids: await moviesOf() }
  expect((await ask('PATCH', `/v1/posts/${post.id}`, changed)).status).toBe(200)
  await reschedule(ask, post.id)
  expect(resultOf(await endedPost(ask, post.id))).toEqual(published('Sent'))
  expect(on.server.posts.map(({ text }) => text)).toEqual(['Sent'])
})

test('a limit is waited for as long as Meta says; others’ posts and a crowd of newer ones aren’t taken for the lost one', async () => {
  const account = await connectPage()
  await publishNow('Twice', account)
  const usage = { 'x-business-use-case-usage': '{"1":[{"type":"pages","estimated_time_to_regain_access":19}]}' }
  hinderFirst({ Twice: ['cut before'], Refused: [graphError(368, 'Temporarily blocked for policies violations')] })
  expect(resultOf(await publishNow('Twice', account))).toEqual(failed('refused', 'Duplicate status message'))
  expect(resultOf(await publishNow('Refused', account))).toEqual(failed('refused', 'policies violations'))
  const [{ link, media, createdAt }] = on.server.posts as [MetaServer['posts'][number]]
  hinderFirst({ Crowded: ['cut before'] })
  for (let at = 0; at < metaPostsEach; at++) {
    on.server.posts.push({ id: `${page.id}_9${at}`, text: `${at}`, link, media, createdAt })
  }
  expect(resultOf(await publishNow('Crowded', account))).toEqual(failed('outcome_unknown', 'Look there first'))
  hinderFirst({ Waits: [{ ...graphError(80001, 'There have been too many calls'), headers: usage }] })
  const id = await schedulePost(ask, { caption: 'Waits', accounts: [account] })
  expect(Math.abs((await endLimit(stores, id)) - 19 * 60)).toBeLessThan(60)
})

test('a token that is over, and one that lacks a permission, expire the account with Meta’s words', async () => {
  const account = await connectPage()
  on.server.state.permissions = ['pages_read_engagement']
  expect(resultOf(await publishNow('Unallowed', account))).toEqual(
    failed('not_authorized', 'Requires pages_manage_posts'),
  )
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
  on.server.state.permissions.push('pages_manage_posts')
  await connectPage()
  on.server.state.pageToken = 'EAAG-another'
  const refused = await publishNow('Later', account)
  expect(resultOf(refused)).toEqual(failed('not_authorized', 'Session has expired'))
  // Nothing was published by it, so nothing has to be looked for.
  await connect('--page', page.id, '--secret', 'EAAG-another')
  await reschedule(ask, refused.id)
  expect((await endedPost(ask, refused.id)).status).toBe('published')
})
