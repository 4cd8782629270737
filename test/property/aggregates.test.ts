/**
 * The aggregates equal what the raw rows give, whatever arrives in which order, and whatever dies or happens at once while
 * they are written. `SEED=n` repeats a run, `RUNS=n` makes it longer.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import { type CheckOptions, checkDays, type Difference } from '../../pipeline/aggregate/check.ts'
import { mergeDue } from '../../pipeline/aggregate/merge.ts'
import { rebuildDay } from '../../pipeline/aggregate/rebuild.ts'
import { aggregate } from '../../pipeline/aggregate/run.ts'
import { recordRepairs } from '../../postgres/tables/aggregate-repairs.ts'
import { readSnapshot } from '../../postgres/tables/aggregate-snapshot.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/segment-leases.ts'
import { segmentRowsMax } from '../../schemas/limits.ts'
import { overviewCases } from '../oracle/cases.ts'
import { day, type EventFact, hour } from '../oracle/facts.ts'
import { insertEventRows } from '../support/event-rows.ts'
import { makeRandom } from '../support/late-events.ts'
import { isLong, seed } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 100 : 1))

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const never = async () => {}
const firstDay = Date.UTC(2025, 2, 1) / day
/** Neighbours, and the two ends of the time that a touch counts for. */
const usedDays = [0, 1, 30, 31].map((offset) => firstDay + offset)
const leaseSize = 1_000_000
const eventsMax = isLong ? 120 : 25

function onUsedDay(event: EventFact): EventFact {
  const usedDay = usedDays[Math.floor(event.occurred_at / day) % usedDays.length]!
  return { ...event, occurred_at: usedDay * day + (event.occurred_at % day) }
}

/** Events of a few workspaces on the few days, in the order in which they arrive: without regard to their times. */
function drawEvents(random: () => number, firstWorkspace: number): EventFact[] {
  const cases = fc.sample(overviewCases, { seed: Math.floor(random() * 2 ** 31), numRuns: 2 })
  const events = cases.flatMap((one, at) =>
    one.events.map((event) => ({ ...onUsedDay(event), workspace_id: firstWorkspace + at })),
  )
  return events
    .map((event) => ({ event, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ event }) => event)
    .slice(0, eventsMax)
}

async function differences(options: CheckOptions = {}): Promise<Difference[]> {
  const snapshot = await readSnapshot(stores.pg)
  const found: Difference[] = []
  for (const at of [0, 2]) {
    found.push(...(await checkDays(stores.ch, snapshot, { first: usedDays[at]!, last: usedDays[at + 1]! }, options)))
  }
  return found
}

/** Two nodes with a lease each, and a third one's between them that nobody says anything of. */
async function makeArrivals(random: () => number, waiting: EventFact[]) {
  const { pg, ch } = stores
  const nodes: { first: number; used: number; inserted: EventFact[] }[] = []
  for (let node = 0; node < 3; node++) nodes.push({ first: await leaseSegments(pg, leaseSize), used: 0, inserted: [] })
  const number = (node: (typeof nodes)[number], events: EventFact[]) => {
    const rows = events.map((event, at) => ({ ...event, id: node.first * segmentRowsMax + node.used + at }))
    node.used += rows.length
    return rows
  }
  const repair = (rows: readonly EventFact[]) =>
    recordRepairs(
      pg,
      rows.map((row) => ({ workspaceId: row.workspace_id, hour: Math.floor(row.occurred_at / hour) })),
    )
  return {
    async insert(): Promise<void> {
      const node = nodes[Math.floor(random() * 3)]!
      const rows = number(node, waiting.splice(0, Math.ceil(random() * 40)))
      await insertEventRows(ch, rows)
      node.inserted.push(...rows)
      const through = node.first * segmentRowsMax + node.used - 1 - Math.floor(random() * 5)
      if (node !== nodes[1]) await advanceMark(pg, node.first, through)
    },
    /** Rows that come back below a mark, and rows that are erased. */
    async disturb(): Promise<void> {
      const node = nodes[0]!
      const late = number(node, waiting.splice(0, 3))
      await advanceMark(pg, node.first, node.first * segmentRowsMax + node.used - 1)
      if (random() < 0.5) await aggregate({ pg, ch, beforeEach: never })
      await insertEventRows(ch, late)
      const gone = node.inserted.splice(0, Math.floor(random() * 4))
      await ch.command(
        'ALTER TABLE events DELETE WHERE id IN {ids:Array(UInt64)}',
        { ids: gone.map(({ id }) => id) },
        { settings: { mutations_sync: 1 } },
      )
      node.inserted.push(...late)
      await repair([...late, ...gone])
    },
    async finish(): Promise<void> {
      for (const node of nodes) await advanceMark(pg, node.first, (node.first + leaseSize) * segmentRowsMax - 1)
    },
  }
}

/** Ends after some statements, as a process that is killed. */
function dying(random: () => number): () => Promise<void> {
  let left = Math.floor(random() * 12)
  return async () => {
    if (left-- === 0) throw new Error('killed')
  }
}

