/**
 * Marks: up to where a lease's events are shipped, and since when that is so of all that was answered. Marks tell the
 * truth, and changes behind a mark are told.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Claims } from '../../ingest/ship/claim.ts'
import { ShipJournal } from '../../ingest/ship/journal.ts'
import type { MarkStore } from '../../ingest/ship/marks.ts'
import { readPostgresClock } from '../../postgres/clock.ts'
import { commitFold, readFoldedAsOf, readFoldState } from '../../postgres/tables/figures/folds.ts'
import { advanceMarks, leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { startIngest } from '../support/ingest.ts'
import { countingNumbers, makeFlakyIo } from '../support/log-fixture.ts'
import { patientPostgres } from '../support/patient-clients.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import {
  claimsOf,
  eventsAt,
  type FlakyClickHouse,
  makeFlakyClaims,
  makeFlakyClickHouse,
  markStoreOf,
  openEventsNode,
  storedUrls,
} from '../support/stream-fixture.ts'

const stores = setUpStores()
let clickhouse: FlakyClickHouse
let claims: Claims & { isAway: boolean }
let numbers: ReturnType<typeof countingNumbers>
let first: number
let isPostgresAway: boolean
/** Each test has its own. */
let folder: string
let tests = 0

beforeEach(async () => {
  folder = join(stores.dataDir, String(tests++))
  await stores.pg.query('TRUNCATE segment_leases_taken, event_repairs')
  await stores.ch.command('TRUNCATE TABLE events')
  clickhouse = makeFlakyClickHouse(stores.ch)
  claims = makeFlakyClaims(claimsOf(stores))
  first = await leaseSegments(stores.pg, segmentLeaseSize)
  numbers = countingNumbers(first)
  isPostgresAway = false
})
afterEach(() => claims.close())

const guarded = async (work: () => Promise<void>) => {
  if (isPostgresAway) throw new StoreUnavailable('postgres', 'away')
  await work()
}
/** Marks are published again and again, whether they have moved or not. */
let publishings = 0
const store: MarkStore = {
  advance: (marks, completeForMs) => {
    publishings++
    return guarded(() => markStoreOf(stores).advance(marks, completeForMs))
  },
  recordRepairs: (keys) => guarded(() => markStoreOf(stores).recordRepairs(keys)),
}
const open = (more: Partial<Parameters<typeof openEventsNode>[0]> = {}) =>
  openEventsNode({ stores, folder, clickhouse, claims, numbers, markStore: store, ...more })

async function marks(): Promise<number[]> {
  const rows = await stores.pg.query<{ shipped_through: number }>(
    'SELECT shipped_through FROM segment_leases_taken ORDER BY first_segment',
  )
  return rows.map(({ shipped_through }) => Number(shipped_through))
}
const leaseOf = (id: number) => Math.floor(id / segmentRowsMax / segmentLeaseSize)
const repairs = () => stores.pg.query('SELECT DISTINCT workspace_id, hour FROM event_repairs')
const hourOfEvents = { workspace_id: 1, hour: Math.floor(eventsAt / 3_600_000) }
/** Until marks that were computed after the call are published, or were meant to be: the one under way, one more, and its end. */
const untilPublished = () => {
  const wanted = publishings + 3
  return vi.waitFor(() => expect(publishings).toBeGreaterThanOrEqual(wanted), { timeout: 60_000, interval: 20 })
}
const untilMark = (through: number) =>
  vi.waitFor(async () => expect(await marks()).toEqual([through]), { timeout: 60_000, interval: 50 })

