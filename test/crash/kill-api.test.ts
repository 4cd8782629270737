/**
 * kill -9 of the API under mutations with Idempotency-Keys, each of which is repeated until it is answered: posts, and
 * uploads, also in the middle of a file, and between its place on the disk and its row. All that was answered is there once, and
 * nothing else stays for good.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { sweepMedia } from '../../api/media/sweep.ts'
import { verifyAuditChain } from '../../postgres/tables/workspaces/audit.ts'
import { sleep } from '../../runtime/retry.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { film, formOf, formType, png } from '../support/media-files.ts'
import { exchange } from '../support/raw-http.ts'
import { type ServiceProcess, startApiProcess } from '../support/service-process.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

const rounds = isLong ? 50 : 1
const roundMs = 1_000
const clients = { posting: 8, uploading: 6 }
/** Pause of each client between two of its works: in short some of each are under way at a kill, and cores are left. */
const pauseMs = isLong ? { posting: 0, uploading: 0 } : { posting: 40, uploading: 80 }
const draw = drawsOf('kill-api')
/** Only against hanging: a process that is killed resets its connections. */
const withinMs = 120_000

const stores = setUpStores()
let mine: TestWorkspace
/** That of the test before, unless it failed between a kill and the next start. */
let api: ServiceProcess
const started: ServiceProcess[] = []
beforeEach(async () => {
  mine = await makeWorkspace(stores)
  if (!started.some((one) => one === api && one.child.signalCode === null)) api = await start()
})
afterAll(() => Promise.all(started.map((one) => one.kill())))

async function start(): Promise<ServiceProcess> {
  const made = await startApiProcess(stores)
  started.push(made)
  return made
}

const createPost = (key: string) =>
  fetch(`${api.url}/v1/posts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${mine.apiKey}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ title: key, base_caption: 'killed' }),
    signal: AbortSignal.timeout(withinMs),
  })

const uploadForm = (bytes: Buffer, filename: string) => formOf({ name: 'file', filename, value: bytes })

const upload = (bytes: Buffer, filename: string, key: string) =>
  fetch(`${api.url}/v1/media`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${mine.apiKey}`, 'Content-Type': formType, 'Idempotency-Key': key },
    body: new Blob([uploadForm(bytes, filename)]),
    signal: AbortSignal.timeout(withinMs),
  })

