/** Refusals of an overloaded ingest: nothing of a refused request is stored, and ingest recovers by itself. */
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { median, percentile } from '../../bench/load/latency.ts'
import { sleep } from '../../runtime/retry.ts'
import { settings } from '../../runtime/settings.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { type IngestAnswer, startIngest, type TestIngest } from '../support/ingest.ts'
import { runBeside } from '../support/service-process.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const MiB = 2 ** 20
const floodPerSecond = 10_000
const floodMs = 10_000
const floodRounds = 5
/** How many times longer others may wait meanwhile, in the middle one of the rounds. */
const slowerMax = 2

const stores = setUpStores()
let proxy: TcpProxy | undefined
let ingest: TestIngest

afterEach(() => ingest?.stop('SIGKILL'))
afterAll(() => proxy?.close())

/** Each test has a workspace of its own. */
async function start(env: Record<string, string>): Promise<void> {
  ingest = await startIngest(stores, env)
}

function expectFull(answer: IngestAnswer, detail: string): void {
  expect(answer).toMatchObject({ status: 503, body: { detail } })
  expect(answer.headers.get('retry-after')).toBe(String(retryAfterSeconds))
}

/** How many events of each name the workspace has. */
async function stored(workspaceId = ingest.workspaceId): Promise<Record<string, number>> {
  await ingest.shipped()
  const rows = await stores.ch.query<{ event_name: string; count: number }>(
    'SELECT event_name, count() AS count FROM events WHERE workspace_id = {workspaceId:UInt32} GROUP BY event_name',
    { workspaceId },
  )
  return Object.fromEntries(rows.map(({ event_name, count }) => [event_name, count]))
}

test('LOG_BYTES_MAX: beyond it all is 503 while ClickHouse is away, none of that is stored, and events are taken again', async () => {
  const logBytesMax = 64 * MiB
  expect(() => settings.logBytesMax.read(String(logBytesMax - 1))).toThrow()
  proxy = await startTcpProxy(stores.clickhouseUrl)
  await start({ CLICKHOUSE_URL: proxy.url, LOG_BYTES_MAX: String(logBytesMax) })
  await proxy.set('refusing')
  const properties = { filling: 'x'.repeat(15_000) }
  const batchOf = (event_name: string) => ({
    tracking_key: ingest.key,
    events: Array.from({ length: 60 }, (_, at) => ({ event_name, anonymous_id: `v${at}`, properties })),
  })
  const expected: Record<string, number> = { after: 1 }
  let refused = 0
  // So many as would be twice of what it may hold.
  for (let at = 0; at < (2 * logBytesMax) / (60 * 15_000) && refused < 5; at++) {
    const answer = await ingest.post('/track/batch', batchOf(`batch ${at}`))
    if (answer.status === 202) expected[`batch ${at}`] = 60
    else {
      expectFull(answer, 'The event log is full')
      refused++
    }
  }
  expect(refused).toBe(5)
  expect(Object.keys(expected).length).toBeGreaterThan(50)
  expectFull(await ingest.post('/track', { tracking_key: ingest.key, event_name: 'one' }), 'The event log is full')
  const visit = { tracking_key: ingest.key, url: 'https://example.com/', user_agent: 'GPTBot/1.0' }
  expectFull(await ingest.post('/bots/track', visit), 'The event log is full')
  expect(await ingest.health()).toMatchObject({ code: 503, status: 'refusing', reason: 'The event log is full' })

  await proxy.set('open')
  await expect.poll(async () => (await ingest.health()).code).toBe(200)
  expect((await ingest.post('/track', { tracking_key: ingest.key, event_name: 'after' })).status).toBe(202)
  expect(await stored()).toEqual(expected)
  expect(await stores.ch.query('SELECT 1 FROM bot_visits')).toEqual([])
})

test('DISK_FREE_BYTES_MIN: while less is free both threads refuse everything with 503, and the health says why', async () => {
  await start({ DISK_FREE_BYTES_MIN: String(2 ** 44), INGEST_WORKERS: '2' })
  const one = { tracking_key: ingest.key, event_name: 'one', email: 'a@example.com', event_type: 'identify' }
  // Each over a connection of its own, which is given to any of the threads.
  const post = () => ingest.post('/track', one, { Connection: 'close' })
  let taken = 0
  await vi.waitFor(async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, post))
    taken += answers.filter(({ status }) => status === 202).length
    for (const answer of answers) expectFull(answer, 'The disk is full')
  }, 60_000)
  const { event_name } = one
  expectFull(await ingest.post('/track/batch', { ...one, events: [{ event_name }] }), 'The disk is full')
  expect(await ingest.health()).toMatchObject({ code: 503, status: 'refusing', reason: 'The disk is full' })
  await ingest.stop('SIGTERM')

  // With room again: nothing of what was refused turns up, and what was set aside 30 days before goes.
  const aside = join(stores.dataDir, 'ingest', 'set-aside')
  await mkdir(aside, { recursive: true })
  for (const [name, days] of [
    ['old', 30],
    ['new', 29],
  ] as const) {
    await writeFile(join(aside, name), '')
    await utimes(join(aside, name), Date.now() / 1000, Date.now() / 1000 - days * 86_400)
  }
  ingest = await startIngest(stores, { INGEST_WORKERS: '2' }, ingest)
  expect((await ingest.post('/track', { ...one, event_name: 'after' })).status).toBe(202)
  expect(await stored()).toEqual({ after: 1, ...(taken > 0 && { one: taken }) })
  expect(await stores.pg.query('SELECT 1 FROM inbox')).toHaveLength(taken + 1)
  await expect.poll(() => readdir(aside)).toEqual(['new'])
})

