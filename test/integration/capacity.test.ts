/** What ingest refuses because it can't take more now: nothing of it is stored, and it takes events again by itself. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTrackingKey } from '../../postgres/tables/tracking-keys.ts'
import { createWorkspace } from '../../postgres/tables/workspaces.ts'
import { settings } from '../../runtime/settings.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { type IngestAnswer, startIngest, type TestIngest } from '../support/ingest.ts'
import { freshStores, type TestStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const MiB = 2 ** 20

let stores: TestStores
let proxy: TcpProxy | undefined
let ingest: TestIngest | undefined

beforeEach(async () => {
  stores = await freshStores()
})
afterEach(async () => {
  await ingest?.stop('SIGKILL')
  await proxy?.close()
  await stores.close()
  ingest = proxy = undefined
})

async function health(): Promise<{ status: number; body: { status: string; reason: string | null } }> {
  const answer = await fetch(`${ingest!.url}/health`)
  return { status: answer.status, body: (await answer.json()) as { status: string; reason: string | null } }
}

function expectFull(answer: IngestAnswer, detail: string): void {
  expect(answer).toMatchObject({ status: 503, body: { detail } })
  expect(answer.headers.get('retry-after')).toBe(String(retryAfterSeconds))
}

const takesEvents = () => vi.waitFor(async () => expect((await health()).status).toBe(200), { timeout: 60_000 })

describe('LOG_BYTES_MAX', () => {
  const logBytesMax = 64 * MiB

  test('refuses with 503 what comes beyond it while ClickHouse is away, stores none of that, and takes events again', async () => {
    expect(() => settings.logBytesMax.read(String(logBytesMax - 1))).toThrow()
    proxy = await startTcpProxy(stores.clickhouseUrl)
    ingest = await startIngest(stores, { CLICKHOUSE_URL: proxy.url, LOG_BYTES_MAX: String(logBytesMax) })
    await proxy.set('refusing')
    const batchOf = (name: string) => ({
      tracking_key: ingest!.key,
      events: Array.from({ length: 60 }, (_, at) => ({
        event_name: name,
        anonymous_id: `v${at}`,
        properties: { filling: 'x'.repeat(15_000) },
      })),
    })
    const acknowledged = new Set<string>()
    let refused = 0
    // So many as would be twice of what it may hold.
    for (let at = 0; at < (2 * logBytesMax) / (60 * 15_000) && refused < 5; at++) {
      const answer = await ingest.post('/track/batch', batchOf(`batch ${at}`))
      if (answer.status === 202) acknowledged.add(`batch ${at}`)
      else {
        expectFull(answer, 'The event log is full')
        refused++
      }
    }
    expect(refused).toBe(5)
    expect(acknowledged.size).toBeGreaterThan(50)
    expectFull(await ingest.post('/track', { tracking_key: ingest.key, event_name: 'one' }), 'The event log is full')
    const visit = { tracking_key: ingest.key, url: 'https://example.com/', user_agent: 'GPTBot/1.0' }
    expectFull(await ingest.post('/bots/track', visit), 'The event log is full')
    expect(await health()).toMatchObject({
      status: 503,
      body: { status: 'refusing', reason: 'The event log is full' },
    })

    await proxy.set('open')
    await takesEvents()
    expect((await ingest.post('/track', { tracking_key: ingest.key, event_name: 'after' })).status).toBe(202)
    await ingest.shipped()
    const rows = await stores.ch.query<{ event_name: string; count: number }>(
      'SELECT event_name, count() AS count FROM events GROUP BY event_name',
    )
    const expected = Object.fromEntries([...acknowledged].map((name) => [name, 60]))
    expect(Object.fromEntries(rows.map((row) => [row.event_name, row.count]))).toEqual({ ...expected, after: 1 })
    expect(await stores.ch.query('SELECT 1 FROM bot_visits')).toEqual([])
  })
})

describe('DISK_FREE_BYTES_MIN', () => {
  test('refuses everything with 503 while less is free, and the health says why', async () => {
    ingest = await startIngest(stores, { DISK_FREE_BYTES_MIN: String(2 ** 44) })
    await vi.waitFor(async () => expect((await health()).status).toBe(503), { timeout: 60_000 })
    expect((await health()).body).toMatchObject({ status: 'refusing', reason: 'The disk is full' })
    const one = { tracking_key: ingest.key, event_name: 'one', email: 'a@example.com', event_type: 'identify' }
    expectFull(await ingest.post('/track', one), 'The disk is full')
    expectFull(await ingest.post('/track/batch', { ...one, events: [one] }), 'The disk is full')
    await ingest.stop('SIGTERM')

    // With room again: nothing of what was refused turns up.
    ingest = await startIngest(stores, {}, ingest)
    expect((await ingest.post('/track', { ...one, event_name: 'after' })).status).toBe(202)
    await ingest.shipped()
    expect(await stores.ch.query('SELECT event_name FROM events')).toEqual([{ event_name: 'after' }])
    expect(await stores.pg.query('SELECT event_name FROM inbox')).toEqual([{ event_name: 'after' }])
  })
})

describe('TRACK_RATE_PER_KEY', () => {
  const perSecond = 20
  const eventOf = (key: string, event_name = 'a') => ({ tracking_key: key, event_name, anonymous_id: 'v' })

  /** Early in a second of the wall clock, so that what follows falls into one window. */
  async function beginOfSecond(): Promise<void> {
    await wait(1_010 - (Date.now() % 1_000))
  }

  test('limits one key by 429 with Retry-After while another goes on, and the next second is free', async () => {
    ingest = await startIngest(stores, { TRACK_RATE_PER_KEY: String(perSecond) })
    const otherKey = await stores.pg.transaction(async (tx) => {
      const { workspaceId } = await createWorkspace(tx, { name: 'Other', timezone: 'UTC', plan: 'growth' })
      return createTrackingKey(tx, workspaceId)
    })
    await beginOfSecond()
    const begun = Math.floor(Date.now() / 1000)
    const answers = await Promise.all(
      Array.from({ length: 5 * perSecond }, () => ingest!.post('/track', eventOf(ingest!.key))),
    )
    const others = await Promise.all(
      Array.from({ length: perSecond / 2 }, () => ingest!.post('/track', eventOf(otherKey))),
    )
    const seconds = Math.floor(Date.now() / 1000) - begun + 1
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
    await ingest.shipped()
    const [row] = await stores.ch.query<{ mine: number; others: number }>(
      'SELECT countIf(workspace_id = {id:UInt32}) AS mine, countIf(workspace_id != {id:UInt32}) AS others FROM events',
      { id: ingest.workspaceId },
    )
    expect(row).toEqual({ mine: accepted + 1, others: others.length })
  })

  test('counts the events of a batch, and stores none of a batch that is too many', async () => {
    ingest = await startIngest(stores, { TRACK_RATE_PER_KEY: String(perSecond) })
    const batch = {
      tracking_key: ingest.key,
      events: Array.from({ length: perSecond - 5 }, () => ({ event_name: 'b' })),
    }
    await vi.waitFor(
      async () => {
        await beginOfSecond()
        const second = Math.floor(Date.now() / 1000)
        const statuses = []
        for (let at = 0; at < 2; at++) statuses.push((await ingest!.post('/track/batch', batch)).status)
        for (let at = 0; at < 6; at++) statuses.push((await ingest!.post('/track', eventOf(ingest!.key))).status)
        // On a busy machine the second may have ended meanwhile: once more then.
        expect(Math.floor(Date.now() / 1000)).toBe(second)
        expect(statuses).toEqual([202, 429, 202, 202, 202, 202, 202, 429])
      },
      { timeout: 60_000 },
    )
  })
})
