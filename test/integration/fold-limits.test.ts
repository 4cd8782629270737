/** At the limits of schemas/limits/figure-limits.ts figures are cut as they say, and nobody else's change. */
import { expect, test } from 'vitest'
import { buildNextPart } from '../../pipeline/fold/build.ts'
import { countDifferentDays } from '../../pipeline/fold/check.ts'
import { fold } from '../../pipeline/fold/fold.ts'
import { storedEventsLimits } from '../../pipeline/fold/stored-events.ts'
import { beginBuild, readBuilds, readCurrentBuild } from '../../postgres/tables/figures/figure-builds.ts'
import {
  cellKeysMax,
  conversionsPerSessionDayMax,
  sessionListsPerVisitorDay,
  sessionsPerVisitorDayMax,
  viewsPerSessionDayMax,
} from '../../schemas/limits/figure-limits.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { judgeFigures } from '../support/figures.ts'
import { closeDaysAt, shipWhatIsThere, workOn } from '../support/fold.ts'
import { makeTestWorkspace, type TestWorkspace } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

const day = Date.parse('2026-11-18T00:00:00Z')
const now = Date.parse('2026-11-20T14:25:00Z')
const [second, hour] = [1_000, 3_600_000]

/** Two workspaces, and what the second one shows, which has events of its own. */
async function makeTwo(): Promise<{ busy: TestWorkspace; expectOtherUnchanged: () => Promise<void> }> {
  const [busy, other] = [await makeTestWorkspace(stores, {}), await makeTestWorkspace(stores, {})]
  // The same visitor on the same day.
  await other.addEvents(
    [1, 2, 3].map((session) => ({ session, path: `/${session}`, occurred_at: day + session * hour })),
  )
  const shown = async () => {
    const { metrics, ...lists } = await other.ask({ days: '7' })
    return { ...lists, metrics: { ...metrics, as_of: '' } }
  }
  const before = await shown()
  expect(before.metrics).toMatchObject({ visitors: 1, sessions: 3, lists_cut: false })
  return { busy, expectOtherUnchanged: async () => expect(await shown()).toEqual(before) }
}

test(`of a visitor and day the first ${sessionsPerVisitorDayMax} sessions that come count, whatever is told of later`, async () => {
  const { busy, expectOtherUnchanged } = await makeTwo()
  const sessions = (from: number, to: number): EventLike[] =>
    Array.from({ length: to - from }, (_, nth) => ({
      session: 1 + from + nth,
      path: from + nth < sessionsPerVisitorDayMax ? '/in' : '/beyond',
      occurred_at: day + hour + (from + nth) * second,
    }))
  await busy.addEvents(sessions(0, 900))
  await busy.addEvents(sessions(900, sessionsPerVisitorDayMax + 300))
  await busy.addEvents([{ visitor: 2, path: '/in', occurred_at: day + 3 * hour }])
  const counted = sessionsPerVisitorDayMax + 1
  const expected = { visitors: 2, sessions: counted, pageviews: counted, lists_cut: false }
  const expectCounted = async (at: string) => {
    const { metrics, top_pages } = await busy.ask({ days: '7' })
    expect(metrics, at).toMatchObject(expected)
    expect(top_pages.map(({ path }) => path)).toEqual(['/in'])
  }
  await expectCounted('open')
  await closeDaysAt(stores, now)
  await expectCounted('closed')
  await expectOtherUnchanged()
  expect(await judgeFigures(stores)).toMatchObject({ differentDays: 0 })
  // One takes the place of none that counted, though it is earlier.
  await busy.addEvents([{ session: sessionsPerVisitorDayMax + 1_000, path: '/late', occurred_at: day + second }])
  await expectCounted('late')
})

test('a visitor is counted whose first session of a full day began on the day before', async () => {
  const { busy } = await makeTwo()
  const midnight = day + 24 * hour
  const some = (from: number, to: number): EventLike[] =>
    Array.from({ length: to - from }, (_, nth) => ({
      session: from + nth,
      occurred_at: midnight + (from + nth) * second,
    }))
  await busy.addEvents([{ session: 1, occurred_at: midnight - second }])
  await busy.addEvents(some(1, sessionsPerVisitorDayMax + 1))
  await busy.addEvents(some(sessionsPerVisitorDayMax + 1, sessionsPerVisitorDayMax + 501))
  const pageviews = async () => (await busy.ask({ days: '7' })).metrics.pageviews
  const before = await pageviews()
  await insertEventRows(stores.ch, [makeEventRow({ session: 1, occurred_at: midnight + hour, workspace_id: busy.id })])
  await shipWhatIsThere(stores)
  await fold(workOn(stores), undefined, { perVisitor: 1_200, perServerHour: 9, perStatement: 9 })
  expect(await pageviews()).toBe(before)
  // The next fold of that hour, by the usual limit, has all of it.
  await busy.addEvents([{ session: 1, occurred_at: midnight + hour + second }])
  expect(await pageviews()).toBeGreaterThan(before)
})

