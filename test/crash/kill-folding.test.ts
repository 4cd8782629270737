/**
 * kill -9 of the pipeline in the middle of folds, while events keep coming. They are current, or late by up to three
 * days, in sessions over hours and midnights. Each overview meanwhile has all that was acknowledged before its `as_of`,
 * and nothing that wasn't sent. Afterwards figures equal what is stored. The long form kills ClickHouse and ingest as
 * well.
 */
import { expect, test, vi } from 'vitest'
import type { Postgres } from '../../postgres/client.ts'
import { sleep } from '../../runtime/retry.ts'
import { leaseSilentMs } from '../../schemas/limits/figure-limits.ts'
import { runSvc } from '../support/command-line.ts'
import { foldStored } from '../support/figures.ts'
import { untilShipped } from '../support/ingest.ts'
import { drawLateEvents } from '../support/late-events.ts'
import {
  exact,
  judge,
  type Ledger,
  openLedger,
  type StoredEvent,
  storedEventsSql,
  type Told,
} from '../support/ledger.ts'
import type { Overview } from '../support/overview.ts'
import { setUpProduct, targetOf, withStores } from '../support/product.ts'
import { drawsOf, isLong } from '../support/short-form.ts'

const kills = isLong ? 50 : 2
const draw = drawsOf('kill-folding')
const killed = isLong ? (['pipeline', 'clickhouse', 'ingest', 'pipeline'] as const) : (['pipeline'] as const)
/** Pause of each of the ledger's connections: some hundred events a second together. */
const pauseMs = 100
/** About as long as a fold takes. */
const foldMs = 400
const askEveryMs = isLong ? 1_000 : 300
const sessions = isLong ? 600 : 200
const patience = { timeout: 60_000, interval: 5 }

const running = setUpProduct('kill-folding')

interface FoldLease {
  readonly by: string | null
  readonly isTaken: boolean
  /** Version of the last fold that was written. */
  readonly version: number
}

async function readLease(pg: Postgres): Promise<FoldLease> {
  const [lease] = await pg.query<FoldLease>(
    'SELECT leased_by AS by, leased_until > now() AS "isTaken", version FROM fold_state',
  )
  return lease!
}

/**
 * Kills at a random moment of a fold, every second time of the first one that can be met. The lease of a killed pipeline is
 * left to it now and then: the next one waits for its end.
 */
async function killInsideFolds(pg: Postgres): Promise<void> {
  let last: string | null = null
  for (let kill = 0; kill < kills; kill++) {
    const name = killed[kill % killed.length]!
    const { version } = await readLease(pg)
    const isMet = (lease: FoldLease) =>
      lease.isTaken && lease.by !== last && (kill % 2 === 1 || lease.version > version)
    let by: string | null = null
    await vi.waitUntil(async () => {
      const lease = await readLease(pg)
      by = lease.by
      return isMet(lease)
    }, patience)
    await sleep(draw() * foldMs)
    running.product.kill(name)
    if (name !== 'pipeline') continue
    last = by
    if (kill % 4 !== 3 && kill < kills - 1)
      await pg.query(`UPDATE fold_state SET leased_until = '-infinity' WHERE leased_by = $1`, [by])
  }
  const { version } = await readLease(pg)
  await vi.waitUntil(async () => (await readLease(pg)).version > version, patience)
}

