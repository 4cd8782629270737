/** Memory of the API while large films come and go: bounded, however large they are. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFront } from '../../start/front/front.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { boundary, filmHead, formType, partHead } from '../support/media-files.ts'
import { exchange } from '../support/raw-http.ts'
import { type ServiceProcess, startApiProcess } from '../support/service-process.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

const MiB = 2 ** 20
/** More than twice what memory may grow by. */
const filmBytes = (isLong ? 500 : 136) * MiB
const growthMax = 64 * MiB
/** Longer than idle connections are kept between the front and a service, and shorter than a stalled sender is. */
const pauseMs = 5_000

const stores = setUpStores()
let mine: TestWorkspace
let api: ServiceProcess
let port = 0
beforeAll(async () => {
  mine = await makeWorkspace(stores)
  api = await startApiProcess(stores)
  port = Number(new URL(api.url).port)
})
afterAll(() => api?.kill())

/** Bytes in memory: now, and at most since it started. */
function memory(): { now: number; peak: number } {
  const status = readFileSync(`/proc/${api.child.pid}/status`, 'latin1')
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) * 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

const filler = Buffer.alloc(MiB, 'film')

/** The pieces of a form with a film of so many bytes of data. */
function* formWith(data: number): Generator<Buffer> {
  yield partHead({ name: 'file', filename: 'film.mp4', type: 'video/mp4' })
  yield filmHead({ data })
  for (let left = data; left > 0; left -= MiB) yield filler.subarray(0, Math.min(left, MiB))
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

function headOf(length: number, key = mine.apiKey): string {
  return `POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${formType}\r\nContent-Length: ${length}\r\n\r\n`
}

interface Sending {
  /** The first ones of the form; all of it when left out. */
  readonly bytes?: number
  readonly to?: number
  readonly key?: string
}

interface Sent {
  readonly socket: Socket
  /** The answer so far. */
  said(): string
}

/** Sends the form with a film of `data` bytes. */
async function send(
  data: number,
  { bytes = Number.POSITIVE_INFINITY, to = port, key = mine.apiKey }: Sending = {},
): Promise<Sent> {
  const length = [...formWith(0)].reduce((sum, piece) => sum + piece.length, 0) + data
  const socket = connect(to, '127.0.0.1')
  socket.on('error', () => {})
  let text = ''
  // From the start: a reset takes what nobody has read, and a refusal may come before the last piece is sent.
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.setMaxListeners(0)
  socket.write(headOf(length, key))
  let sent = 0
  for (const piece of formWith(data)) {
    if (sent > bytes || socket.destroyed) break
    sent += piece.length
    // Whoever refuses it closes the connection, which ends the wait with an error.
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
  }
  return { socket, said: () => text }
}

async function answerOf({ socket, said }: Sent, status = 200): Promise<{ id: number; size_bytes: number }> {
  await expect.poll(said).toMatch(/\}$/)
  socket.destroy()
  expect(said().slice(0, 13)).toBe(`HTTP/1.1 ${status} `)
  return JSON.parse(said().slice(said().indexOf('{')))
}

/** Answers the status. A machine that stands still makes it 503, and who sends sends again. */
async function sendInPieces(to: number): Promise<number | undefined> {
  const pieces = [...formWith(1000)]
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  // The film is under way once its head has come.
  const spaced = pieces.flatMap((piece, at) => [at === pieces.length - 1 ? pauseMs : 50, piece])
  const { statuses } = await exchange(to, [headOf(length), ...spaced], { until: /\}$/, waitMs: 60_000 })
  return statuses[0]
}

const drafts = () => {
  const folder = join(stores.dataDir, 'media', 'drafts')
  return existsSync(folder) ? readdirSync(folder) : []
}

test(`a film of ${filmBytes / MiB} MB comes and goes in constant memory`, async () => {
  await answerOf(await send(8 * MiB))
  const before = memory()
  const data = filmBytes
  const { id, size_bytes } = await answerOf(await send(data))
  expect(size_bytes).toBe(data + filmHead().length)
  expect(memory().peak - before.now).toBeLessThan(growthMax)

  const response = await fetch(`http://127.0.0.1:${port}/v1/media/${id}/file`, {
    headers: { Authorization: `Bearer ${mine.apiKey}` },
  })
  const [got, sent] = [createHash('sha256'), createHash('sha256')]
  for await (const chunk of response.body!) got.update(chunk)
  for (const piece of [...formWith(data)].slice(1, -1)) sent.update(piece)
  expect(got.digest('hex')).toBe(sent.digest('hex'))
  expect(memory().peak - before.now).toBeLessThan(growthMax)
})

test('films of many senders that stop in the middle take little memory, and nothing once they have gone', async () => {
  const before = memory().now
  const senders = await Promise.all(Array.from({ length: 12 }, () => send(50 * MiB, { bytes: 4 * MiB })))
  await expect.poll(() => drafts().length).toBe(12)
  expect(memory().now - before).toBeLessThan(growthMax)
  for (const { socket } of senders) socket.destroy()
  await expect.poll(drafts).toEqual([])
})

test('a film goes through the front of `npm start`, in pieces as well, and a refusal of a large one comes back', async () => {
  const front = await startFront({
    host: '127.0.0.1',
    port: 0,
    countryHeader: 'x-country',
    trustedProxies: [],
    portOf: () => port,
    page: async () => '',
  })
  try {
    const { size_bytes } = await answerOf(await send(16 * MiB, { to: front.port }))
    expect(size_bytes).toBe(16 * MiB + filmHead().length)
    await answerOf(await send(16 * MiB, { to: front.port, key: 'svc_sk_none' }), 401)

    let status: number | undefined
    do status = await sendInPieces(front.port)
    while (status === 503)
    expect(status).toBe(200)
  } finally {
    await front.close()
  }
})
