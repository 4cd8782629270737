import { beforeAll, expect, test } from 'vitest'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import { expireDeliveries } from '../../pipeline/retention/expire-deliveries.ts'
import { expireSalts } from '../../pipeline/retention/expire-salts.ts'
import { keptFromOf } from '../../pipeline/retention/retention.ts'
import { readOrMakeSalt } from '../../postgres/tables/operation/salts.ts'
import { insertInbox } from '../../postgres/tables/people/inbox.ts'
import {
  createWorkspace,
  listWorkspaces,
  type PlanKey,
  readWorkspace,
  setPlan,
} from '../../postgres/tables/workspaces/workspaces.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { dayClosedAfterMs } from '../../schemas/limits/figure-limits.ts'
import { webhookRecordKeepMs } from '../../schemas/limits/webhook-limits.ts'
import { readableFrom } from '../../schemas/time/readable-from.ts'
import { insertBotVisitRows, insertEventRows, makeBotVisitRow, makeEventRow } from '../support/event-rows.ts'
import { judgeFigures } from '../support/figures.ts'
import { closeDaysAt, foldWhatIsThere } from '../support/fold.ts'
import { makeInboxRow } from '../support/inbox-rows.ts'
import { jobContext } from '../support/job-context.ts'
import { freshStores, setUpStores } from '../support/stores.ts'

const dayMs = 86_400_000
/** The stores' own clocks tell the time here: deletion compares them with the node's. */
const now = Date.now()
const ages = [0, 6.9, 7.1, 9, 29, 32, 179, 182, 729, 735]

const stores = setUpStores()
const ids: Record<'starter' | 'growth' | 'scale' | 'short' | 'lapsed' | 'lowered', number> = {} as never

const make = async (plan: PlanKey | null) =>
  (await stores.pg.transaction((tx) => createWorkspace(tx, { name: 'w', timezone: 'UTC', plan }))).workspaceId

beforeAll(async () => {
  const { pg, ch } = stores
  const plans = {
    starter: 'starter',
    growth: 'growth',
    scale: 'scale',
    short: 'growth',
    lapsed: null,
    lowered: 'scale',
  }
  for (const [name, plan] of Object.entries(plans)) ids[name as keyof typeof ids] = await make(plan as PlanKey | null)
  await pg.query('UPDATE workspaces SET retention_days = 7 WHERE id = $1', [ids.short])
  await pg.query('UPDATE owners SET plan_changed_at = $1', [new Date(now - 200 * dayMs)])
  await setPlan(pg, ids.lowered, 'starter')
  // The database's own clock wrote now(); this test's now is another.
  await pg.query('UPDATE owners SET plan_changed_at = $1 WHERE plan_changed_at > $2', [
    new Date(now - 10 * dayMs),
    new Date(now - 199 * dayMs),
  ])
  const workspaces = Object.values(ids)
  const rows = workspaces.flatMap((workspace_id) =>
    ages.map((age) => makeEventRow({ workspace_id, kind: 'conversion', occurred_at: now - age * dayMs })),
  )
  await insertEventRows(ch, rows)
  await foldWhatIsThere(stores)
  await closeDaysAt(stores, now)
  await insertBotVisitRows(
    ch,
    ages.map((age) => makeBotVisitRow({ workspace_id: ids.starter, occurred_at: now - age * dayMs })),
  )
  await ch.command('INSERT INTO link_clicks (workspace_id, occurred_at) SELECT workspace_id, occurred_at FROM events')
  await pg.transaction((tx) =>
    insertInbox(
      tx,
      1,
      rows.map(({ id, workspace_id, occurred_at }, at) =>
        makeInboxRow({
          event_id: id,
          workspace_id,
          occurred_at,
          received_at: occurred_at,
          // One that is seen all the time, and one of each age.
          email: at % 2 === 0 ? 'a@example.com' : `${occurred_at}@example.com`,
        }),
      ),
    ),
  )
  await pg.query(`INSERT INTO shipped_manifests VALUES (2, $1), (3, $2)`, [
    new Date(now - 29 * dayMs),
    new Date(now - 31 * dayMs),
  ])
  await pg.query('UPDATE shipped_manifests SET shipped_at = $1 WHERE manifest_id = 1', [new Date(now)])
})

const context = () => jobContext(stores, now)

/** Ages in days of what is left, by workspace. */
async function left(table = 'events'): Promise<Record<string, number[]>> {
  const rows = await stores.ch.query<{ workspace_id: number; ages: number[] }>(
    `SELECT workspace_id, arraySort(groupArray(round((${now} - toUnixTimestamp64Milli(occurred_at)) / ${dayMs}, 1))) AS ages
     FROM ${table} GROUP BY workspace_id`,
  )
  return Object.fromEntries(rows.map((row) => [row.workspace_id, row.ages]))
}

