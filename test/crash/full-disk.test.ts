/** The disk of ingest's folder fills up under load and is freed again: nothing that was acknowledged is lost. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statfsSync, unlinkSync } from 'node:fs'
import { open, watch } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test, vi } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { sleep } from '../../runtime/retry.ts'
import { storeSettings } from '../support/command-line.ts'
import { testLogFileBytes } from '../support/compile.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { leaveOut } from '../support/left-out.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { mountSmallDisk, unmount } from '../support/system-tools.ts'

const rounds = isLong ? 5 : 1
const roundMs = isLong ? 1_000 : 500
const mebibyte = 2 ** 20
/**
 * Each stream has a file in use and a spare one, and keeps its full files for minutes. The load fills some in its
 * seconds.
 */
const diskBytes = 24 * testLogFileBytes
/** Room for the files that a start makes. It is memory that is filled, at several disks at once. */
const startDiskBytes = 12 * testLogFileBytes
const thresholdBytes = testLogFileBytes
/** In short only against hanging: other files use the machine. */
const acceptsAgainMs = isLong ? 5_000 : 60_000

const stores = setUpStores()

/** Takes all free space but `leftBytes`, in a file of its own. */
async function fillDisk(folder: string, leftBytes: number): Promise<void> {
  const file = await open(join(folder, 'filler'), 'w')
  const piece = Buffer.alloc(mebibyte / 4)
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(folder)
      const bytes = Math.min(piece.length, bavail * bsize - leftBytes)
      if (bytes <= 0) return
      await file.write(piece, 0, bytes)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}

/** All streams have the next file ready: what fills the disk now takes it from nobody but the ones after. */
async function sparesReady(folder: string): Promise<void> {
  const isReady = (stream: string) => readdirSync(join(folder, stream)).some((name) => /^spare-\d+\.log$/.test(name))
  await vi.waitUntil(() => ['events', 'bot_visits', 'link_clicks'].every(isReady), { timeout: 60_000 })
}

/** Makes the folder a disk of its own for a test. */
function onSmallDisk(context: TestContext, folder: string, bytes: number): void {
  const whyNot = mountSmallDisk(folder, bytes)
  if (whyNot !== undefined) leaveOut(context, whyNot)
  context.onTestFinished(() => unmount(folder))
}

/** Ends a node with the test. */
function endAfter(context: TestContext, node: TestIngest): TestIngest {
  context.onTestFinished(async () => void (await node.stop('SIGKILL')))
  return node
}

const isTaken = async (node: TestIngest) =>
  (await node.post('/track', { tracking_key: node.key, event_name: 'a' })).status === 202
const soon = { timeout: acceptsAgainMs }

const cases = [
  {
    fills: 'below DISK_FREE_BYTES_MIN',
    diskFreeBytesMin: thresholdBytes,
    leftBytes: thresholdBytes / 2,
    paddingBytes: 0,
  },
  // Not a byte is left: the log's next file can't be made, nor can a manifest be written.
  { fills: 'to the last byte', diskFreeBytesMin: 0, leftBytes: 0, paddingBytes: 15_000 },
]

