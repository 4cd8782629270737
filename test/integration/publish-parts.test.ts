/** A post with a thread: each part once, as a reply to the one before, whatever happens in between. */
import { expect, test } from 'vitest'
import { setUpApi, testApiHost } from '../support/api.ts'
import { startBluesky } from '../support/bluesky-server.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
import { png } from '../support/media-files.ts'
import { startMeta, threadsToken } from '../support/meta-server.ts'
import type { Hindrance } from '../support/provider-server.ts'
import { endedPost, reschedule, schedulePost, setUpPlatform, toldTo } from '../support/publisher.ts'
import { asking, type ShownPost } from '../support/publishing.ts'
import { connectBluesky, connectMastodon, connectMeta, connectX, uploadFile } from '../support/social-platforms.ts'
import { startX } from '../support/x-server.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)

async function startAll() {
  const meta = await startMeta((url) => Promise.resolve(api.ask(url.slice(testApiHost.length))))
  const [mastodon, bluesky, x] = [await startMastodon(), await startBluesky(), await startX()]
  const all = [meta, mastodon, bluesky, x]
  return {
    ...{ meta, mastodon, bluesky, x, agent: meta.agent },
    get faults() {
      return all.flatMap(({ faults }) => faults)
    },
    close: async () => {
      for (const one of all) await one.close()
    },
  }
}
const on = setUpPlatform(stores, startAll)

const connectAll = async (): Promise<number[]> => {
  const { mastodon, bluesky, x } = on.server
  const made = [
    await connectMastodon(stores, mine, mastodon),
    await connectBluesky(stores, mine, bluesky),
    await connectX(stores, mine, x),
    await connectMeta(stores, mine, 'threads', '--secret', threadsToken),
  ]
  return made.map(({ json }) => json.id)
}
const connectTo = async (mastodon: MastodonServer): Promise<number> =>
  (await connectMastodon(stores, mine, mastodon)).json.id

interface Sent {
  readonly id: string
  readonly text: string
  readonly repliesTo: string | undefined
  readonly files: number
}

/** By platform, in the order in which they were published. */
function sentTo(): Record<string, Sent[]> {
  const { meta, mastodon, bluesky, x } = on.server
  const uri = (rkey: string) => `at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/${rkey}`
  return {
    mastodon: mastodon.statuses.map(({ id, text, inReplyTo, mediaIds }) => ({
      ...{ id, text, repliesTo: inReplyTo ?? undefined, files: mediaIds.length },
    })),
    bluesky: bluesky.records.map(({ rkey, record: { text, reply, embed } }) => ({
      ...{ id: uri(rkey), text, repliesTo: reply?.parent.uri, files: embed?.images.length ?? 0 },
    })),
    x: x.posts.map(({ id, text, inReplyTo: repliesTo, mediaIds }) => ({ id, text, repliesTo, files: mediaIds.length })),
    threads: meta.threads.map(({ id, text, repliedTo, media }) => ({
      id,
      text,
      repliesTo: repliedTo,
      files: media.length,
    })),
  }
}

/** Each text once, in order, each but the first as a reply to the one before. */
function chainOf(sent: readonly Sent[], texts: readonly string[], files = 0): Sent[] {
  return texts.map((text, at) => ({
    ...{ id: sent[at]?.id ?? '', text, repliesTo: sent[at - 1]?.id, files: at === 0 ? files : 0 },
  }))
}

const thread = ['Two @bob.example', 'Three, https://example.com/3', 'Four']
const texts = ['One', ...thread]

test('each platform gets a thread part by part, each as a reply to the one before, with the files in the first', async () => {
  const accounts = await connectAll()
  const media = [await uploadFile(api, mine.apiKey, png({ width: 9 }), { altText: 'A bear' })]
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'One', thread, accounts, media }))
  expect(post).toMatchObject({ status: 'published', thread })
  const sent = sentTo()
  for (const { platform, publish_result } of post.targets) {
    const of = sent[platform]!
    expect([platform, of]).toEqual([platform, chainOf(of, texts, 1)])
    expect(publish_result).toMatchObject({
      ...{ provider: platform, external_id: of[0]!.id, url: expect.stringMatching(/^https:/) },
      parts: of.map(({ id }) => ({ external_id: id, url: expect.stringMatching(/^https:/) })),
    })
  }
  expect(new Set(post.targets.flatMap(({ publish_result }) => urlsIn(publish_result))).size).toBe(16)
  const [told] = await toldTo(stores, mine.workspaceId)
  expect(told).toMatchObject({ type: 'post.published', object: { thread, targets: post.targets } })
})

const urlsIn = (result: object) => (result as { parts: { url: string }[] }).parts.map(({ url }) => url)

test('a part whose answer is lost is found, one that never came is sent again, and the thread goes on behind it', async () => {
  const accounts = await connectAll()
  const { meta, mastodon, bluesky, x } = on.server
  const lost = (isPublishing: (step: string) => boolean) => {
    const hindrances: (Hindrance | undefined)[] = [undefined, 'cut after', 'cut before']
    return ({ step }: { step: string }) => (isPublishing(step) ? hindrances.shift() : undefined)
  }
  mastodon.hinder = lost((step) => step === 'POST /api/v1/statuses')
  bluesky.hinder = lost((step) => step.endsWith('createRecord'))
  x.hinder = lost((step) => step === 'POST /2/tweets')
  meta.hinder = lost((step) => step.endsWith('threads_publish'))
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'One', thread, accounts }), 120_000)
  expect(post.targets.map(({ status }) => status)).toEqual(Array(4).fill('published'))
  for (const [platform, sent] of Object.entries(sentTo())) {
    expect([platform, sent]).toEqual([platform, chainOf(sent, texts)])
  }
})