describe('the mark of a lease', () => {
  it('stays below rows that wait for Redis while later ones without an id are stored', async () => {
    const node = await open()
    claims.isAway = true
    const [plain, claimed] = await node.append(['plain', 'claimed'], [null, { hi: 5, lo: 35 }])
    await vi.waitFor(async () => expect(await storedUrls(stores.ch, 'events')).toEqual(['plain']), 60_000)
    await untilPublished()
    expect((await marks())[0]).toBeLessThan(claimed!)
    claims.isAway = false
    await node.shipped()
    // All that was begun is covered once all is stored.
    await untilMark(numbers.next * segmentRowsMax - 1)
    expect((await marks())[0]).toBeGreaterThanOrEqual(Math.max(plain!, claimed!))
    await node.abandon()
  })

  it('is published at an orderly stop, and later when Postgres was away, which nothing waited for', async () => {
    isPostgresAway = true
    let node = await open()
    await node.append(['a'])
    await node.shipped()
    await untilPublished()
    await node.abandon()
    expect(await marks()).toEqual([first * segmentRowsMax - 1])
    isPostgresAway = false
    node = await open()
    await node.append(['b'])
    await node.shipped()
    await node.abandon()
    expect(await marks()).toEqual([numbers.next * segmentRowsMax - 1])
    expect(await repairs()).toEqual([])
  })
})

describe('rows that ClickHouse has lost with the power, behind a mark', () => {
  beforeEach(async () => {
    const node = await open()
    await node.append(['a', 'b', 'c'])
    await node.shipped()
    await untilMark(numbers.next * segmentRowsMax - 1)
    await node.abandon()
  })

  it.each(['kept', 'lost with them'])('are back, and their hours told, with a journal that is %s', async (journal) => {
    await stores.ch.command('TRUNCATE TABLE events')
    if (journal !== 'kept') await rm(join(folder, 'events', 'shipping.journal'))
    const node = await open({ bootId: 'another boot' })
    await node.shipped()
    expect(await storedUrls(stores.ch, 'events')).toEqual(['a', 'b', 'c'])
    expect(await repairs()).toEqual([hourOfEvents])
    await node.abandon()
    // Where none are missing nobody is told.
    await stores.pg.query('TRUNCATE event_repairs')
    const again = await open({ bootId: 'a third boot' })
    await again.shipped()
    await again.abandon()
    expect(await repairs()).toEqual([])
  })

  it('are told of at a later start when the process was killed between the insert and that, while others go on', async () => {
    await stores.ch.command('TRUNCATE TABLE events')
    isPostgresAway = true
    let node = await open({ bootId: 'another boot' })
    await node.append(['new'])
    await vi.waitFor(async () => expect(await storedUrls(stores.ch, 'events')).toEqual(['a', 'b', 'c', 'new']), 60_000)
    expect(node.stream.shipper.backlog().segments).toBeGreaterThan(0)
    await node.abandon()
    expect(await repairs()).toEqual([])
    isPostgresAway = false
    node = await open({ bootId: 'another boot' })
    await node.shipped()
    expect(await repairs()).toEqual([hourOfEvents])
    expect(await storedUrls(stores.ch, 'events')).toEqual(['a', 'b', 'c', 'new'])
    await node.abandon()
  })
})

it('a mark stays below a group that failed for as long as a kill may bring it back', async () => {
  const io = makeFlakyIo()
  let node = await open({ io })
  await node.append(['kept'])
  await node.shipped()
  io.syncFailures = Number.POSITIVE_INFINITY
  // No other file can be had, so nothing on the disk says that the group doesn't count.
  await expect(node.append(['failed'])).rejects.toThrow('not durable')
  await untilPublished()
  await node.abandon()
  const [before] = await marks()
  node = await open()
  await node.shipped()
  const rows = await stores.ch.query<{ id: number; url: string }>('SELECT id, url FROM events ORDER BY id')
  expect(rows.map(({ url }) => url)).toEqual(['kept', 'failed'])
  expect(before).toBeLessThan(rows[1]!.id)
  expect(await repairs()).toEqual([])
  await node.abandon()
})

/**
 * The newest lease's moment by Postgres's clock, in milliseconds since 1970, and whether it has been published lately.
 */
async function completeAt(): Promise<{ at: number; isFresh: boolean }> {
  const [row] = await stores.pg.query<{ at: number; isFresh: boolean }>(
    `SELECT extract(epoch FROM greatest(complete_at, 'epoch'))::float8 * 1000 AS at,
       updated_at > now() - interval '5 seconds' AS "isFresh"
     FROM segment_leases_taken ORDER BY first_segment DESC LIMIT 1`,
  )
  return row!
}

