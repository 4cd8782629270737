/** The lease to fold is taken over while its holder is held up, between any two of its calls: no figure is lost or wrong. */
import { expect, test } from 'vitest'
import { buildNextPart } from '../../pipeline/fold/build.ts'
import { fold } from '../../pipeline/fold/fold.ts'
import { closeDays, renewCells } from '../../pipeline/fold/write-cells.ts'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { beginBuild, readCurrentBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { addPeopleWork } from '../../postgres/tables/people/people-work.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { closeDaysAt, foldAll, shipWhatIsThere, workOn } from '../support/fold.ts'
import { makeTestWorkspace, type TestWorkspace } from '../support/overview.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores, type TestStores } from '../support/stores.ts'

const now = Date.parse('2026-11-20T14:25:00Z')
const day = 86_400_000
/** In short every third call is held up. */
const callsApart = isLong ? 1 : 3

const stores = setUpStores({ hasYearlyParts: true })

/** Stores in which `meanwhile` happens before one of the calls: the one that it is told of by its number and its text. */
function heldUpAt(isHere: (nth: number, sql: string) => boolean, meanwhile: () => Promise<unknown>) {
  let calls = 0
  const pass = async (sql: string) => {
    if (isHere(calls++, sql)) await meanwhile()
  }
  const { pg, ch } = stores
  return {
    ...stores,
    pg: {
      ...pg,
      query: async (sql: string, ...more: never[]) => pass(sql).then(() => pg.query(sql, ...more)),
      transaction: async (work: never) => pass('BEGIN').then(() => pg.transaction(work)),
    } as TestStores['pg'],
    ch: {
      ...ch,
      query: async (sql: string, ...more: never[]) => pass(sql).then(() => ch.query(sql, ...more)),
      command: async (sql: string, ...more: never[]) => pass(sql).then(() => ch.command(sql, ...more)),
      insertRows: async (insert: never) => pass('INSERT').then(() => ch.insertRows(insert)),
    } as TestStores['ch'],
    calls: () => calls,
  }
}

/** Where nothing is said, on a day that has cells and on one that has none. */
async function addUnfolded({ id }: TestWorkspace, visitor: number, times = [now - 2 * day, now - 60_000]) {
  const rows = times.map((occurred_at) => makeEventRow({ workspace_id: id, visitor, occurred_at, source: 'news' }))
  await insertEventRows(stores.ch, rows)
  await shipWhatIsThere(stores)
}

async function makeClosed(): Promise<TestWorkspace> {
  const workspace = await makeTestWorkspace(stores, {})
  await workspace.addEvents([{ visitor: 1, occurred_at: now - 2 * day, source: 'news' }])
  await closeDaysAt(stores, now)
  return workspace
}

test('a fold and a closing of days that are held up before each of their calls, while another folds', async () => {
  const workspace = await makeClosed()
  let visitor = 1
  let heldUp = 0
  for (let nth = 0, isOver = false; !isOver; nth += callsApart) {
    await addUnfolded(workspace, ++visitor)
    const work = heldUpAt(
      (call) => call === nth,
      async () => {
        heldUp++
        await addUnfolded(workspace, ++visitor)
        await foldAll(stores)
        await closeDaysAt(stores, now)
        // More of the visitor whose rows the other fold has just written.
        await addUnfolded(workspace, visitor, [now - 60_000])
      },
    )
    await fold(workOn(work))
      .then(() => closeDays(workOn(work), now))
      .then(() => renewCells(workOn(work)))
      .catch(() => {})
    isOver = work.calls() <= nth
    await foldAll(stores)
    await closeDaysAt(stores, now)
    const { visitors, pageviews } = (await workspace.ask({ days: '7', include: 'metrics' })).metrics
    expect({ nth, visitors, pageviews }).toEqual({ nth, visitors: visitor, pageviews: 2 * visitor - 1 + heldUp })
  }
  expect(heldUp).toBeGreaterThan(10 / callsApart)
  expect(await judgeFigures(stores)).toEqual(exactFigures)
})

test('an overview is of one moment while the cells of a closed day are written anew, wherever the fold is met', async () => {
  const workspace = await makeClosed()
  let visitor = 1
  const { length } = await callsOfAFold(workspace, ++visitor)
  for (let nth = 0; nth < length; nth += callsApart) {
    await addUnfolded(workspace, ++visitor)
    let isMet = false
    // The fold stops there: what it has written by then is there when the question goes on.
    const foldUpTo = async () => {
      isMet = true
      const work = heldUpAt(
        (call) => call === nth,
        () => Promise.reject(new Error('stopped here')),
      )
      await fold(workOn(work)).catch(() => {})
    }
    const asking = heldUpAt((_, sql) => !isMet && /FROM (sessions|cells)/.test(sql), foldUpTo)
    const { metrics, top_sources, top_pages } = await workspace.ask({ days: '7' }, now, asking)
    expect(isMet).toBe(true)
    // All but the first have a session on each of two days, all of one source and page.
    const { visitors } = metrics
    const expected = { visitors, sessions: 2 * visitors - 1, pageviews: 2 * visitors - 1 }
    expect([nth, top_sources.length, top_pages.length]).toEqual([nth, 1, 1])
    for (const part of [metrics, ...top_sources, ...top_pages])
      expect({ nth, ...part }).toMatchObject({ nth, ...expected })
    await foldAll(stores)
  }
})

async function callsOfAFold(workspace: TestWorkspace, visitor: number): Promise<{ length: number }> {
  await addUnfolded(workspace, visitor)
  const work = heldUpAt(
    () => false,
    async () => {},
  )
  await fold(workOn(work))
  return { length: work.calls() }
}

/** Does the next step of a build, held up before its first call of that text while another folds and builds. */
async function buildHeldUpAt(text: string, meanwhile: () => Promise<unknown>): Promise<void> {
  let isHeldUp = false
  const work = heldUpAt(
    (_, sql) => !isHeldUp && sql === text,
    () => {
      isHeldUp = true
      return meanwhile()
    },
  )
  await buildNextPart(workOn(work), now)
  expect(isHeldUp).toBe(true)
}

async function buildAll(): Promise<void> {
  while (await buildNextPart(workOn(stores), now));
}

test('a part of a build that is held up while another folds is done again', async () => {
  const workspace = await makeClosed()
  await beginBuild(stores.pg, workspace.id, 'figures')
  await buildHeldUpAt('INSERT', async () => {
    // The other fold knows nothing of the visitor's earlier day: no part of the build has written it.
    await addUnfolded(workspace, 1, [now - 60_000])
    await foldAll(stores)
  })
  await buildAll()
  const { visitors, pageviews } = (await workspace.ask({ days: '7', include: 'metrics' })).metrics
  expect({ visitors, pageviews }).toEqual({ visitors: 1, pageviews: 2 })
  expect(await judgeFigures(stores)).toEqual(exactFigures)
})

test('the end of a build that is held up changes nothing once others have ended it and a later one', async () => {
  const workspace = await makeClosed()
  await beginBuild(stores.pg, workspace.id, 'figures')
  await buildNextPart(workOn(stores), now)
  let later: number | undefined
  await buildHeldUpAt('BEGIN', async () => {
    await buildAll()
    later = await beginBuild(stores.pg, workspace.id, 'figures')
    await buildAll()
    await addUnfolded(workspace, 1)
    await foldAll(stores)
  })
  expect((await readCurrentBuild(stores.pg, workspace.id))?.build).toBe(later)
  expect(await judgeFigures(stores)).toEqual(exactFigures)
})

test('a refresh of people that is held up while another does its work writes nothing', async () => {
  const workspace = await makeClosed()
  await refreshPeople(workOn(stores), now)
  await addPeopleWork(stores.pg, [{ workspaceId: workspace.id, visitor: '1' }])
  const work = heldUpAt(
    (_, sql) => sql === 'BEGIN',
    () => refreshPeople(workOn(stores), now),
  )
  await expect(refreshPeople(workOn(work), now)).rejects.toThrow('another process has brought people up to date')
})
