/**
 * Events that come late and in any order, while ingest, the pipeline and the stores are killed, a second aggregator works
 * beside the pipeline's and is killed as well, and days are rebuilt; then every manifest of the round is shipped once more,
 * with rows that ClickHouse has lost. In the end rows are those that were acknowledged, and aggregates are what the rows give.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { mergeDue } from '../../pipeline/aggregate/merge.ts'
import { rebuildDay } from '../../pipeline/aggregate/rebuild.ts'
import { type Aggregating, aggregate } from '../../pipeline/aggregate/run.ts'
import { recordRepairs } from '../../postgres/tables/aggregate-repairs.ts'
import { sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import {
  aggregateAll,
  endClaim,
  exactAggregates,
  judgeAggregates,
  untilAggregated,
  workOn,
} from '../support/aggregates.ts'
import { makeDyingStores } from '../support/dying-stores.ts'
import { untilShipped } from '../support/ingest.ts'
import { drawLateEvents } from '../support/late-events.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { setUpProduct, targetOf, withStores } from '../support/product.ts'
import { isLong } from '../support/short-form.ts'

const rounds = isLong ? 12 : 1
const strikesEach = isLong ? 10 : 4
const betweenStrikesMs = isLong ? 10_000 : 1_500
/** Of each of the ledger's connections: some hundred events a second together. */
const pauseMs = isLong ? 100 : 200
const hourMs = 3_600_000
/** Of a round; half of them go on in the next one. With the same ones in all, each hour of the last rounds would be of all events. */
const sessions = 300
/** That events come late by. */
const hours = 71

const running = setUpProduct('kill-aggregating')

const below = (end: number) => Math.floor(Math.random() * end)
const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
const hourNow = () => Math.floor(Date.now() / hourMs)
/** One of those that have events. */
const randomDay = () => Math.floor((hourNow() - below(hours)) / 24)

/**
 * Aggregates, merges, rebuilds and asks for repairs without regard to the pipeline, and is killed now and then.
 * @returns how much of it came to its end
 */
async function meddle(until: AbortSignal): Promise<number> {
  let done = 0
  const works: ((work: Aggregating) => Promise<unknown>)[] = [
    aggregate,
    (work) => mergeDue(work, true),
    (work) => rebuildDay(work, randomDay()),
    ({ pg }) => recordRepairs(pg, [{ workspaceId: running.product.dev.workspace_id, hour: hourNow() - below(hours) }]),
  ]
  while (!until.aborted) {
    try {
      await withStores(running.product, (stores) =>
        pick(works)(workOn(Math.random() < 0.5 ? makeDyingStores(stores, 1 + below(60)) : stores)),
      )
      done++
    } catch (error) {
      const isTakenOver = (error as Error).message.includes('changed the aggregates meanwhile')
      if (!isTakenOver && !(error instanceof StoreUnavailable)) throw error
    }
    await sleep(200)
  }
  return done
}

async function strikeAgainAndAgain(): Promise<void> {
  for (let strike = 0; strike < strikesEach; strike++) {
    await sleep(Math.random() * betweenStrikesMs)
    running.product.kill((['pipeline', 'clickhouse', 'postgres', 'ingest'] as const)[strike % 4]!)
    await sleep(1_000)
    await withStores(running.product, endClaim).catch(() => {})
  }
  await sleep(betweenStrikesMs)
}

const journal = () => join(running.dataDir, 'ingest/events/shipping.journal')
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n')
/** Of a line of the journal, the manifest that it says is loaded. */
const loadedIn = (line: string) => /"t":"loaded","id":(\d+)/.exec(line)?.[1]

/**
 * Of this round's rows ClickHouse loses some, and a day is computed without them; what was loaded in it counts as not loaded,
 * and ingest is killed while it settles that.
 */
async function shipAgain(since: Date, loadedBefore: ReadonlySet<string | undefined>): Promise<void> {
  await withStores(running.product, async (stores) => {
    await aggregateAll(stores)
    await stores.ch.command(
      'ALTER TABLE events DELETE WHERE arrived_at >= {since:DateTime64(3)} AND id % 7 = 3',
      { since },
      { settings: { mutations_sync: 1 } },
    )
    await vi.waitFor(() => rebuildDay(workOn(stores), randomDay()), 30_000)
    expect(await judgeAggregates(stores)).not.toEqual(exactAggregates)
  })
  await running.restart(() => {
    const isKept = (line: string) => loadedIn(line) === undefined || loadedBefore.has(loadedIn(line))
    writeFileSync(journal(), linesOf(journal()).filter(isKept).join('\n'))
  })
  // While manifests are settled and repairs are told.
  for (let kill = 0; kill < 2; kill++) {
    await sleep(Math.random() * 1_000)
    running.product.kill('ingest')
  }
}

test(
  `kills, rebuilds and manifests shipped twice leave aggregates that equal the rows, in ${rounds} rounds`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      const since = new Date()
      const loadedBefore = new Set(linesOf(journal()).map(loadedIn))
      const events = drawLateEvents(Math.random, sessions, round * (sessions / 2))
      const ledger = openLedger({ nextEvent: () => events.body(), pauseMs })
      const stop = new AbortController()
      const meddling = meddle(stop.signal)
      const target = targetOf(() => running.product)
      await ledger.runDuring(target, strikeAgainAndAgain).finally(() => stop.abort())
      expect(await meddling).toBeGreaterThan(0)
      expect(ledger.acknowledged).toBeGreaterThan(500)
      await untilShipped(running.product.dev.tracking_url)
      await shipAgain(since, loadedBefore)
      await untilShipped(running.product.dev.tracking_url)
      await withStores(running.product, async (stores) => {
        expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
        await endClaim(stores)
        // The pipeline alone does it, too, but looks for something to do every 15 seconds only.
        await (isLong ? untilAggregated(stores) : aggregateAll(stores))
        expect(await judgeAggregates(stores)).toEqual(exactAggregates)
      })
    }
  },
  rounds * 300_000,
)