async function inboxLeft(): Promise<Record<string, number>> {
  const rows = await stores.pg.query<{ workspace_id: number; count: number }>(
    'SELECT workspace_id, count(*) AS count FROM inbox GROUP BY 1',
  )
  return Object.fromEntries(rows.map((row) => [row.workspace_id, row.count]))
}

const derivedTables = ['sessions', 'visitors', 'credits', 'cells'] as const

/** Local days that have derived rows, by workspace. */
async function daysLeft(table: (typeof derivedTables)[number]): Promise<Record<string, number[]>> {
  const rows = await stores.ch.query<{ workspace_id: number; days: number[] }>(
    `SELECT workspace_id, arraySort(groupUniqArray(day)) AS days FROM ${table} WHERE workspace_id != 0 GROUP BY workspace_id`,
  )
  return Object.fromEntries(rows.map((row) => [row.workspace_id, row.days]))
}

const upTo = (days: number) => ages.filter((age) => age < days)
const dayAt = (moment: number) => Math.floor(moment / dayMs)
/** A local day is deleted once all of it is out. Days that are over have cells. */
const daysUpTo = (days: number, isOver = false) =>
  [...new Set(ages.map((age) => dayAt(now - age * dayMs)))]
    .filter((day) => day >= dayAt(now - days * dayMs) && (!isOver || day < dayAt(now - dayClosedAfterMs)))
    .sort((a, b) => a - b)

test("deletes what is past each workspace's retention, and nothing else, and a repeat changes nothing", async () => {
  const kept: [workspaceId: number, days: number][] = [
    [ids.starter, 31],
    [ids.growth, 181],
    [ids.scale, 731],
    [ids.short, 7],
    [ids.lapsed, 31],
    [ids.lowered, 731],
  ]
  const expected = Object.fromEntries(kept.map(([id, days]) => [id, upTo(days)]))
  for (const run of ['first', 'again']) {
    await expireData(context())
    expect([run, await left()]).toEqual([run, expected])
    expect([run, await left('link_clicks')]).toEqual([run, expected])
    const counts = Object.fromEntries(Object.entries(expected).map(([id, kept]) => [id, kept.length]))
    expect([run, await inboxLeft()]).toEqual([run, counts])
    for (const table of derivedTables) {
      const days = Object.fromEntries(kept.map(([id, count]) => [id, daysUpTo(count, table === 'cells')]))
      expect([run, table, await daysLeft(table)]).toEqual([run, table, days])
      // One for all workspaces: each looks at all parts.
      const [mutations] = await stores.ch.query<{ count: number }>(
        'SELECT count() AS count FROM system.mutations WHERE database = currentDatabase() AND table = {table:String}',
        { table },
      )
      expect([run, table, mutations!.count]).toEqual([run, table, 1])
    }
  }
  // The last event of an e-mail tells all that is known of it.
  const withoutRow = `SELECT 1 FROM contact_sightings seen WHERE NOT EXISTS (
    SELECT 1 FROM inbox WHERE inbox.workspace_id = seen.workspace_id AND occurred_at = last_seen)`
  expect(await stores.pg.query(withoutRow)).toEqual([])
  const firsts = await stores.pg.query<{ first_seen: Date }>(
    'SELECT first_seen FROM contact_sightings WHERE workspace_id = $1 ORDER BY 1 LIMIT 1',
    [ids.starter],
  )
  expect(firsts).toEqual([{ first_seen: new Date(now - 729 * dayMs) }])
  const visits = await stores.ch.query<{ count: number }>('SELECT count() AS count FROM bot_visits')
  expect(visits).toEqual([{ count: upTo(181).length }])
  const manifests = await stores.pg.query('SELECT manifest_id FROM shipped_manifests ORDER BY 1')
  expect(manifests).toEqual([{ manifest_id: 1 }, { manifest_id: 2 }])
})

test('a check of the figures goes by what is kept', async () => {
  // One workspace is enough: each day takes its time.
  expect(await judgeFigures(stores, ids.short)).toMatchObject({ differentDays: 0 })
})

