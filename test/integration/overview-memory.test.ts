/** What an API process remembers of aggregates: where merging them has left out what doesn't count any more, and when it is read ahead. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rememberLasting } from '../../clickhouse/queries/remember.ts'
import type { QueryOptions } from '../../clickhouse/query-options.ts'
import { mergeGenerations } from '../../pipeline/aggregate/merge.ts'
import { type AggregationState, readAggregationState } from '../../postgres/tables/aggregates.ts'
import type { AggregateSnapshot } from '../../schemas/aggregate-snapshot.ts'
import { backgroundNiceness, segmentRowsMax } from '../../schemas/limits.ts'
import { aggregateSegment, workOn } from '../support/aggregates.ts'
import { makeTestWorkspace, type TestWorkspace } from '../support/overview.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const hour = 3_600_000
const midnight = Math.floor(Date.now() / (24 * hour)) * 24 * hour - 24 * hour
const at = (hours: number) => midnight + hours * hour
/** The first one of a workspace, mostly. */
const event = { visitor: 1, session: 1, occurred_at: at(10.5), source: 'google' }

/** Puts those of some generations that are listed into one. */
async function merge(isMerged: (one: AggregationState['generations'][number]) => boolean): Promise<void> {
  const state = await readAggregationState(stores.pg, 0)
  const from = state.generations.filter(isMerged)
  expect(from).toHaveLength(2)
  expect(await mergeGenerations(workOn(stores), state, { day: from[0]!.day, from, level: 1, isWhole: false })).toBe(
    true,
  )
}

let segment = 0
/** Stores an event as a segment of its own, and aggregates it. */
async function take(
  { addEvents }: TestWorkspace,
  event: { visitor: number; session: number; occurred_at: number; source: string; path?: string },
): Promise<void> {
  await addEvents([{ id: segment * segmentRowsMax + 1, path: '/', ...event }])
  await aggregateSegment(stores, segment++)
}

test('an hour that was computed anew is not added to what was known of it before', async () => {
  const remembering = await makeTestWorkspace(
    { ...stores, ch: rememberLasting(stores.ch) },
    { now: new Date(at(12)).toISOString() },
  )
  await take(remembering, { visitor: 1, session: 1, occurred_at: at(10.5), source: 'google' })
  await take(remembering, { visitor: 2, session: 2, occurred_at: at(8.5), source: 'google' })
  const before = await remembering.ask({ hours: '24' })
  expect(before.top_sources).toMatchObject([{ source: 'google', sessions: 2 }])

  // Its first event, and so its source, is another: the hour is computed anew.
  await take(remembering, { visitor: 1, session: 1, occurred_at: at(10.1), source: 'newsletter' })
  const { generations, resets } = await readAggregationState(stores.pg, 0)
  expect(resets).toHaveLength(1)
  const [, second] = generations
  await merge(({ generation }) => generation <= second!.generation)
  await merge(({ level }) => level === 0)
  expect((await readAggregationState(stores.pg, 0)).resets).toEqual([])

  const after = await remembering.ask({ hours: '24' })
  expect(after.metrics).toMatchObject({ events: 3, pageviews: 3, visitors: 2, sessions: 2 })
  expect(after.top_sources).toMatchObject([
    { source: 'google', sessions: 1 },
    { source: 'newsletter', sessions: 1 },
  ])
})

interface Warmed {
  readonly workspace: TestWorkspace
  /** Reads ahead what it was asked last, of the newest snapshot if none is given. */
  readonly warm: (snapshot?: AggregateSnapshot) => Promise<void>
}

interface Watched extends Warmed {
  readonly asked: string[]
  /** Those of them whose answers are remembered. */
  readonly lasting: string[]
  /** Of statements: how many at a time at most, how nice each was, and how many are answered before others fail. */
  readonly statements: { underWay: number; most: number; niceness: unknown[]; answered: number }
  /** Another workspace, asked through the same memory. */
  readonly beside: () => Promise<Warmed>
  /** The snapshot that it is answered by; undefined: the newest. */
  readonly held: { snapshot?: AggregateSnapshot }
}

