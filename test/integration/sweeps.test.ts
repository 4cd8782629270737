/** How statements over many workspaces' rows find theirs: by index, in portions, and past a workspace that fails. */
import { expect, test } from 'vitest'
import { buildNextPart } from '../../pipeline/fold/build.ts'
import { fold } from '../../pipeline/fold/fold.ts'
import { holdMerging, mergeNext } from '../../pipeline/people/merge.ts'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { deleteEndedApps } from '../../postgres/tables/members/connected-apps.ts'
import { deleteExpiredClients } from '../../postgres/tables/members/oauth-clients.ts'
import { beginBrowserSession } from '../../postgres/tables/members/owner-sessions.ts'
import { deleteOldFacts, type FactPlace, firstFact } from '../../postgres/tables/people/bindings.ts'
import { addWorkOfOldContacts, type ContactPlace, firstContact } from '../../postgres/tables/people/contacts.ts'
import { erasePerson } from '../../postgres/tables/people/erasures.ts'
import { insertInboxRows } from '../../postgres/tables/people/inbox.ts'
import { listPayers, recreditContacts } from '../../postgres/tables/revenue/revenue-credits.ts'
import { readRevenueLedTo } from '../../postgres/tables/revenue/revenue-figures.ts'
import { sumRevenueOfPeople } from '../../postgres/tables/revenue/revenue-of-people.ts'
import { forgetOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { deleteOldDeliveries, deleteOldOutbox } from '../../postgres/tables/webhooks/webhook-deliveries.ts'
import { takeTurns } from '../../postgres/tables/webhooks/webhook-turns.ts'
import { whoChangedPost } from '../../postgres/tables/workspaces/audit.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeWorkspace } from '../support/api.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { shipWhatIsThere, workOn } from '../support/fold.ts'
import { makeInboxRow } from '../support/inbox-rows.ts'
import { jobContext } from '../support/job-context.ts'
import { makeTestWorkspace } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'
import { countWaiting, untilWaitingOrEnded } from '../support/waiting-for-locks.ts'

const stores = setUpStores()

/** The plans of statements. */
async function plansOf(ask: (q: Queryable) => Promise<unknown>): Promise<string> {
  const plans: string[] = []
  const explaining: Queryable = {
    query: async (sql, params, options) => {
      plans.push(JSON.stringify(await stores.pg.query(`EXPLAIN ${sql}`, params)))
      return stores.pg.query(sql, params, options)
    },
  }
  await ask(explaining)
  expect(plans).not.toEqual([])
  return plans.join()
}

/** The whole tables that statements read. */
async function scannedBy(ask: (q: Queryable) => Promise<unknown>): Promise<string[]> {
  return [...(await plansOf(ask)).matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table!)
}

test('what waits at webhooks, and what was told, is found by index', async () => {
  const { pg } = stores
  const { workspaceId } = await makeWorkspace(stores)
  await pg.query(
    `WITH made AS (
       INSERT INTO webhook_endpoints (workspace_id, url, events, secret)
       SELECT $1, 'https://example.com/', '{}', '' FROM generate_series(1, 20) RETURNING id
     ), told AS (
       INSERT INTO outbox (workspace_id, event_id, type, object, fanned_out_at, created_at)
       SELECT $1, 'evt_' || n, 'post.created', '{}', now(), now() - n * interval '1 second' FROM generate_series(1, 10000) AS n
     )
     INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, status, next_attempt_at, created_at)
     SELECT $1, (SELECT min(id) FROM made) + n % 20, 'evt_' || n, 'post.created', CASE n % 3 WHEN 0 THEN 'delivered' ELSE 'pending' END,
       now() + interval '1 hour', now() - n * interval '1 second' FROM generate_series(1, 10000) AS n`,
    [workspaceId],
  )
  await pg.query('ANALYZE')
  const [endpoint] = await pg.query<{ id: number }>('SELECT min(id) AS id FROM webhook_endpoints')
  for (const state of ['enabled', 'disabled']) {
    await pg.query('UPDATE webhook_endpoints SET status = $2 WHERE id = $1', [endpoint!.id, state])
    const due = state === 'enabled' ? [] : [expect.objectContaining({ endpointId: endpoint!.id, state })]
    const scanned = await scannedBy(async (q) => expect(await takeTurns(q, 'test', 0, 10)).toEqual(due))
    expect([state, scanned.filter((table) => table !== 'webhook_endpoints')]).toEqual([state, []])
  }

  const before = Date.now() - 5_000_000
  for (const sweep of [deleteOldDeliveries, deleteOldOutbox]) {
    const scanned = await scannedBy(async (q) => expect(await sweep(q, before, 5)).toBeGreaterThan(0))
    expect([sweep.name, scanned]).toEqual([sweep.name, []])
  }
})

test('payments of a link and of a post are found by index, however many the workspace has', async () => {
  const { pg } = stores
  const { workspaceId } = await makeWorkspace(stores)
  await pg.query(
    `WITH made AS (
       INSERT INTO revenue_payments (workspace_id, provider, payment, refs, occurred_at, import_day, link_id, post_id)
       SELECT $1, 'custom', n::text, '{}', now(), now(), n, n FROM generate_series(1, 5000) AS n RETURNING id
     )
     INSERT INTO revenue_entries (workspace_id, payment_id, entry, value_cents, currency, occurred_at)
     SELECT $1, id, 'payment', 100, 'USD', now() - interval '1 hour' FROM made`,
    [workspaceId],
  )
  await pg.query('ANALYZE')
  const span = { workspaceId, currency: 'USD', start: Date.now() - 7_200_000, end: Date.now() }
  for (const column of ['link_id', 'post_id'] as const) {
    const plan = await plansOf(async (q) =>
      expect(await readRevenueLedTo(q, { column, id: 7 }, span)).toMatchObject({ payments: 1, cents: 100 }),
    )
    expect(plan).toMatch(new RegExp(`Index Cond: \\(\\(workspace_id = \\d+\\) AND \\(${column} = '?7'?`))
  }
})

test('who changed a post is found by index, however long the audit log is', async () => {
  const { pg } = stores
  const { workspaceId } = await makeWorkspace(stores)
  await pg.query(
    `SELECT append_audit_event($1, 'post.update', 'user', 1, 'ann', 'console', 'post', n, NULL, NULL, '{}')
     FROM generate_series(1, 3000) AS n`,
    [workspaceId],
  )
  await pg.query('ANALYZE')
  const plan = await plansOf(async (q) =>
    expect(await whoChangedPost(q, workspaceId, { id: 7, updated_at: new Date(0) })).toMatchObject({
      actor_name: 'ann',
    }),
  )
  expect(plan).toContain('audit_events_post')
})

test('a payer is found by index, however many rows inbox and ledger have', async () => {
  const { pg } = stores
  const { workspaceId } = await makeWorkspace(stores)
  await pg.query(
    `WITH told AS (
       INSERT INTO inbox (event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties,
         source, medium, campaign, content, occurred_at, received_at, is_merged)
       SELECT $1 * 100000 + n, $1, 'identify', 'identify', CASE WHEN n % 2 = 0 THEN n || '@example.com' END, 'browser ' || n, '',
         jsonb_build_object('user_id', 'user ' || n), '', '', '', '', now() - n * interval '1 second', now(), true
       FROM generate_series(1, 10000) AS n
     ), paid AS (
       INSERT INTO revenue_payments (workspace_id, provider, payment, refs, occurred_at, import_day)
       SELECT $1, 'custom', n::text, ARRAY['payment:' || n], now(), current_date FROM generate_series(1, 10000) AS n
     )
     INSERT INTO revenue_payers (workspace_id, provider, reference, field, value, told_at)
     SELECT $1, 'custom', 'payment:' || n, 'user_id', 'user ' || n, now() FROM generate_series(1, 10000) AS n`,
    [workspaceId],
  )
  await pg.query('ANALYZE')
  const asked = { id: 1, workspaceId, occurredAt: 0, recordedAt: 0, due: '', rule: 'none', sessionAt: null } as const
  const plan = await plansOf((q) => listPayers(q, [{ ...asked, email: null, userId: 'nobody', anonymousId: null }]))
  expect(plan).toContain('inbox_user_ids')
  expect(plan).not.toContain('inbox_age')

  const person = { contactId: null, email: '2@example.com', emailHash: '2', browsers: [] }
  const shared = { anonymousId: 'browser 3', fromAt: 0, fromId: 0, toAt: null, toId: null }
  const scanned = await scannedBy((q) =>
    erasePerson(q, { ...person, workspaceId, anonymousIds: ['browser 1'], sharedTimes: [shared] }),
  )
  expect(scanned.filter((table) => /^(inbox|revenue)/.test(table))).toEqual([])
  const people = { workspaceId, currency: 'USD', since: 0, contactIds: [1], anonymousIds: ['browser 5'] }
  expect(await scannedBy((q) => recreditContacts(q, [1]))).not.toContain('revenue_payments')
  expect(await scannedBy((q) => sumRevenueOfPeople(q, people))).not.toContain('revenue_payments')
  const left = (table: string, which: string) =>
    pg.query(`SELECT FROM ${table} WHERE workspace_id = $1 AND ${which}`, [workspaceId])
  expect(await left('inbox', `anonymous_id IN ('browser 1', 'browser 2', 'browser 3')`)).toEqual([])
  expect(await left('revenue_payers', `value = 'user 2'`)).toEqual([])
  expect([await countOf('inbox', workspaceId), await countOf('revenue_payers', workspaceId)]).toEqual([9_997, 9_999])
})

test('a round of folds reads neither builds nor settings of workspaces without new events', async () => {
  const [at, read] = [Date.now() - 60_000, new Set<number>()]
  const [busy, other] = [await makeTestWorkspace(stores, {}), await makeTestWorkspace(stores, {})]
  for (const workspace of [busy, other]) await workspace.addEvents([{ occurred_at: at }])
  await insertEventRows(stores.ch, [makeEventRow({ workspace_id: busy.id, visitor: 2, occurred_at: at })])
  await shipWhatIsThere(stores)
  const query = async (sql: string, ...more: never[]) => {
    const rows = await stores.pg.query(sql, ...more)
    if (/FROM (figure_builds|workspaces)/.test(sql)) read.add(rows.length)
    return rows
  }
  const work = workOn({ ...stores, pg: { ...stores.pg, query: query as Postgres['query'] } })
  await fold(work)
  await refreshPeople(work, Date.now())
  await buildNextPart(work, Date.now())
  expect([...read].sort()).toEqual([0, 1])
})

test('a merge reads no webhook endpoints of other workspaces', async () => {
  const { pg } = stores
  const [{ workspaceId }, other] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  await pg.query(
    `INSERT INTO webhook_endpoints (workspace_id, url, events, secret)
     SELECT $1, 'https://example.com/', '{}', '' FROM generate_series(1, 10000)`,
    [other.workspaceId],
  )
  await pg.query('ANALYZE')
  const now = Date.now()
  const times = { occurred_at: now, received_at: now }
  const row = makeInboxRow({ event_id: 7, workspace_id: workspaceId, email: 'new@example.com', ...times })
  await pg.transaction((tx) => insertInboxRows(tx, [row]))
  const options = { hashes: stores.hashes, log: makeLog('test', 'silent'), now }
  const scanned = await scannedBy(async (q) => expect(await mergeNext(q, options)).toBe(1))
  expect(scanned.filter((table) => table === 'webhook_endpoints')).toEqual([])
})

test('a sign-in finds what has expired by index', async () => {
  const { pg } = stores
  const { workspaceId } = await makeWorkspace(stores)
  await pg.query(
    `INSERT INTO browser_sessions (hash, owner_id, workspace_id, expires_at)
     SELECT sha256(n::text::bytea), owner_id, id, now() + n * interval '1 minute' FROM workspaces, generate_series(1, 10000) AS n
     WHERE id = $1`,
    [workspaceId],
  )
  await pg.query('ANALYZE')
  const [owner] = await pg.query<{ id: number }>('SELECT owner_id AS id FROM workspaces WHERE id = $1', [workspaceId])
  const session = { ownerId: owner!.id, workspaceId, browser: null, before: undefined }
  const scanned = await scannedBy((q) => beginBrowserSession(q, session, Date.now()))
  expect(scanned.filter((table) => table === 'browser_sessions')).toEqual([])
})

test('no large table is read as a whole where a row goes that it may refer to', async () => {
  const rows = await stores.pg.query<{ name: string }>(
    `SELECT conrelid::regclass || ' ' || attname AS name
     FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
     WHERE contype = 'f' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = conrelid AND indkey[0] = conkey[1]
       AND (indpred IS NULL OR pg_get_expr(indpred, indrelid) = format('(%I IS NOT NULL)', attname))) ORDER BY name`,
  )
  // Sign-in links last minutes.
  expect(rows.map(({ name }) => name)).toEqual(['sign_in_links owner_id', 'sign_in_links workspace_id'])
})

test('payments are looked up without a list of what their index has not taken in yet', async () => {
  const [index] = await stores.pg.query(`SELECT reloptions FROM pg_class WHERE relname = 'revenue_payments_refs'`)
  expect(index).toEqual({ reloptions: ['fastupdate=off'] })
})

test.each<
  [
    table: string,
    make: (workspaceId: number) => Promise<unknown>,
    renew: (tx: Queryable, workspaceId: number) => Promise<unknown>,
    sweep: () => Promise<number>,
  ]
>([
  [
    'api_keys',
    (id) =>
      stores.pg.query(
        `INSERT INTO api_keys (workspace_id, owner_id, name, prefix, scopes, expires_at)
         SELECT id, owner_id, 'An app', '', '{}', now() - interval '1 second' FROM workspaces WHERE id = $1`,
        [id],
      ),
    (tx, id) =>
      tx.query(`UPDATE api_keys SET expires_at = now() + interval '1 day' WHERE hash IS NULL AND workspace_id = $1`, [
        id,
      ]),
    () => deleteEndedApps(stores.pg, new Date()),
  ],
  [
    'oauth_clients',
    () =>
      stores.pg.query(
        `INSERT INTO oauth_clients VALUES ('a', 'An app', '{}', now(), NULL, now() - interval '1 second')`,
      ),
    (tx) => tx.query(`UPDATE oauth_clients SET expires_at = now() + interval '1 day'`),
    () => deleteExpiredClients(stores.pg, new Date()),
  ],
])('a row of %s that is renewed while a sweep waits for it stays', async (table, make, renew, sweep) => {
  const { workspaceId } = await makeWorkspace(stores)
  await make(workspaceId)
  const rowsOf = async () => (await stores.pg.query(`SELECT FROM ${table}`)).length
  const before = await rowsOf()
  let swept: Promise<number> | undefined
  await stores.pg.transaction(async (tx) => {
    await renew(tx, workspaceId)
    swept = sweep()
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
  })
  expect([await swept, await rowsOf()]).toEqual([0, before])
})

const dayMs = 86_400_000

test('old events are swept while those of an erased person are forgotten, and neither waits for the other in a circle', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  await stores.pg.query(
    `INSERT INTO outbox (workspace_id, event_id, type, object, fanned_out_at, created_at)
     SELECT $1, 'evt_old_' || n, 'post.created', '{}', now(), now() - n * interval '1 day' FROM generate_series(30, 69) AS n`,
    [workspaceId],
  )
  const swept = await stores.pg.transaction(async (tx) => {
    await tx.query('SELECT FROM outbox WHERE workspace_id = $1 ORDER BY id LIMIT 1 FOR UPDATE', [workspaceId])
    const sweep = deleteOldOutbox(stores.pg, Date.now() - 20 * dayMs, 100)
    await untilWaitingOrEnded(stores.pg, sweep)
    await forgetOutbox(tx, workspaceId, 'true', [])
    return [sweep]
  })
  expect([await swept[0], await countOf('outbox', workspaceId)]).toEqual([39, 0])
})

