/**
 * The reference for deliveries: bare undici, which makes the same calls. On request bare Postgres writes the same rows
 * beside it, ready-made, in the product's portions: a delivery before its call, its result afterwards. `RECEIVER
 * DATABASE_URL AT_ONCE`
 */
import { Agent, request } from 'undici'
import { connectPostgres } from '../../postgres/client.ts'
import { webhookFanOutMax, webhookReadEach } from '../../schemas/limits/webhook-limits.ts'

export interface ReferenceRound {
  readonly body: string
  readonly calls: number
  /** Endpoints that have a row for each event; none: nothing is written. */
  readonly written: { readonly workspaceId: number; readonly endpointIds: readonly number[] } | undefined
}

const [receiver, databaseUrl, atOnce] = process.argv.slice(2) as [string, string, string]
const dispatcher = new Agent({ pipelining: 1 })
const pg = connectPostgres(databaseUrl)
const headers = {
  'content-type': 'application/json',
  'user-agent': 'svc-webhooks',
  'webhook-id': `evt_${'0'.repeat(32)}`,
  'webhook-timestamp': '1795167000',
  'webhook-signature': `v1,${'0'.repeat(43)}=`,
}

process.send?.({ type: 'ready', port: 0 })
process.on('SIGTERM', () => process.exit(0))
process.on('message', async (round: ReferenceRound) => {
  const startedAt = performance.now()
  const { written, calls } = round
  if (written === undefined) await callAll(round, calls)
  else {
    const portion = webhookFanOutMax * written.endpointIds.length
    for (let left = calls; left > 0; left -= portion) await writeAndCall(round, written, Math.min(left, portion))
  }
  process.send?.({ type: 'done', seconds: (performance.now() - startedAt) / 1000 })
})

/** @param record gets a row's place once its call is answered */
async function callAll({ body }: ReferenceRound, calls: number, record = (_: number) => {}): Promise<void> {
  let next = 0
  const callOneByOne = async () => {
    while (next < calls) {
      const at = next++
      const answer = await request(receiver, { method: 'POST', headers, body, dispatcher })
      await answer.body.dump()
      record(at)
    }
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, callOneByOne))
}

async function writeAndCall(
  round: ReferenceRound,
  { workspaceId, endpointIds }: NonNullable<ReferenceRound['written']>,
  calls: number,
): Promise<void> {
  // Without a time, so that the pipeline, which runs beside it, doesn't take them.
  const rows = await pg.query<{ id: number }>(
    `INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, next_attempt_at)
     SELECT $1::int, endpoint, 'evt_' || md5(random()::text || n), 'post.published', NULL
     FROM generate_series(1, $3::int) AS n CROSS JOIN unnest($2::bigint[]) AS endpoint RETURNING id`,
    [workspaceId, endpointIds, calls / endpointIds.length],
  )
  const results: Promise<unknown>[] = []
  let ended: number[] = []
  await callAll(round, calls, (at) => {
    ended.push(rows[at]!.id)
    if (ended.length < webhookReadEach) return
    results.push(writeResults(ended))
    ended = []
  })
  await Promise.all([...results, writeResults(ended)])
}

function writeResults(ids: readonly number[]): Promise<unknown> {
  return pg.query(
    `UPDATE webhook_deliveries SET status = 'delivered', attempt_count = 1, retry_step = 1, response_status = 200, response_body = '',
       duration_ms = 1, next_attempt_at = NULL, delivered_at = now()
     WHERE id = ANY ($1::bigint[])`,
    [ids],
  )
}
