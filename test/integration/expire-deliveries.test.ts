import { expect, test } from 'vitest'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { expireDeliveries } from '../../pipeline/retention/expire-deliveries.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { webhookRecordKeepMs } from '../../schemas/limits/webhook-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

test('records of deliveries go after their time, with their events; what is pending stays, and so does its event', async () => {
  const { pg, ch } = stores
  const { workspaceId } = await makeWorkspace(stores)
  const [endpoint] = await pg.query<{ id: number }>(
    `INSERT INTO webhook_endpoints (workspace_id, url, events, secret) VALUES ($1, 'https://example.com/', '{}', '') RETURNING id`,
    [workspaceId],
  )
  const minute = 60_000
  for (const [event, status, ageMs] of [
    ['evt_old', 'delivered', webhookRecordKeepMs + minute],
    ['evt_old_failed', 'failed', webhookRecordKeepMs + minute],
    ['evt_old_pending', 'pending', webhookRecordKeepMs + minute],
    ['evt_young', 'delivered', webhookRecordKeepMs - minute],
  ]) {
    await pg.query(
      `WITH event AS (
         INSERT INTO outbox (workspace_id, event_id, type, object, fanned_out_at, created_at)
         VALUES ($1, $3, 'post.created', '{}', now(), now() - $5::float8 * interval '1 millisecond') RETURNING created_at
       )
       INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, status, created_at)
       SELECT $1, $2, $3, 'post.created', $4, created_at FROM event`,
      [workspaceId, endpoint!.id, event, status, ageMs],
    )
  }
  const metrics = makePipelineMetrics(makeMetrics('test', false))
  const signal = new AbortController().signal
  await expireDeliveries({ pg, ch, clock: systemClock, log: makeLog('test', 'silent'), metrics, signal })
  for (const table of ['webhook_deliveries', 'outbox']) {
    const kept = await pg.query(`SELECT event_id FROM ${table} ORDER BY event_id`)
    expect(kept).toEqual([{ event_id: 'evt_old_pending' }, { event_id: 'evt_young' }])
  }
})