/** A workspace whose questions are counted, and what it is asked again and again. */
async function watched(): Promise<Watched> {
  const asked: string[] = []
  const lasting: string[] = []
  const statements: Watched['statements'] = { underWay: 0, most: 0, niceness: [], answered: Number.POSITIVE_INFINITY }
  const counting = {
    ...stores.ch,
    query: async <Row>(sql: string, params?: Record<string, unknown>, options?: QueryOptions<Row>) => {
      asked.push(sql)
      if (options?.isLasting === true) lasting.push(sql)
      statements.niceness.push(options?.settings?.['os_thread_priority'])
      statements.most = Math.max(statements.most, ++statements.underWay)
      try {
        if (statements.answered-- <= 0) throw new Error('away')
        return await stores.ch.query<Row>(sql, params, options)
      } finally {
        statements.underWay--
      }
    },
  }
  const held: Watched['held'] = {}
  const snapshot = async () => held.snapshot ?? stores.snapshot()
  const ch = rememberLasting(counting)
  const beside = async (): Promise<Warmed> => {
    const warms: Parameters<TestStores['readAhead']>[1][] = []
    const readAhead: TestStores['readAhead'] = (_, warm) => warms.push(warm)
    const workspace = await makeTestWorkspace(
      { ...stores, ch, readAhead, snapshot },
      { now: new Date(at(12)).toISOString() },
    )
    return { workspace, warm: async (snapshot) => warms.at(-1)!(snapshot ?? (await stores.snapshot())) }
  }
  return { ...(await beside()), asked, lasting, statements, held, beside }
}

const isOfAggregates = (sql: string) => sql.includes('FROM agg_')

test('what was read ahead is asked for no more, whatever waits to be aggregated', async () => {
  const { workspace, asked, lasting, warm } = await watched()
  await take(workspace, event)
  await take(workspace, { ...event, visitor: 2, session: 2, occurred_at: at(11.2) })
  const question = { hours: '24', limit: '3' }
  await workspace.ask(question)
  await take(workspace, { ...event, visitor: 3, session: 3, occurred_at: at(11.4) })

  asked.length = 0
  lasting.length = 0
  await warm()
  expect(asked.filter(isOfAggregates).length).toBeGreaterThan(3)
  expect(asked).toEqual(lasting)

  asked.length = 0
  await workspace.addEvents([{ ...event, id: segment * segmentRowsMax + 1, visitor: 4, session: 4, path: '/' }])
  const { metrics, top_pages } = await workspace.ask(question)
  expect(metrics).toMatchObject({ visitors: 4, sessions: 4, events: 4 })
  expect(top_pages).toMatchObject([{ path: '/', visitors: 4 }])
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter(isOfAggregates)).toEqual([])
})

test('nor is it while newer aggregates are read ahead, and the answer has what came since all the same', async () => {
  const { workspace, asked, warm, held } = await watched()
  await take(workspace, event)
  const question = { hours: '24', limit: '3' }
  await workspace.ask(question)
  held.snapshot = await stores.snapshot()
  await take(workspace, { ...event, visitor: 2, session: 2, occurred_at: at(11.2) })
  await warm()

  for (const snapshot of [held.snapshot, await stores.snapshot()]) {
    asked.length = 0
    Object.assign(held, { snapshot })
    expect((await workspace.ask(question)).metrics).toMatchObject({ visitors: 2, sessions: 2, events: 2 })
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(isOfAggregates)).toEqual([])
  }
})

test('it is read ahead by one statement at a time, nicer than those of answers, and by none after one that fails', async () => {
  const { workspace, asked, statements, warm } = await watched()
  await take(workspace, event)
  await workspace.ask({ hours: '24', limit: '3' })
  expect(statements.most).toBeGreaterThan(1)
  expect(new Set(statements.niceness)).toEqual(new Set([undefined]))

  await take(workspace, { ...event, visitor: 2, session: 2, occurred_at: at(11.2) })
  Object.assign(statements, { most: 0, niceness: [], answered: 4 })
  asked.length = 0
  await expect(warm()).rejects.toThrow('away')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(asked).toHaveLength(5)
  statements.answered = Number.POSITIVE_INFINITY
  await warm()
  expect(asked.length).toBeGreaterThan(3)
  expect(statements.most).toBe(1)
  expect(new Set(statements.niceness)).toEqual(new Set([backgroundNiceness]))
})