test('while the clock is days off nothing is deleted, and the run says why; minutes off, the earliest clock counts', async () => {
  const before = { events: await left(), inbox: await inboxLeft(), salts: await saltDays() }
  const justInside = now - 7 * dayMs + 25 * 60_000
  await insertEventRows(stores.ch, [
    makeEventRow({ workspace_id: ids.starter, occurred_at: now - 32 * dayMs }),
    makeEventRow({ workspace_id: ids.short, occurred_at: justInside }),
  ])
  const [starters, shorts] = [before.events[ids.starter]!, [...before.events[ids.short]!, 7]]
  for (const byMs of [3 * dayMs, -3 * dayMs]) {
    const metrics = makeMetrics('test', false)
    const moved = { ...context(), clock: fixedClock(now + byMs), metrics: makePipelineMetrics(metrics) }
    const says =
      /^nothing is deleted while clocks disagree: (?=.*this machine \d{4}-)(?=.*postgres \d{4}-)(?=.*clickhouse \d{4}-)/
    await expect(expireData(moved)).rejects.toThrow(says)
    await expect(expireSalts(moved)).rejects.toThrow(says)
    expect(await left()).toEqual({ ...before.events, [ids.starter]: [...starters, 32], [ids.short]: shorts })
    expect({ inbox: await inboxLeft(), salts: await saltDays() }).toEqual({ inbox: before.inbox, salts: before.salts })
    const off = [...(await metrics.text()).matchAll(/^svc_clock_off_seconds\{store="(\w+)".*\} (\S+)$/gm)]
    expect(off.map(([, store]) => store)).toEqual(['postgres', 'clickhouse'])
    for (const [, , seconds] of off) expect(Math.abs(Number(seconds) + byMs / 1000)).toBeLessThan(600)
  }
  await expireData({ ...context(), clock: fixedClock(now + 30 * 60_000) })
  expect(await left()).toEqual({ ...before.events, [ids.short]: shorts })
  await stores.ch.command(
    `ALTER TABLE events DELETE WHERE workspace_id = ${ids.short} AND occurred_at = fromUnixTimestamp64Milli(${justInside}) SETTINGS mutations_sync = 1`,
  )
})

test('deleted rows are gone from the disk, not only hidden', async () => {
  const [parts] = await stores.ch.query<{ rows: number }>(
    `SELECT sum(rows) AS rows FROM system.parts WHERE database = currentDatabase() AND table = 'events' AND active`,
  )
  expect(parts!.rows).toBe(Object.values(await left()).flat().length)
})

test('what a shortened setting leaves out is deleted with the next run, and a grace that ends deletes too', async () => {
  await stores.pg.query('UPDATE workspaces SET retention_days = 8 WHERE id = $1', [ids.scale])
  await stores.pg.query('UPDATE owners SET plan_changed_at = $1', [new Date(now - 31 * dayMs)])
  await expireData(context())
  expect(await left()).toMatchObject({ [ids.scale]: upTo(8), [ids.lowered]: upTo(31) })
  // A setting that is taken back brings nothing back: what was derived from these events is still not derived anew.
  await stores.pg.query('UPDATE workspaces SET retention_days = NULL WHERE id = $1', [ids.scale])
  expect(keptFromOf(await listWorkspaces(stores.pg), now).get(ids.scale)).toBe(now - 8 * dayMs)
})

test('a workspace that has lost nothing reads as far back as a raised plan does, and one that has no further', async () => {
  const [fresh, old] = [await make('starter'), await make('starter')]
  await stores.pg.query('UPDATE owners SET plan_changed_at = $1', [new Date(now - 200 * dayMs)])
  const event = (workspace_id: number, age: number) => makeEventRow({ workspace_id, occurred_at: now - age * dayMs })
  await insertEventRows(stores.ch, [event(fresh, 20), event(old, 20), event(old, 60)])
  await expireData(context())
  for (const id of [fresh, old]) await setPlan(stores.pg, id, 'scale')
  const [kept, cut] = await Promise.all([fresh, old].map((id) => readWorkspace(stores.pg, id)))
  expect(readableFrom(kept!, now)).toBe(readableFrom({ ...kept!, deleted_before: null }, now))
  expect(readableFrom(cut!, now)).toBeGreaterThan(now - 32 * dayMs)
})

test('an empty Postgres is no reason to delete events', async () => {
  const other = await freshStores()
  try {
    await insertEventRows(other.ch, [makeEventRow({ occurred_at: now - 4000 * dayMs })])
    await expireData({ ...context(), pg: other.pg, ch: other.ch })
    expect(await other.ch.query('SELECT count() AS count FROM events')).toEqual([{ count: 1 }])
  } finally {
    await other.close()
  }
})

test('a workspace that is made during a run, and has imported old events by then, keeps them', async () => {
  const { pg, ch, close } = await freshStores()
  try {
    const withOldEvent = async () => {
      const wanted = { name: 'w', timezone: 'UTC', plan: 'starter' } as const
      const { workspaceId } = await pg.transaction((tx) => createWorkspace(tx, wanted))
      await insertEventRows(ch, [makeEventRow({ workspace_id: workspaceId, occurred_at: now - 100 * dayMs })])
      return workspaceId
    }
    await withOldEvent()
    await pg.query('UPDATE owners SET plan_changed_at = $1', [new Date(now - 200 * dayMs)])
    const made: number[] = []
    const query = async <Row>(...asked: Parameters<typeof ch.query>) => {
      const rows = await ch.query<Row>(...asked)
      if (made.length === 0 && asked[0].includes('FROM merge(')) made.push(await withOldEvent())
      return rows
    }
    await expireData({ ...context(), pg, ch: { ...ch, query } })
    expect(await ch.query('SELECT workspace_id AS id FROM events')).toEqual(made.map((id) => ({ id })))
  } finally {
    await close()
  }
})

