/** kill -9 of the pipeline between the steps of publishing, and Redis and Postgres lost meanwhile: no post twice, none left. */
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { publishLeaseMs, renewalLeaseMs } from '../../schemas/limits/publish-limits.ts'
import { setUpApi } from '../support/api.ts'
import { type BlueskyServer, startBluesky } from '../support/bluesky-server.ts'
import { fieldsIn } from '../support/container-server.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
import { film, png } from '../support/media-files.ts'
import { type MetaServer, page, startMeta } from '../support/meta-server.ts'
import type { Asking, Hindrance } from '../support/provider-server.ts'
import { endedPost, schedulePost, toldTo } from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'
import { type ServiceProcess, startPipelineProcess } from '../support/service-process.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { connectBluesky, connectMastodon, connectMeta, connectX, uploadFile } from '../support/social-platforms.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { startX, type XServer } from '../support/x-server.ts'

const draw = drawsOf('kill-publishing')
/** Against hanging: on a busy machine a pipeline takes a minute from its start to the places at which it is held. */
const reachedWithin = { timeout: 200_000 }

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
let mastodon: MastodonServer
let bluesky: BlueskyServer
let x: XServer
let meta: MetaServer
const started: ServiceProcess[] = []
let settled = { isHeld: false, release: () => {}, ended: Promise.resolve() as Promise<unknown> }
beforeEach(async () => {
  ;[mastodon, bluesky, x] = [await startMastodon(), await startBluesky(), await startX()]
  meta = await startMeta(() => Promise.reject(new Error('no post there has a file')))
})
afterEach(async () => {
  settled.release()
  await Promise.all(started.splice(0).map((one) => one.kill()))
  await Promise.all([mastodon.close(), bluesky.close(), x.close(), meta.close()])
})

async function start(env: Record<string, string> = {}): Promise<ServiceProcess> {
  // The platforms are on this machine.
  const made = await startPipelineProcess(stores, {
    ALLOW_PRIVATE_TARGETS: 'true',
    NODE_OPTIONS: meta.nodeOptions,
    ...env,
  })
  started.push(made)
  return made
}

/** As if the time had passed after which the leases of a killed process have run out. */
async function passLeases(): Promise<void> {
  const claimed = `UPDATE post_targets SET next_attempt_at = next_attempt_at - $1 * interval '1 millisecond'
    WHERE claimed_by IS NOT NULL`
  await stores.pg.query(claimed, [publishLeaseMs])
  const renewed = `UPDATE social_account_credentials SET renewing_until = renewing_until - $1 * interval '1 millisecond'`
  await stores.pg.query(renewed, [renewalLeaseMs])
}

/** A place at which a request is kept from going on: the word that the request, or what its post is, holds. */
interface Point {
  readonly name: string
  readonly step: string
  readonly how: Hindrance
  readonly isFilm?: boolean
}

const mastodonPoints: Point[] = [
  { name: 'mastodon-before-upload', step: 'POST /api/v2/media', how: 'hang before' },
  { name: 'mastodon-after-upload', step: 'POST /api/v2/media', how: 'hang after' },
  { name: 'mastodon-processing', step: 'GET /api/v1/media/:id', how: 'hang before', isFilm: true },
  { name: 'mastodon-before-publish', step: 'POST /api/v1/statuses', how: 'hang before' },
  { name: 'mastodon-after-publish', step: 'POST /api/v1/statuses', how: 'hang after' },
]
const blueskyPoints: Point[] = [
  { name: 'bluesky-before-upload', step: 'POST /xrpc/com.atproto.repo.uploadBlob', how: 'hang before' },
  { name: 'bluesky-after-upload', step: 'POST /xrpc/com.atproto.repo.uploadBlob', how: 'hang after' },
  { name: 'bluesky-before-publish', step: 'POST /xrpc/com.atproto.repo.createRecord', how: 'hang before' },
  { name: 'bluesky-after-publish', step: 'POST /xrpc/com.atproto.repo.createRecord', how: 'hang after' },
]
const xPoints: Point[] = [
  { name: 'x-before-upload', step: 'POST /2/media/upload/initialize', how: 'hang before' },
  { name: 'x-after-upload', step: 'POST /2/media/upload/:id/append', how: 'hang after' },
  { name: 'x-processing', step: 'GET /2/media/upload', how: 'hang before', isFilm: true },
  { name: 'x-before-publish', step: 'POST /2/tweets', how: 'hang before' },
  { name: 'x-after-publish', step: 'POST /2/tweets', how: 'hang after' },
]
/** Between a post and its first comment. */
const commentPoints: Point[] = [
  { name: 'facebook-before-comment', step: 'POST /v25.0/:id/comments', how: 'hang before' },
  { name: 'facebook-after-comment', step: 'POST /v25.0/:id/comments', how: 'hang after' },
]
const refreshPoint: Point = {
  name: 'bluesky-after-refresh',
  step: 'POST /xrpc/com.atproto.server.refreshSession',
  how: 'hang after',
}

