/** All workspaces at a glance: the figures of each one's own overview, and nothing of workspaces that somebody may not read. */
import { expect, test } from 'vitest'
import { removeMember } from '../../postgres/tables/members/members.ts'
import { setPlan } from '../../postgres/tables/workspaces/workspaces.ts'
import { StoreLate } from '../../runtime/store-error.ts'
import { glanceWorkspacesMax } from '../../schemas/limits/overview-limits.ts'
import type { OverviewCounters, OverviewMetrics } from '../../schemas/resources/overview.ts'
import type { WorkspaceGlance } from '../../schemas/resources/workspace-glance.ts'
import { makeWorkspace, setUpApi, startApi, type TestWorkspace } from '../support/api.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { closeDaysAt, foldWhatIsThere } from '../support/fold.ts'
import { setUpMembers } from '../support/members.ts'
import type { Overview } from '../support/overview.ts'

const now = Date.parse('2026-11-20T14:25:00Z')
const hour = 3_600_000
const { stores, api, mine } = setUpApi({ hasYearlyParts: true, clock: { now: () => now } })
const { askAs, cookieOf, signInOwner, invite, join, makeMember } = setUpMembers({ stores, api, now: () => now })
type Ask = ReturnType<typeof askAs>

const glanceOf = async (ask: Ask) => {
  const { status, body } = await ask<WorkspaceGlance[]>('GET', '/workspaces/glance')
  expect(status).toBe(200)
  return body
}
const addMine = (...workspaces: readonly Pick<TestWorkspace, 'workspaceId'>[]) =>
  stores.pg.query(`INSERT INTO members (workspace_id, owner_id, role) SELECT unnest($1::int[]), $2, 'viewer'`, [
    workspaces.map(({ workspaceId }) => workspaceId),
    mine.ownerId,
  ])

/** A page view every so many hours of the last 17 days. Each visitor comes back some days later. */
async function addVisits({ workspaceId }: TestWorkspace, everyHours: number): Promise<void> {
  const rows = Array.from({ length: Math.floor((17 * 24) / everyHours) }, (_, at) => {
    const visitor = 1 + (at % 37)
    const occurred_at = now - 1_000 - at * everyHours * hour
    return makeEventRow({ workspace_id: workspaceId, visitor, session: 100 + at, path: `/${at % 5}`, occurred_at })
  })
  await insertEventRows(stores.ch, rows)
}

async function ofOverview({ apiKey }: TestWorkspace) {
  const answer = await api.ask('/v1/analytics/overview?days=7&include=metrics,traffic_series', { key: apiKey })
  const { metrics, traffic_series } = (await answer.json()) as Overview & { metrics: OverviewMetrics }
  const countsOf = ({ visitors, pageviews }: OverviewCounters) => ({ visitors, pageviews })
  return {
    live_visitors: metrics.live_visitors,
    ...countsOf(metrics),
    previous: countsOf(metrics.previous!),
    days: traffic_series.map(({ label, visitors }) => ({ day: label, visitors })),
  }
}

test('figures are those of each own overview, in its timezone and build, the most visited first', async () => {
  const zones = ['Pacific/Auckland', 'America/St_Johns', 'Asia/Tokyo']
  const [few, most, empty] = (await Promise.all(zones.map((timezone) => makeWorkspace(stores, { timezone })))) as [
    TestWorkspace,
    TestWorkspace,
    TestWorkspace,
  ]
  await addMine(few, most, empty)
  await addVisits(few, 7)
  await addVisits(most, 2)
  await insertEventRows(stores.ch, [
    makeEventRow({ workspace_id: empty.workspaceId, occurred_at: now - 30 * 24 * hour }),
  ])
  await foldWhatIsThere(stores)
  await closeDaysAt(stores, now)
  // The day that the last period ends inside of is counted from sessions.
  await insertEventRows(stores.ch, [
    makeEventRow({ workspace_id: few.workspaceId, visitor: 90, occurred_at: now - 7 * 24 * hour - 60_000 }),
    makeEventRow({ workspace_id: few.workspaceId, visitor: 91, occurred_at: now - 7 * 24 * hour + 60_000 }),
  ])
  await foldWhatIsThere(stores)
  // Its figures stay in the zone of its build for now.
  await stores.pg.query(`UPDATE workspaces SET timezone = 'America/Los_Angeles' WHERE id = $1`, [most.workspaceId])

  const glance = await glanceOf(await signInOwner(mine))
  expect(glance.map(({ id, is_current, without }) => [id, is_current, without])).toEqual([
    ...[most, few, empty].map(({ workspaceId }) => [workspaceId, false, null]),
    [mine.workspaceId, true, 'no_event'],
  ])
  const figures = glance.slice(0, 3).map((one) => one.figures)
  expect(figures).toEqual([await ofOverview(most), await ofOverview(few), await ofOverview(empty)])
  const [ofMost, ofFew, ofEmpty] = figures
  expect([ofMost!.live_visitors, ofMost!.visitors, ofFew!.days.at(-1)?.day]).toEqual([1, 37, '2026-11-21'])
  expect([ofEmpty!.visitors, ofEmpty!.previous, ofEmpty!.days.length]).toEqual([0, { visitors: 0, pageviews: 0 }, 7])
  expect(ofFew!.previous!.visitors).toBeGreaterThan(20)
})

