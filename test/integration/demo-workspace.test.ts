/** The owner's demo workspace: made once, filled again where that failed, and never one of the owner's own. */
import pino from 'pino'
import { expect, test } from 'vitest'
import { makeFillDemo } from '../../api/dashboard/operations/workspaces.ts'
import { createWorkspace, readWorkspace } from '../../postgres/tables/workspaces.ts'
import { systemClock } from '../../runtime/clock.ts'
import { demoEvents } from '../../schemas/limits/seed-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { settlePeople } from '../support/people.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

async function makeOwner() {
  const { workspaceId, ownerId } = await makeWorkspace(stores)
  const [owner] = await stores.pg.query<{ email: string }>('SELECT email FROM owners WHERE id = $1', [ownerId])
  const workspace = (await readWorkspace(stores.pg, workspaceId))!
  const fillBy = (operation: ReturnType<typeof makeFillDemo>) =>
    stores.pg.transaction((tx) =>
      operation.handle({
        workspace: { ...workspace, plan_key: workspace.plan_key! },
        actor: { type: 'user', id: ownerId, name: owner!.email },
        scopes: [],
        interface: 'console',
        stores: { ...stores, pg: tx, readTxt: async () => [], share: (_, work) => work() },
        clock: systemClock,
        config: {
          apiHost: '',
          shortUrlHost: '',
          allowPrivateTargets: false,
          isMailSetUp: false,
          answerDeadlineMs: 120_000,
          mediaBytesMax: { starter: 0, growth: 0, scale: 0 },
        },
        log: pino({ level: 'silent' }),
        requestId: 'test',
        address: '',
        onCommit: () => {},
        path: undefined,
        query: undefined,
        body: undefined,
        prepared: undefined,
      }),
    )
  return { email: owner!.email, fillBy }
}

const eventsOf = async (workspace: number) =>
  (await stores.ch.query('SELECT 1 FROM events WHERE workspace_id = {workspace:UInt32}', { workspace })).length

test('a workspace that only has the name is left alone, and two at once make one', async () => {
  const { email, fillBy } = await makeOwner()
  const own = await stores.pg.transaction((tx) =>
    createWorkspace(tx, { name: 'Demo', timezone: 'UTC', plan: 'growth', ownerEmail: email }),
  )
  const [first, second] = [makeFillDemo(stores), makeFillDemo(stores)]
  const tried = await Promise.allSettled([fillBy(first), fillBy(first), fillBy(second)])
  const made = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(made).toHaveLength(1)
  expect(tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))).toMatchObject([
    { code: 'demo_busy', status: 409 },
    { code: 'demo_busy', status: 409 },
  ])
  expect(made[0]!.id).not.toBe(own.workspaceId)
  expect(await eventsOf(own.workspaceId)).toBe(0)
  const count = await eventsOf(made[0]!.id)
  expect(count).toBe(demoEvents)
  expect(await fillBy(second)).toEqual(made[0])
  expect(await eventsOf(made[0]!.id)).toBe(count)
  const crawled = 'SELECT DISTINCT operator FROM bot_visits WHERE workspace_id = {workspace:UInt32}'
  expect((await stores.ch.query(crawled, { workspace: made[0]!.id })).length).toBeGreaterThan(3)
  // Links lead to the site that people visit and crawlers read.
  const hosts = await stores.ch.query(
    `SELECT DISTINCT domain(url) AS host FROM (SELECT url FROM events WHERE workspace_id = {workspace:UInt32} AND url != ''
       UNION ALL SELECT url FROM bot_visits WHERE workspace_id = {workspace:UInt32})`,
    { workspace: made[0]!.id },
  )
  const [led] = await stores.pg.query('SELECT DISTINCT destination_url AS url FROM links WHERE workspace_id = $1', [
    made[0]!.id,
  ])
  expect(led).toEqual({ url: `https://${(hosts as { host: string }[]).map(({ host }) => host).join()}/` })
  // Visitors of a link aren't more than its clicks, and one link is a poster's.
  const links = await stores.ch.query<{ clicks: number; sessions: number; scans: number }>(
    `SELECT countIf(kind = 'click') AS clicks, countIf(way = 'qr') AS scans, any(sessions) AS sessions
     FROM link_clicks JOIN (SELECT link_id, uniqExact(session) AS sessions FROM events
       WHERE workspace_id = {workspace:UInt32} AND link_id != 0 GROUP BY link_id) AS visits USING (link_id)
     WHERE workspace_id = {workspace:UInt32} GROUP BY link_id`,
    { workspace: made[0]!.id },
  )
  expect(links).toHaveLength(4)
  for (const { clicks, sessions } of links) expect(clicks).toBeGreaterThanOrEqual(sessions)
  expect(links.filter(({ scans }) => scans > 0)).toHaveLength(1)
  const cities = await stores.ch.query<{ city: string }>(
    "SELECT DISTINCT city FROM link_clicks WHERE workspace_id = {workspace:UInt32} AND city != ''",
    { workspace: made[0]!.id },
  )
  expect(cities.length).toBeGreaterThan(5)
  for (const { city } of cities) expect(city).toMatch(/^\D+, [A-Z]{2}-[A-Z0-9]{1,3}$/)
  const [ids] = await stores.ch.query(
    'SELECT count() = uniqExact(id) AS areOnce FROM link_clicks WHERE workspace_id = {workspace:UInt32}',
    { workspace: made[0]!.id },
  )
  expect(ids).toEqual({ areOnce: 1 })
  // As ingest has them, so that people are merged, credited and erased by their browsers.
  const browsers = await stores.ch.query<{ visitor: string; anonymous_id: string }>(
    `SELECT DISTINCT toString(visitor) AS visitor, anonymous_id FROM events
     WHERE workspace_id = {workspace:UInt32} AND anonymous_id != ''`,
    { workspace: made[0]!.id },
  )
  expect(browsers.length).toBeGreaterThan(500)
  for (const { visitor, anonymous_id } of browsers) {
    expect(visitor).toBe(stores.hashes.visitorOf(made[0]!.id, anonymous_id))
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
    [made[0]!.id],
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
  await settlePeople(stores, { shipped: async () => {} })
  const [found] = await stores.pg.query<{ people: number; payments: number; refunds: number }>(
    `SELECT (SELECT count(*) FROM contacts WHERE workspace_id = $1 AND session_count > 0) AS people,
       count(*) FILTER (WHERE entry = 'payment') AS payments, count(*) FILTER (WHERE value_cents < 0) AS refunds
     FROM revenue_entries WHERE workspace_id = $1`,
    [made[0]!.id],
  )
  expect([found!.people > 30, found!.payments > 20, found!.refunds > 0]).toEqual([true, true, true])
})

test('a fill that failed half way is made anew, and what it left is deleted', async () => {
  const { email, fillBy } = await makeOwner()
  const command: typeof stores.ch.command = async (...args) => {
    await stores.ch.command(...args)
    throw new Error('away')
  }
  await expect(fillBy(makeFillDemo({ pg: stores.pg, ch: { query: stores.ch.query, command } }))).rejects.toThrow('away')
  const [left] = await stores.pg.query<{ id: number }>(
    `SELECT w.id FROM workspaces w JOIN owners o ON o.id = w.owner_id WHERE o.email = $1 AND demo = 'filling'`,
    [email],
  )
  const made = await fillBy(makeFillDemo(stores))
  expect(made.id).not.toBe(left!.id)
  expect(await eventsOf(made.id)).toBeGreaterThan(1_000)
  expect(await stores.pg.query('SELECT 1 FROM workspace_deletions WHERE workspace_id = $1', [left!.id])).toHaveLength(1)
})