/** Holds the one request of each point, and tells which were reached. */
function holdAt(points: readonly Point[], holds: (asking: Asking, point: Point) => boolean) {
  const reached = new Set<string>()
  const hinder = (asking: Asking): Hindrance | undefined => {
    const point = points.find((one) => one.step === asking.step && holds(asking, one))
    if (point === undefined) return undefined
    reached.add(point.name)
    return point.how
  }
  return { reached, hinder }
}

let nthFile = 0
/** Each of a size of its own. */
async function filesOf({ name, isFilm }: Point): Promise<number> {
  nthFile += 1
  const bytes = isFilm ? film({ data: 10_000 }) : png({ padTo: 500 + 20 * nthFile })
  return uploadFile(api, mine.apiKey, bytes, name)
}

/** The same account once more, as one with media is published at a time to each. */
async function twinOf(account: number): Promise<number> {
  const [made] = await stores.pg.query<{ id: number }>(
    `WITH made AS (
       INSERT INTO social_accounts (workspace_id, platform, handle, display_name, connection_type, external_id, provider_metadata)
       SELECT workspace_id, platform, handle || gen_random_uuid(), handle, connection_type, external_id, provider_metadata
       FROM social_accounts WHERE id = $1 RETURNING id
     ), signed AS (
       INSERT INTO social_account_credentials (social_account_id, sealed)
       SELECT made.id, sealed FROM made, social_account_credentials c WHERE c.social_account_id = $1
     ) SELECT id FROM made`,
    [account],
  )
  return made!.id
}

async function connectAll() {
  return {
    mastodon: (await connectMastodon(stores, mine, mastodon)).json.id as number,
    bluesky: (await connectBluesky(stores, mine, bluesky)).json.id as number,
    x: (await connectX(stores, mine, x)).json.id as number,
  }
}

const textsOf = () => ({
  mastodon: mastodon.statuses.map(({ text }) => text).sort(),
  bluesky: bluesky.records.map(({ record }) => record.text).sort(),
  x: x.posts.map(({ text }) => text).sort(),
})