describe('the time as of which the marks are complete', () => {
  const untilComplete = (at: number) =>
    vi.waitFor(async () => expect((await completeAt()).at).toBeGreaterThan(at), { timeout: 60_000, interval: 50 })

  it('is that of the lease, and goes on while no event comes, with an open segment that has no row', async () => {
    const { at: leasedAt } = await completeAt()
    expect(leasedAt).toBeGreaterThan((await readPostgresClock(stores.pg)) - 60_000)
    const node = await open()
    expect(node.stream.writer.hasRoom(1, 4096)).toBe(true)
    for (let times = 0; times < 2; times++) await untilComplete(await readPostgresClock(stores.pg))
    expect(await marks()).toEqual([first * segmentRowsMax - 1])
    await node.append(['a'])
    await untilComplete(await readPostgresClock(stores.pg))
    expect(await marks()).toEqual([numbers.next * segmentRowsMax - 1])
    await node.abandon()
  })

  it('stays before the answer to the first event that isn’t stored, also after a restart, and the node isn’t silent', async () => {
    let node = await open()
    await untilComplete(await readPostgresClock(stores.pg))
    clickhouse.isAway = true
    await node.append(['a'])
    const answeredAt = await readPostgresClock(stores.pg)
    await sleep(300)
    await node.append(['b'])
    for (const isRestarted of [false, true]) {
      if (isRestarted) node = await open()
      await sleep(1_200)
      // Moments in Postgres have fractions of a millisecond.
      expect((await completeAt()).at).toBeLessThan(answeredAt + 1)
      await stores.pg.query(`UPDATE segment_leases_taken SET updated_at = '-infinity'`)
      await vi.waitFor(async () => expect((await completeAt()).isFresh).toBe(true), 60_000)
      if (!isRestarted) await node.abandon()
    }
    expect((await completeAt()).at).toBeLessThan(answeredAt + 1)
    clickhouse.isAway = false
    await untilComplete(await readPostgresClock(stores.pg))
    expect(await storedUrls(stores.ch, 'events')).toEqual(['a', 'b'])
    await node.abandon()
  })

  it('and the marks stay where they are while the journal can’t be written, and the node isn’t silent', async () => {
    const node = await open()
    await untilComplete(await readPostgresClock(stores.pg))
    const noteMark = vi.spyOn(ShipJournal.prototype, 'noteMark').mockRejectedValue(new Error('no space left on device'))
    onTestFinished(() => noteMark.mockRestore())
    const failsSince = await readPostgresClock(stores.pg)
    await node.append(['a'])
    await node.shipped()
    await untilPublished()
    const [before, { at }] = [await marks(), await completeAt()]
    await stores.pg.query(`UPDATE segment_leases_taken SET updated_at = '-infinity'`)
    await vi.waitFor(async () => expect(await completeAt()).toEqual({ at, isFresh: true }), 60_000)
    expect(at).toBeLessThan(failsSince + 1)
    expect(await marks()).toEqual(before)
    noteMark.mockRestore()
    await untilComplete(await readPostgresClock(stores.pg))
    expect(await marks()).toEqual([numbers.next * segmentRowsMax - 1])
    await node.abandon()
  })

  it('isn’t later for a connection that was long in coming, nor does it or a mark go back', async () => {
    const pg = patientPostgres(stores.databaseUrl, { max: 1 })
    const busy = pg.query('SELECT pg_sleep(0.5)')
    const before = performance.now()
    const advanced = advanceMarks(pg, [{ firstSegment: first, throughId: first * segmentRowsMax + 7 }], () => {
      return performance.now() - before
    })
    const clock = await readPostgresClock(stores.pg)
    await Promise.all([busy, advanced])
    const { at } = await completeAt()
    expect(at).toBeLessThanOrEqual(clock + 1)
    expect(at).toBeGreaterThan(clock - 10_000)
    for (const ms of [60_000, null]) await advanceMarks(pg, [{ firstSegment: first, throughId: 7 }], () => ms)
    expect(await completeAt()).toEqual({ at, isFresh: true })
    expect(await marks()).toEqual([first * segmentRowsMax + 7])
    await pg.close()
  })

  it('is published with the marks of all leases of a node, also of those that Postgres has forgotten', async () => {
    const second = await leaseSegments(stores.pg, segmentLeaseSize)
    await stores.pg.query('DELETE FROM segment_leases_taken WHERE first_segment = $1', [first])
    const leases = [first, second].map((from) => ({ firstSegment: from, throughId: from * segmentRowsMax + 1 }))
    await advanceMarks(stores.pg, leases, () => 0)
    const rows = await stores.pg.query<{ first: number; size: number; times: number }>(
      `SELECT first_segment AS first, end_segment - first_segment AS size,
         (SELECT count(DISTINCT (complete_at, updated_at)) FROM segment_leases_taken) AS times
       FROM segment_leases_taken ORDER BY first_segment`,
    )
    expect(rows).toEqual([first, second].map((from) => ({ first: from, size: segmentLeaseSize, times: 1 })))
    expect(await marks()).toEqual(leases.map(({ throughId }) => throughId))
  })
})

