import { expect, test } from 'vitest'
import { pinterestListedMs } from '../../schemas/limits/publish-limits.ts'
import { film, jpeg, png } from '../support/media-files.ts'
import { board, otherBoard, pinner, pinterestApp, pinterestToken, startPinterest } from '../support/pinterest-server.ts'
import type { Hindrance } from '../support/provider-server.ts'
import { endedPost, failed, reschedule, resultOf, scheduleForLater } from '../support/publisher.ts'
import { connectTo, setUpPublishing } from '../support/social-platforms.ts'

const { stores, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startPinterest())

const renewable = JSON.stringify({ access_token: pinterestToken, ...pinterestApp })
const connect = (secret = pinterestToken, words = ['--board', board.id]) =>
  connectTo(stores, mine, 'pinterest', '--secret', secret, ...words)
const connectBoard = async (secret?: string): Promise<number> => (await connect(secret)).json.id
const picture = png({ width: 40 })
const movieOf = () => upload(film({ data: 250_000 }))
const pinOf = (text: string) => on.server.pins.find(({ description }) => description === text)!
const published = (text: string) => {
  const { id } = pinOf(text)
  const url = `https://www.pinterest.com/pin/${id}/`
  return expect.objectContaining({ provider: 'pinterest', external_id: id, url })
}

test('a board is connected by its account’s token; another’s board is not', async () => {
  expect((await connect(renewable)).json).toMatchObject({
    handle: pinner.username,
    display_name: pinner.business_name,
    external_id: pinner.id,
    connection_type: 'oauth',
    provider_metadata: { board_id: board.id, board_name: board.name },
  })
  const refusals = [
    ['other', board.id, 'Authentication failed'],
    [pinterestToken, otherBoard, 'none of theshop'],
    [pinterestToken, '77', 'Board not found'],
  ] as const
  for (const [secret, id, said] of refusals) {
    expect(await connect(secret, ['--board', id])).toMatchObject({ code: 1, err: expect.stringContaining(said) })
  }
  expect(await connect(pinterestToken, [])).toMatchObject({ code: 2, err: expect.stringContaining('--board') })
})

test('an image, several, and a video with its cover are pinned with title, link and alternative text', async () => {
  const account = await connectBoard()
  const [photo, large] = [jpeg({ width: 40, fill: 200_000 }), png({ padTo: 100_001 })]
  const [first, second] = [await upload(photo), await upload(large, 'Ein Bär – "groß"')]
  const text = 'Sale: https://example.com/a_b#top, "now"\nEnd'
  const posts = await Promise.all([
    publishNow(text, account, [second], `All\n ${'ä'.repeat(120)}`),
    publishNow('Several', account, [first, second]),
    publishNow('Film', account, [await movieOf(), first]),
  ])
  expect(posts.map(resultOf)).toEqual(posts.map(({ base_caption }) => published(base_caption)))
  expect(pinOf(text)).toMatchObject({
    title: `All ${'ä'.repeat(96)}`,
    link: 'https://example.com/a_b#top',
    alt_text: 'Ein Bär – "groß"',
    source: 'image_base64',
  })
  const filesOf = (description: string) => pinOf(description).files.map((bytes) => bytes.toString('base64'))
  const encoded = [photo, large, film({ data: 250_000 })].map((bytes) => bytes.toString('base64'))
  expect([filesOf(text), filesOf('Several'), filesOf('Film')]).toEqual([
    [encoded[1]],
    [encoded[0], encoded[1]],
    [encoded[0], encoded[2]],
  ])
  on.server.state.canPlay = false
  expect(resultOf(await publishNow('Unplayable', account, [await movieOf(), first]))).toEqual(
    failed('refused', "can't process the video"),
  )
})

test('a pin whose answer is lost is found though it is listed late, one that never came or met a limit is made again: each is there once', async () => {
  const account = await connectBoard()
  const media = [await upload(picture)]
  const limited = {
    status: 429,
    headers: { 'x-ratelimit-reset': '2' },
    body: { code: 8, message: 'Too many requests' },
  }
  const isSecondLook = () => on.publisher.pauses.includes(pinterestListedMs)
  const hindered: Record<string, Hindrance> = { Lost: 'cut after', Unsent: 'cut before', Limited: limited }
  on.server.hinder = ({ step, json }) => {
    if (step === 'GET /v5/boards/:id/pins' && !isSecondLook()) return { status: 200, body: { items: [] } }
    if (step !== 'POST /v5/pins') return undefined
    const hindrance = hindered[json.description]
    delete hindered[json.description]
    return hindrance
  }
  const posts = [await publishNow('Lost', account, media)]
  expect(isSecondLook()).toBe(true)
  posts.push(...(await Promise.all(['Unsent', 'Limited'].map((text) => publishNow(text, account, media)))))
  expect(posts.map(resultOf)).toEqual(posts.map(({ base_caption }) => published(base_caption)))
  expect(on.server.pins).toHaveLength(3)
})

test('a pin that nobody could look for when it failed is found later, though its title was changed since', async () => {
  const account = await connectBoard()
  const setStatus = (status: string) =>
    stores.pg.query('UPDATE social_accounts SET status = $2 WHERE id = $1', [account, status])
  on.server.hinder = async ({ step }) => {
    if (step === 'GET /v5/boards/:id/pins') return { status: 500, body: {} }
    if (step !== 'POST /v5/pins') return undefined
    await setStatus('disconnected')
    return 'cut after'
  }
  const post = await publishNow('Text', account, [await upload(picture)], 'Sent')
  const { id } = post
  expect(resultOf(post)).toEqual(failed('account_not_connected', 'disconnected'))
  on.server.hinder = () => undefined
  await setStatus('connected')
  await scheduleForLater(ask, id)
  expect((await ask('PATCH', `/v1/posts/${id}`, { title: 'Changed' })).status).toBe(200)
  await reschedule(ask, id)
  expect(resultOf(await endedPost(ask, id))).toEqual(published('Text'))
  expect(on.server.pins.map(({ title }) => title)).toEqual(['Sent'])
})

test('an access token that has expired is renewed; a refresh token that is refused, or an app that may not pin, expires the account', async () => {
  const account = await connectBoard(renewable)
  const media = [await upload(picture)]
  on.server.state.token = 'pina_renewed'
  for (const text of ['Renewed', 'As before']) {
    expect((await publishNow(text, account, media)).status).toBe('published')
  }
  expect(on.server.asked.filter(({ step }) => step === 'POST /v5/oauth/token')).toHaveLength(1)
  Object.assign(on.server.state, { token: 'pina_third', refreshToken: 'revoked' })
  const refused = await publishNow('Revoked', account, media)
  expect(resultOf(refused)).toEqual(failed('not_authorized', 'invalid or expired'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
  await connectBoard(JSON.stringify({ access_token: 'pina_third', ...pinterestApp, client_secret: 'changed-since' }))
  on.server.state.token = 'pina_fourth'
  expect(resultOf(await publishNow('Of another app', account, media))).toEqual(
    failed('not_authorized', 'Authentication failed'),
  )
  expect(await accounts()).toMatchObject([{ status: 'expired' }])
  await connectBoard('pina_fourth')
  on.server.state.mayPin = false
  expect(resultOf(await publishNow('Forbidden', account, media))).toEqual(failed('not_authorized', 'not permitted'))
  on.server.state.mayPin = true
  await connectBoard('pina_fourth')
  await reschedule(ask, refused.id)
  expect((await endedPost(ask, refused.id)).status).toBe('published')
})
