import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Claims } from '../../ingest/ship/claim.ts'
import { sleep } from '../../runtime/retry.ts'
import type { Hash64 } from '../../schemas/event/row.ts'
import { countingNumbers, makeVisit } from '../support/log-fixture.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import {
  claimsOf,
  type FlakyClickHouse,
  makeFlakyClaims,
  makeFlakyClickHouse,
  openNode,
  storedUrls,
} from '../support/stream-fixture.ts'

const stores = setUpStores()
let clickhouse: FlakyClickHouse
let claims: Claims & { isAway: boolean }
/** Each test has its own. */
let folder: string
let tests = 0
const numbers = countingNumbers()

beforeEach(async () => {
  tests += 1
  folder = join(stores.dataDir, String(tests))
  await stores.ch.command('TRUNCATE TABLE bot_visits')
  clickhouse = makeFlakyClickHouse(stores.ch)
  claims = makeFlakyClaims(claimsOf(stores))
})
afterEach(() => claims.close())

const open = (at = folder, more = {}) => openNode({ stores, folder: at, clickhouse, claims, numbers, ...more })
const claimOf = (key: number): Hash64 => ({ hi: tests * 1_000 + key, lo: key * 7 })
const urlsOf = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}-${String(i).padStart(4, '0')}`)

describe('shipping', () => {
  it('stores every acknowledged row once, whatever becomes of inserts and of the process between any two steps', async () => {
    const step = fc.record({
      rows: fc.integer({ min: 1, max: 40 }),
      faults: fc.array(fc.constantFrom('before' as const, 'after' as const), { maxLength: 3 }),
      restart: fc.boolean(),
      pauseMs: fc.constantFrom(0, 5, 300),
    })
    type Step = typeof step extends fc.Arbitrary<infer One> ? One : never
    const runs = fc.array(step, { minLength: 1, maxLength: 4 })
    let round = 0
    const storesAllOnce = async (steps: readonly Step[]) => {
      const prefix = String(round++).padStart(3, '0')
      const flaky = makeFlakyClickHouse(stores.ch)
      const reopen = () => open(join(folder, prefix), { clickhouse: flaky })
      const sent: string[] = []
      let node = await reopen()
      for (const [index, { rows, faults, restart, pauseMs }] of steps.entries()) {
        flaky.faults = [...faults]
        const urls = urlsOf(`${prefix}-${index}`, rows)
        await node.append(urls)
        sent.push(...urls)
        await sleep(pauseMs)
        if (!restart) continue
        await node.abandon()
        node = await reopen()
      }
      flaky.faults = []
      await node.shipped()
      await node.abandon()
      expect((await storedUrls(stores.ch)).filter((url) => url.startsWith(`${prefix}-`))).toEqual(sent.sort())
    }
    // Several at once, because most of each is waiting.
    const cases = fc.sample(runs, isLong ? 300 : 50)
    let failing: Step[] | undefined
    const lane = async () => {
      for (let steps = cases.pop(); steps !== undefined && failing === undefined; steps = cases.pop()) {
        await storesAllOnce(steps).catch(() => (failing = steps))
      }
    }
    await Promise.all(Array.from({ length: 10 }, lane))
    // Fails again, and shows the smallest case that does.
    if (failing) await fc.assert(fc.asyncProperty(runs, storesAllOnce), { examples: [[failing]], numRuns: 1 })
    expect(failing).toBeUndefined()
  })

  it('sets one row aside that ClickHouse can’t take, with its reason, and stores all others', async () => {
    await stores.ch.command("ALTER TABLE bot_visits ADD CONSTRAINT sound CHECK url != 'poison'")
    const node = await open()
    const half = isLong ? 5_000 : 500
    const good = [...urlsOf('a', half), ...urlsOf('b', half - 1)]
    // No more than a group has room for.
    const group = half / 5
    let id = 0
    for (let first = 0; first < good.length; first += group) {
      const synced = node.append(good.slice(first, first + group))
      if (first === half) id = node.stream.writer.append(makeVisit('poison'), null, null)
      await synced
    }
    await node.shipped()
    expect(await storedUrls(stores.ch)).toEqual(good)
    expect(node.setAside).toBe(1)
    const aside = join(folder, 'set-aside')
    expect(await readdir(aside)).toEqual([`bot_visits-row-${id}.bin`, `bot_visits-row-${id}.json`])
    const note = JSON.parse(await readFile(join(aside, `bot_visits-row-${id}.json`), 'utf8'))
    expect(note).toMatchObject({ row: { url: 'poison' }, reason: expect.stringContaining('VIOLATED_CONSTRAINT') })
    await node.append(['after'])
    await node.shipped()
    expect(await storedUrls(stores.ch)).toContain('after')
    await node.abandon()
    await stores.ch.command('ALTER TABLE bot_visits DROP CONSTRAINT sound')
  })
})

it('rows are in the backlog from the moment at which they are acknowledged, until they are stored', async () => {
  const node = await open()
  const waiting = () => node.stream.shipper.backlog().segments
  expect(waiting()).toBe(0)
  await node.append(['a'])
  expect(waiting()).toBe(1)
  await expect.poll(waiting).toBe(0)
  expect(await storedUrls(stores.ch)).toEqual(['a'])
  await node.abandon()
})

describe('a log that was damaged', () => {
  const files = async () => (await readdir(join(folder, 'bot_visits'))).filter((name) => /^\d+\.log$/.test(name)).sort()
  const setAside = async () => (await readdir(join(folder, 'set-aside'))).sort()
  /** Manifests that are not loaded yet. */
  const frozen = async () => {
    const journal = await readFile(join(folder, 'bot_visits', 'shipping.journal'), 'utf8')
    return journal.split('"t":"frozen"').length - 1
  }

  async function flip(path: string, at: number): Promise<void> {
    const bytes = await readFile(path)
    bytes[at]! ^= 1
    await writeFile(path, bytes)
  }

  /** Two files with a manifest each that ClickHouse has not got. */
  async function twoFilesWaiting(): Promise<void> {
    clickhouse.isAway = true
    for (const [before, part] of ['a', 'b'].entries()) {
      const node = await open()
      await node.append(urlsOf(part, 10))
      await expect.poll(frozen).toBe(before + 1)
      await node.abandon()
    }
    clickhouse.isAway = false
  }

  it('by the loss of a file, or in the header of one, loses no other row, goes on, and says what is missing', async () => {
    for (const damage of ['loss', 'header']) {
      await stores.ch.command('TRUNCATE TABLE bot_visits')
      folder = join(folder, damage)
      await twoFilesWaiting()
      const path = join(folder, 'bot_visits', (await files())[0]!)
      if (damage === 'loss') await rm(path)
      else await flip(path, 0)
      const node = await open()
      await node.shipped()
      const whole = damage === 'loss' ? [] : urlsOf('a', 10)
      expect(await storedUrls(stores.ch)).toEqual([...whole, ...urlsOf('b', 10)])
      expect(node.setAside).toBe(1)
      if (damage === 'loss') expect((await setAside()).join()).toMatch(/missing/)
      await node.append(['after'])
      await node.shipped()
      await node.abandon()
    }
  })

  it('while the process runs tells of it, and goes on', async () => {
    clickhouse.isAway = true
    const node = await open()
    await node.append(urlsOf('a', 10))
    await expect.poll(frozen).toBe(1)
    await flip(join(folder, 'bot_visits', (await files()).at(-1)!), 4096 + 200)
    clickhouse.isAway = false
    await node.append(urlsOf('b', 10))
    await node.shipped()
    expect(await storedUrls(stores.ch)).toEqual(urlsOf('b', 10))
    expect(node.setAside).toBe(1)
    await node.abandon()
  })
})

describe('client event ids', () => {
  it('count once over two nodes, and over a restart in the middle of shipping', async () => {
    const one = await open(join(folder, 'one'))
    let two = await open(join(folder, 'two'))
    const keys = Array.from({ length: 200 }, (_, i) => claimOf(i + 1))
    await Promise.all([one.append(urlsOf('a', 200), keys), two.append(urlsOf('b', 200), keys)])
    await sleep(100)
    await two.abandon()
    two = await open(join(folder, 'two'))
    await Promise.all([one.shipped(), two.shipped()])
    const stored = await storedUrls(stores.ch)
    expect(new Set(stored.map((url) => url.slice(2)))).toEqual(new Set(urlsOf('a', 200).map((url) => url.slice(2))))
    expect(stored).toHaveLength(200)
    await Promise.all([one.abandon(), two.abandon()])
  })

  it('wait for Redis while rows without one go ahead, and count once within one segment', async () => {
    const node = await open()
    claims.isAway = true
    await node.append(['plain 1', 'claimed', 'again', 'plain 2'], [null, claimOf(5), claimOf(5), null])
    await expect.poll(() => storedUrls(stores.ch)).toEqual(['plain 1', 'plain 2'])
    await node.append(['later claimed', 'later plain'], [claimOf(6), null])
    await expect.poll(() => storedUrls(stores.ch)).toEqual(['later plain', 'plain 1', 'plain 2'])
    // A restart between the two parts changes nothing.
    await node.abandon()
    const again = await open()
    claims.isAway = false
    await again.shipped()
    expect(await storedUrls(stores.ch)).toEqual(['claimed', 'later claimed', 'later plain', 'plain 1', 'plain 2'])
    await again.abandon()
  })

  it('rest on the local window alone once Redis has been away for too long', async () => {
    const node = await open(folder, { claimWaitMs: 500 })
    claims.isAway = true
    await node.append(['claimed'], [claimOf(5)])
    await node.shipped()
    expect(await storedUrls(stores.ch)).toEqual(['claimed'])
    expect(node.counts['unclaimed']).toBe(1)
    await node.abandon()
  })
})
