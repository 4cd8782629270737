/** A post with a thread: each part once, as a reply to the one before, whatever happens in between. */
import { expect, test } from 'vitest'
import { partGoneMs } from '../../schemas/limits/publish-limits.ts'
import { testApiHost } from '../support/api.ts'
import { startBluesky } from '../support/bluesky-server.ts'
import { graphError } from '../support/container-server.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
import { film, jpeg, png } from '../support/media-files.ts'
import { startMeta, threadsToken } from '../support/meta-server.ts'
import type { Asking, Hindrance } from '../support/provider-server.ts'
import {
  endedPost,
  failed,
  reschedule,
  resultOf,
  scheduleForLater,
  schedulePost,
  toldTo,
} from '../support/publisher.ts'
import type { ShownPost } from '../support/publishing.ts'
import { connectBluesky, connectMastodon, connectMeta, connectX, setUpPublishing } from '../support/social-platforms.ts'
import { startX } from '../support/x-server.ts'

const { stores, mine, ask, on, upload, accounts } = setUpPublishing(async (api) => {
  const meta = await startMeta((url) => api.ask(url.slice(testApiHost.length)))
  const [mastodon, bluesky, x] = [await startMastodon(), await startBluesky(), await startX()]
  const all = [meta, mastodon, bluesky, x]
  return {
    meta,
    mastodon,
    bluesky,
    x,
    agent: meta.agent,
    get faults() {
      return all.flatMap(({ faults }) => faults)
    },
    close: async () => {
      for (const one of all) await one.close()
    },
  }
})

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
/** A thread on one account, once it has ended. */
const publishThread = async (account: number, caption: string, ...thread: string[]) =>
  endedPost(ask, await schedulePost(ask, { caption, thread, accounts: [account] }))

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
      id,
      text,
      repliesTo: inReplyTo ?? undefined,
      files: mediaIds.length,
    })),
    bluesky: bluesky.records.map(({ rkey, record: { text, reply, embed } }) => ({
      id: uri(rkey),
      text,
      repliesTo: reply?.parent.uri,
      files: embed?.images?.length ?? Number(embed?.video !== undefined),
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

/** Each text once, in order, each but the first as a reply to the one before. @param files how many each of them shows */
function chainOf(sent: readonly Sent[], texts: readonly string[], files: readonly number[] = []): Sent[] {
  return texts.map((text, at) => ({
    id: sent[at]?.id ?? '',
    text,
    repliesTo: sent[at - 1]?.id,
    files: files[at] ?? 0,
  }))
}

const thread = ['Two @bob.example', 'Three, https://example.com/3', 'Four']
const texts = ['One', ...thread]

test('each platform gets a thread part by part, each as a reply to the one before, with its files and its text for it', async () => {
  const accounts = await connectAll()
  const [bear, fox] = [await upload(png({ width: 9 }), 'A bear'), await upload(jpeg({ width: 40 }), 'A fox')]
  const walk = await upload(film({ data: 250_000 }), 'A walk')
  const [two, three, four] = thread
  const parts = [
    { text: two, media_ids: [walk], platform_captions: {} },
    { text: three, media_ids: [fox, bear], platform_captions: { x: 'Three, for X', mastodon: 'Three, for Mastodon' } },
    { text: four, media_ids: [], platform_captions: {} },
  ]
  const due = { caption: 'One', thread: [...parts.slice(0, 2), four!], accounts, media: [bear] }
  const post = await endedPost(ask, await schedulePost(ask, due))
  expect(post).toMatchObject({ status: 'published', media_ids: [bear], thread: parts })
  const sent = sentTo()
  const threeOn: Record<string, string> = parts[1]!.platform_captions
  for (const { platform, publish_result } of post.targets) {
    const published = sent[platform]!
    const own = texts.with(2, threeOn[platform] ?? three!)
    expect([platform, published]).toEqual([platform, chainOf(published, own, [1, 1, 2, 0])])
    expect(publish_result).toMatchObject({
      provider: platform,
      external_id: published[0]!.id,
      url: expect.stringMatching(/^https:/),
      parts: published.map(({ id }) => ({ external_id: id, url: expect.stringMatching(/^https:/) })),
    })
  }
  expect(new Set(post.targets.flatMap(({ publish_result }) => urlsIn(publish_result))).size).toBe(16)
  const [told] = await toldTo(stores, mine.workspaceId)
  expect(told).toMatchObject({ type: 'post.published', object: { thread: parts, targets: post.targets } })
  const { meta, mastodon, bluesky, x } = on.server
  const described = ['A walk', 'A fox', 'A bear']
  expect({
    mastodon: mastodon.media.slice(1).map(({ description }) => description),
    bluesky: bluesky.records
      .slice(1, 3)
      .flatMap(({ record: { embed } }) => embed.images ?? [embed])
      .map(({ alt }) => alt),
    // It has none for videos.
    x: x.media.slice(1).map(({ altText }) => altText),
    threads: meta.threads.slice(1, 3).flatMap(({ media }) => media.map(({ altText }) => altText)),
  }).toEqual({ mastodon: described, bluesky: described, x: [undefined, 'A fox', 'A bear'], threads: described })

  // Files of a thread that is published may go; the post goes on naming them.
  expect((await ask('DELETE', `/v1/media/${walk}`)).status).toBe(200)
  expect((await ask('GET', `/v1/posts/${post.id}`)).body.thread).toEqual(parts)
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
  const post = await endedPost(ask, await schedulePost(ask, { caption: 'One', thread, accounts }))
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
  const refused = await publishThread(account, 'One', 'Two', 'Three', 'Four')
  const { id } = refused
  const parts = mastodon.statuses.map((one) => expect.objectContaining({ external_id: one.id }))
  const said = 'Part 3 of 4, the 2 before are published: The platform answered 422: Validation failed'
  expect(refused.targets[0]).toMatchObject({
    status: 'failed',
    publish_result: { error: { code: 'refused', message: said, retryable: false }, parts },
  })
  expect(parts).toHaveLength(2)
  expect((await ask('DELETE', `/v1/posts/${id}`)).status).toBe(409)

  expect(resultOf((await scheduleForLater(ask, id)).body)).toEqual({ parts })
  expect((await ask('PATCH', `/v1/posts/${id}`, { social_account_ids: [] })).status).toBe(409)
  const mended = ['Two', 'Mended', 'Four']
  for (const thread of [['Changed', 'Mended'], [], null]) {
    expect((await ask('PATCH', `/v1/posts/${id}`, { thread })).status).toBe(409)
  }
  const illustrated = { text: 'Two', media_ids: [await upload(png())] }
  expect((await ask('PATCH', `/v1/posts/${id}`, { thread: [illustrated, 'Three'] })).status).toBe(409)
  const asShown = mended.map((text) => ({ text, media_ids: [], platform_captions: {} }))
  expect((await ask('PATCH', `/v1/posts/${id}`, { thread: mended })).body).toMatchObject({ thread: asShown })
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).status).toBe('published')
  const { mastodon: sent } = sentTo()
  expect(sent).toEqual(chainOf(sent!, ['One', 'Two', 'Mended', 'Four']))
})

test('an account that shows no part of a begun thread can be dropped with its captions', async () => {
  const { mastodon, x } = on.server
  const begun = await connectTo(mastodon)
  const { json } = await connectX(stores, mine, x)
  mastodon.hinder = ({ json }) => (json?.status === 'Three' ? { status: 422, body: { error: 'No' } } : undefined)
  x.hinder = ({ json }) =>
    json?.text === 'One' ? { status: 403, body: { title: 'No', detail: 'No', type: 'about:blank' } } : undefined
  const two = { text: 'Two', media_ids: [], platform_captions: { mastodon: 'Two there' } }
  const both = { ...two, platform_captions: { ...two.platform_captions, x: 'Two, for X' } }
  const id = await schedulePost(ask, { caption: 'One', thread: [both, 'Three'], accounts: [begun, json.id] })
  expect((await endedPost(ask, id)).status).toBe('failed')
  await scheduleForLater(ask, id)
  const dropping = { social_account_ids: [begun], platform_captions: {} }
  const renamed = { ...two, platform_captions: { mastodon: 'Another' } }
  expect((await ask('PATCH', `/v1/posts/${id}`, { ...dropping, thread: [renamed] })).status).toBe(409)
  const dropped = await ask('PATCH', `/v1/posts/${id}`, { ...dropping, thread: [two, 'Drei'] })
  expect([dropped.status, dropped.body]).toMatchObject([200, { thread: [two, { text: 'Drei' }] }])
})

test('each part of a thread, and each failure that is tried again, changes the post under an updated_at of its own', async () => {
  const { mastodon } = on.server
  const account = await connectTo(mastodon)
  const seen: ShownPost[] = []
  mastodon.hinder = async ({ step, json }) => {
    if (step !== 'POST /api/v1/statuses') return undefined
    seen.push((await ask<ShownPost[]>('GET', '/v1/posts?limit=1')).body[0]!)
    return json.status === 'Two' && seen.length === 2 ? { status: 503, body: {} } : undefined
  }
  seen.push(await publishThread(account, 'One', 'Two'))
  expect(seen.map(({ targets }) => Object.keys(targets[0]!.publish_result).sort())).toEqual([
    [],
    ['parts'],
    ['error', 'parts'],
    ['external_id', 'parts', 'provider', 'published_at', 'url'],
  ])
  const times = seen.map(({ updated_at }) => updated_at)
  expect([times, new Set(times).size]).toEqual([[...times].sort(), seen.length])
})

test('credentials that end between two parts fail the target; with a thread as short as what is there it is published', async () => {
  const { mastodon } = on.server
  const account = await connectTo(mastodon)
  const { token } = mastodon.state
  mastodon.hinder = ({ json }) => {
    if (json?.status === 'Three') mastodon.state.token = 'another'
    return undefined
  }
  const post = await publishThread(account, 'One', 'Two', 'Three')
  const { id } = post
  expect(resultOf(post)).toMatchObject(failed('not_authorized', 'Part 3 of 3, the 2 before are published: '))
  expect(await accounts()).toMatchObject([{ status: 'expired' }])
  mastodon.state.token = token
  expect(await connectTo(mastodon)).toBe(account)
  const asked = mastodon.asked.length
  await scheduleForLater(ask, id)
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
  const message = 'Part 1 of 3: Part 3 would be refused: The instance takes 100 characters, these are 101'
  expect(resultOf(await publishThread(account, 'One', 'Two', 'x'.repeat(101)))).toEqual(failed('invalid', message))
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
  const message = expect.stringMatching(/^Part 2 of 2, the one before is published: .*threads_manage_replies/)
  const error = { code: 'permission_missing', message }
  expect(resultOf(await publishThread(json.id, 'One', 'Two'))).toMatchObject({ error })
  expect(await accounts()).toMatchObject([{ status: 'connected' }])
  expect(meta.threads.map(({ text }) => text)).toEqual(['One'])
})

/** Refuses the part of this text until it is called. */
function refusing(text: string): () => void {
  let isRefused = true
  const refusal = (title: string): Hindrance => ({
    status: 403,
    body: { title, error: title, detail: title, type: 'about:blank' },
  })
  const { meta, mastodon, bluesky, x } = on.server
  mastodon.hinder = ({ json }) =>
    isRefused && json?.status === text ? { status: 422, body: { error: 'No' } } : undefined
  bluesky.hinder = ({ json }) =>
    isRefused && json?.record?.text === text
      ? { status: 400, body: { error: 'InvalidRequest', message: 'No' } }
      : undefined
  x.hinder = ({ json }) => (isRefused && json?.text === text ? refusal('Forbidden') : undefined)
  meta.hinder = ({ form, bytes }) => {
    const isOfText = form?.fields['text'] === text || `${bytes}`.includes(`text=${text}`)
    return isRefused && isOfText ? graphError(100, 'No') : undefined
  }
  return () => {
    isRefused = false
  }
}

test('a thread whose parts were deleted on the network fails with that, and rescheduled goes on from there, none twice', async () => {
  const accounts = await connectAll()
  const mend = refusing('Four')
  const id = await schedulePost(ask, { caption: 'One', thread, accounts })
  expect((await endedPost(ask, id)).targets.map(({ status }) => status)).toEqual(Array(4).fill('failed'))
  mend()
  const { meta, mastodon, bluesky, x } = on.server
  for (const list of [mastodon.statuses, x.posts, meta.threads as unknown[]]) expect(list.splice(1)).toHaveLength(2)
  for (const record of bluesky.records.slice(1)) bluesky.remove(record)
  await reschedule(ask, id)
  const { targets } = await endedPost(ask, id)
  const message = 'Part 2 of 4 was deleted there. Scheduled again, the thread goes on with part 2'
  for (const { platform, publish_result } of targets) {
    const parts = [{ external_id: sentTo()[platform]![0]!.id }]
    expect(publish_result).toMatchObject({ error: { code: 'part_deleted', message, retryable: false }, parts })
    expect(sentTo()[platform]).toHaveLength(1)
  }
  await reschedule(ask, id)
  expect((await endedPost(ask, id)).status).toBe('published')
  for (const [platform, sent] of Object.entries(sentTo())) {
    expect([platform, sent]).toEqual([platform, chainOf(sent, texts)])
  }
})

test('a part that a network shows late isn’t taken for a deleted one', async () => {
  const { mastodon } = on.server
  const account = await connectTo(mastodon)
  let refusals = 1
  const isSecondLook = () => on.publisher.pauses.includes(partGoneMs)
  mastodon.hinder = ({ step, json }) => {
    if (json?.status === 'Two' && refusals-- > 0) return { status: 503, body: '' }
    const isLook = step === 'GET /api/v1/statuses/:id' && !isSecondLook()
    return isLook ? { status: 404, body: { error: 'Record not found' } } : undefined
  }
  const { status } = await publishThread(account, 'One', 'Two')
  expect([status, isSecondLook()]).toEqual(['published', true])
  expect(sentTo()['mastodon']).toEqual(chainOf(sentTo()['mastodon']!, ['One', 'Two']))
})

test.each([
  ['for good', 403],
  ['for now', 429],
  ['for its token', 401],
])(
  'a network that refuses %s to show the parts hides no other refusal, and keeps no thread from going on',
  async (_, status) => {
    const { x } = on.server
    const account: number = (await connectX(stores, mine, x)).json.id
    const title = 'Not for you'
    const answer = (status: number, detail: string) => ({
      status,
      body: { title, detail, type: 'about:blank', status },
    })
    let isRefused = true
    x.hinder = ({ step, json }) => {
      if (step === 'GET /2/tweets') return answer(status, 'No reads')
      return isRefused && json?.text === 'Three' ? answer(403, 'A bad text') : undefined
    }
    const post = await publishThread(account, 'One', 'Two', 'Three')
    expect(resultOf(post)).toMatchObject(failed('refused', 'A bad text'))
    expect(await accounts()).toMatchObject([{ status: 'connected' }])
    isRefused = false
    await reschedule(ask, post.id)
    expect((await endedPost(ask, post.id)).status).toBe('published')
    expect(sentTo()['x']).toEqual(chainOf(sentTo()['x']!, ['One', 'Two', 'Three']))
  },
)

test('parts behind a deleted one have to be deleted, too: then the thread begins anew, and its caption may change', async () => {
  const { mastodon } = on.server
  const account = await connectTo(mastodon)
  // The part before is deleted while this one is on its way.
  mastodon.hinder = ({ json }) => {
    if (json?.status === 'Three') mastodon.statuses.pop()
    return undefined
  }
  const deleted = failed('part_deleted', 'Part 2 of 3 was deleted there. Scheduled again')
  expect(resultOf(await publishThread(account, 'One', 'Two', 'Three'))).toMatchObject(deleted)

  mastodon.statuses.splice(0)
  mastodon.hinder = ({ json }) => (json?.status === 'Third' ? { status: 422, body: { error: 'No' } } : undefined)
  const { id: other, status } = await publishThread(account, 'First', 'Second', 'Third')
  expect(status).toBe('failed')
  mastodon.hinder = () => undefined
  mastodon.statuses.shift()
  const resultNow = async () => {
    await reschedule(ask, other)
    return resultOf(await endedPost(ask, other))
  }
  const behind = 'Delete these as well and schedule the post again, or archive it'
  const message = `Part 1 of 3 was deleted there, but not part 2. ${behind}`
  expect(await resultNow()).toMatchObject(failed('part_deleted', message))
  expect(mastodon.statuses.splice(0).map(({ text }) => text)).toEqual(['Second'])
  expect(await resultNow()).toMatchObject(failed('part_deleted', 'on with part 1'))
  await scheduleForLater(ask, other)
  const changed = await ask('PATCH', `/v1/posts/${other}`, { base_caption: 'Anew', thread: ['Second', 'Third'] })
  expect(changed.status).toBe(200)
  await reschedule(ask, other)
  expect((await endedPost(ask, other)).status).toBe('published')
  expect(sentTo()['mastodon']).toEqual(chainOf(sentTo()['mastodon']!, ['Anew', 'Second', 'Third']))
})

/** The answer to a part is lost. Before the next request its parent is deleted. */
function losing(isPart: (asking: Asking) => boolean, remove: () => unknown): (asking: Asking) => Hindrance | undefined {
  let isLost = false
  return (asking) => {
    if (isLost) remove()
    isLost = !isLost && isPart(asking)
    return isLost ? 'cut after' : undefined
  }
}

test('a part whose answer is lost is found although the part before was deleted meanwhile', async () => {
  const { mastodon, meta } = on.server
  const accounts = [
    await connectTo(mastodon),
    (await connectMeta(stores, mine, 'threads', '--secret', threadsToken)).json.id,
  ]
  mastodon.hinder = losing(
    ({ json }) => json?.status === 'Two',
    () => mastodon.statuses.shift(),
  )
  const threads = meta.threads as unknown[]
  meta.hinder = losing(
    ({ step }) => step.endsWith('threads_publish') && threads.length === 1,
    () => threads.shift(),
  )
  const id = await schedulePost(ask, { caption: 'One', thread: ['Two'], accounts })
  expect(await endedPost(ask, id)).toMatchObject({ status: 'published' })
  for (const sent of [mastodon.statuses, meta.threads]) expect(sent.map(({ text }) => text)).toEqual(['Two'])
})

test('a thread that goes on behind a part that was found again is looked for, too', async () => {
  const { bluesky } = on.server
  const account: number = (await connectBluesky(stores, mine, bluesky)).json.id
  bluesky.hinder = losing(
    ({ json }) => json?.record?.text === 'Two',
    () => bluesky.remove(bluesky.records[0]!),
  )
  const error = failed('part_deleted', 'Part 1 of 3 was deleted there, but not part 2')
  expect(resultOf(await publishThread(account, 'One', 'Two', 'Three'))).toMatchObject(error)
  expect(bluesky.records.map(({ record }) => record.text)).toEqual(['Two'])
})

test('a status of the same text that replies to nothing isn’t taken for a part that is lost', async () => {
  const { mastodon } = on.server
  const account = await connectTo(mastodon)
  const alone = { text: 'Two', mediaIds: [], inReplyTo: null }
  mastodon.hinder = ({ json }) => {
    if (json?.status !== 'Two' || mastodon.statuses.length > 1) return undefined
    mastodon.statuses.push({ ...alone, id: '113999999999999', createdAt: new Date().toISOString() })
    return 'cut before'
  }
  expect((await publishThread(account, 'One', 'Two')).status).toBe('published')
  const { statuses } = mastodon
  expect(statuses).toMatchObject([{ text: 'One' }, alone, { text: 'Two', inReplyTo: statuses[0]!.id }])
})
