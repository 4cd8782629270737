import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { percentile } from '../../bench/load/latency.ts'
import { sleep } from '../../runtime/retry.ts'
import { makeKey } from '../support/api.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, type Ledger, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { type ServiceProcess, startApiProcess } from '../support/service-process.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

/** In short late-inserts.test.ts has inserts that hang, without load. */
const clickhouseAway: (readonly ['refusing' | 'hanging', number])[] = isLong
  ? [
      ['refusing', 600_000],
      ['hanging', 60_000],
    ]
  : [['refusing', 1_000]]
/**
 * Pause of each of the ledger's connections while ClickHouse is away: in the long form a million events come in
 * meanwhile.
 */
const pauseMs = isLong ? 20 : 200
const quietMs = isLong ? 30_000 : 300
/** How many times longer the slowest of a hundred answers may take while ClickHouse is away; judged in the long form. */
const slowerMax = 2
const overviewEveryMs = 500
const otherAwayMs = isLong ? 60_000 : 1_000
const roundMs = isLong ? 1_500 : 500

const stores = setUpStores()
let proxies: Record<'clickhouse' | 'postgres' | 'redis', TcpProxy>
let ingest: TestIngest
let api: ServiceProcess
let apiKey: string

beforeAll(async () => {
  const [clickhouse, postgres, redis] = await Promise.all([
    startTcpProxy(stores.clickhouseUrl),
    startTcpProxy(stores.databaseUrl),
    startTcpProxy(stores.redisUrl),
  ])
  proxies = { clickhouse, postgres, redis }
  ingest = await startIngest(stores, proxied())
  api = await startApiProcess(stores, proxied())
  apiKey = (await makeKey(stores, ingest.workspaceId)).apiKey
})
afterAll(async () => {
  await api?.kill()
  await ingest.stop('SIGKILL')
  await Promise.all(Object.values(proxies).map((proxy) => proxy.close()))
})

function proxied(): Record<string, string> {
  return { CLICKHOUSE_URL: proxies.clickhouse.url, DATABASE_URL: proxies.postgres.url, REDIS_URL: proxies.redis.url }
}

/** Load before, during and after what `meanwhile` does. */
async function underLoad(meanwhile: (ledger: Ledger) => Promise<void>, ledger = openLedger()): Promise<Ledger> {
  const target = () => ({ trackingUrl: ingest.url, trackingKey: ingest.key })
  await ledger.runDuring(
    target,
    async () => {
      await sleep(roundMs)
      await meanwhile(ledger)
      await sleep(roundMs)
    },
    100,
  )
  return ledger
}

async function expectExact(ledger: Ledger): Promise<void> {
  await ingest.shipped()
  const rows = await stores.ch.query<StoredEvent>(storedEventsSql)
  expect(judge(ledger, rows)).toEqual(exact)
  if (isLong) await expectFigures()
}

async function expectFigures(): Promise<void> {
  expect(await judgeFigures(stores)).toEqual(exactFigures)
}

/** Asks the API for an overview; answers the status. */
async function askOverview(api: ServiceProcess, key: string): Promise<number> {
  const answer = await fetch(`${api.url}/v1/analytics/overview`, { headers: { Authorization: `Bearer ${key}` } })
  const body = (await answer.json()) as { detail?: unknown }
  if (answer.status === 503) expect(body.detail).toMatch(/temporarily unavailable/)
  return answer.status
}

/** The same again and again, at least once; answers each status that there was. */
async function askOverviews(api: ServiceProcess, key: string, until: AbortSignal): Promise<number[]> {
  const statuses = new Set<number>()
  do {
    statuses.add(await askOverview(api, key))
    await sleep(overviewEveryMs)
  } while (!until.aborted)
  return [...statuses]
}

const p99 = (took: readonly number[]) =>
  percentile(
    took.toSorted((a, b) => a - b),
    0.99,
  )

describe.each(clickhouseAway)('ClickHouse away under load (%s)', (mode, awayMs) => {
  it(
    `refuses no event for ${awayMs / 1000} s, answers 503 to who asks for analytics, and has all events once it is back`,
    async () => {
      let slower = 0
      let whileAway: number[] = []
      const ledger = await underLoad(async ({ tookMs }) => {
        await sleep(quietMs)
        const quiet = tookMs.length
        await proxies.clickhouse.set(mode)
        const back = new AbortController()
        const measure = async () => {
          await sleep(awayMs)
          await vi.waitUntil(async () => (await ingest.health()).backlog['events']!.bytes > 0, 60_000)
          slower = p99(tookMs.slice(quiet)) / p99(tookMs.slice(0, quiet))
        }
        const measured = measure().finally(() => back.abort())
        ;[whileAway] = await Promise.all([askOverviews(api, apiKey, back.signal), measured])
        await proxies.clickhouse.set('open')
      }, openLedger({ pauseMs }))
      expect([...ledger.failures]).toEqual([])
      expect(whileAway).toEqual([503])
      const backAt = Date.now()
      await ingest.shipped()
      const drainedMs = Date.now() - backAt
      await expect.poll(() => askOverview(api, apiKey)).toBe(200)
      await expectExact(ledger)
      process.stdout.write(
        `ClickHouse ${mode}: ${ledger.acknowledged} events, p99 ${slower.toFixed(2)} times that of before, all loaded ${Math.round(drainedMs / 1000)} s after the load\n`,
      )
      if (isLong) expect(slower).toBeLessThan(slowerMax)
    },
    awayMs + 600_000,
  )
})

