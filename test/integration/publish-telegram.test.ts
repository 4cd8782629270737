import { expect, test } from 'vitest'
import { publishAttemptsMax } from '../../schemas/limits/publish-limits.ts'
import { film, jpeg, png } from '../support/media-files.ts'
import type { Hindrance } from '../support/provider-server.ts'
import { endedPost, endLimit, failed, reschedule, resultOf, schedulePost } from '../support/publisher.ts'
import { connectTo, setUpPublishing } from '../support/social-platforms.ts'
import { botToken, channels, startTelegram } from '../support/telegram-server.ts'

const { stores, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startTelegram())

const connect = (channel = '@theshop', secret = botToken) =>
  connectTo(stores, mine, 'telegram', '--secret', secret, `--channel=${channel}`)
const connectChannel = async (channel?: string): Promise<number> => (await connect(channel)).json.id
const messagesOf = (text: string) => on.server.messages.filter((one) => one.text === text)
const published = (text: string, path = 'theshop') => {
  const id = String(messagesOf(text)[0]!.id)
  return expect.objectContaining({ provider: 'telegram', external_id: id, url: `https://t.me/${path}/${id}` })
}

test('a channel is connected by the token of a bot that may post there', async () => {
  const [shop, customers] = channels
  const isReal = { connection_type: 'bot_token', status: 'connected' }
  expect((await connect()).json).toMatchObject({
    ...isReal,
    handle: '@theshop',
    display_name: 'The Shop',
    external_id: String(shop!.id),
    provider_metadata: { channel: '@theshop', bot: '@shop_bot' },
  })
  const own = { handle: `Customers (${customers!.id})`, external_id: String(customers!.id) }
  expect((await connect(String(customers!.id))).json).toMatchObject({ ...isReal, ...own })
  const refusals = [
    ['@theshop', `${botToken}x`, 'invalid token specified'],
    ['@others', botToken, 'The bot @shop_bot may not post'],
    ['@shoptalk', botToken, 'The chat is no channel'],
    ['@nowhere', botToken, 'chat not found'],
  ] as const
  for (const [channel, secret, said] of refusals) {
    const { code, err } = await connect(channel, secret)
    expect([code, err]).toEqual([1, expect.stringContaining(said)])
    expect(err).not.toContain('SECRET')
  }
})

test('a text, a photo, a video and an album are published as they were written, each in one message or album', async () => {
  const [account, inner] = [await connectChannel(), await connectChannel(String(channels[1]!.id))]
  const [photo, picture, movie] = [
    jpeg({ width: 40, height: 30, fill: 200_000 }),
    png({ width: 9 }),
    film({ data: 250_000 }),
  ]
  const media = [await upload(photo), await upload(picture), await upload(movie)]
  const text = '*Sale* <b>now</b> [all](https://example.com/a_b) & "more" 🙂\nEnd'
  const posts = [
    await publishNow(text, account),
    await publishNow('Photo "ä"', account, [media[0]!]),
    await publishNow('Film', inner, [media[2]!]),
    await publishNow('Album', account, media),
  ]
  const path = (caption: string) => (caption === 'Film' ? 'c/9876543210' : 'theshop')
  expect(posts.map(resultOf)).toEqual(posts.map(({ base_caption: text }) => published(text, path(text))))
  const filesOf = (caption: string) =>
    messagesOf(caption)[0]!.files.map(({ type, bytes }) => [type, bytes.toString('hex')])
  expect(filesOf('Photo "ä"')).toEqual([['photo', photo.toString('hex')]])
  expect(filesOf('Album')).toEqual([
    ['photo', photo.toString('hex')],
    ['photo', picture.toString('hex')],
    ['video', movie.toString('hex')],
  ])
  expect(messagesOf('Film')[0]!.files[0]!.look).toMatchObject({ supports_streaming: 'true' })
})

const limit = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 300 } }

