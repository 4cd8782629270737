import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readJobSuccesses } from '../../postgres/tables/operation/job-successes.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { prepareRedis } from '../../start/stores/redis.ts'
import type { Store } from '../../start/stores/store.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { type ServiceProcess, startPipelineProcess } from '../support/service-process.ts'
import { setUpStores } from '../support/stores.ts'
import { setUpFolder } from '../support/test-folder.ts'

const stores = setUpStores()
let redis: Store
let redisProcess: ChildProcess
const folder = setUpFolder()

beforeAll(async () => {
  redis = await prepareRedis(join(folder, 'redis'))
  await startRedis()
})
afterAll(() => end(redisProcess, 'SIGTERM'))

const running: ChildProcess[] = []
afterEach(async () => {
  for (const child of running.splice(0)) await end(child, 'SIGKILL')
})

async function startRedis(): Promise<void> {
  redisProcess = redis.spawn()
  await redis.ready(redisProcess)
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<number | null> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
  const exited = once(child, 'exit')
  child.kill(signal)
  const [code] = await exited
  return code
}

interface Running extends ServiceProcess {
  get(path: string, method?: string): Promise<{ status: number; text: string }>
  metric(name: string): Promise<number>
}

async function startPipeline(): Promise<Running> {
  const process = await startPipelineProcess(stores, { REDIS_URL: redis.url })
  running.push(process.child)
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(process.url + path, { method })
    return { status: response.status, text: await response.text() }
  }
  const metric = async (name: string) => {
    const { text } = await get('/metrics')
    const line = text.split('\n').find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`))
    return line === undefined ? 0 : Number(line.split(' ').at(-1))
  }
  return { ...process, get, metric }
}

const eventually = <T>(what: () => Promise<T>) => expect.poll(what, { timeout: 120_000, interval: 100 })

async function emptyRedis(): Promise<void> {
  const client = new Redis(redis.url)
  await client.flushall()
  client.disconnect()
}

function openQueue(): Queue {
  const { hostname, port, password } = new URL(redis.url)
  return new Queue('pipeline', { connection: { host: hostname, port: Number(port), password } })
}

const oldEvents = async () => {
  const [row] = await stores.ch.query<{ count: number }>(
    `SELECT count() AS count FROM events WHERE occurred_at < now() - INTERVAL 1000 DAY`,
  )
  return row!.count
}
const insertOldEvent = () => insertEventRows(stores.ch, [makeEventRow({ occurred_at: Date.now() - 2000 * 86_400_000 })])

test('runs its jobs by schedule, says how it is, and ends with code 0 when told to', async () => {
  await stores.pg.query(`INSERT INTO owners (email, plan_key) VALUES ('a@example.com', 'scale')`)
  await stores.pg.query(`INSERT INTO workspaces (owner_id, name, slug) SELECT id, 'w', 'w' FROM owners`)
  await insertOldEvent()
  const pipeline = await startPipeline()
  await eventually(oldEvents).toBe(0)
  await eventually(() => pipeline.metric('svc_job_last_success_seconds')).toBeGreaterThan(0)
  await eventually(async () => (await readJobSuccesses(stores.pg)).has('expire-data')).toBe(true)
  expect(await pipeline.get('/health')).toMatchObject({ status: 200 })
  expect(await pipeline.get('/health', 'POST')).toMatchObject({ status: 405 })
  expect(await pipeline.get('/other')).toMatchObject({ status: 404 })
  expect(await pipeline.metric('svc_redis_up')).toBe(1)
  expect(await pipeline.metric('svc_postgres_up')).toBe(1)
  expect(await end(pipeline.child, 'SIGTERM')).toBe(0)
})

test('a restart leaves schedules that are well and knows when jobs succeeded; others, and a Redis that was emptied, have them anew', async () => {
  const queue = openQueue()
  const schedules = async () => {
    const all = (await queue.getJobSchedulers()).sort((one, other) => (one.key < other.key ? -1 : 1))
    // One is due every minute: it may have been run meanwhile, and goes on by its interval.
    return all.map(({ key, next, every }) => ({ key, next: key === 'delete-workspaces' ? next! % every! : next }))
  }
  const before = await schedules()
  const jobs = [
    'delete-workspaces',
    'expire-apps',
    'expire-data',
    'expire-deliveries',
    'expire-idempotency',
    'expire-salts',
  ]
  expect(before.map(({ key }) => key)).toEqual(jobs)
  await insertOldEvent()
  const pipeline = await startPipeline()
  // Said after the first sweep of the schedules.
  await eventually(() => pipeline.metric('svc_redis_up')).toBe(1)
  const succeeded = /^svc_job_last_success_seconds\{.*job="expire-data".*\} \d/m
  await eventually(async () => (await pipeline.get('/metrics')).text).toMatch(succeeded)
  expect(await schedules()).toEqual(before)
  const none = { waiting: 0, active: 0, failed: 0 }
  await eventually(() => queue.getJobCounts('waiting', 'active', 'failed')).toEqual(none)
  expect(await oldEvents()).toBe(1)
  await emptyRedis()
  await eventually(oldEvents).toBe(0)
  await eventually(async () => (await schedules()).map(({ key }) => key)).toEqual(jobs)
  // As after a clock that was ahead when the next run was set.
  await insertOldEvent()
  await queue.removeJobScheduler('expire-data')
  const every = 24 * 3_600_000
  await queue.upsertJobScheduler('expire-data', { every, startDate: Date.now() + 30 * every }, { name: 'expire-data' })
  await eventually(oldEvents).toBe(0)
  await queue.close()
  expect(await end(pipeline.child, 'SIGTERM')).toBe(0)
})

test('without Redis it folds, also after a kill, without spinning, and goes on when Redis is back; it ends in time', async () => {
  const first = await leaseSegments(stores.pg, 1_000)
  let events = 0
  const arrive = async () => {
    const id = first * segmentRowsMax + events++
    await insertEventRows(stores.ch, [{ ...makeEventRow({ occurred_at: Date.now() }), id }])
    await advanceMark(stores.pg, first, id)
  }
  const counted = async () => {
    const [row] = await stores.ch.query<{ events: number }>(
      'SELECT sum(seen.events) AS events FROM sessions FINAL ARRAY JOIN seen WHERE seen.kind = 0',
    )
    return row!.events
  }
  await end(redisProcess, 'SIGKILL')
  await arrive()
  const killed = await startPipeline()
  await eventually(counted).toBe(events)
  await end(killed.child, 'SIGKILL')
  await arrive()
  const pipeline = await startPipeline()
  await eventually(counted).toBe(events)
  await eventually(() => pipeline.metric('svc_folded_sessions_total')).toBeGreaterThan(0)

  await eventually(() => pipeline.metric('svc_redis_up')).toBe(0)
  const before = await pipeline.metric('process_cpu_seconds_total')
  await delay(3_000)
  // A busy loop would take all of the time.
  expect((await pipeline.metric('process_cpu_seconds_total')) - before).toBeLessThan(1.5)
  await startRedis()
  await eventually(() => pipeline.metric('svc_redis_up')).toBe(1)

  await end(redisProcess, 'SIGKILL')
  await delay(1_000)
  expect(await pipeline.get('/health')).toMatchObject({ status: 200 })
  await startRedis()
  await emptyRedis()
  await insertOldEvent()
  await eventually(oldEvents).toBe(0)
  await end(redisProcess, 'SIGKILL')
  // A step of the shutdown that overruns its deadline makes the code another one.
  expect(await end(pipeline.child, 'SIGTERM')).toBe(0)
})
