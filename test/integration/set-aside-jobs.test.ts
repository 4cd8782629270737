/** Jobs that would only fail again: set aside with their reason, seen and tried again by commands. */
import { randomBytes } from 'node:crypto'
import { Queue } from 'bullmq'
import { expect, test, vi } from 'vitest'
import { jobs } from '../../pipeline/queue/jobs.ts'
import { schedulesOf, startSweep } from '../../pipeline/queue/schedule.ts'
import { startWorker } from '../../pipeline/queue/worker.ts'
import { expireDeliveries } from '../../pipeline/retention/expire-deliveries.ts'
import { retryAsked, setJobAside } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { makeSecretBox } from '../../runtime/crypto/secret-box.ts'
import { setAsideJobsRetriedEach } from '../../schemas/limits/store-limits.ts'
import { runSvc } from '../support/command-line.ts'
import { jobContext } from '../support/job-context.ts'
import { setUpReceiver } from '../support/receiver.ts'
import { patience, setUpWebhooks } from '../support/webhooks.ts'

const { stores, register, makeLink, deliveries, untilDelivery } = setUpWebhooks()

const receiver = setUpReceiver()
const schedules = schedulesOf({ retentionSweepMinutes: 1440 })

const svc = async (...words: string[]) => {
  const { code, out, err } = await runSvc([...words, '--json'], { DATABASE_URL: stores.databaseUrl })
  return { code, body: out === '' ? err : JSON.parse(out) }
}

test('a delivery that fails by our own fault is set aside, others go on, and a retry delivers it', async () => {
  const { id } = await register(`${receiver.url}/poisoned`)
  await register(`${receiver.url}/well`)
  const kept = await stores.pg.query<{ secret: Buffer }>('SELECT secret FROM webhook_endpoints WHERE id = $1', [id])
  const put = (secret: Buffer) =>
    stores.pg.query('UPDATE webhook_endpoints SET secret = $2 WHERE id = $1', [id, secret])
  await put(makeSecretBox(randomBytes(32).toString('hex'), 'tests').seal('whsec_of another key'))
  await makeLink('one')
  await makeLink('two')
  const listed = await vi.waitUntil(async () => {
    const { body } = await svc('jobs', 'list')
    return body.length === 2 && body
  }, patience)
  const poisoned = (await deliveries()).filter(({ webhook_endpoint_id }) => webhook_endpoint_id === id)
  expect(poisoned).toMatchObject([1, 2].map(() => ({ status: 'pending', attempt_count: 0, next_attempt_at: null })))
  expect(listed.map(({ subject }: { subject: string }) => subject).sort()).toEqual(
    poisoned.map(({ id: delivery }) => `webhook_delivery_${delivery}`).sort(),
  )
  expect(listed[0]).toMatchObject({ job: 'deliver-webhook', reason: expect.stringContaining('Error') })
  await vi.waitUntil(() => receiver.received.length === 2, patience)
  expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/well']))

  // Without a mended cause it is set aside again.
  expect(await svc('jobs', 'retry', String(listed[0].id))).toMatchObject({ code: 0, body: [{ id: listed[0].id }] })
  await vi.waitUntil(async () => {
    const { body } = await svc('jobs', 'list')
    return body.length === 2 && body.every((job: { id: number }) => job.id !== listed[0].id)
  }, patience)

  await put(kept[0]!.secret)
  expect((await svc('jobs', 'retry', 'all')).body).toHaveLength(2)
  await untilDelivery(({ status }) => status === 'delivered')
  await vi.waitUntil(async () => (await deliveries()).every(({ status }) => status === 'delivered'), patience)
  expect(await svc('jobs', 'list')).toEqual({ code: 0, body: [] })

  // One that was delivered by hand, after it had been set aside, waits for nobody.
  await setJobAside(stores.pg, 'deliver-webhook', `webhook_delivery_${poisoned[0]!.id}`, 'of before')
  await expireDeliveries(jobContext(stores, Date.now()))
  expect((await svc('jobs', 'list')).body).toEqual([])
})