test(`of a session and day the first ${viewsPerSessionDayMax} pageviews count for pages, and all of them for the rest`, async () => {
  const { busy, expectOtherUnchanged } = await makeTwo()
  const views = viewsPerSessionDayMax + 200
  await busy.addEvents(
    Array.from({ length: views }, (_, nth) => ({ path: '/again', occurred_at: day + hour + nth * second })),
  )
  const { metrics, top_pages } = await busy.ask({ days: '7' })
  expect(metrics).toMatchObject({ visitors: 1, sessions: 1, pageviews: views })
  expect(top_pages).toMatchObject([{ path: '/again', pageviews: viewsPerSessionDayMax, visitors: 1 }])
  await expectOtherUnchanged()
})

test(`of a visitor and day the pages of the first sessions count, as many as ${sessionListsPerVisitorDay} sessions may have`, async () => {
  const { busy, expectOtherUnchanged } = await makeTwo()
  const sessions = sessionListsPerVisitorDay + 1
  const viewsOf = (session: number, views: number): EventLike[] =>
    Array.from({ length: views }, (_, nth) => ({
      session,
      path: `/${session}`,
      occurred_at: day + session * hour + nth * second,
    }))
  for (let session = 1; session <= sessions; session++) await busy.addEvents(viewsOf(session, viewsPerSessionDayMax))
  await busy.addEvents([{ kind: 'conversion', session: sessions, occurred_at: day + sessions * hour + second }])
  const { metrics, top_pages } = await busy.ask({ days: '7' })
  expect(metrics).toMatchObject({ visitors: 1, sessions, pageviews: sessions * viewsPerSessionDayMax, conversions: 1 })
  expect(top_pages.map(({ path, pageviews }) => [path, pageviews])).toEqual(
    Array.from({ length: sessionListsPerVisitorDay }, (_, nth) => [`/${nth + 1}`, viewsPerSessionDayMax]),
  )
  await expectOtherUnchanged()
})

test(`of a day’s pages the ${cellKeysMax} largest are kept once it is over, the answer says so, and filters find the others`, async () => {
  const { busy, expectOtherUnchanged } = await makeTwo()
  const at = (nth: number) => ({ visitor: 1 + (nth % 500), session: 1 + nth, occurred_at: day + hour + nth * second })
  // Each page once, and twenty of them as often again as their number says.
  const pageOf = (nth: number) => ({ ...at(nth), path: `/${nth}`, title: `Page ${nth}` })
  const once = Array.from({ length: cellKeysMax + 50 }, (_, nth) => pageOf(nth))
  const again = Array.from({ length: 20 }, (_, page) =>
    Array.from({ length: 1 + page }, (_, nth) => ({ ...at(10 * page + nth), path: `/${cellKeysMax - page}` })),
  ).flat()
  await busy.addEvents([...once, ...again])
  const asked = async () => {
    const { metrics, top_pages } = await busy.ask({ days: '7', limit: '20' })
    const { lists_cut, as_of: _, ...counters } = metrics
    return { lists_cut, counters, top_pages }
  }
  const open = await asked()
  expect(open).toMatchObject({ lists_cut: false, counters: { pageviews: once.length + again.length, visitors: 500 } })
  expect(open.top_pages.map(({ path, pageviews }) => [path, pageviews])).toEqual(
    Array.from({ length: 20 }, (_, nth) => [`/${cellKeysMax - 19 + nth}`, 21 - nth]),
  )
  await closeDaysAt(stores, now)
  expect(await asked()).toEqual({ ...open, lists_cut: true })
  // A filter finds a page that the cells of its day have left out, with its title.
  const [path, title] = [`/${once.length - 1}`, `Page ${once.length - 1}`]
  const { top_pages } = await busy.ask({ days: '7', path: [path] })
  expect(top_pages).toMatchObject([{ path, title, pageviews: 1 }])
  await expectOtherUnchanged()
})