test('a retention that is shortened during a run counts from the next one on, which notes what goes', async () => {
  const { pg, ch, close } = await freshStores()
  try {
    const wanted = { name: 'w', timezone: 'UTC', plan: 'scale' } as const
    const { workspaceId } = await pg.transaction((tx) => createWorkspace(tx, wanted))
    await insertEventRows(ch, [makeEventRow({ workspace_id: workspaceId, occurred_at: now - 40 * dayMs })])
    const query = async <Row>(...asked: Parameters<typeof ch.query>) => {
      const rows = await ch.query<Row>(...asked)
      if (asked[0].includes('FROM merge(')) await pg.query('UPDATE workspaces SET retention_days = 7')
      return rows
    }
    const left = async () => [
      (await ch.query('SELECT id FROM events')).length,
      (await listWorkspaces(pg))[0]!.deleted_before,
    ]
    await expireData({ ...context(), pg, ch: { ...ch, query } })
    expect(await left()).toEqual([1, null])
    await expireData({ ...context(), pg, ch })
    expect(await left()).toEqual([0, expect.any(Date)])
  } finally {
    await close()
  }
})

test('a retention that is raised during a run keeps what is not deleted by then', async () => {
  const { pg, ch, close } = await freshStores()
  try {
    const make = async (plan: PlanKey) =>
      (await pg.transaction((tx) => createWorkspace(tx, { name: 'w', timezone: 'UTC', plan }))).workspaceId
    // No day is past the other's time.
    const [workspaceId] = [await make('starter'), await make('scale')]
    await pg.query('UPDATE owners SET plan_changed_at = $1', [new Date(now - 200 * dayMs)])
    await insertEventRows(ch, [makeEventRow({ workspace_id: workspaceId, occurred_at: now - 40 * dayMs })])
    const query = async <Row>(...asked: Parameters<typeof ch.query>) => {
      const rows = await ch.query<Row>(...asked)
      if (asked[0].includes('FROM merge(')) await setPlan(pg, workspaceId, 'scale')
      return rows
    }
    await expireData({ ...context(), pg, ch: { ...ch, query } })
    expect(await ch.query('SELECT id FROM events')).toHaveLength(1)
  } finally {
    await close()
  }
})

test('a salt is deleted once its day began two days ago', async () => {
  const salt = Buffer.alloc(32, 7)
  const days = [-3, -2, -1, 0, 1].map((day) => new Date(now + day * dayMs).toISOString().slice(0, 10))
  for (const day of days) await readOrMakeSalt(stores.pg, day, salt)
  await expireSalts(context())
  expect(await saltDays()).toEqual(days.slice(2))
})

test('records of deliveries go after their time, with their events; what is pending stays, and so does its event', async () => {
  const { pg } = stores
  const endpoint = `INSERT INTO webhook_endpoints (workspace_id, url, events, secret) VALUES ($1, 'https://example.com/', '{}', '') RETURNING id`
  const [{ id }] = (await pg.query<{ id: number }>(endpoint, [ids.scale])) as [{ id: number }]
  const [old, young] = [webhookRecordKeepMs + 60_000, webhookRecordKeepMs - 60_000]
  for (const [event, status, ageMs] of [
    ['evt_old', 'delivered', old],
    ['evt_old_failed', 'failed', old],
    ['evt_old_pending', 'pending', old],
    ['evt_young', 'delivered', young],
  ]) {
    await pg.query(
      `WITH event AS (
         INSERT INTO outbox (workspace_id, event_id, type, object, fanned_out_at, created_at)
         VALUES ($1, $3, 'post.created', '{}', now(), now() - $5::float8 * interval '1 millisecond') RETURNING created_at
       )
       INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, status, created_at)
       SELECT $1, $2, $3, 'post.created', $4, created_at FROM event`,
      [ids.scale, id, event, status, ageMs],
    )
  }
  await expireDeliveries(jobContext(stores, Date.now()))
  for (const table of ['webhook_deliveries', 'outbox']) {
    const kept = await pg.query(`SELECT event_id FROM ${table} ORDER BY event_id`)
    expect(kept).toEqual([{ event_id: 'evt_old_pending' }, { event_id: 'evt_young' }])
  }
})

async function saltDays(): Promise<string[]> {
  const rows = await stores.pg.query<{ day: string }>('SELECT day FROM visitor_salts ORDER BY day')
  return rows.map(({ day }) => day)
}