describe('Postgres away under load', () => {
  it(
    'goes on for known keys, says 503 for others, and copies conversions when it is back',
    async () => {
      const identify = {
        tracking_key: ingest.key,
        event_type: 'identify',
        event_name: 'identify',
        email: 'a@example.com',
        anonymous_id: 'v',
      }
      let unknown = 0
      const ledger = await underLoad(async () => {
        await proxies.postgres.set('refusing')
        const answer = await ingest.post('/track', { tracking_key: 'svc_pk_000000000000000000000000', event_name: 'a' })
        unknown = answer.status
        expect(answer.headers.get('retry-after')).toBe('5')
        expect((await ingest.post('/track', identify)).status).toBe(202)
        await sleep(otherAwayMs)
        await proxies.postgres.set('open')
      })
      expect(unknown).toBe(503)
      expect([...ledger.failures]).toEqual([])
      await expectExact(ledger)
      const copied = () => stores.pg.query("SELECT 1 FROM inbox WHERE email = 'a@example.com'")
      await expect.poll(copied).toHaveLength(1)
    },
    otherAwayMs + 300_000,
  )

  it('lets a restart within the outage go on from what is on disk', async () => {
    await ingest.post('/track', { tracking_key: ingest.key, event_name: 'a' })
    await proxies.postgres.set('refusing')
    await ingest.stop('SIGKILL')
    ingest = await startIngest(stores, proxied(), ingest)
    const { status } = await ingest.post('/track', { tracking_key: ingest.key, event_name: 'b', anonymous_id: 'v' })
    expect(status).toBe(202)
    await proxies.postgres.set('open')
    await ingest.shipped()
    const sql = "SELECT event_name FROM events WHERE event_name IN ('a', 'b') ORDER BY id"
    expect(await stores.ch.query(sql)).toEqual([{ event_name: 'a' }, { event_name: 'b' }])
  })
})

describe('Redis away under load, then emptied', () => {
  it(
    'refuses no event and counts each once',
    async () => {
      const ledger = await underLoad(async () => {
        await proxies.redis.set('refusing')
        await sleep(otherAwayMs)
        const redis = new Redis(stores.redisUrl)
        for (const database of [0, 1]) {
          await redis.select(Number(new URL(stores.redisUrl).pathname.slice(1)) + database)
          await redis.flushdb()
        }
        redis.disconnect()
        await proxies.redis.set('open')
      })
      expect([...ledger.failures]).toEqual([])
      await expectExact(ledger)
    },
    otherAwayMs + 300_000,
  )
})

it('an orderly stop of two nodes in turn under load loses nothing, counts nothing twice, and ends in time', async () => {
  const dataDirs = [stores.dataDir, join(stores.dataDir, 'other')]
  const nodes = [ingest, await startIngest(stores, { ...proxied(), DATA_DIR: dataDirs[1]! }, ingest)]
  const ledger = openLedger()
  let turn = 0
  // A retry may reach the other node: what one has acknowledged without being heard is a repeat for the other.
  const target = () => ({ trackingUrl: nodes[turn++ % 2]!.url, trackingKey: ingest.key })
  await ledger.runDuring(target, async () => {
    for (const index of [0, 1]) {
      await sleep(roundMs)
      const startedAt = Date.now()
      expect(await nodes[index]!.stop('SIGTERM')).toBe(0)
      expect(Date.now() - startedAt).toBeLessThan(30_000)
      nodes[index] = await startIngest(stores, { ...proxied(), DATA_DIR: dataDirs[index]! }, ingest)
    }
    await sleep(roundMs)
  })
  ingest = nodes[0]!
  await nodes[1]!.shipped()
  await nodes[1]!.stop()
  await expectExact(ledger)
})

it('all of them leave figures that equal the events', expectFigures)

/** Longer than any deadline of an insert. One row a second: a block may sleep for three at most. */
const slowSeconds = 150
if (isLong) {
  it(
    `a statement of ${slowSeconds} s, with nothing on the connection meanwhile, is waited for`,
    async () => {
      const sql = `SELECT sum(sleepEachRow(1)) AS slept FROM numbers(${slowSeconds}) SETTINGS max_block_size = 1`
      const answer = await stores.ch.query(sql, {}, { deadlineMs: (slowSeconds + 60) * 1000 })
      expect(answer).toEqual([{ slept: 0 }])
    },
    (slowSeconds + 300) * 1000,
  )
}