describe.each(isLong ? [1, 2] : [2])('of the service itself, with %i threads that take events', (workers) => {
  it('no event that was answered before the marks are complete is above them, all soon are below, and so they are after a stop', async () => {
    const ingest = await startIngest({ ...stores, dataDir: folder }, { INGEST_WORKERS: String(workers) })
    const answered: { id: number; at: number }[] = []
    let isSending = true
    const event = { tracking_key: ingest.key, event_name: 'pageview', url: 'https://example.com/', anonymous_id: 'v' }
    const sendOne = async () => {
      // A connection of its own each time: any of the threads gets it.
      const answer = await ingest.post('/track', event, { Connection: 'close' })
      answered.push({ id: answer.body.event_id!, at: Date.now() })
    }
    const sendMany = async () => {
      for (; isSending; await sleep(10)) await sendOne()
    }
    const sending = Promise.all([sendMany(), sendMany(), sendMany()])
    let leasesSeen = 0
    for (let looks = 0; looks < 60 || leasesSeen < workers; looks++) {
      const leases = await stores.pg.query<{ from: number; through: number; at: number }>(
        `SELECT first_segment * ${segmentRowsMax} AS from, shipped_through AS through,
           extract(epoch FROM greatest(complete_at, 'epoch'))::float8 * 1000 AS at
         FROM segment_leases_taken WHERE updated_at > now() - interval '10 seconds' AND first_segment > $1`,
        [first],
      )
      // A thread that stood still for as long promises nothing.
      const at = leases.length < workers ? 0 : Math.min(...leases.map((lease) => lease.at))
      // Both clocks are this machine's, and an answer is heard of after it was given.
      const before = answered.filter((event) => event.at + 1 < at)
      const isBelow = (id: number) => leases.some(({ from, through }) => id >= from && id <= through)
      expect(before.filter(({ id }) => !isBelow(id))).toEqual([])
      leasesSeen = leases.filter(({ from, through }) => through >= from).length
      await sleep(20)
    }
    isSending = false
    await sending
    expect(leasesSeen).toBe(workers)
    const above = async () => {
      const through = await marks()
      return answered.filter(({ id }) => !through.some((mark) => id <= mark && leaseOf(id) === leaseOf(mark)))
    }
    await expect.poll(above).toEqual([])
    await Promise.all([sendOne(), sendOne(), sendOne()])
    expect(await ingest.stop()).toBe(0)
    expect(await above()).toEqual([])
  })
})

it('a clock of Postgres that ran days ahead leaves no time behind as of which all is complete', async () => {
  const publish = () => advanceMarks(stores.pg, [{ firstSegment: first, throughId: first * segmentRowsMax }], () => 0)
  await publish()
  const ahead = "now() + interval '3 days'"
  await stores.pg.query(`UPDATE segment_leases_taken SET complete_at = ${ahead}, updated_at = ${ahead}`)
  await stores.pg.query(`UPDATE fold_state SET as_of = ${ahead}`)
  await publish()
  const { version, asOf, shippedAsOf } = await readFoldState(stores.pg)
  expect([asOf, shippedAsOf <= (await readPostgresClock(stores.pg))]).toEqual([0, true])
  await commitFold(stores.pg, { from: version, version, asOf: shippedAsOf, watermarks: [], repairIds: [] })
  expect((await readFoldedAsOf(stores.pg)).asOf).toBe(shippedAsOf)
})
