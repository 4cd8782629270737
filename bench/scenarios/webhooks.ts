/**
 * Webhooks delivered a second, from the outbox to the record in Postgres. Beside it bare undici makes the same calls to
 * the same receiver, with and without bare Postgres writing the same rows, alternating. Postgres has the sender's core
 * as well.
 */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { makeSecretBox, secretBoxPurpose } from '../../runtime/crypto/secret-box.ts'
import { sleep } from '../../runtime/retry.ts'
import { webhookInFlightMax } from '../../schemas/limits/webhook-limits.ts'
import type { BenchSettings, ScenarioResult } from '../bench.ts'
import { type BenchChild, startChild } from '../child.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import { cpuSeconds, readCpu } from '../measure/cpu.ts'
import type { ReferenceRound } from '../references/webhook-reference.ts'

const endpoints = 4
const events = 5_000
const eventsShort = 100
/** About as large as a post is. */
const object = { id: 1, title: 'A post', base_caption: 'x'.repeat(800), status: 'published', tags: ['a', 'b'] }

interface Pair {
  /** Seconds of the calls alone, and of the calls and the writes. */
  readonly callsSeconds: number
  readonly referenceSeconds: number
  readonly productSeconds: number
  /** CPU seconds of the deliveries. */
  readonly cpu: { readonly pipeline: number; readonly postgres: number }
}

export async function webhooks(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, rounds, say } = settings
  const installation = await Installation.start(cores, { services: [] })
  const children: BenchChild[] = []
  const start = async (file: string, side: 'server' | 'load', programArguments: string[] = []) => {
    const logFile = join(installation.folder, 'logs', 'webhooks.log')
    const child = await startChild({ file: `bench/references/${file}.js`, cores, side, logFile, programArguments })
    children.push(child)
    return child
  }
  try {
    const receiver = await start('webhook-receiver', 'load')
    const url = `http://127.0.0.1:${receiver.port}/hook`
    const eachRound = isShort ? eventsShort : events
    const calls = eachRound * endpoints
    const reference = await start('webhook-reference', 'server', [
      url,
      installation.environment['DATABASE_URL']!,
      `${endpoints * webhookInFlightMax}`,
    ])
    const written = { workspaceId: installation.workspaceId, endpointIds: await register(installation, url) }
    installation.environment = { ...installation.environment, NODE_ENV: 'development', ALLOW_PRIVATE_TARGETS: 'true' }
    await installation.startService('pipeline')

    const pairs: Pair[] = []
    // One more at first, which warms both up.
    for (let round = 0; round <= rounds; round++) {
      const callsSeconds = await callBarely(reference, { calls, written: undefined })
      const referenceSeconds = await callBarely(reference, { calls, written })
      const from = readCpu()
      const productSeconds = await deliver(installation, eachRound)
      const to = readCpu()
      const used = (pid: number) => cpuSeconds(from, to, [pid])
      const cpu = {
        pipeline: used(installation.service('pipeline').pid),
        postgres: used(installation.storePid('postgres')),
      }
      pairs.push({ callsSeconds, referenceSeconds, productSeconds, cpu })
      say(
        `  bare undici ${(calls / callsSeconds).toFixed(0)}/s, with writes ${(calls / referenceSeconds).toFixed(0)}/s, delivered ${(calls / productSeconds).toFixed(0)}/s, CPU seconds ${JSON.stringify(cpu)}`,
      )
    }
    const measured = pairs.slice(1)
    const sent = calls * pairs.length
    const received = Number(await (await fetch(`http://127.0.0.1:${receiver.port}/calls`)).text()) - 2 * sent
    return {
      figures: [
        {
          measure: 'webhooks delivered a second ÷ bare undici and bare Postgres doing the same calls and writes',
          value: median(measured.map(({ referenceSeconds, productSeconds }) => referenceSeconds / productSeconds)),
          unit: 'ratio',
          firstStage: 0.4,
          goal: 0.7,
        },
        {
          measure: 'webhooks delivered a second ÷ bare undici making the same calls',
          value: median(measured.map(({ callsSeconds, productSeconds }) => callsSeconds / productSeconds)),
          unit: 'ratio',
        },
        {
          measure: 'webhooks delivered',
          value: median(measured.map(({ productSeconds }) => calls / productSeconds)),
          unit: 'requests/s',
        },
      ],
      counts: { sent, acknowledged: sent, stored: received, repeated: Math.max(0, received - sent) },
      remarks: ['Stored are the calls that the receiver had from the product.'],
      settings: { endpoints, events: eachRound, bytes: JSON.stringify(object).length },
      rounds: pairs,
    }
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    await installation.stop()
  }
}

/** @returns the ids of the endpoints */
async function register({ pg, workspaceId, environment }: Installation, url: string): Promise<number[]> {
  const box = makeSecretBox(environment['SECRET_KEY']!, secretBoxPurpose)
  const secret = box.seal(`whsec_${randomBytes(32).toString('base64')}`)
  const rows = await pg.query<{ id: number }>(
    `INSERT INTO webhook_endpoints (workspace_id, url, events, secret)
     SELECT $1::int, $2, '{}', $3::bytea FROM generate_series(1, $4::int) RETURNING id`,
    [workspaceId, url, secret, endpoints],
  )
  return rows.map(({ id }) => id)
}

async function callBarely({ process: child }: BenchChild, round: Omit<ReferenceRound, 'body'>): Promise<number> {
  const about = { id: `evt_${'0'.repeat(32)}`, type: 'post.published', created_at: new Date().toISOString() }
  const body = JSON.stringify({ ...about, workspace_id: 1, data: { object } })
  const done = once(child, 'message')
  child.send({ ...round, body } satisfies ReferenceRound)
  const [{ seconds }] = (await done) as [{ seconds: number }]
  return seconds
}

/** From the commit of the outbox until nothing waits for its record any more. */
async function deliver({ pg, workspaceId }: Installation, count: number): Promise<number> {
  await pg.query(
    `INSERT INTO outbox (workspace_id, event_id, type, object)
     SELECT $1, 'evt_' || md5(random()::text || n), 'post.published', $3 FROM generate_series(1, $2::int) AS n`,
    [workspaceId, count, JSON.stringify(object)],
  )
  const startedAt = performance.now()
  const sql = `SELECT EXISTS (SELECT FROM outbox WHERE fanned_out_at IS NULL)
    OR EXISTS (SELECT FROM webhook_deliveries WHERE status = 'pending') AS "isUnderWay"`
  while ((await pg.query<{ isUnderWay: boolean }>(sql))[0]!.isUnderWay) await sleep(50)
  return (performance.now() - startedAt) / 1000
}
