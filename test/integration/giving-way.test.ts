/** How nice the threads of ingest are, as the kernel has it: nicer while they keep up, and as nice as any where they don't. */
import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { mayTakeBack } from '../../runtime/giving-way.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { freshStores, type TestStores } from '../support/stores.ts'
import { leaveOut } from '../support/system-tools.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores?.close())
beforeEach((context) => {
  if (!mayTakeBack(own)) leaveOut(context, 'needs Linux and the right to be less nice again (CAP_SYS_NICE)')
})

const own = getPriority()

/** How many threads of it are nicer than this process. */
function givingWay({ child }: TestIngest): number {
  const threads = readdirSync(`/proc/${child.pid}/task`).map(Number)
  return threads.filter((thread) => getPriority(thread) > own).length
}

/** Four senders, until `isOver`. */
async function keepBusy(ingest: TestIngest, isOver: () => boolean): Promise<void> {
  const event = { event_name: 'pageview', url: 'https://example.com/', properties: { text: 'a'.repeat(500) } }
  const body = JSON.stringify({ tracking_key: ingest.key, events: Array(500).fill(event) })
  const send = async () => {
    while (!isOver()) expect((await ingest.post('/track/batch', body)).status).toBe(202)
  }
  await Promise.all([send(), send(), send(), send()])
}

test('ingest gives way, and to none once its thread has no room to wait', async () => {
  const ingest = await startIngest(stores)
  try {
    await expect.poll(() => givingWay(ingest)).toBe(1)
    let isHurried = false
    const busy = keepBusy(ingest, () => isHurried)
    await expect
      .poll(() => givingWay(ingest))
      .toBe(0)
      .finally(() => (isHurried = true))
    await busy
    await expect.poll(() => givingWay(ingest)).toBe(1)
  } finally {
    await ingest.stop()
  }
})

test('each of its workers does, beside the thread that ships', async () => {
  const ingest = await startIngest(stores, { INGEST_WORKERS: '2' })
  try {
    await expect.poll(() => givingWay(ingest)).toBe(3)
  } finally {
    await ingest.stop()
  }
})
