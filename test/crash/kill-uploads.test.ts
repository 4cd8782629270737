/**
 * kill -9 of the API under uploads: in the middle of a file, between its place on the disk and its row, and elsewhere.
 * Answered uploads are there, and nothing else stays for good.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sweepMedia } from '../../api/media/sweep.ts'
import { verifyAuditChain } from '../../postgres/tables/audit.ts'
import { sleep } from '../../runtime/retry.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { film, formOf, formType, png } from '../support/media-files.ts'
import { exchange } from '../support/raw-http.ts'
import { type ServiceProcess, startApiProcess } from '../support/service-process.ts'
import { drawsOf, isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

const rounds = isLong ? 50 : 5
const draw = drawsOf('kill-uploads')
const clients = 6

const stores = setUpStores()
let mine: TestWorkspace
let api: ServiceProcess
beforeEach(async () => {
  mine = await makeWorkspace(stores)
  api = await startApiProcess(stores)
})
afterEach(() => api.kill())

interface Asset {
  readonly id: number
  readonly size_bytes: number
}

const filePart = (bytes: Buffer, filename: string) => formOf({ name: 'file', filename, value: bytes })

function upload(bytes: Buffer, filename: string, idempotencyKey: string): Promise<Response> {
  return fetch(`${api.url}/v1/media`, {
    method: 'POST',
    headers: {
      ...{ Authorization: `Bearer ${mine.apiKey}`, 'Content-Type': formType },
      'Idempotency-Key': idempotencyKey,
    },
    body: new Blob([filePart(bytes, filename)]),
    signal: AbortSignal.timeout(20_000),
  })
}

async function download(id: number): Promise<Buffer> {
  const headers = { Authorization: `Bearer ${mine.apiKey}` }
  const response = await fetch(`${api.url}/v1/media/${id}/file`, { headers })
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const root = () => join(stores.dataDir, 'media')

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

/** Each row has its audit row and what webhooks are told. */
async function expectWhole(count: number): Promise<void> {
  const told = `SELECT (SELECT count(*) FROM audit_events WHERE workspace_id = $1 AND action = 'media.create') AS audits,
    (SELECT count(*) FROM outbox WHERE workspace_id = $1 AND type = 'media.created') AS told`
  expect(await stores.pg.query(told, [mine.workspaceId])).toEqual([{ audits: count, told: count }])
  const verdict = await verifyAuditChain(stores.pg, mine.workspaceId, 30_000)
  expect(verdict).toEqual({ rows: count, firstBroken: null, isCut: false })
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
  api = await startApiProcess(stores)
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
  const again = await upload(bytes, 'a.png', 'one')
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null])
  const { id } = (await again.json()) as Asset
  expect(await sweepMedia(stores.media, stores.pg, 0)).toEqual({ drafts: 0, files: 0 })
  expect((await download(id)).equals(bytes)).toBe(true)
  expect((await upload(bytes, 'a.png', 'one')).headers.get('idempotent-replayed')).toBe('true')
  expect([await rows(), files()]).toEqual([[sha256(bytes)], [sha256(bytes)]])
  await expectWhole(1)
})

test('an upload that is killed in the middle of its file leaves nothing after the next start, and works again', async () => {
  const bytes = film({ data: 500_000 })
  const form = filePart(bytes, 'a.mp4')
  const head = `POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${mine.apiKey}\r\nContent-Type: ${formType}\r\nIdempotency-Key: three\r\nContent-Length: ${form.length}\r\n\r\n`
  const port = Number(new URL(api.url).port)
  const cut = exchange(port, [head, form.subarray(0, 300_000)], { waitMs: 20_000 })
  await expect.poll(() => drafts().length, { interval: 20 }).toBe(1)
  await api.kill()
  expect((await cut).text).toBe('')
  expect(drafts()).toHaveLength(1)
  api = await startApiProcess(stores)
  await expect.poll(drafts).toEqual([])
  expect([await rows(), files()]).toEqual([[], []])
  const again = await upload(bytes, 'a.mp4', 'three')
  expect(again.status).toBe(200)
  expect((await download(((await again.json()) as Asset).id)).equals(bytes)).toBe(true)
  await expectWhole(1)
})

test(
  `uploads over ${rounds} kills at any moment: what was answered is there once and whole, and after a sweep nothing else is`,
  async () => {
    const told = new Map<string, string>()
    const stop = new AbortController()
    const running = Array.from({ length: clients }, async () => {
      while (!stop.signal.aborted) {
        const bytes = film({ data: 1_000 + Math.floor(draw() * 200_000) })
        randomBytes(16).copy(bytes, bytes.length - 16)
        const key = randomUUID()
        const asset = await uploadUntilAnswered(bytes, key)
        expect(told.has(String(asset.id))).toBe(false)
        told.set(String(asset.id), sha256(bytes))
      }
    })
    for (let round = 0; round < rounds; round++) {
      await sleep(300 + draw() * 700)
      await api.kill()
      api = await startApiProcess(stores)
    }
    stop.abort()
    await Promise.all(running)

    const found = await stores.pg.query<{ id: number; sha256: Buffer }>(
      'SELECT id, sha256 FROM media WHERE workspace_id = $1',
      [mine.workspaceId],
    )
    expect(new Map(found.map((row) => [String(row.id), row.sha256.toString('hex')]))).toEqual(told)
    expect(told.size).toBeGreaterThan(rounds)
    await sweepMedia(stores.media, stores.pg, 0)
    expect(files()).toEqual([...told.values()].sort())
    await expect.poll(drafts).toEqual([])
    for (const name of files()) {
      expect(sha256(readFileSync(join(root(), String(mine.workspaceId), name.slice(0, 2), name)))).toBe(name)
    }
    await expectWhole(told.size)
  },
  300_000 + rounds * 20_000,
)

/** Asks again with the same key, of whichever process lives. */
async function uploadUntilAnswered(bytes: Buffer, key: string): Promise<Asset> {
  for (;;) {
    const answer = await upload(bytes, 'a.mp4', key).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      // The process died: its successor is asked.
      () => undefined,
    )
    if (answer?.status === 200) return JSON.parse(answer.text) as Asset
    if (answer !== undefined) expect([409, 503]).toContain(answer.status)
    await sleep(20)
  }
}