test('nobody sees a workspace without being a member of it, nor after the removal, in a session that goes on', async () => {
  const [other, strange] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  const member = await makeMember(mine, 'viewer')
  const { token } = await invite(other, member.email, 'viewer')
  const ask = askAs(cookieOf(await join(token)))
  const ids = async () => (await glanceOf(ask)).map(({ id }) => id)
  expect(await ids()).toEqual([mine.workspaceId, other.workspaceId])
  expect(await ids()).not.toContain(strange.workspaceId)
  await removeMember(stores.pg, mine.workspaceId, member.id)
  expect(await ids()).toEqual([other.workspaceId])
  await removeMember(stores.pg, other.workspaceId, member.id)
  expect((await ask('GET', '/workspaces/glance')).status).toBe(401)
})

test('a session whose own workspace is suspended sees the others and goes there, and sees nothing of its own', async () => {
  const [suspended, other] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  const member = await makeMember(suspended, 'viewer')
  const { token } = await invite(other, member.email, 'viewer')
  const cookie = cookieOf(await join(token))
  const ask = askAs(cookie)
  const go = (workspaceId: number) => api.ask(`/dashboard?workspace=${workspaceId}`, { headers: { cookie } })
  await go(suspended.workspaceId)
  await stores.pg.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [suspended.workspaceId])
  expect((await ask<{ id: number }[]>('GET', '/workspaces')).body.map(({ id }) => id)).toEqual([other.workspaceId])
  expect(await glanceOf(ask)).toMatchObject([
    { id: suspended.workspaceId, is_current: true, without: 'workspace_access_denied' },
    { id: other.workspaceId, is_current: false, without: 'no_event' },
  ])
  for (const [method, path] of [
    ['GET', '/workspace'],
    ['POST', '/members/leave'],
  ] as const)
    expect((await ask(method, path)).status).toBe(403)
  expect((await go(other.workspaceId)).status).toBe(200)
  expect((await ask('GET', '/workspace')).status).toBe(200)
})

test('a workspace that would refuse the session says why, and so does one beyond the limit', async () => {
  const [lapsed, secured, suspended] = [
    await makeWorkspace(stores),
    await makeWorkspace(stores),
    await makeWorkspace(stores),
  ]
  await addMine(lapsed, secured, suspended)
  for (const workspace of [lapsed, secured, suspended]) await addVisits(workspace, 24)
  await foldWhatIsThere(stores)
  await setPlan(stores.pg, lapsed.workspaceId, null)
  await stores.pg.query('UPDATE workspaces SET second_factor_required = true WHERE id = $1', [secured.workspaceId])
  await stores.pg.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [suspended.workspaceId])
  const owner = await signInOwner(mine)
  const reasons = async () => (await glanceOf(owner)).map(({ id, figures, without }) => [id, figures, without])
  const refused = [
    [lapsed.workspaceId, null, 'plan_missing'],
    [secured.workspaceId, null, 'second_factor_missing'],
    [suspended.workspaceId, null, 'workspace_access_denied'],
  ]
  expect(await reasons()).toEqual([[mine.workspaceId, null, 'no_event'], ...refused])
  await addMine(...(await Promise.all(Array.from({ length: glanceWorkspacesMax }, () => makeWorkspace(stores)))))
  expect((await reasons()).filter(([, , without]) => without === 'too_many')).toHaveLength(1)
  // The session's own one has no plan any more: the others are shown as before.
  await setPlan(stores.pg, mine.workspaceId, null)
  expect((await reasons()).slice(0, 4)).toEqual([[mine.workspaceId, null, 'plan_missing'], ...refused])
})

test('where the time of an answer ends, the workspaces that were read by then have figures', async () => {
  const [read, late] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  await addMine(read, late)
  for (const workspace of [read, late]) await addVisits(workspace, 24)
  await foldWhatIsThere(stores)
  const query: typeof stores.ch.query = async (sql, params, options) => {
    if (params?.['workspace'] === late.workspaceId) throw new StoreLate('clickhouse', 'no answer in time')
    return stores.ch.query(sql, params, options)
  }
  const slow = await startApi(stores, { clock: { now: () => now }, ch: { ...stores.ch, query } })
  const owner = await setUpMembers({ stores, api: slow, now: () => now }).signInOwner(mine)
  expect((await glanceOf(owner)).map(({ id, figures, without }) => [id, figures?.visitors, without])).toEqual([
    [read.workspaceId, 7, null],
    [mine.workspaceId, undefined, 'no_event'],
    [late.workspaceId, undefined, 'answer_late'],
  ])
  await slow.close()
})