test('a job of the schedule that fails for good is set aside, and is run again by a retry', async () => {
  const { pg, redisUrl } = stores
  const context = jobContext(stores, Date.now())
  const { log, metrics } = context
  await pg.query(
    `INSERT INTO idempotency_records SELECT id, 'old', '', 200, '', now() - interval '1 hour' FROM workspaces LIMIT 1`,
  )
  await pg.query('ALTER TABLE idempotency_records RENAME TO taken_away')
  const sweep = startSweep({ pg, redisUrl, schedules, metrics, log, everyMs: 200 })
  const worker = startWorker(redisUrl, jobs, context)
  const { hostname, port, password, pathname } = new URL(redisUrl)
  const connection = { host: hostname, port: Number(port), password, db: Number(pathname.slice(1)) }
  const queue = new Queue('pipeline', { connection })
  try {
    await queue.add('expire-idempotency', {})
    const [job] = await vi.waitUntil(async () => {
      const { body } = await svc('jobs', 'list')
      return body.length > 0 && body
    }, patience)
    expect(job).toMatchObject({
      job: 'expire-idempotency',
      subject: '',
      reason: expect.stringContaining('does not exist'),
    })
    await pg.query('ALTER TABLE taken_away RENAME TO idempotency_records')
    await svc('jobs', 'retry', String(job.id))
    await vi.waitUntil(async () => {
      const [row] = await pg.query<{ count: number }>('SELECT count(*) FROM idempotency_records')
      return row!.count === 0
    }, patience)
    // It is taken off the list once it has ended.
    await expect.poll(async () => (await svc('jobs', 'list')).body).toEqual([])
  } finally {
    sweep.close()
    await Promise.all([worker.close(), queue.close()])
  }
})

test('a sweep that is closed in its midst asks Postgres nothing more', async () => {
  let asked = 0
  const pg = {
    query: async () => {
      asked += 1
      sweep.close()
      return []
    },
  }
  const { log, metrics } = jobContext(stores, Date.now())
  const sweep = startSweep({ pg, redisUrl: stores.redisUrl, schedules, metrics, log })
  await sweep.swept
  expect(asked).toBe(1)
})

test('very many that are wanted again are taken in portions, the oldest first', async () => {
  const wanted = setAsideJobsRetriedEach + 3
  await stores.pg.query(
    `INSERT INTO set_aside_jobs (job, subject, reason, retry_asked_at) SELECT 'tests', 'of_' || n, 'a fault', now()
     FROM generate_series(1, $1::int) AS n`,
    [wanted],
  )
  const taken: number[] = []
  const take = () =>
    retryAsked(stores.pg, 'tests', async (_tx, ids) => {
      taken.push(ids.length, Math.max(...ids))
    })
  for (let time = 0; time < 3; time++) await take()
  expect(taken).toEqual([setAsideJobsRetriedEach, setAsideJobsRetriedEach, 3, wanted])
})

test('a retry of what is not there says so', async () => {
  expect(await svc('jobs', 'retry', '123456')).toMatchObject({
    code: 1,
    body: expect.stringContaining('no job 123456'),
  })
  expect(await svc('jobs', 'retry', 'some')).toMatchObject({ code: 2 })
})

test('a list of very many says how many there are, and shows the oldest', async () => {
  await stores.pg.query(
    `INSERT INTO set_aside_jobs (job, subject, reason) SELECT 'tests', 'of_' || n, 'a fault' FROM generate_series(1, 20000) AS n`,
  )
  const list = (...words: string[]) => runSvc(['jobs', 'list', ...words], { DATABASE_URL: stores.databaseUrl })
  const { code, out, err } = await list()
  expect([code, out.match(/of_\d+/g)?.length, out.includes('of_1 ')]).toEqual([0, 100, true])
  expect(err).toBe('the oldest 100 of 20000 are shown: --limit N shows more\n')
  const most = await list('--limit', '10000')
  expect([most.out.match(/of_\d+/g)?.length, most.err]).toEqual([10_000, 'the oldest 10000 of 20000 are shown\n'])
  expect((await list('--limit', '10001')).code).toBe(2)
  await stores.pg.query(`DELETE FROM set_aside_jobs WHERE job = 'tests'`)
})
