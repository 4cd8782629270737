/** kill -9 of the API under mutations with Idempotency-Keys, each of which is repeated until it is answered. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { verifyAuditChain } from '../../postgres/tables/audit.ts'
import { sleep } from '../../runtime/retry.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { type ServiceProcess, startApiProcess } from '../support/service-process.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

const rounds = isLong ? 50 : 4
const burstRounds = isLong ? 50 : 2
const roundMs = 1_000
const clients = 8
/** Pause of each client between two posts. */
const pauseMs = isLong ? 0 : 20
const draw = drawsOf('kill-api')

const stores = setUpStores()
let mine: TestWorkspace
let api: ServiceProcess
const started: ServiceProcess[] = []
beforeEach(async () => {
  mine = await makeWorkspace(stores)
})
afterEach(() => Promise.all(started.splice(0).map((one) => one.kill())))

async function start(): Promise<ServiceProcess> {
  const made = await startApiProcess(stores)
  started.push(made)
  return made
}

const createPost = (key: string, signal: AbortSignal) =>
  fetch(`${api.url}/v1/posts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${mine.apiKey}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ title: key, base_caption: 'killed' }),
    signal,
  })

/** Asks again with the same key, of whichever process lives, until there is an answer. @returns the post's id */
async function create(key: string, signal: AbortSignal): Promise<number | undefined> {
  while (!signal.aborted) {
    const answer = await answerOf(createPost(key, AbortSignal.timeout(20_000)))
    if (answer?.status === 200) return (JSON.parse(answer.text) as { id: number }).id
    if (answer !== undefined) expect([409, 503]).toContain(answer.status)
    await sleep(20)
  }
  return undefined
}

/** Undefined where the process died before it had answered: its successor is to be asked. */
function answerOf(asked: Promise<Response>) {
  return asked
    .then(async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }))
    .catch(() => undefined)
}

/** Every post by its key: how many there are, with how many audit rows and records of answers. */
async function stored() {
  return stores.pg.query<{ id: number; title: string; audits: number; records: number }>(
    `SELECT id, title, coalesce(audits, 0) AS audits, coalesce(records, 0) AS records FROM posts
     LEFT JOIN (
       SELECT resource_id, count(*) AS audits FROM audit_events WHERE action = 'post.create' GROUP BY resource_id
     ) audit ON resource_id = id
     LEFT JOIN (SELECT key, count(*) AS records FROM idempotency_records WHERE workspace_id = $1 GROUP BY key) record
       ON key = title
     WHERE workspace_id = $1`,
    [mine.workspaceId],
    { deadlineMs: 60_000 },
  )
}

/** One post of each key, one audit row and one record of each post, and the chain of as many rows. */
async function expectOnce(told: ReadonlyMap<string, number>): Promise<void> {
  const posts = await stored()
  expect(new Map(posts.map(({ title, id }) => [title, id]))).toEqual(told)
  expect(posts).toHaveLength(told.size)
  expect(posts.filter(({ audits, records }) => audits !== 1 || records !== 1)).toEqual([])
  const [outbox] = await stores.pg.query<{ told: number; objects: number }>(
    `SELECT count(*) AS told, count(DISTINCT object->>'id') AS objects FROM outbox
     WHERE type = 'post.created' AND workspace_id = $1`,
    [mine.workspaceId],
  )
  expect(outbox).toEqual({ told: told.size, objects: told.size })
  const verdict = await verifyAuditChain(stores.pg, mine.workspaceId, 30_000)
  expect(verdict).toEqual({ rows: told.size, firstBroken: null, isCut: false })
}

test(
  `makes one post a key and one audit row a post, over ${rounds} kills in flight, with the chain unbroken`,
  async () => {
    api = await start()
    const told = new Map<string, number>()
    const stop = new AbortController()
    const giveUp = new AbortController()
    const running = Array.from({ length: clients }, async () => {
      while (!stop.signal.aborted) {
        const key = randomUUID()
        const id = await create(key, giveUp.signal)
        if (id !== undefined) told.set(key, id)
        await sleep(pauseMs)
      }
    })
    for (let round = 0; round < rounds; round++) {
      await sleep(roundMs / 2 + draw() * roundMs)
      await api.kill()
      api = await start()
    }
    stop.abort()
    await Promise.all(running)
    giveUp.abort()
    // Some were made between any two kills, however busy the machine is.
    expect(told.size).toBeGreaterThan(rounds)
    await expectOnce(told)
  },
  300_000 + rounds * 20_000,
)

const inProgress = '{"detail":"A request with this Idempotency-Key is still in progress"}'

interface Burst {
  /** Bodies of 200, each with whether it is a replay. */
  readonly done: readonly (readonly [body: string, isReplay: boolean])[]
  readonly cut: number
}

/** A hundred equal requests at once, which are answered as they may be, or cut. */
async function burst(key: string): Promise<Burst> {
  const done: [string, boolean][] = []
  let cut = 0
  await Promise.all(
    Array.from({ length: 100 }, async () => {
      const answer = await answerOf(createPost(key, AbortSignal.timeout(20_000)))
      if (answer === undefined) cut += 1
      else if (answer.status === 200) done.push([answer.text, answer.headers.get('idempotent-replayed') === 'true'])
      else expect([answer.status, answer.headers.get('retry-after'), answer.text]).toEqual([409, '1', inProgress])
    }),
  )
  return { done, cut }
}

test(
  `of a hundred equal requests at once one is the original, the others equal replays or 409, over ${burstRounds} rounds, with a kill in flight in each`,
  async () => {
    api = await start()
    const told = new Map<string, number>()
    let cut = 0
    for (let round = 0; round < burstRounds; round++) {
      const whole = await burst(`whole ${round}`)
      expect(whole.done.filter(([, isReplay]) => !isReplay)).toHaveLength(1)
      expect([new Set(whole.done.map(([body]) => body)).size, whole.cut]).toEqual([1, 0])
      told.set(`whole ${round}`, (JSON.parse(whole.done[0]![0]) as { id: number }).id)

      const key = `killed ${round}`
      const killed = burst(key)
      await sleep(draw() * 60)
      await api.kill()
      api = await start()
      const again = await burst(key)
      const { done: before, cut: cutInFlight } = await killed
      cut += cutInFlight
      const done = [...before, ...again.done]
      // The original may have been cut from its answer; its successors are replays of it all the same.
      expect(done.filter(([, isReplay]) => !isReplay).length).toBeLessThanOrEqual(1)
      expect([new Set(done.map(([body]) => body)).size, again.cut]).toEqual([1, 0])
      told.set(key, (JSON.parse(done[0]![0]) as { id: number }).id)
    }
    expect(cut).toBeGreaterThan(0)
    await expectOnce(told)
  },
  300_000 + burstRounds * 20_000,
)

/** Who waits to append to a chain. */
const waitingSql = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%append_audit_event%'`

test('a holder that is killed at the last statement of its work leaves nothing of it, and its key free', async () => {
  const survivor = await start()
  const holder = await start()
  api = survivor
  const first = await create('first', AbortSignal.timeout(20_000))
  await stores.pg.transaction(async (tx) => {
    // The chain is ours until the end of this transaction.
    await tx.query('SELECT 1 FROM audit_heads WHERE workspace_id = $1 FOR UPDATE', [mine.workspaceId])
    api = holder
    const cut = createPost('held', AbortSignal.timeout(20_000)).catch(() => 'cut')
    await expect.poll(async () => (await stores.pg.query(waitingSql)).length, { interval: 20 }).toBe(1)
    api = survivor
    expect((await createPost('held', AbortSignal.timeout(20_000))).status).toBe(409)
    await holder.kill()
    expect(await cut).toBe('cut')
  })
  let answer: Response | undefined
  await expect
    .poll(async () => {
      answer = await createPost('held', AbortSignal.timeout(20_000))
      return answer.status
    })
    .toBe(200)
  expect(answer!.headers.get('idempotent-replayed')).toBeNull()
  const { id } = (await answer!.json()) as { id: number }
  await expectOnce(new Map([['first', first!]]).set('held', id))
})
