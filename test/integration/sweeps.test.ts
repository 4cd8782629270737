/** How statements over many workspaces' rows find theirs: by index, in portions, and past a workspace that fails. */
import { expect, test } from 'vitest'
import type { Queryable } from '../../postgres/client.ts'
import { deleteOldDeliveries, deleteOldOutbox } from '../../postgres/tables/webhook-deliveries.ts'
import { takeTurns } from '../../postgres/tables/webhook-turns.ts'
import { makeWorkspace } from '../support/api.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

/** The whole tables that statements read, by their plans. */
async function scannedBy(ask: (q: Queryable) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = []
  const explaining: Queryable = {
    query: async (sql, params, options) => {
      plans.push(JSON.stringify(await stores.pg.query(`EXPLAIN ${sql}`, params)))
      return stores.pg.query(sql, params, options)
    },
  }
  await ask(explaining)
  expect(plans).not.toEqual([])
  return [...plans.join().matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table!)
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

test('no large table that refers to a workspace is read as a whole at the end of its deletion', async () => {
  const rows = await stores.pg.query<{ name: string }>(
    `SELECT conrelid::regclass::text AS name FROM pg_constraint WHERE contype = 'f' AND confrelid = 'workspaces'::regclass
       AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = conrelid AND indpred IS NULL AND indkey[0] = conkey[1]) ORDER BY name`,
  )
  expect(rows.map(({ name }) => name)).toEqual(['browser_sessions', 'sign_in_links', 'webhook_endpoints'])
})

test('payments are looked up without a list of what their index has not taken in yet', async () => {
  const [index] = await stores.pg.query(`SELECT reloptions FROM pg_class WHERE relname = 'revenue_payments_refs'`)
  expect(index).toEqual({ reloptions: ['fastupdate=off'] })
})