/** Four contacts with events of two years ago and of now, whose browsers have three old facts and a new one. */
async function fillPeople(): Promise<number> {
  const { workspaceId } = await makeWorkspace(stores)
  await stores.pg.query(
    `WITH made AS (
       INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at, oldest_event_at)
       SELECT $1, n || '@example.com', n, $2, $3, $2, $3, $2 FROM generate_series(1, 4) AS n RETURNING id
     )
     INSERT INTO identity_facts (workspace_id, anonymous_id, contact_id, at, event_id)
     SELECT $1, 'browser ' || id, id, CASE n WHEN 4 THEN $3 ELSE $2 + n / 2 END, n FROM made, generate_series(1, 4) AS n`,
    [workspaceId, Date.now() - 800 * dayMs, Date.now()],
  )
  return workspaceId
}
const countOf = async (table: string, workspaceId: number) =>
  (
    await stores.pg.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table} WHERE workspace_id = $1`, [
      workspaceId,
    ])
  )[0]!.rows

test('portions of any size leave the same facts, and have each contact computed once', async () => {
  const before = Date.now() - 700 * dayMs
  for (const limit of [1, 3, 100]) {
    const workspaceId = await fillPeople()
    let rows = 0
    for (let after: FactPlace | undefined = firstFact; after !== undefined; ) {
      const portion = await deleteOldFacts(stores.pg, workspaceId, { before, after, limit })
      rows += portion.rows
      after = portion.last
    }
    expect([limit, rows, await countOf('identity_facts', workspaceId)]).toEqual([limit, 8, 8])
    for (const run of ['first', 'again']) {
      for (let after: ContactPlace | undefined = firstContact; after !== undefined; )
        after = await addWorkOfOldContacts(stores.pg, workspaceId, { before, after, limit })
      expect([limit, run, await countOf('people_work', workspaceId)]).toEqual([limit, run, 4])
    }
  }
})

test('contacts that are past their time are deleted before a merge that names them, or after it', async () => {
  const [workspaceId, now] = [await fillPeople(), Date.now()]
  await stores.pg.query(
    `WITH old AS (UPDATE contacts SET last_seen_at = first_seen_at WHERE workspace_id = $1 RETURNING id)
     DELETE FROM identity_facts WHERE at > $2 AND contact_id IN (SELECT id FROM old)`,
    [workspaceId, now - 700 * dayMs],
  )
  const [shared] = await stores.pg.query<{ anonymous_id: string }>(
    'SELECT anonymous_id FROM identity_facts WHERE workspace_id = $1',
    [workspaceId],
  )
  const times = { workspace_id: workspaceId, occurred_at: now, received_at: now }
  const row = makeInboxRow({ event_id: now, email: 'new@example.com', anonymous_id: shared!.anonymous_id, ...times })
  await stores.pg.transaction((tx) => insertInboxRows(tx, [row]))
  let swept: Promise<void> | undefined
  const sweepBefore = (tx: Queryable, part: string): Queryable => ({
    async query(sql, params) {
      if (sql.startsWith(part)) {
        swept = expireData(jobContext(stores, now))
        await untilWaitingOrEnded(stores.pg, swept)
      }
      return tx.query(sql, params)
    },
  })
  const merged = await stores.pg.transaction(async (tx) => {
    await holdMerging(tx)
    const options = { hashes: stores.hashes, log: makeLog('test', 'silent'), now }
    return mergeNext(sweepBefore(tx, 'DELETE FROM bindings'), options)
  })
  await swept
  expect([merged, await countOf('contacts', workspaceId)]).toEqual([1, 1])
  expect(await stores.pg.query('SELECT from_at, from_id FROM bindings WHERE workspace_id = $1', [workspaceId])).toEqual(
    [{ from_at: 0, from_id: 0 }],
  )
})

test('a workspace whose people can not be swept holds up none of the others, and the job fails', async () => {
  const [stuck, other] = [await fillPeople(), await fillPeople()]
  await stores.pg.query(`ALTER TABLE people_work ADD CONSTRAINT held CHECK (workspace_id != ${stuck})`)
  await expect(expireData(jobContext(stores, Date.now()))).rejects.toThrow('held')
  expect([await countOf('identity_facts', stuck), await countOf('identity_facts', other)]).toEqual([16, 8])
})