/** Asks again with the same key, of whichever process lives, until there is an answer. @returns the id of what was made */
async function untilMade(ask: () => Promise<Response>): Promise<number> {
  for (;;) {
    const answer = await answerOf(ask())
    if (answer?.status === 200) return (JSON.parse(answer.text) as { id: number }).id
    if (answer !== undefined) expect([409, 503]).toContain(answer.status)
    await sleep(20)
  }
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

/** One post of each key, one audit row and one record of each post, and the chain of as many rows and those of uploads. */
async function expectOnce(told: ReadonlyMap<string, number>, uploads = 0): Promise<void> {
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
  expect(verdict).toEqual({ rows: told.size + uploads, firstBroken: null, isCut: false })
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const root = () => join(stores.dataDir, 'media')

/** Postgres may not have heard yet that the killed holder of the key has gone. */
async function uploadOnceFree(bytes: Buffer, filename: string, key: string): Promise<Response> {
  for (;;) {
    const answer = await upload(bytes, filename, key)
    if (answer.status !== 409) return answer
    await answer.text()
    await sleep(20)
  }
}

/** The names of the workspace's files: their SHA-256. */
function files(): string[] {
  const folder = join(root(), String(mine.workspaceId))
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.split('/').at(-1)!)
    .sort()
}
const drafts = () => (existsSync(join(root(), 'drafts')) ? readdirSync(join(root(), 'drafts')) : [])

async function rows(): Promise<string[]> {
  const found = await stores.pg.query<{ sha256: Buffer }>('SELECT sha256 FROM media WHERE workspace_id = $1', [
    mine.workspaceId,
  ])
  return found.map((row) => row.sha256.toString('hex')).sort()
}

/** Each upload is there, and no other; its audit row, and what webhooks are told of it. */
async function expectUploads(told: ReadonlyMap<number, string>): Promise<void> {
  const found = await stores.pg.query<{ id: number; sha256: Buffer }>(
    'SELECT id, sha256 FROM media WHERE workspace_id = $1',
    [mine.workspaceId],
  )
  expect(new Map(found.map((row) => [row.id, row.sha256.toString('hex')]))).toEqual(told)
  await sweepMedia(stores.media, stores.pg, 0)
  expect(files()).toEqual([...told.values()].sort())
  await expect.poll(drafts).toEqual([])
  for (const name of files()) {
    expect(sha256(readFileSync(join(root(), String(mine.workspaceId), name.slice(0, 2), name)))).toBe(name)
  }
  const counts = `SELECT (SELECT count(*) FROM audit_events WHERE workspace_id = $1 AND action = 'media.create') AS audits,
    (SELECT count(*) FROM outbox WHERE workspace_id = $1 AND type = 'media.created') AS told`
  expect(await stores.pg.query(counts, [mine.workspaceId])).toEqual([{ audits: told.size, told: told.size }])
}

test(
  `makes one post a key, one file an upload and one audit row each, over ${rounds} kills in flight, with the chain unbroken`,
  async () => {
    const posts = new Map<string, number>()
    const uploads = new Map<number, string>()
    const stop = new AbortController()
    const client = async (work: (key: string) => Promise<void>) => {
      while (!stop.signal.aborted) await work(randomUUID())
    }
    const post = async (key: string) => {
      posts.set(key, await untilMade(() => createPost(key)))
      await sleep(pauseMs.posting)
    }
    const send = async (key: string) => {
      const bytes = film({ data: 1_000 + Math.floor(draw() * 200_000) })
      randomBytes(16).copy(bytes, bytes.length - 16)
      const id = await untilMade(() => upload(bytes, 'a.mp4', key))
      expect(uploads.has(id)).toBe(false)
      uploads.set(id, sha256(bytes))
      await sleep(pauseMs.uploading)
    }
    const running = [
      ...Array.from({ length: clients.posting }, () => client(post)),
      ...Array.from({ length: clients.uploading }, () => client(send)),
    ]
    for (let round = 0; round < rounds; round++) {
      await sleep(roundMs / 2 + draw() * roundMs)
      await api.kill()
      api = await start()
    }
    await vi.waitUntil(() => Math.min(posts.size, uploads.size) > rounds, { timeout: 120_000 })
    stop.abort()
    await Promise.all(running)
    await expectOnce(posts, uploads.size)
    await expectUploads(uploads)
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
      const answer = await answerOf(createPost(key))
      if (answer === undefined) cut += 1
      else if (answer.status === 200) done.push([answer.text, answer.headers.get('idempotent-replayed') === 'true'])
      else expect([answer.status, answer.headers.get('retry-after'), answer.text]).toEqual([409, '1', inProgress])
    }),
  )
  return { done, cut }
}