/** Undefined where it isn't answered: a store may be away. */
async function askOverview(days: number): Promise<Overview | undefined> {
  const { base_url, api_key } = running.product.dev
  const headers = { Authorization: `Bearer ${api_key}` }
  try {
    const answer = await fetch(`${base_url}/analytics/overview?days=${days}`, { headers })
    if (answer.ok) return (await answer.json()) as Overview
    expect(answer.status).toBeGreaterThanOrEqual(500)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return undefined
}

/** Counts from the events at or after `start`. */
function countsOf(events: Iterable<Told>, start: number) {
  const [visitors, named, pages] = [new Set<unknown>(), new Set<string>(), new Map<string, number>()]
  const counts = { visitors: 0, sessions: 0, events: 0, pageviews: 0, conversions: 0 }
  for (const { content } of events) {
    const { anonymous_id, session_id, event_name, event_type, occurred_at, url } = content
    if (occurred_at !== undefined && Date.parse(String(occurred_at)) < start) continue
    counts.events++
    if (event_type === 'conversion') counts.conversions++
    if (event_name === 'pageview') {
      const { pathname } = new URL(String(url))
      counts.pageviews++
      pages.set(pathname, (pages.get(pathname) ?? 0) + 1)
    }
    // A server's event has neither.
    if (anonymous_id === undefined) continue
    visitors.add(anonymous_id)
    named.add(`${anonymous_id} ${session_id}`)
  }
  return { counts: { ...counts, visitors: visitors.size, sessions: named.size }, pages: Object.fromEntries(pages) }
}

/** Where ingest takes longer than this to come back, `as_of` doesn't wait for what it had acknowledged and not shipped. */
const silenceMs = 0.8 * leaseSilentMs
/** After that it has shipped it. */
const caughtUpMs = 30_000

function wasSilentBefore(moment: number, answered: readonly number[]): boolean {
  const times = [...answered, moment].sort((a, b) => a - b)
  return times.some((time, at) => time > moment - caughtUpMs && time - (times[at - 1] ?? time) > silenceMs)
}

/** Holds an answer against what was said of the events until then. */
function holdAnswer({ told }: Ledger, { metrics, top_pages }: Overview): void {
  const asOf = Date.parse(metrics.as_of)
  const start = Date.parse(metrics.range.start)
  const acknowledged = [...told.values()].filter(({ answeredAt }) => answeredAt !== null && answeredAt < asOf)
  const answered = acknowledged.map(({ answeredAt }) => answeredAt!)
  const least = countsOf(wasSilentBefore(asOf, answered) ? [] : acknowledged, start)
  const most = countsOf(told.values(), start)
  for (const { path, pageviews } of top_pages) {
    expect(pageviews, `${path} as of ${metrics.as_of}`).toBeGreaterThanOrEqual(least.pages[path] ?? 0)
    expect(pageviews, `${path} as of ${metrics.as_of}`).toBeLessThanOrEqual(most.pages[path] ?? 0)
  }
  for (const name of ['visitors', 'pageviews', 'events', 'conversions'] as const) {
    expect(metrics[name], `${name} as of ${metrics.as_of}`).toBeGreaterThanOrEqual(least.counts[name])
    expect(metrics[name], `${name} as of ${metrics.as_of}`).toBeLessThanOrEqual(most.counts[name])
  }
}

/** @returns the moments as of which answers were */
async function askAgainAndAgain(ledger: Ledger, until: AbortSignal): Promise<Set<string>> {
  const moments = new Set<string>()
  while (!until.aborted) {
    const overview = await askOverview(3)
    if (overview !== undefined) {
      holdAnswer(ledger, overview)
      moments.add(overview.metrics.as_of)
    }
    await sleep(askEveryMs)
  }
  return moments
}

/** The figures of all events, once they are of a moment after the last one was acknowledged. */
async function expectEqual(stored: readonly Told[]): Promise<void> {
  const now = Date.now()
  const overview = await vi.waitUntil(async () => {
    const answer = await askOverview(4)
    return answer !== undefined && Date.parse(answer.metrics.as_of) > now && answer
  }, patience)
  const { counts, pages } = countsOf(stored, 0)
  expect(overview.metrics).toMatchObject(counts)
  expect(Object.fromEntries(overview.top_pages.map(({ path, pageviews }) => [path, pageviews]))).toEqual(pages)
}

test(
  `${kills} kills inside folds leave figures that equal the events, and no answer meanwhile lacks what its moment promises`,
  async () => {
    const late = drawLateEvents(draw, sessions)
    const nextEvent = (number: number) =>
      number % 3 === 0
        ? late.body()
        : {
            event_name: 'pageview',
            url: `https://example.com/of-now/${number % 3}`,
            anonymous_id: `now-${number % 400}`,
            session_id: `session-${number % 400}`,
          }
    const ledger = openLedger({ nextEvent, pauseMs })
    const stop = new AbortController()
    let moments = new Set<string>()
    await withStores(running.product, async (stores) => {
      const asking = askAgainAndAgain(ledger, stop.signal)
      // Its failure is thrown once nothing is under way any more.
      asking.catch(() => {})
      await ledger
        .runDuring(
          targetOf(() => running.product),
          () => killInsideFolds(stores.pg),
        )
        .finally(() => stop.abort())
      moments = await asking
    })
    expect(moments.size).toBeGreaterThan(kills / 2)
    expect(ledger.acknowledged).toBeGreaterThan(50 * kills)
    await untilShipped(running.product.dev.tracking_url)
    await withStores(running.product, async (stores) => {
      const rows = await stores.ch.query<StoredEvent>(storedEventsSql)
      expect(judge(ledger, rows)).toEqual(exact)
      await foldStored(stores)
      await expectEqual(rows.flatMap(({ title }) => ledger.told.get(title) ?? []))
    })
    const { database_url: DATABASE_URL, clickhouse_url: CLICKHOUSE_URL } = running.product.dev
    expect(await runSvc(['figures', 'check'], { DATABASE_URL, CLICKHOUSE_URL })).toMatchObject({
      code: 0,
      out: expect.stringContaining('are right'),
    })
  },
  300_000 + kills * 60_000,
)