// In short all at once: half of it is waiting.
const atOnce = isLong ? test : test.concurrent
atOnce.for(
  Array.from({ length: rounds }, () => cases)
    .flat()
    .map((one, nth) => ({ ...one, nth })),
)(
  'a disk that fills up $fills is answered 503 with Retry-After, and events are taken again soon after there is room, none lost',
  async ({ diskFreeBytesMin, leftBytes, paddingBytes, nth }, context) => {
    const { expect } = context
    const dataDir = join(stores.dataDir, String(nth))
    const folder = join(dataDir, 'ingest')
    onSmallDisk(context, folder, diskBytes)
    const env = { DATA_DIR: dataDir, DISK_FREE_BYTES_MIN: String(diskFreeBytesMin) }
    const node = endAfter(context, await startIngest(stores, env))
    await sparesReady(folder)
    // Faster than elsewhere, because a file of the log has to fill up.
    const ledger = openLedger({ paddingBytes, pauseMs: isLong ? 0 : 50 })
    const target = () => ({ trackingUrl: node.url, trackingKey: node.key })
    await ledger.runDuring(
      target,
      async () => {
        await sleep(roundMs)
        await fillDisk(folder, leftBytes)
        await vi.waitUntil(() => ledger.failures.has(503), { timeout: 120_000 })
        await sleep(roundMs)
        const refused = await node.post('/track', { tracking_key: node.key, event_name: 'a' })
        expect(refused.status).toBe(503)
        expect(refused.headers.get('retry-after')).toBe('5')

        unlinkSync(join(folder, 'filler'))
        await vi.waitUntil(() => isTaken(node), soon)
        await sleep(roundMs)
      },
      100,
    )
    // Refusals and nothing else: no connection was cut, and nothing failed in another way.
    expect([...ledger.failures.keys()]).toEqual([503])
    expect(node.child.exitCode).toBeNull()
    expect(/ENOSPC/.test(node.log)).toBe(leftBytes === 0)
    await node.shipped()
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
  },
)

atOnce(
  'a start on a disk without room waits, leaves the last bytes to others, and takes events then',
  async (context) => {
    const { expect } = context
    const dataDir = join(stores.dataDir, 'start')
    const folder = join(dataDir, 'ingest')
    onSmallDisk(context, folder, startDiskBytes)
    const leftBytes = mebibyte / 2
    await fillDisk(folder, leftBytes)
    const isLeft = () => {
      const { bavail, bsize } = statfsSync(folder)
      return bavail * bsize > leftBytes / 2
    }
    const starting = startIngest(stores, { DATA_DIR: dataDir, DISK_FREE_BYTES_MIN: '0' })
    let changes = 0
    for await (const { eventType, filename } of watch(folder, { signal: AbortSignal.timeout(acceptsAgainMs) })) {
      // Made, removed, and made again: one try has failed.
      if (eventType === 'rename' && filename === 'room.new' && ++changes === 3) break
    }
    await vi.waitUntil(isLeft, soon)
    unlinkSync(join(folder, 'filler'))
    expect(await isTaken(endAfter(context, await starting))).toBe(true)
  },
)

atOnce('a start on a disk without room for the files of the log waits, and begins none of them', async (context) => {
  const { expect } = context
  const dataDir = join(stores.dataDir, 'files')
  const folder = join(dataDir, 'ingest')
  onSmallDisk(context, folder, startDiskBytes)
  await fillDisk(folder, testLogFileBytes - mebibyte)
  const starting = startIngest(stores, { DATA_DIR: dataDir, DISK_FREE_BYTES_MIN: '0' })
  for await (const { filename } of watch(folder, { recursive: true, signal: AbortSignal.timeout(acceptsAgainMs) })) {
    if (String(filename).startsWith('events')) break
  }
  // Longer than between two tries.
  await sleep(3_000)
  expect(readdirSync(join(folder, 'events'))).toEqual([])
  unlinkSync(join(folder, 'filler'))
  expect(await isTaken(endAfter(context, await starting))).toBe(true)
})

atOnce('`npm start` says which service waits for room, and stops when it is told to', async (context) => {
  const { expect } = context
  const dataDir = join(stores.dataDir, 'product')
  onSmallDisk(context, dataDir, startDiskBytes)
  await fillDisk(dataDir, 32 * mebibyte)
  const child = spawn(process.execPath, [projectFile('dist/start/main.js')], {
    env: { ...process.env, ...storeSettings(stores), PORT: '0', DATA_DIR: dataDir },
  })
  context.onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  await vi.waitUntil(() => output.includes('room'), { timeout: 60_000 })
  child.kill('SIGTERM')
  await once(child, 'close')
  expect(output).toContain("svc: ingest isn't up yet: the disk is full: the start waits for room\n")
  expect([child.exitCode, output.endsWith('svc: stopping\nsvc: stopped\n')]).toEqual([0, true])
})