test(`of a session and day the first ${conversionsPerSessionDayMax} conversions that come are credited, and all of them count`, async () => {
  const { busy, expectOtherUnchanged } = await makeTwo()
  const all = conversionsPerSessionDayMax + 2
  const conversion = (nth: number, source = 'news') => ({ kind: 'conversion' as const, source, occurred_at: day + nth })
  await busy.addEvents(Array.from({ length: all }, (_, nth) => conversion(hour + nth)))
  // It is earlier, and takes no other's place.
  await busy.addEvents([conversion(second, 'mail')])
  // Those of servers have room for more.
  const ofServers = { visitor: 0, email_hash: 1, device: 'other' } as const
  await busy.addEvents(Array.from({ length: all }, (_, nth) => ({ ...conversion(hour + nth, 'shop'), ...ofServers })))
  const expectCounted = async () => {
    const { metrics, top_sources } = await busy.ask({ days: '7' })
    expect(metrics).toMatchObject({ conversions: 2 * all + 1, events: 2 * all + 1, visitors: 1 })
    expect(top_sources.map(({ source, conversions }) => [source, conversions])).toEqual([
      ['mail', 0],
      ['shop', all],
      ['news', conversionsPerSessionDayMax],
    ])
  }
  await expectCounted()
  await closeDaysAt(stores, now)
  await expectCounted()
  await expectOtherUnchanged()
  expect(await judgeFigures(stores)).toMatchObject({ differentDays: 0 })
})

test('hours count each conversion at its own time, however many a session has', async () => {
  const { busy } = await makeTwo()
  const today = Date.parse('2026-11-20T00:00:00Z')
  const conversions = Array.from({ length: 150 }, (_, nth) => ({
    kind: 'conversion' as const,
    occurred_at: today + (nth < 75 ? 9 : 11) * hour + nth * second,
  }))
  await busy.addEvents(conversions)
  for (const filter of [{}, { device: ['desktop'] }]) {
    const { traffic_series, metrics } = await busy.ask({ hours: '24', ...filter })
    expect(metrics.conversions).toBe(150)
    expect(traffic_series.map(({ conversions }) => conversions).filter((count) => count > 0)).toEqual([75, 75])
  }
})

test('a visitor and a server hour with too many events keep their figures, and those of others follow', async () => {
  const { busy, expectOtherUnchanged } = await makeTwo()
  const pageviews = async () => (await busy.ask({ days: '7' })).metrics.pageviews
  const view = (visitor: number, minute: number): EventLike => ({ visitor, occurred_at: day + minute * 60 * second })
  await busy.addEvents([1, 2, 3].flatMap((minute) => [view(1, minute), view(0, minute)]))
  await busy.addEvents([view(2, 1)])
  expect(await pageviews()).toBe(7)
  const more = [view(0, 4), view(1, 4), view(2, 4), view(3, 4), view(0, 70)]
  await insertEventRows(
    stores.ch,
    more.map((event) => makeEventRow({ ...event, workspace_id: busy.id })),
  )
  await shipWhatIsThere(stores)
  expect((await fold(workOn(stores), undefined, { perVisitor: 2, perServerHour: 2, perStatement: 2 })).isAllTaken).toBe(
    true,
  )
  // Those of visitors 2 and 3, and of the servers' next hour.
  expect(await pageviews()).toBe(10)
  await expectOtherUnchanged()
  await busy.addEvents([view(0, 5), view(1, 5)])
  expect(await pageviews()).toBe(14)
  expect(await judgeFigures(stores)).toMatchObject({ differentDays: 0 })
})

test('a check of the figures leaves out visitors with too many events', async () => {
  const busy = await makeTestWorkspace(stores, {})
  const view = (visitor: number, minute: number): EventLike => ({ visitor, occurred_at: day + minute * 60 * second })
  await busy.addEvents([view(1, 1), view(1, 2), view(1, 3)])
  await insertEventRows(
    stores.ch,
    [view(1, 4), view(2, 4)].map((event) => makeEventRow({ ...event, workspace_id: busy.id })),
  )
  await shipWhatIsThere(stores)
  await fold(workOn(stores), undefined, { ...storedEventsLimits, perVisitor: 2 })
  const check = (await beginBuild(stores.pg, busy.id, 'check'))!
  const read = async () => (await readBuilds(stores.pg, [check]))[0]!
  while ((await read()).state === 'building') await buildNextPart(workOn(stores), now)
  const [built, current] = [await read(), (await readCurrentBuild(stores.pg, busy.id))!]
  const differs = (eventsMax?: number) => countDifferentDays(stores.ch, current, built, 0, eventsMax)
  expect([await differs(), await differs(3)]).toEqual([1, 0])
})