test('aggregates equal the raw rows after any order of arrivals, kills, repairs and runs at once', {
  timeout: runs * 300_000,
}, async () => {
  const { pg, ch } = stores
  for (let run = 0; run < runs; run++) {
    const random = makeRandom(seed + run)
    const waiting = drawEvents(random, 1 + run * 2)
    const arrivals = await makeArrivals(random, waiting)
    const done: string[] = []
    // As if the rows were too many for one run or one statement.
    const below = (max: number) => 1 + Math.floor(random() * max)
    const sizes = { runRows: 20 + below(60), sliceIds: 16, statementRows: 10 + below(40), dayKeys: below(10) }
    const work = { pg, ch, beforeEach: never, ...(random() < 0.5 ? { sizes } : {}) }
    const steps: Record<string, () => Promise<unknown>> = {
      insert: arrivals.insert,
      'insert again': arrivals.insert,
      disturb: arrivals.disturb,
      run: () => aggregate(work),
      'killed run': () => aggregate({ pg, ch, beforeEach: dying(random) }).catch(() => {}),
      merge: () => mergeDue(work, random() < 0.5),
      'killed merge': () => mergeDue({ pg, ch, beforeEach: dying(random) }, true).catch(() => {}),
      'run in a merge': () => Promise.all([aggregate(work), mergeDue(work, true)]),
      rebuild: () => rebuildDay(work, usedDays[Math.floor(random() * usedDays.length)]!),
      'killed rebuild': () => rebuildDay({ pg, ch, beforeEach: dying(random) }, usedDays[0]!).catch(() => {}),
      'two runs': () => Promise.all([aggregate(work), aggregate(work)]),
    }
    const settle = async () => {
      for (let more = true; more; ) more = !(await aggregate(work)).isAllTaken
    }
    const judge = async () => {
      const found = await differences(random() < 0.3 ? { statementRows: below(60) } : {})
      if (found.length > 0) {
        expect.fail(
          `SEED=${seed + run} RUNS=1: ${found.length} differences after ${done.join(', ')}: ${JSON.stringify(found.slice(0, 5))}`,
        )
      }
    }
    while (waiting.length > 0) {
      const names = Object.keys(steps)
      const name = names[Math.floor(random() * names.length)]!
      done.push(name)
      await steps[name]!()
      // A repair that is recorded and not made yet is a difference that is known.
      if (name === 'disturb') await settle()
      // In short after a third of them, others each time: a comparison costs more than what it follows.
      if (!name.startsWith('insert') && (isLong || random() < 0.3)) await judge()
    }
    await arrivals.finish()
    await settle()
    await judge()
    await mergeDue(work, true)
    await judge()
  }
})

/** Of a workspace of its own, with rows for every table: of the others, any day may have been computed anew, and count otherwise. */
async function aggregateOneMore(workspaceId: number): Promise<void> {
  const { pg, ch } = stores
  const first = await leaseSegments(pg, leaseSize)
  const rows = fc
    .sample(overviewCases, { seed: 1, numRuns: 12 })
    .flatMap(({ events }) => events.map(onUsedDay))
    .map((event, at) => ({ ...event, workspace_id: workspaceId, id: first * segmentRowsMax + at }))
  await insertEventRows(ch, rows)
  await advanceMark(pg, first, (first + leaseSize) * segmentRowsMax - 1)
  for (let more = true; more; ) more = !(await aggregate({ pg, ch, beforeEach: never })).isAllTaken
}

test('the comparison can fail: it tells a single value of any table that is off', { timeout: 300_000 }, async () => {
  const { ch } = stores
  const workspaceId = 1 + runs * 2
  await aggregateOneMore(workspaceId)
  expect(await differences()).toEqual([])
  // Each comparison takes seconds: the short form alters two of the tables, others each time.
  const tables = Object.values(aggregateTables)
  const inTurn = [...tables.slice(seed % tables.length), ...tables.slice(0, seed % tables.length)]
  for (const { name, columns } of isLong ? inTurn : inTurn.slice(0, 2)) {
    const [column, { merge }] = Object.entries(columns)[0]!
    const change = merge.startsWith('sum')
      ? `${column} + 1`
      : `tuple(${column}.1, ${column}.2 + 1, ${column}.3, ${column}.4)`
    const [row] = await ch.query<{ hour: number; isDay: number }>(
      `SELECT hour, is_day AS isDay FROM ${name} WHERE workspace_id = {workspaceId:UInt32}
       ORDER BY cityHash64(is_day, hour) LIMIT 1`,
      { workspaceId },
    )
    if (row === undefined) return expect.fail(`no row of ${name}`)
    await ch.command(
      `ALTER TABLE ${name} UPDATE ${column} = ${change}
       WHERE workspace_id = {workspaceId:UInt32} AND hour = {hour:UInt32} AND is_day = {isDay:UInt8}`,
      { workspaceId, ...row },
      // All parts of the table are gone through, behind merges.
      { deadlineMs: 120_000, settings: { mutations_sync: 1 } },
    )
    expect(await differences()).toContainEqual({ table: name, workspaceId, hour: row.hour, isDay: row.isDay === 1 })
  }
})