test('a part that is refused leaves those before it; mended and scheduled anew, the thread goes on with it', async () => {
  const { mastodon } = on.server
  const account = await connectTo(mastodon)
  const slow = { status: 429, headers: { 'retry-after': '1' }, body: { error: 'Too many requests' } }
  const refusals = new Map<string, Hindrance>([
    ['Three', { status: 422, body: { error: 'Validation failed' } }],
    ['Two', slow],
  ])
  mastodon.hinder = ({ json }) => {
    const refusal = refusals.get(json?.status)
    if (refusal === slow) refusals.delete('Two')
    return refusal
  }
  const id = await schedulePost(ask, { caption: 'One', thread: ['Two', 'Three', 'Four'], accounts: [account] })
  const failed = await endedPost(ask, id)
  const parts = mastodon.statuses.map((one) => expect.objectContaining({ external_id: one.id }))
  const said = 'Part 3 of 4, the 2 before are published: The platform answered 422: Validation failed'
  expect(failed.targets[0]).toMatchObject({
    status: 'failed',
    publish_result: { error: { code: 'refused', message: said, retryable: false }, parts },
  })
  expect(parts).toHaveLength(2)
  expect((await ask('DELETE', `/v1/posts/${id}`)).status).toBe(409)

  const later = { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }
  const scheduled = await ask<ShownPost>('POST', `/v1/posts/${id}/schedule`, later)
  expect(scheduled.body.targets[0]!.publish_result).toEqual({ parts })
  expect((await ask('PATCH', `/v1/posts/${id}`, { social_account_ids: [] })).status).toBe(409)
  const mended = ['Two', 'Mended', 'Four']
  for (const thread of [['Changed', 'Mended'], [], null]) {
    expect((await ask('PATCH', `/v1/posts/${id}`, { thread })).status).toBe(409)
  }
  expect((await ask('PATCH', `/v1/posts/${id}`, { thread: mended })).body).toMatchObject({ thread: mended })
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).status).toBe('published')
  const { mastodon: sent } = sentTo()
  expect(sent).toEqual(chainOf(sent!, ['One', 'Two', 'Mended', 'Four']))
})

test('credentials that end between two parts fail the target; with a thread as short as what is there it is published', async () => {
  const { mastodon } = on.server
  const account = await connectTo(mastodon)
  const { token } = mastodon.state
  mastodon.hinder = ({ json }) => {
    if (json?.status === 'Three') mastodon.state.token = 'another'
    return undefined
  }
  const id = await schedulePost(ask, { caption: 'One', thread: ['Two', 'Three'], accounts: [account] })
  const error = { code: 'not_authorized', message: expect.stringMatching(/^Part 3 of 3, the 2 before are published: /) }
  expect((await endedPost(ask, id)).targets[0]!.publish_result).toMatchObject({ error })
  expect((await ask('GET', '/v1/social-accounts')).body).toMatchObject([{ status: 'expired' }])
  mastodon.state.token = token
  expect(await connectTo(mastodon)).toBe(account)
  const asked = mastodon.asked.length
  await ask('POST', `/v1/posts/${id}/schedule`, { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() })
  await ask('PATCH', `/v1/posts/${id}`, { thread: ['Two'] })
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).targets[0]).toMatchObject({
    status: 'published',
    publish_result: {
      external_id: mastodon.statuses[0]!.id,
      parts: mastodon.statuses.map((one) => ({ external_id: one.id })),
    },
  })
  expect([mastodon.statuses.map(({ text }) => text), mastodon.asked.length]).toEqual([['One', 'Two'], asked])
})

test('a thread of which the instance wouldn’t take a later part isn’t begun', async () => {
  const { mastodon } = on.server
  mastodon.state.maxCharacters = 100
  const account = await connectTo(mastodon)
  const due = { caption: 'One', thread: ['Two', 'x'.repeat(101)], accounts: [account] }
  const post = await endedPost(ask, await schedulePost(ask, due))
  const message = 'Part 1 of 3: Part 3 would be refused: The instance takes 100 characters, these are 101'
  expect(post.targets[0]!.publish_result).toEqual({ error: { code: 'invalid', message, retryable: false } })
  expect(mastodon.statuses).toEqual([])
})

test('a token of Threads that may not reply leaves the first part, says what it lacks, and stays good for other posts', async () => {
  const { meta } = on.server
  const { json } = await connectMeta(stores, mine, 'threads', '--secret', threadsToken)
  const lacking = { error: { message: 'Application does not have permission for this action', type: 'X', code: 10 } }
  meta.hinder = ({ form, bytes }) => {
    const isReply = form?.fields['reply_to_id'] !== undefined || `${bytes}`.includes('reply_to_id')
    return isReply ? { status: 400, body: lacking } : undefined
  }
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'One', thread: ['Two'], accounts: [json.id] }))
  const message = expect.stringMatching(/^Part 2 of 2, the one before is published: .*threads_manage_replies/)
  expect(post.targets[0]!.publish_result).toMatchObject({ error: { code: 'permission_missing', message } })
  expect((await ask('GET', '/v1/social-accounts')).body).toMatchObject([{ status: 'connected' }])
  expect(meta.threads.map(({ text }) => text)).toEqual(['One'])
})
