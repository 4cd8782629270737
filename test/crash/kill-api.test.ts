/** kill -9 of the API under mutations with Idempotency-Keys, each of which is repeated until it is answered. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { verifyAuditChain } from '../../postgres/tables/audit.ts'
import { sleep } from '../../runtime/retry.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { compileService } from '../support/compile.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

const rounds = process.env['FAULTS'] === 'long' ? 50 : 10
const roundMs = 1_000
const clients = 8

let stores: TestStores
let mine: TestWorkspace
let file: string
let api: { child: ChildProcess; url: string } | undefined
beforeAll(async () => {
  stores = await freshStores()
  mine = await makeWorkspace(stores)
  file = await compileService('api/main.ts')
})
afterEach(() => api?.child.kill('SIGKILL'))
afterAll(() => stores.close())

async function start(): Promise<void> {
  const child = fork(file, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...{ PORT: '0', LOG_LEVEL: 'error', RATE_LIMIT_GROWTH: '1000000000', DATA_DIR: stores.dataDir },
      ...{ DATABASE_URL: stores.databaseUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
      ...{ REDIS_URL: stores.redisUrl, SECRET_KEY: stores.secretKey },
    },
  })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  api = { child, url: `http://127.0.0.1:${port}` }
}

async function kill(): Promise<void> {
  const { child } = api!
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Asks again with the same key, of whichever process lives, until there is an answer. @returns the post's id */
async function create(key: string, signal: AbortSignal): Promise<number | undefined> {
  while (!signal.aborted) {
    try {
      const response = await fetch(`${api!.url}/v1/posts`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${mine.apiKey}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
        },
        body: JSON.stringify({ title: key, base_caption: 'killed' }),
        signal: AbortSignal.timeout(20_000),
      })
      const body = (await response.json()) as { id: number }
      if (response.status === 200) return body.id
      expect([409, 503]).toContain(response.status)
    } catch {
      // The process died: its successor is asked.
    }
    await sleep(20)
  }
  return undefined
}

test(
  `makes one post a key and one audit row a post, over ${rounds} kills in flight, with the chain unbroken`,
  async () => {
    await start()
    const told = new Map<string, number>()
    const stop = new AbortController()
    const giveUp = new AbortController()
    const running = Array.from({ length: clients }, async () => {
      while (!stop.signal.aborted) {
        const key = randomUUID()
        const id = await create(key, giveUp.signal)
        if (id !== undefined) told.set(key, id)
      }
    })
    for (let round = 0; round < rounds; round++) {
      await sleep(roundMs / 2 + Math.random() * roundMs)
      await kill()
      await start()
    }
    stop.abort()
    await Promise.all(running)
    giveUp.abort()

    const posts = await stores.pg.query<{ id: number; title: string; audits: number; records: number }>(
      `SELECT id, title,
         (SELECT count(*) FROM audit_events WHERE action = 'post.create' AND resource_id = posts.id) AS audits,
         (SELECT count(*) FROM idempotency_records WHERE key = posts.title) AS records
       FROM posts WHERE workspace_id = $1`,
      [mine.workspaceId],
    )
    expect(told.size).toBeGreaterThan(10 * rounds)
    expect(new Map(posts.map(({ title, id }) => [title, id]))).toEqual(told)
    expect(posts).toHaveLength(told.size)
    expect(posts.filter(({ audits, records }) => audits !== 1 || records !== 1)).toEqual([])
    const [outbox] = await stores.pg.query<{ told: number; objects: number }>(
      `SELECT count(*) AS told, count(DISTINCT object->>'id') AS objects FROM outbox WHERE type = 'post.created'`,
    )
    expect(outbox).toEqual({ told: told.size, objects: told.size })
    expect(await verifyAuditChain(stores.pg, mine.workspaceId, 30_000)).toEqual({
      rows: told.size,
      firstBroken: null,
      isCut: false,
    })
  },
  (rounds + 5) * 20_000,
)