test('killed between any two steps, each post is published once and none stays unfinished, also without Redis', async () => {
  const accounts = await connectAll()
  const facebook: number = (await connectMeta(stores, mine, 'facebook', '--page', page.id)).json.id
  // By its caption, or by the alternative text of its file.
  const filmIds = new Set<string>()
  const onMastodon = holdAt(mastodonPoints, ({ json, form, id }, { name }) => {
    return json?.status === name || form?.fields['description'] === name || filmIds.has(id)
  })
  const sizes = new Map<string, number>()
  const onBluesky = holdAt(blueskyPoints, ({ json, bytes }, { name }) =>
    json === undefined ? bytes.length === sizes.get(name) : json.record?.text === name,
  )
  const onX = holdAt(xPoints, ({ json, form }, { name, isFilm }) => {
    const size = json?.total_bytes ?? form?.file?.bytes.length
    return isFilm || json?.text === name || size === sizes.get(name)
  })
  const onMeta = holdAt(commentPoints, (asking, { name }) => fieldsIn(asking)['message'] === name)
  // And one whose outcome can't be written, because its row is held.
  settled = { isHeld: false, release: () => {}, ended: Promise.resolve() }
  let settlingId = 0
  const holdRow = () => {
    settled.ended = stores.pg.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM posts WHERE id = $1 FOR UPDATE', [settlingId])
      settled.isHeld = true
      await new Promise<void>((resolve) => {
        settled.release = resolve
      })
    })
  }
  mastodon.hinder = (asking) => {
    if (asking.json?.status === 'mastodon-before-settle' && !settled.isHeld) holdRow()
    const made = mastodon.media.find(({ description }) => description === 'mastodon-processing')
    if (made !== undefined) filmIds.add(made.id)
    return onMastodon.hinder(asking)
  }
  bluesky.hinder = onBluesky.hinder
  x.hinder = onX.hinder
  meta.hinder = onMeta.hinder

  const ids: number[] = []
  const schedule = async (point: Point, account: number) => {
    const file = await filesOf(point)
    const [{ size_bytes: size }] = (await stores.pg.query<{ size_bytes: number }>(
      'SELECT size_bytes FROM media WHERE id = $1',
      [file],
    )) as [{ size_bytes: number }]
    sizes.set(point.name, size)
    ids.push(await schedulePost(ask, { caption: point.name, accounts: [await twinOf(account)], media: [file] }))
  }
  for (const point of mastodonPoints) await schedule(point, accounts.mastodon)
  for (const point of blueskyPoints) await schedule(point, accounts.bluesky)
  for (const point of xPoints) await schedule(point, accounts.x)
  for (const { name } of commentPoints) {
    ids.push(await schedulePost(ask, { caption: `Post: ${name}`, firstComment: name, accounts: [facebook] }))
  }
  settlingId = await schedulePost(ask, { caption: 'mastodon-before-settle', accounts: [accounts.mastodon] })
  ids.push(settlingId)
  const points = [...mastodonPoints, ...blueskyPoints, ...xPoints, ...commentPoints].map(({ name }) => name)

  const killed = await start()
  await expect
    .poll(
      () => points.filter((name) => ![onMastodon, onBluesky, onX, onMeta].some(({ reached }) => reached.has(name))),
      reachedWithin,
    )
    .toEqual([])
  await expect
    .poll(
      () => settled.isHeld && mastodon.statuses.some(({ text }) => text === 'mastodon-before-settle'),
      reachedWithin,
    )
    .toBe(true)
  await killed.kill()
  settled.release()
  await settled.ended
  await passLeases()

  // The next one dies while it renews the session of those on Bluesky.
  const onRefresh = holdAt([refreshPoint], () => true)
  mastodon.hinder = () => undefined
  x.hinder = () => undefined
  meta.hinder = () => undefined
  bluesky.hinder = onRefresh.hinder
  bluesky.expireAccess()
  mastodon.forgetKeys()
  const renewing = await start()
  await expect.poll(() => onRefresh.reached.size, reachedWithin).toBe(1)
  await renewing.kill()
  await passLeases()
  bluesky.hinder = () => undefined
  await start({ REDIS_URL: 'redis://127.0.0.1:1' })
  for (const id of ids) expect((await endedPost(ask, id, 90_000)).status).toBe('published')
  expect(textsOf()).toEqual({
    mastodon: [...mastodonPoints.map(({ name }) => name), 'mastodon-before-settle'].sort(),
    bluesky: blueskyPoints.map(({ name }) => name).sort(),
    x: xPoints.map(({ name }) => name).sort(),
  })
  const commented = meta.posts.map(({ id, text }) => [text, meta.comments.filter(({ under }) => under === id)] as const)
  expect(commented.map(([text, comments]) => [text, comments.map((one) => one.text)]).sort()).toEqual(
    commentPoints.map(({ name }) => [`Post: ${name}`, [name]]).sort(),
  )
  expect((await toldTo(stores, mine.workspaceId)).filter(({ type }) => type === 'post.published')).toHaveLength(
    ids.length,
  )
})