test('a lost answer and an album that may be there in part fail, and are sent again by a person alone; a limit is waited for', async () => {
  const account = await connectChannel()
  const media = [await upload(png()), await upload(png({ width: 9 }))]
  const part = 'Bad Request: failed to send message #2 with the error message "Too Many Requests: retry after 300"'
  const hindered: Record<string, Hindrance> = {
    Lost: 'cut after',
    Unsent: 'cut before',
    Album: { status: 400, body: { ok: false, error_code: 400, description: part } },
    Limited: { status: 429, body: limit },
  }
  on.server.hinder = ({ step, json, form }) => {
    if (!step.includes('/send')) return undefined
    const text = json?.text ?? JSON.parse(form!.fields['media']!)[0].caption
    const hindrance = hindered[text]
    delete hindered[text]
    return hindrance
  }
  const lost = await publishNow('Lost', account)
  expect(resultOf(lost)).toEqual(failed('outcome_unknown', "Telegram didn't say"))
  expect(resultOf(await publishNow('Unsent', account))).toEqual(failed('outcome_unknown', "Telegram didn't say"))
  expect(resultOf(await publishNow('Album', account, media))).toEqual(failed('outcome_unknown', 'A part of the album'))
  expect(on.server.messages.map(({ text }) => text)).toEqual(['Lost'])
  const [held] = await stores.pg.query<{ seconds: number }>(
    `UPDATE social_accounts a SET held_until = NULL FROM social_accounts before WHERE a.id = $1 AND before.id = a.id
     RETURNING extract(epoch FROM before.held_until - now())::float8 AS seconds`,
    [account],
  )
  expect(Math.abs(held!.seconds - 300)).toBeLessThan(60)
  const limited = await schedulePost(ask, { caption: 'Limited', accounts: [account] })
  expect(Math.abs((await endLimit(stores, limited)) - 300)).toBeLessThan(60)
  expect(resultOf(await endedPost(ask, limited))).toEqual(published('Limited'))
  expect(messagesOf('Limited')).toHaveLength(1)
  await reschedule(ask, lost.id)
  expect((await endedPost(ask, lost.id)).status).toBe('published')
})

test('an answer that is lost in the last attempt leaves the outcome unknown, too', async () => {
  const account = await connectChannel()
  on.server.hinder = async ({ step }) => {
    if (!step.includes('/send')) return undefined
    on.server.hinder = (next) => (next.step.includes('/send') ? 'cut after' : undefined)
    await stores.pg.query('UPDATE post_targets SET attempt_count = $1', [publishAttemptsMax - 1])
    return { status: 429, body: limit }
  }
  const id = await schedulePost(ask, { caption: 'Last', accounts: [account] })
  await endLimit(stores, id)
  expect(resultOf(await endedPost(ask, id))).toEqual(failed('outcome_unknown', "Telegram didn't say"))
  on.server.hinder = () => undefined
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).status).toBe('published')
})

test('a refusal fails the post, a token that was revoked expires the account, and nothing shows the token', async () => {
  const account = await connectChannel()
  on.server.state.mayPost = false
  const refusal = await publishNow('Not allowed', account)
  expect(resultOf(refusal)).toEqual(failed('refused', '403: Forbidden: bot is not a member'))
  const repeated = { message: `Cannot POST /bot${botToken}/sendMessage` }
  on.server.hinder = ({ step }) => (step.includes('/send') ? { status: 405, body: repeated } : undefined)
  const byProxy = await publishNow('Behind a proxy', account)
  expect(resultOf(byProxy)).toEqual(failed('refused', '405: Cannot POST /bot…/sendMessage'))
  on.server.hinder = () => undefined
  on.server.state.token = '110201543:AAnext'
  const revoked = await publishNow('Revoked', account)
  expect(resultOf(revoked)).toEqual(failed('not_authorized', '401: Unauthorized'))
  const shown = await accounts()
  expect(shown).toMatchObject([{ status: 'expired', health_status: 'error' }])
  expect(JSON.stringify([refusal, byProxy, revoked, shown])).not.toContain('SECRET')
})