test('what is read ahead of several workspaces at once is asked for once, and each has its own', async () => {
  const { asked, beside, ...one } = await watched()
  const other = await beside()
  const question = { hours: '24', limit: '3' }
  await take(one.workspace, event)
  await take(other.workspace, { ...event, path: '/other' })
  for (const { workspace } of [one, other]) await workspace.ask(question)

  /** How many statements it takes. */
  const warmAnew = async (warm: (snapshot: AggregateSnapshot) => Promise<unknown>, visitor: number) => {
    await take(one.workspace, { ...event, visitor, session: visitor, occurred_at: at(11.2) })
    await take(other.workspace, { ...event, visitor, session: visitor, occurred_at: at(11.4), path: '/more' })
    const snapshot = await stores.snapshot()
    asked.length = 0
    await warm(snapshot)
    return asked.length
  }
  const apart = await warmAnew(async (snapshot) => {
    await one.warm(snapshot)
    await other.warm(snapshot)
  }, 2)
  const together = await warmAnew((snapshot) => Promise.all([one.warm(snapshot), other.warm(snapshot)]), 3)
  expect(together).toBeLessThan(0.75 * apart)

  asked.length = 0
  const answers = await Promise.all([one, other].map(({ workspace }) => workspace.ask(question)))
  expect(asked.filter(isOfAggregates)).toEqual([])
  for (const { metrics } of answers) expect(metrics).toMatchObject({ visitors: 3, sessions: 3, events: 3 })
  expect(answers.map(({ top_pages }) => top_pages)).toMatchObject([
    [{ path: '/', pageviews: 3, visitors: 3 }],
    [
      { path: '/more', pageviews: 2, visitors: 2 },
      { path: '/other', pageviews: 1, visitors: 1 },
    ],
  ])
})

test('nor are pages that were just behind the busiest, and that what waits puts among them', async () => {
  const { workspace, asked, warm } = await watched()
  for (const path of ['/a', '/b', '/a', '/b', '/c']) await take(workspace, { ...event, path })
  const question = { hours: '24', limit: '1' }
  expect((await workspace.ask(question)).top_pages).toMatchObject([{ path: '/a', pageviews: 2 }])
  await warm()

  asked.length = 0
  await workspace.addEvents([{ ...event, id: segment * segmentRowsMax + 1, visitor: 2, session: 2, path: '/b' }])
  expect((await workspace.ask(question)).top_pages).toMatchObject([{ path: '/b', pageviews: 3, visitors: 2 }])
  expect(asked.filter(isOfAggregates)).toEqual([])
})

test('nor are pages that rise so fast that they are among the busiest when it is asked next', async () => {
  const { workspace, asked, warm } = await watched()
  for (const path of ['/a', '/a', '/a', '/a', '/a', '/b']) await take(workspace, { ...event, path })
  const question = { hours: '24', limit: '1' }
  const arrive = (first: number, count: number) =>
    workspace.addEvents(
      Array.from({ length: count }, (_, at) => ({
        ...{ ...event, visitor: 2, session: 2, path: '/b' },
        id: segment * segmentRowsMax + first + at,
      })),
    )
  await arrive(1, 2)
  expect((await workspace.ask(question)).top_pages).toMatchObject([{ path: '/a', pageviews: 5 }])
  await warm()

  asked.length = 0
  await arrive(3, 3)
  expect((await workspace.ask(question)).top_pages).toMatchObject([{ path: '/b', pageviews: 6, visitors: 2 }])
  expect(asked.filter(isOfAggregates)).toEqual([])
})

test('nor is anything when an hour has turned, however much was read in it', async () => {
  const { workspace, lasting, warm } = await watched()
  await take(workspace, { ...event, session: 3, occurred_at: at(-10.5) })
  await take(workspace, event)
  const question = { hours: '30', limit: '3' }
  await workspace.ask(question, at(11.9))
  await take(workspace, { ...event, visitor: 2, session: 2, occurred_at: at(11.95) })
  const unread = async (moment: number) => {
    lasting.length = 0
    const { metrics } = await workspace.ask(question, moment)
    expect(metrics).toMatchObject({ visitors: 2, sessions: 3, events: 3 })
    return [...lasting]
  }
  await workspace.ask(question, at(11.99))
  await warm()
  expect(await unread(at(11.999))).toEqual([])
  expect(await unread(at(12.001))).toEqual([])
  expect(await unread(at(12.5))).toEqual([])
})
