/** The audit log of a workspace where much has happened. */
import { expect, test } from 'vitest'
import { type AuditFilter, listAuditEvents } from '../../postgres/tables/audit.ts'
import { makeWorkspace } from '../support/api.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

const others = 5_000

test.each<[string, Partial<AuditFilter>]>([
  ['an action', { action: 'rare.thing' }],
  ['an actor', { actorId: 7 }],
  ['an actor and its action', { actorId: 7, action: 'rare.thing' }],
])('%s is found without reading what is not shown', async (_, filter) => {
  const { workspaceId } = await makeWorkspace(stores)
  const append = (action: string, actor: number, times: number) =>
    stores.pg.query(
      `SELECT append_audit_event($1, $2, 'api_key', $3, 'a', 'rest', 'thing', n, NULL, NULL, '{}')
       FROM generate_series(1, $4::int) AS n`,
      [workspaceId, action, actor, times],
    )
  await append('rare.thing', 7, 3)
  await append('common.thing', 8, others)
  await stores.pg.query('ANALYZE audit_events')
  const [found, rowsRead] = await stores.pg.transaction(async (tx) => {
    const events = await listAuditEvents(tx, workspaceId, { limit: 100, ...filter })
    const [row] = await tx.query<{ rows: number }>(
      `SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables
       WHERE relname = 'audit_events'`,
    )
    return [events, row!.rows] as const
  })
  expect(found.map(({ action, actor_id }) => [action, actor_id])).toEqual(Array(3).fill(['rare.thing', 7]))
  expect(rowsRead).toBeLessThan(others / 10)
})