test(
  `of a hundred equal requests at once one is the original, the others equal replays or 409, over ${rounds} rounds, with a kill in flight in each`,
  async () => {
    const told = new Map<string, number>()
    let cut = 0
    for (let round = 0; round < rounds; round++) {
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
    // A single kill may come when this process has stood still, and all are answered.
    if (isLong) expect(cut).toBeGreaterThan(0)
    await expectOnce(told)
  },
  300_000 + rounds * 20_000,
)

/** Who waits to append to a chain. */
const waitingSql = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%append_audit_event%'`

test('a holder that is killed at the last statement of its work leaves nothing of it, and its key free', async () => {
  const survivor = api
  const holder = await start()
  const first = await untilMade(() => createPost('first'))
  await stores.pg.transaction(async (tx) => {
    // The chain is ours until the end of this transaction.
    await tx.query('SELECT 1 FROM audit_heads WHERE workspace_id = $1 FOR UPDATE', [mine.workspaceId])
    api = holder
    const cut = createPost('held').catch(() => 'cut')
    await expect.poll(async () => (await stores.pg.query(waitingSql)).length, { interval: 20 }).toBe(1)
    api = survivor
    expect((await createPost('held')).status).toBe(409)
    await holder.kill()
    expect(await cut).toBe('cut')
  })
  let answer: Response | undefined
  await expect
    .poll(async () => {
      answer = await createPost('held')
      return answer.status
    })
    .toBe(200)
  expect(answer!.headers.get('idempotent-replayed')).toBeNull()
  const { id } = (await answer!.json()) as { id: number }
  await expectOnce(new Map([['first', first!]]).set('held', id))
})

async function download(id: number): Promise<Buffer> {
  const headers = { Authorization: `Bearer ${mine.apiKey}` }
  const response = await fetch(`${api.url}/v1/media/${id}/file`, { headers })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

/** Nothing else was made in the workspace. */
async function expectOnlyUpload(id: number, bytes: Buffer): Promise<void> {
  await expectUploads(new Map([[id, sha256(bytes)]]))
  await expectOnce(new Map(), 1)
}

/** Uploads the bytes, and kills the API once they are in their place and their row is about to be written. */
async function killBeforeTheRow(bytes: Buffer, idempotencyKey: string): Promise<void> {
  await stores.pg.transaction(async (tx) => {
    await tx.query('LOCK TABLE media IN SHARE MODE')
    const cut = upload(bytes, 'a.png', idempotencyKey).catch(() => 'cut')
    await expect.poll(files, { interval: 20 }).toEqual([sha256(bytes)])
    await api.kill()
    expect(await cut).toBe('cut')
  })
  api = await start()
}

test.each([
  ['swept, and the same upload works again', true],
  ['taken over by the same upload, which no sweep undoes', false],
])('a file whose upload was killed before its row is %s', async (_, isSwept) => {
  const bytes = png({ padTo: 5_000 })
  await killBeforeTheRow(bytes, 'one')
  expect([await rows(), files()]).toEqual([[], [sha256(bytes)]])
  if (isSwept) {
    // As the sweep of every hour, of files of any age.
    await expect.poll(async () => (await sweepMedia(stores.media, stores.pg, 0)).files).toBe(1)
    expect(files()).toEqual([])
  }
  const again = await uploadOnceFree(bytes, 'a.png', 'one')
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null])
  const { id } = (await again.json()) as { id: number }
  expect(await sweepMedia(stores.media, stores.pg, 0)).toEqual({ drafts: 0, files: 0 })
  expect((await download(id)).equals(bytes)).toBe(true)
  expect((await upload(bytes, 'a.png', 'one')).headers.get('idempotent-replayed')).toBe('true')
  await expectOnlyUpload(id, bytes)
})

test('an upload that is killed in the middle of its file leaves nothing after the next start, and works again', async () => {
  const bytes = film({ data: 500_000 })
  const form = uploadForm(bytes, 'a.mp4')
  const head = `POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${mine.apiKey}\r\nContent-Type: ${formType}\r\nIdempotency-Key: three\r\nContent-Length: ${form.length}\r\n\r\n`
  const port = Number(new URL(api.url).port)
  const cut = exchange(port, [head, form.subarray(0, 300_000)], { waitMs: withinMs })
  await expect.poll(() => drafts().length, { interval: 20 }).toBe(1)
  await api.kill()
  expect((await cut).text).toBe('')
  expect(drafts()).toHaveLength(1)
  api = await start()
  await expect.poll(drafts).toEqual([])
  expect([await rows(), files()]).toEqual([[], []])
  const again = await uploadOnceFree(bytes, 'a.mp4', 'three')
  expect(again.status).toBe(200)
  const { id } = (await again.json()) as { id: number }
  expect((await download(id)).equals(bytes)).toBe(true)
  await expectOnlyUpload(id, bytes)
})
