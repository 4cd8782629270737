/** The API while a store of its is away, under load: what callers are told meanwhile, and that all is well soon after. */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { verifyAuditChain } from '../../postgres/tables/workspaces/audit.ts'
import { sleep } from '../../runtime/retry.ts'
import { settings } from '../../runtime/settings.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { makeKey, makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { formOf, formType, png } from '../support/media-files.ts'
import { type ServiceProcess, startApiProcess } from '../support/service-process.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const awayMs = isLong ? 60_000 : 4_000
/** In short: the store that goes on afterwards as if nothing had been; test/integration/api-stores.test.ts has the others. */
const modes = isLong ? (['refusing', 'hanging', 'stalled'] as const) : (['stalled'] as const)
/** Nobody waits longer for an answer, whatever it is. In short only against hanging: other files use the machine. */
const answeredWithinMs = isLong ? 5_000 : 60_000
/** So soon after the store is back each request is well. */
const wellWithinMs = 5_000
/** A statement of an answer has 2.5 s in Postgres. */
const lateAfterMs = 2_400
const beforeMs = 500
/** The load is there to be answered, not to find out how much can be. */
const pauseMs = isLong ? 20 : 60

const stores = setUpStores()
let proxies: Record<'Postgres' | 'Redis', TcpProxy>
let api: ServiceProcess
let mine: TestWorkspace
beforeAll(async () => {
  const [Postgres, Redis] = await Promise.all([startTcpProxy(stores.databaseUrl), startTcpProxy(stores.redisUrl)])
  proxies = { Postgres, Redis }
  api = await startApiProcess(stores, {
    DATABASE_URL: proxies.Postgres.url,
    REDIS_URL: proxies.Redis.url,
    ANSWER_DEADLINE_MS: String(settings.answerDeadlineMs.read(undefined)),
  })
})
beforeEach(async () => {
  mine = await makeWorkspace(stores)
})
afterEach(() => Promise.all(Object.values(proxies).map((proxy) => proxy.set('open'))))
afterAll(async () => {
  await api?.kill()
  await Promise.all(Object.values(proxies).map((proxy) => proxy.close()))
})

interface Answer {
  readonly what: string
  readonly askedAt: number
  readonly tookMs: number
  readonly status: number
  readonly retryAfter: string | null
  readonly hasRateLimit: boolean
  readonly body: { readonly id?: number; readonly detail?: unknown }
}

const answers: Answer[] = []
/** Requests that are sent all the time. */
const kinds = ['create', 'list', 'read', 'unknown object', 'upload']

async function ask(what: string, path: string, init: RequestInit = {}, key = mine.apiKey): Promise<Answer> {
  const askedAt = Date.now()
  const headers = { Authorization: `Bearer ${key}`, ...init.headers }
  const response = await fetch(api.url + path, { ...init, headers, signal: AbortSignal.timeout(60_000) })
  const body = (await response.json()) as Answer['body']
  const answer = {
    what,
    askedAt,
    tookMs: Date.now() - askedAt,
    status: response.status,
    body,
    retryAfter: response.headers.get('retry-after'),
    hasRateLimit: response.headers.has('x-ratelimit-remaining'),
  }
  answers.push(answer)
  return answer
}

const post = (title: string) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'Idempotency-Key': title },
  body: JSON.stringify({ title, base_caption: 'outage' }),
})
const picture = png({ padTo: 3_000 })
const upload = (key: string) => ({
  method: 'POST',
  headers: { 'Content-Type': formType, 'Idempotency-Key': key },
  body: new Blob([formOf({ name: 'file', filename: 'a.png', value: picture })]),
})

/** Posts by their titles, and how many uploads were answered. */
interface Told {
  readonly posts: Map<string, number>
  readonly uploads: Set<number>
}

/** Sends until it is told to stop; a sender that began a mutation repeats it until it is done. */
function load(signal: AbortSignal, told: Told): Promise<unknown> {
  const untilDone = async (what: string, path: string, init: RequestInit): Promise<number> => {
    for (;;) {
      const { status, body } = await ask(what, path, init)
      if (status === 200) return body.id!
      await sleep(pauseMs)
    }
  }
  const sender = async (work: () => Promise<unknown>) => {
    while (!signal.aborted) {
      await work()
      await sleep(pauseMs)
    }
  }
  return Promise.all([
    sender(() => ask('list', '/v1/posts?limit=5')),
    sender(() => ask('read', '/v1/workspace')),
    sender(() => ask('unknown object', '/v1/posts/999999')),
    ...[1, 2, 3].map(() =>
      sender(async () => {
        const title = randomUUID()
        told.posts.set(title, await untilDone('create', '/v1/posts', post(title)))
      }),
    ),
    sender(async () => told.uploads.add(await untilDone('upload', '/v1/media', upload(randomUUID())))),
  ])
}