const posts = 5_000
const rounds = 30

/** At random moments; in short the tests beside this one have a kill at each step. */
async function publishThroughKills(): Promise<void> {
  const accounts = Object.values(await connectAll())
  const proxy = await startTcpProxy(stores.databaseUrl)
  const redis = new Redis(stores.redisUrl)
  const away = async () => {
    await proxy.set('refusing')
    await sleep(1_000)
    await proxy.set('open')
  }
  // Some answers are lost without a kill, too.
  const hinder = () => (draw() < 0.02 ? ('cut after' as const) : undefined)
  mastodon.hinder = hinder
  bluesky.hinder = hinder
  x.hinder = hinder
  await stores.pg.query(
    `WITH made AS (
       INSERT INTO posts (workspace_id, title, base_caption, status, scheduled_at)
       SELECT $1, 'p' || n, 'caption ' || n, 'scheduled', now() + n * interval '1 millisecond' * 20
       FROM generate_series(1, $3::int) AS n RETURNING id
     ) INSERT INTO post_targets (post_id, place, social_account_id, status)
     SELECT id, 1, ($2::bigint[])[1 + id % 3], 'scheduled' FROM made`,
    [mine.workspaceId, accounts, posts],
  )
  let pipeline = await start({ DATABASE_URL: proxy.url })
  for (let round = 0; round < rounds; round++) {
    await sleep(500 + draw() * 1_500)
    if (round % 3 === 1) await away()
    if (round % 3 === 2) await redis.flushdb()
    await pipeline.kill()
    pipeline = await start({ DATABASE_URL: proxy.url })
  }
  await away()
  const left = async () =>
    stores.pg.query<{ status: string; count: number }>(
      `SELECT status, count(*) FROM posts WHERE workspace_id = $1 AND status <> 'published' GROUP BY 1`,
      [mine.workspaceId],
    )
  await expect.poll(left, { timeout: 600_000, interval: 500 }).toEqual([])
  const texts = Object.values(textsOf()).flat().sort()
  expect(texts).toEqual(Array.from({ length: posts }, (_, at) => `caption ${at + 1}`).sort())
  const told = (await toldTo(stores, mine.workspaceId)).filter(({ type }) => type === 'post.published')
  expect([told.length, new Set(told.map(({ object }) => object.id)).size]).toEqual([posts, posts])
  expect(await pipeline.stop()).toBe(0)
  redis.disconnect()
  await proxy.close()
}
if (isLong)
  test(
    `${posts} due posts over ${rounds} kills, with Redis emptied and Postgres cut off meanwhile: each is published once`,
    publishThroughKills,
    900_000,
  )

const threads = isLong ? 60 : 6
const kills = isLong ? 20 : 2
/** Requests that hang at a kill, at least: in the short form those of all threads but the last, on each platform. */
const heldEach = isLong ? 1 : 3 * (threads - 1)
const textsOfThread = (nth: number) => Array.from({ length: 5 }, (_, at) => `thread ${nth}, part ${at + 1}`)

/**
 * In the short form the nth thread hangs at its nth part: before it is published, and after that in the next round.
 * On a slow machine the first ones are tried again before the last ones hang: they hang in the same way then.
 */
function hangsOfThreads(roundOf: () => number): (part: string) => Hindrance | undefined {
  const parts = new Set(Array.from({ length: threads - 1 }, (_, nth) => textsOfThread(nth)[nth]!))
  return (part) => (parts.has(part) ? (['hang before', 'hang after'] as const)[roundOf()] : undefined)
}

