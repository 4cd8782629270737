/** Each queue that Postgres holds tells how much is due in it, and for how long. */
import { expect, test } from 'vitest'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { watchQueues } from '../../pipeline/queue/watch-queues.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { makeWorkspace } from '../support/api.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

test('while Postgres is away, that is told', async () => {
  const metrics = makeMetrics('test', false)
  let isAway = false
  const query: typeof stores.pg.query = (...asked) =>
    isAway ? Promise.reject(new Error('away')) : stores.pg.query(...asked)
  const watch = watchQueues({ ...stores.pg, query }, makePipelineMetrics(metrics), 20)
  const isUp = async () => /^svc_postgres_up\{.*\} (.*)$/m.exec(await metrics.text())?.[1]
  try {
    await expect.poll(isUp).toBe('1')
    isAway = true
    await expect.poll(isUp).toBe('0')
  } finally {
    await watch.close()
  }
})

test('what is due counts from its time on, and what is done or due later does not', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  const [endpoint] = await stores.pg.query<{ id: number }>(
    `INSERT INTO webhook_endpoints (workspace_id, url, events, secret) VALUES ($1, 'https://example.com/', '{}', '') RETURNING id`,
    [workspaceId],
  )
  const ago = (seconds: number) => `now() - interval '${seconds} seconds'`
  // Each queue has two due rows, and one that is done or isn't due (work on people is deleted when done).
  for (const sql of [
    `INSERT INTO outbox (workspace_id, event_id, type, object, created_at, fanned_out_at)
     VALUES ($1, 'a', 't', '{}', ${ago(100)}, NULL), ($1, 'b', 't', '{}', now(), NULL), ($1, 'c', 't', '{}', ${ago(900)}, now())`,
    `INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, next_attempt_at)
     VALUES ($1, ${endpoint!.id}, 'a', 't', ${ago(200)}), ($1, ${endpoint!.id}, 'b', 't', now()), ($1, ${endpoint!.id}, 'c', 't', ${ago(-900)})`,
    `INSERT INTO inbox (event_id, workspace_id, event_type, event_name, anonymous_id, full_name, properties, source, medium,
       campaign, content, occurred_at, received_at, copied_at, is_merged)
     SELECT n, $1, 'identify', '', '', '', '{}', '', '', '', '', now(), now(), now() - n * interval '100 seconds', n = 4
     FROM unnest('{0,3,4}'::int[]) AS n`,
    `INSERT INTO people_work (workspace_id, hour, created_at) VALUES ($1, 1, ${ago(600)}), ($1, 2, now())`,
    `INSERT INTO revenue_payments (workspace_id, provider, payment, refs, occurred_at, import_day, credit_due_at)
     VALUES ($1, 'custom', 'a', '{}', now(), now(), ${ago(400)}), ($1, 'custom', 'b', '{}', now(), now(), now()),
       ($1, 'custom', 'c', '{}', now(), now(), NULL)`,
    `INSERT INTO erasures (workspace_id, browsers, requested_at, done_at)
     VALUES ($1, '[]', ${ago(500)}, NULL), ($1, '[]', now(), NULL), ($1, '[]', ${ago(900)}, now())`,
  ])
    await stores.pg.query(sql, [workspaceId])
  const metrics = makeMetrics('test', false)
  const watch = watchQueues(stores.pg, makePipelineMetrics(metrics))
  const shown = async () => {
    const found = (await metrics.text()).matchAll(/^svc_queue_(depth|age_seconds)\{.*queue="(\w+)".*\} ([\d.]+)$/gm)
    // Hundreds of seconds.
    return [...found].map(([, what, queue, value]) => [
      queue,
      what === 'depth' ? Number(value) : `${Math.floor(Number(value) / 100)}00`,
    ])
  }
  try {
    await expect
      .poll(shown)
      .toEqual([
        ...['outbox', 'webhooks', 'people', 'figures_of_people', 'payments', 'erasures'].map((queue) => [queue, 2]),
        ['outbox', '100'],
        ['webhooks', '200'],
        ['people', '300'],
        ['figures_of_people', '600'],
        ['payments', '400'],
        ['erasures', '500'],
      ])
  } finally {
    await watch.close()
  }
})
