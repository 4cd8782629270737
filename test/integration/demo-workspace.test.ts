/** The owner's demo workspace: made once, filled again where that failed, and never one of the owner's own. */
import { expect, onTestFinished, test } from 'vitest'
import { createWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { demoEvents } from '../../schemas/limits/seed-limits.ts'
import { setUpApi, startApi } from '../support/api.ts'
import { setUpMembers } from '../support/members.ts'
import { settlePeople } from '../support/people.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true })

/** Asks for the demo, as the owner, at an API that knows of no other. */
async function demoAt(ownApi = api) {
  const ask = await setUpMembers({ stores, api: ownApi }).signInOwner(mine)
  return () => ask('POST', '/workspaces/demo', {})
}

async function startOther(ch = stores.ch) {
  const other = await startApi({ ...stores, ch })
  onTestFinished(() => other.close())
  return other
}

/** Rows of ClickHouse by a statement about one workspace. */
const rowsOf = <Row>(workspace: number, sql: string) => stores.ch.query<Row>(sql, { workspace })
const eventsOf = async (workspace: number) =>
  (await rowsOf(workspace, 'SELECT 1 FROM events WHERE workspace_id = {workspace:UInt32}')).length

test('a workspace that only has the name is left alone, and two at once make one', async () => {
  const [owner] = await stores.pg.query<{ email: string }>('SELECT email FROM owners WHERE id = $1', [mine.ownerId])
  const own = await stores.pg.transaction((tx) =>
    createWorkspace(tx, { name: 'Demo', timezone: 'UTC', plan: 'growth', ownerEmail: owner!.email }),
  )
  const [first, second] = [await demoAt(), await demoAt(await startOther())]
  const tried = (await Promise.all([first(), first(), second()])).sort((one, other) => one.status - other.status)
  expect(tried.map(({ status }) => status)).toEqual([200, 409, 409])
  const made = tried[0]!
  const { id } = made.body
  expect(id).not.toBe(own.workspaceId)
  expect([await eventsOf(own.workspaceId), await eventsOf(id)]).toEqual([0, demoEvents])
  expect(await second()).toEqual(made)
  expect(await eventsOf(id)).toBe(demoEvents)
  const crawled = 'SELECT DISTINCT operator FROM bot_visits WHERE workspace_id = {workspace:UInt32}'
  expect((await rowsOf(id, crawled)).length).toBeGreaterThan(3)
  // Links lead to the site that people visit and crawlers read.
  const hosts = await rowsOf<{ host: string }>(
    id,
    `SELECT DISTINCT domain(url) AS host FROM (SELECT url FROM events WHERE workspace_id = {workspace:UInt32} AND url != ''
       UNION ALL SELECT url FROM bot_visits WHERE workspace_id = {workspace:UInt32})`,
  )
  const [led] = await stores.pg.query('SELECT DISTINCT destination_url AS url FROM links WHERE workspace_id = $1', [id])
  expect(led).toEqual({ url: `https://${hosts.map(({ host }) => host).join()}/` })
  // Visitors of a link aren't more than its clicks, and one link is a poster's.
  const links = await rowsOf<{ clicks: number; sessions: number; scans: number }>(
    id,
    `SELECT countIf(kind = 'click') AS clicks, countIf(way = 'qr') AS scans, any(sessions) AS sessions
     FROM link_clicks JOIN (SELECT link_id, uniqExact(session) AS sessions FROM events
       WHERE workspace_id = {workspace:UInt32} AND link_id != 0 GROUP BY link_id) AS visits USING (link_id)
     WHERE workspace_id = {workspace:UInt32} GROUP BY link_id`,
  )
  expect(links).toHaveLength(4)
  for (const { clicks, sessions } of links) expect(clicks).toBeGreaterThanOrEqual(sessions)
  expect(links.filter(({ scans }) => scans > 0)).toHaveLength(1)
  const named = `SELECT DISTINCT city FROM link_clicks WHERE workspace_id = {workspace:UInt32} AND city != ''`
  const cities = await rowsOf<{ city: string }>(id, named)
  expect(cities.length).toBeGreaterThan(5)
  for (const { city } of cities) expect(city).toMatch(/^\D+, [A-Z]{2}-[A-Z0-9]{1,3}$/)
  const once = 'SELECT count() = uniqExact(id) AS areOnce FROM link_clicks WHERE workspace_id = {workspace:UInt32}'
  expect(await rowsOf(id, once)).toEqual([{ areOnce: 1 }])
  // As ingest has them, so that people are merged, credited and erased by their browsers.
  const browsers = await rowsOf<{ visitor: string; anonymous_id: string }>(
    id,
    `SELECT DISTINCT toString(visitor) AS visitor, anonymous_id FROM events
     WHERE workspace_id = {workspace:UInt32} AND anonymous_id != ''`,
  )
  expect(browsers.length).toBeGreaterThan(500)
  for (const { visitor, anonymous_id } of browsers) {
    expect(visitor).toBe(stores.hashes.visitorOf(id, anonymous_id))
  }
  // Simulated accounts alone have posts: nothing leaves the machine.
  const [desk] = await stores.pg.query(
    `SELECT (SELECT array_agg(DISTINCT connection_type) FROM social_accounts WHERE workspace_id = $1) AS types,
       count(*) FILTER (WHERE scheduled_at < now())::int AS past, count(*) FILTER (WHERE scheduled_at > now())::int AS coming,
       count(*) FILTER (WHERE status = 'draft')::int AS drafts,
       (SELECT count(*)::int FROM goals WHERE workspace_id = $1) AS goals,
       (SELECT count(*)::int FROM saved_funnels WHERE workspace_id = $1) AS funnels,
       (SELECT count(*)::int FROM segments WHERE workspace_id = $1) AS views,
       (SELECT count(*)::int FROM notes WHERE workspace_id = $1) AS notes
     FROM posts WHERE workspace_id = $1`,
    [id],
  )
  expect(desk).toEqual({
    types: ['simulated'],
    past: 3,
    coming: 3,
    drafts: 2,
    goals: 3,
    funnels: 1,
    views: 1,
    notes: 1,
  })
  // Somebody goes through the funnel to its end.
  const [saved] = await stores.pg.query<{ paths: string[] }>(
    `SELECT array(SELECT substr(step, length('path:') + 1) FROM unnest(steps) AS step) AS paths
     FROM saved_funnels WHERE workspace_id = $1`,
    [id],
  )
  const [through] = await stores.ch.query<{ visitors: number }>(
    `SELECT countIf(level = 3) AS visitors FROM (
       SELECT windowFunnel(604800)(toDateTime(occurred_at), path = {paths:Array(String)}[1],
         path = {paths:Array(String)}[2], path = {paths:Array(String)}[3]) AS level
       FROM events WHERE workspace_id = {workspace:UInt32} AND event_name = 'pageview' GROUP BY visitor)`,
    { workspace: id, paths: saved!.paths },
  )
  expect(through!.visitors).toBeGreaterThan(0)
  await settlePeople(stores, { shipped: async () => {} })
  const [found] = await stores.pg.query<{ people: number; payments: number; refunds: number }>(
    `SELECT (SELECT count(*) FROM contacts WHERE workspace_id = $1 AND session_count > 0) AS people,
       count(*) FILTER (WHERE entry = 'payment') AS payments, count(*) FILTER (WHERE value_cents < 0) AS refunds
     FROM revenue_entries WHERE workspace_id = $1`,
    [id],
  )
  expect([found!.people > 30, found!.payments > 20, found!.refunds > 0]).toEqual([true, true, true])
})

test('a fill that failed half way is made anew, and what it left is deleted', async () => {
  const command: typeof stores.ch.command = async (...args) => {
    await stores.ch.command(...args)
    throw new Error('away')
  }
  const failing = await demoAt(await startOther({ ...stores.ch, command }))
  expect((await failing()).status).toBe(500)
  const [left] = await stores.pg.query<{ id: number }>(
    `SELECT id FROM workspaces WHERE owner_id = $1 AND demo = 'filling'`,
    [mine.ownerId],
  )
  const made = (await (await demoAt())()).body
  expect(made.id).not.toBe(left!.id)
  expect(await eventsOf(made.id)).toBeGreaterThan(1_000)
  expect(await stores.pg.query('SELECT 1 FROM workspace_deletions WHERE workspace_id = $1', [left!.id])).toHaveLength(1)
})