test(
  `${threads} threads on three platforms over ${kills} kills between their parts: each part once, as a reply to the one before`,
  async () => {
    const accounts = Object.values(await connectAll())
    const publishing = ['POST /api/v1/statuses', 'POST /xrpc/com.atproto.repo.createRecord', 'POST /2/tweets']
    // Hangs some requests that publish, before they are done or after: the kill comes while they do.
    const heldNow = new Set<string>()
    let round = 0
    const drawn = () => (draw() > 0.2 ? undefined : draw() < 0.5 ? 'hang before' : 'hang after')
    for (const [nth, server] of [mastodon, bluesky, x].entries()) {
      const hangs = isLong ? drawn : hangsOfThreads(() => round)
      server.hinder = ({ step, json }) => {
        if (!publishing.includes(step)) return undefined
        const part = json.status ?? json.record?.text ?? json.text
        const hindrance = hangs(part)
        if (hindrance !== undefined) heldNow.add(`${nth} ${part}`)
        return hindrance
      }
    }
    const ids: number[] = []
    // An account has one post with files at a time, so that few have some.
    const file = await uploadFile(api, mine.apiKey, png({ width: 7 }))
    const withFile = 'thread 2, part 3'
    for (let nth = 0; nth < threads; nth++) {
      const [caption = '', ...texts] = textsOfThread(nth)
      const thread = texts.map((text) => (text === withFile ? { text, media_ids: [file] } : text))
      ids.push(await schedulePost(ask, { caption, thread, accounts }))
    }
    for (; round < kills; round++) {
      heldNow.clear()
      const killed = await start()
      await expect.poll(() => heldNow.size, reachedWithin).toBeGreaterThanOrEqual(heldEach)
      await killed.kill()
      // As an hour later: the look-up alone tells.
      mastodon.forgetKeys()
      // Claims of the one that was killed run out.
      await stores.pg.query(`UPDATE post_targets SET next_attempt_at = now() WHERE status = 'publishing'`)
    }
    for (const server of [mastodon, bluesky, x]) server.hinder = () => undefined
    await passLeases()
    const pipeline = await start()
    for (const id of ids) expect((await endedPost(ask, id, 120_000)).status).toBe('published')
    const rkeyOf = (uri: string | undefined) => uri?.split('/').at(-1)
    const sent = {
      mastodon: mastodon.statuses.map(({ id, text, inReplyTo }) => ({ id, text, parent: inReplyTo ?? undefined })),
      bluesky: bluesky.records.map(({ rkey, record: { text, reply } }) => {
        return { id: rkey, text, parent: rkeyOf(reply?.parent.uri) }
      }),
      x: x.posts.map(({ id, text, inReplyTo }) => ({ id, text, parent: inReplyTo })),
    }
    const all = Array.from({ length: threads }, (_, nth) => textsOfThread(nth)).flat()
    for (const [platform, parts] of Object.entries(sent)) {
      expect([platform, parts.map(({ text }) => text).sort()]).toEqual([platform, [...all].sort()])
      for (const { text, parent } of parts) {
        const before = text.endsWith('part 1') ? undefined : all[all.indexOf(text) - 1]
        expect([text, parts.find(({ id }) => id === parent)?.text]).toEqual([text, before])
      }
    }
    const withFiles = [...mastodon.statuses, ...x.posts].filter(({ mediaIds }) => mediaIds.length === 1)
    const embedded = bluesky.records.filter(({ record }) => record.embed?.images.length === 1)
    const illustrated = [...withFiles, ...embedded.map(({ record }) => record)].map(({ text }) => text)
    expect(illustrated).toEqual(Array(3).fill(withFile))

    // One that is stopped gives back what it has under way.
    mastodon.hinder = ({ step }) => (step === publishing[0] ? 'hang before' : undefined)
    const stopped = await schedulePost(ask, { caption: 'Stopped', accounts: accounts.slice(0, 1) })
    await expect.poll(() => mastodon.asked.some(({ json }) => json?.status === 'Stopped')).toBe(true)
    expect(await pipeline.stop()).toBe(0)
    const claims = await stores.pg.query('SELECT claimed_by FROM post_targets WHERE post_id = $1', [stopped])
    expect(claims).toEqual([{ claimed_by: null }])
  },
  isLong ? 900_000 : 600_000,
)
