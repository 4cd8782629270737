import { expect, test } from 'vitest'
import { startDiscord, webhook, webhookUrl } from '../support/discord-server.ts'
import { exif, film, jpeg, png } from '../support/media-files.ts'
import { setUpMembers } from '../support/members.ts'
import type { Hindrance } from '../support/provider-server.ts'
import { endedPost, endLimit, failed, reschedule, resultOf, schedulePost } from '../support/publisher.ts'
import { connectTo, setUpPublishing } from '../support/social-platforms.ts'

const { stores, api, mine, ask, on, publishNow, upload, accounts } = setUpPublishing(() => startDiscord())
const { signInOwner } = setUpMembers({ stores, api })

const connect = (secret = webhookUrl, ...words: string[]) =>
  connectTo(stores, mine, 'discord', '--secret', secret, ...words)
const connectWebhook = async (): Promise<number> => (await connect()).json.id
const messagesOf = (text: string) => on.server.messages.filter(({ content }) => content === text)
const published = (text: string) => {
  const { id } = messagesOf(text)[0]!
  const url = `https://discord.com/channels/199737254929760000/199737254929760256/${id}`
  return expect.objectContaining({ provider: 'discord', external_id: id, url })
}

test('a channel is connected by the address of its webhook, under any of Discord’s hosts', async () => {
  const { json } = await connect()
  expect(json).toMatchObject({
    handle: `Captain Hook (${webhook.id})`,
    display_name: 'Captain Hook',
    external_id: webhook.id,
    connection_type: 'webhook',
    status: 'connected',
  })
  const older = webhookUrl.replace('discord.com/api', 'canary.discordapp.com/api/v9')
  expect((await connect(older, '--handle', 'news')).json).toMatchObject({ id: json.id, handle: 'news' })
  const refusals = [
    [webhookUrl.replace('https', 'http'), 'must be the address of a webhook'],
    [`${webhookUrl}/slack`, 'must be the address of a webhook'],
    [`${webhookUrl}?thread_id=1`, 'must be the address of a webhook'],
    [webhookUrl.replace('discord.com', 'example.com'), 'must be the address of a webhook'],
    [`${webhookUrl}x`, '401: Invalid Webhook Token'],
    [webhookUrl.replace(webhook.id, '77'), '404: Unknown Webhook'],
  ] as const
  for (const [secret, said] of refusals) {
    const { code, err } = await connect(secret)
    expect([code, err]).toEqual([1, expect.stringContaining(said)])
    expect(err).not.toContain('SECRET')
  }
  on.server.state.id = '77'
  const another = webhookUrl.replace(webhook.id, '77')
  const renewal = { platform: 'discord', secret: another, handle: 'news', renews: json.id }
  const renewed = await (await signInOwner(mine))('POST', '/social-accounts', renewal)
  expect(renewed.body.detail).toMatchObject([{ msg: expect.stringContaining('connect this one by itself') }])
  on.server.state.id = webhook.id
  on.server.state.type = 2
  expect((await connect()).err).toContain('takes no messages')
})

test('a text, and images and videos with alternative texts, are published; a photo loses its place', async () => {
  const account = await connectWebhook()
  const [photo, picture, movie] = [jpeg({ width: 40, segments: exif(6) }), png({ width: 40 }), film({ data: 250_000 })]
  const media = [await upload(photo, 'Ein Bär – "groß"'), await upload(picture), await upload(movie, 'A film')]
  const text = '@everyone <@80351110224678912> **Sale** https://example.com/a_b "now" 🙂\nEnd'
  const posts = [await publishNow(text, account), await publishNow('Files', account, media)]
  expect(posts.map(resultOf)).toEqual([published(text), published('Files')])
  const { files } = messagesOf('Files')[0]!
  expect(files.map(({ name, description }) => [name, description])).toEqual([
    ['media.jpeg', 'Ein Bär – "groß"'],
    ['media2.png', undefined],
    ['media3.mp4', 'A film'],
  ])
  expect([photo.includes('GPS'), files[0]!.bytes.includes('GPS')]).toEqual([true, false])
  expect(files.slice(1).map(({ bytes }) => bytes.toString('hex'))).toEqual(
    [picture, movie].map((file) => file.toString('hex')),
  )
})

test('a lost answer fails and is sent again by a person alone; a limit is waited for, and a refusal is final', async () => {
  const account = await connectWebhook()
  const limit = { message: 'You are being rate limited.', retry_after: 300.5, global: false }
  const hindered: Record<string, Hindrance> = {
    Lost: 'cut after',
    Limited: { status: 429, body: limit },
    Blocked: { status: 403, body: { code: 40_333, message: 'internal network error' } },
    Refused: {
      status: 400,
      body: { code: 220_001, message: 'Webhooks posted to forum channels must have a thread_name' },
    },
  }
  on.server.hinder = ({ json }) => {
    const hindrance = hindered[json?.content]
    delete hindered[json?.content]
    return hindrance
  }
  expect(resultOf(await publishNow('Blocked', account))).toEqual(published('Blocked'))
  const lost = await publishNow('Lost', account)
  expect(resultOf(lost)).toEqual(failed('outcome_unknown', "Discord didn't say"))
  expect(messagesOf('Lost')).toHaveLength(1)
  const limited = await schedulePost(ask, { caption: 'Limited', accounts: [account] })
  expect(Math.abs((await endLimit(stores, limited)) - 300)).toBeLessThan(60)
  expect(resultOf(await endedPost(ask, limited))).toEqual(published('Limited'))
  expect(messagesOf('Limited')).toHaveLength(1)
  expect(resultOf(await publishNow('Refused', account))).toEqual(failed('refused', 'forum channels'))
  await reschedule(ask, lost.id)
  expect((await endedPost(ask, lost.id)).status).toBe('published')
})

test('a webhook that was deleted expires the account, and nothing shows its token', async () => {
  const account = await connectWebhook()
  on.server.state.isThere = false
  const deleted = await publishNow('Deleted', account)
  expect(resultOf(deleted)).toEqual(failed('not_authorized', '404: Unknown Webhook'))
  const shown = await accounts()
  expect(shown).toMatchObject([{ status: 'expired', health_status: 'error' }])
  expect(JSON.stringify([deleted, shown])).not.toContain('SECRET')
})