describe('TRACK_RATE_PER_KEY', () => {
  const perSecond = 20
  const eventOf = (key: string, event_name = 'a') => ({ tracking_key: key, event_name, anonymous_id: 'v' })
  const second = () => Math.floor(Date.now() / 1000)

  /** Early in a second of the wall clock, so that what follows falls into one window. */
  const beginOfSecond = () => sleep(1_010 - (Date.now() % 1_000))

  test('limits one key by 429 with Retry-After while another goes on, counts events of batches, and the next second is free', async () => {
    await start({ TRACK_RATE_PER_KEY: String(perSecond) })
    const other = await makeWorkspace(stores)
    const many = (key: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => ingest.post('/track', eventOf(key))))
    await beginOfSecond()
    const begun = second()
    const [answers, others] = await Promise.all([
      many(ingest.key, 5 * perSecond),
      many(other.trackingKey, perSecond / 2),
    ])
    const seconds = second() - begun + 1
    const accepted = answers.filter(({ status }) => status === 202).length
    expect(accepted).toBeGreaterThanOrEqual(perSecond)
    expect(accepted).toBeLessThanOrEqual(perSecond * seconds)
    const refused = answers.filter(({ status }) => status !== 202)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 429, body: { detail: 'Too many events for this tracking key' } })
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 202))

    await beginOfSecond()
    expect((await ingest.post('/track', eventOf(ingest.key, 'later'))).status).toBe(202)
    expect(await stored()).toEqual({ a: accepted, later: 1 })
    expect(await stored(other.workspaceId)).toEqual({ a: others.length })

    // A batch beyond the limit isn't stored at all.
    const events = Array.from({ length: perSecond - 5 }, () => ({ event_name: 'b' }))
    await vi.waitFor(
      async () => {
        await beginOfSecond()
        const now = second()
        const statuses = []
        for (let at = 0; at < 2; at++)
          statuses.push((await ingest.post('/track/batch', { tracking_key: ingest.key, events })).status)
        for (let at = 0; at < 6; at++) statuses.push((await ingest.post('/track', eventOf(ingest.key))).status)
        // On a busy machine the second may have ended meanwhile: once more then.
        expect(second()).toBe(now)
        expect(statuses).toEqual([202, 429, 202, 202, 202, 202, 202, 429])
      },
      { timeout: 60_000 },
    )
  })

  // It compares durations, for which the gate has no machine to itself.
  const comparing = `answers another workspace as soon as ever while one key sends ${floodPerSecond} events a second`
  if (isLong)
    test(comparing, async () => {
      await start({ TRACK_RATE_PER_KEY: String(perSecond) })
      const other = await makeWorkspace(stores)
      const flood = () =>
        runBeside<Record<string, number>>('test/support/flood.ts', ingest.port, ingest.key, floodPerSecond, floodMs)
      let sent = 0
      /** One at a time, below the limit. @returns how long the slowest of a hundred took */
      const sendOthers = async (isOver: () => boolean): Promise<number> => {
        const took: number[] = []
        for (; !isOver(); sent++) {
          const startedAt = performance.now()
          expect((await ingest.post('/track', eventOf(other.trackingKey, 'other'))).status).toBe(202)
          took.push(performance.now() - startedAt)
          await sleep(1_200 / perSecond)
        }
        return percentile(
          took.sort((a, b) => a - b),
          0.99,
        )
      }
      const quietUntil = Date.now() + floodMs
      const quietMs = await sendOthers(() => Date.now() > quietUntil)
      const ratios: number[] = []
      for (let round = 0; round < floodRounds; round++) {
        let isOver = false
        const flooding = flood().finally(() => {
          isOver = true
        })
        ratios.push((await sendOthers(() => isOver)) / quietMs)
        const statuses = await flooding
        expect(Object.keys(statuses).sort()).toEqual(['202', '429'])
        process.stdout.write(
          `others' p99 ${ratios.at(-1)!.toFixed(1)} times the quiet one, ${JSON.stringify(statuses)}\n`,
        )
      }
      expect((await stored(other.workspaceId))['other']).toBe(sent)
      expect(median(ratios)).toBeLessThan(slowerMax)
    }, 300_000)
})
