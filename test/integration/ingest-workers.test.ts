/** Ingest with several workers is, from the outside, one node. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { svcOn } from '../support/command-line.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let ingest: TestIngest | undefined
afterEach(() => ingest?.stop('SIGKILL'))

async function start(workers: number, env: Record<string, string> = {}): Promise<TestIngest> {
  ingest = await startIngest(stores, { INGEST_WORKERS: String(workers), ...env }, ingest)
  return ingest
}

/** Sends an event over a connection of its own: Linux gives each to any of the workers. */
async function post(at: TestIngest, event: Record<string, unknown>): Promise<{ status: number; id: number }> {
  const sent = { tracking_key: at.key, event_name: 'pageview', anonymous_id: 'v', ...event }
  const { status, body } = await at.post('/track', sent, { Connection: 'close' })
  return { status, id: body.event_id! }
}

const send = (at: TestIngest, title: string, more = {}) => post(at, { url: 'https://example.com/', title, ...more })
const sendAll = (at: TestIngest, titles: readonly string[]) => Promise.all(titles.map((title) => send(at, title)))
const titlesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${100 + i}`)

async function storedTitles(): Promise<string[]> {
  const rows = await stores.ch.query<{ title: string }>('SELECT title FROM events ORDER BY title')
  return rows.map(({ title }) => title)
}

const leaseOf = (id: number) => Math.floor(id / segmentRowsMax / segmentLeaseSize)

describe('ingest with two workers', () => {
  it('has folder and port for itself, takes events, e-mails and repeats with both, ships them all, and counts them together', async () => {
    const node = await start(2)
    // The folder and the port are its own.
    const elsewhere = { INGEST_WORKERS: '2', DATA_DIR: join(stores.dataDir, 'other'), PORT: String(node.port) }
    await Promise.all([
      expect(startIngest(stores, {}, node)).rejects.toThrow(/start: .* is in use by another process \(\d+ on \S+\)\n$/),
      expect(startIngest(stores, elsewhere, node)).rejects.toThrow("can't listen"),
    ])

    const scripts = await Promise.all(
      Array.from({ length: 8 }, () => fetch(`http://127.0.0.1:${node.port}/svc.js?key=${node.key}`)),
    )
    expect(scripts.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(scripts.map(({ headers }) => headers.get('etag'))).size).toBe(1)
    const answers = await sendAll(node, titlesOf('a', 80))
    expect(answers.map(({ status }) => status)).toEqual(Array(80).fill(202))
    expect(new Set(answers.map(({ id }) => leaseOf(id))).size).toBe(2)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(80)
    await node.shipped()
    expect(await storedTitles()).toEqual(titlesOf('a', 80))
    const metrics = await node.metrics()
    expect(metrics).toMatch(/^ingest_events_accepted_total\{service="ingest"\} 80$/m)
    expect(metrics).toMatch(/^ingest_rows_shipped_total\{stream="events",outcome="loaded",service="ingest"\} 80$/m)
    expect(metrics).toMatch(/^process_resident_memory_bytes\{service="ingest"\} \d{7,10}$/m)
    const { json } = await svcOn(stores, 'doctor', '--ingest-url', new URL(node.url).origin)
    expect(json.findings).toContainEqual(expect.objectContaining({ check: 'dedup.node', outcome: 'ok' }))
    // Whichever workers the repeats of a client_event_id reach.
    const ids = titlesOf('id', 10)
    const repeats = ids.flatMap((id) => Array.from({ length: 12 }, () => send(node, id, { client_event_id: id })))
    expect((await Promise.all(repeats)).every(({ status }) => status === 202)).toBe(true)
    const identify = { event_type: 'identify', event_name: 'identify', title: 'known' }
    const emails = Array.from({ length: 20 }, (_, i) => `${i}@example.com`)
    const known = await Promise.all(emails.map((email) => post(node, { ...identify, email })))
    expect(new Set(known.map(({ id }) => leaseOf(id))).size).toBe(2)
    expect(await node.stop()).toBe(0)
    expect(await storedTitles()).toEqual([...titlesOf('a', 80), ...ids, ...Array(20).fill('known')])
    expect(await stores.pg.query('SELECT DISTINCT email FROM inbox')).toHaveLength(20)
  })

  it('ends as a whole when a worker fails, and says why', async () => {
    const dataDir = join(stores.dataDir, 'broken')
    mkdirSync(join(dataDir, 'ingest', 'worker-2'), { recursive: true })
    writeFileSync(join(dataDir, 'ingest', 'worker-2', 'events'), 'no folder')
    await expect(start(2, { DATA_DIR: dataDir })).rejects.toThrow(/"worker":2,"msg":"a worker has failed"/)
  })
})

/** Workers of each start; ClickHouse is away from the first. */
const workersOfStarts = isLong ? [3, 2, 2, 1, 2, 4, 1, 3, 2, 2, 1, 2, 4] : [3, 1, 2]
const roundMs = isLong ? 1_500 : 1_000
const draw = drawsOf('ingest-workers')

it(
  `killed under load, with ${workersOfStarts.join(', ')} workers one after the other, ingest loses and doubles no acknowledged event and gives no id twice`,
  async () => {
    const [first, ...others] = workersOfStarts
    const DATA_DIR = join(stores.dataDir, 'killed')
    let node = await start(first!, { DATA_DIR, CLICKHOUSE_URL: 'http://127.0.0.1:9/svc' })
    const ledger = openLedger()
    const leases = new Set<number>()
    const target = () => ({ trackingUrl: node.url, trackingKey: node.key })
    const expectAcknowledged = () => expect(ledger.acknowledged, 'while ClickHouse is away').toBeGreaterThan(0)
    await ledger.runDuring(
      target,
      async () => {
        for (const [round, workers] of others.entries()) {
          await sleep(roundMs / 2 + draw() * roundMs)
          if (round === 0) await vi.waitFor(expectAcknowledged, 60_000)
          for (const end of leasesIn(DATA_DIR)) leases.add(end)
          await node.stop(round % 4 === 1 ? 'SIGTERM' : 'SIGKILL')
          node = await start(workers, { DATA_DIR })
        }
        await sleep(roundMs)
        for (const end of leasesIn(DATA_DIR)) leases.add(end)
      },
      20 * others.length,
    )
    const folders = readdirSync(join(DATA_DIR, 'ingest')).filter((name) => name.startsWith('worker-'))
    expect(folders).toEqual(expect.arrayContaining(['worker-1', 'worker-2', 'worker-3']))
    await node.shipped()
    const answered = [...ledger.told.values()].flatMap(({ id }) => (id === null ? [] : [id]))
    expect(new Set(answered).size).toBe(answered.length)
    expect(leases.size).toBe(1)
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
    // So all are below their marks: folds take no others.
    expect(await judgeFigures(stores)).toEqual(exactFigures)
  },
  300_000 + workersOfStarts.length * 30_000,
)

/** Ends of the leases of a single worker: the next one goes on in its own, beyond what was used. */
function leasesIn(dataDir: string): number[] {
  const file = join(dataDir, 'ingest', 'segment-leases.json')
  if (!existsSync(file)) return []
  return (JSON.parse(readFileSync(file, 'utf8')) as { leases: { end: number }[] }).leases.map(({ end }) => end)
}