/** The store's absence must have cost nothing but time. */
async function expectWhole({ posts, uploads }: Told): Promise<void> {
  const { workspaceId } = mine
  const made = await stores.pg.query<{ id: number; title: string }>(
    'SELECT id, title FROM posts WHERE workspace_id = $1',
    [workspaceId],
  )
  expect(made).toHaveLength(posts.size)
  expect(new Map(made.map(({ id, title }) => [title, id]))).toEqual(posts)
  const media = await stores.pg.query<{ id: number }>('SELECT id FROM media WHERE workspace_id = $1', [workspaceId])
  expect(new Set(media.map(({ id }) => id))).toEqual(uploads)
  const rows = posts.size + uploads.size
  expect(await verifyAuditChain(stores.pg, workspaceId, 30_000)).toEqual({ rows, firstBroken: null, isCut: false })
}

/** As one comes back that keeps nothing. */
async function emptyRedis(): Promise<void> {
  const redis = new Redis(stores.redisUrl)
  await redis.flushdb()
  redis.disconnect()
}

/** @returns the answers to what was asked while the store was away, and of what was asked a while after it was back */
async function outage(store: 'Postgres' | 'Redis', mode: 'refusing' | 'hanging' | 'stalled') {
  answers.length = 0
  const told: Told = { posts: new Map(), uploads: new Set() }
  const stop = new AbortController()
  const running = load(stop.signal, told)
  // A key that the API has never heard of.
  const { apiKey } = await makeKey(stores, mine.workspaceId)
  await sleep(beforeMs)
  const goneAt = Date.now()
  await proxies[store].set(mode)
  const unknownKey = ask('unknown key', '/v1/workspace', {}, apiKey)
  await sleep(awayMs)
  const backAt = Date.now()
  if (store === 'Redis') await emptyRedis()
  await proxies[store].set('open')
  await sleep(wellWithinMs)
  const isAskedSince = (kind: string) =>
    answers.some(({ what, askedAt }) => what === kind && askedAt >= backAt + wellWithinMs)
  await vi.waitUntil(() => kinds.every(isAskedSince), { timeout: 60_000 })
  stop.abort()
  await Promise.all([running, unknownKey])
  await expectWhole(told)
  expect(answers.filter(({ tookMs }) => tookMs > answeredWithinMs)).toEqual([])
  return {
    before: answers.filter(({ askedAt, tookMs }) => askedAt + tookMs < goneAt),
    away: answers.filter(({ askedAt }) => askedAt >= goneAt && askedAt < backAt),
    during: answers.filter(({ askedAt, tookMs }) => askedAt >= goneAt && askedAt + tookMs < backAt),
    after: answers.filter(({ askedAt }) => askedAt >= backAt + wellWithinMs),
  }
}

const isWell = ({ what, status, hasRateLimit }: Answer) =>
  status === (what === 'unknown object' ? 404 : 200) && hasRateLimit
const isRefusal = ({ status, retryAfter, body }: Answer) =>
  status === 503 && retryAfter === String(retryAfterSeconds) && /temporarily unavailable/.test(String(body.detail))
/** Whose first attempt is still at work, though its sender was told 503. */
const isBusy = ({ what, status, retryAfter }: Answer) =>
  ['create', 'upload'].includes(what) && status === 409 && retryAfter === '1'
/** In short: who waited for a store as long as may be, as on a machine that stood still, or asked again then. */
const isLate = (answer: Answer) => !isLong && (isBusy(answer) || (isRefusal(answer) && answer.tookMs > lateAfterMs))

describe.each(modes)(`for ${awayMs / 1000} s (%s)`, (mode) => {
  test(
    'Postgres away: each answer is 503 with Retry-After or a good one, in time, all is well 5 s after, and each mutation is done once',
    async () => {
      const { before, away, after } = await outage('Postgres', mode)
      expect(before.filter((answer) => !isWell(answer) && !isLate(answer))).toEqual([])
      expect(away.filter((answer) => !isWell(answer) && !isRefusal(answer) && !isBusy(answer))).toEqual([])
      expect(new Set(away.filter(isRefusal).map(({ what }) => what))).toContain('unknown key')
      expect(after.filter((answer) => !isWell(answer) && !isLate(answer))).toEqual([])
      expect([...new Set(after.map(({ what }) => what))].sort()).toEqual(kinds)
    },
    awayMs + 300_000,
  )

  test(
    'Redis away, and empty when it is back: every request is served in time, with its limit, as before and after',
    async () => {
      const { before, away, during, after } = await outage('Redis', mode)
      const all = [...before, ...away, ...after]
      expect(all.filter((answer) => !isWell(answer) && !isLate(answer))).toEqual([])
      // None waits for Redis: a late one is the machine's fault, and not the rule.
      expect(during.filter(isLate).length).toBeLessThanOrEqual(during.length / 2)
      expect([...new Set(away.map(({ what }) => what))].sort()).toEqual([...kinds, 'unknown key'].sort())
      expect([...new Set(after.map(({ what }) => what))].sort()).toEqual(kinds)
    },
    awayMs + 300_000,
  )
})
