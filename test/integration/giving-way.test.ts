/** How nice the threads of ingest are, as the kernel has it: nicer while they keep up, and as nice as any where they don't. */
import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { lateMsMax, mayTakeBack } from '../../runtime/giving-way.ts'
import { sleep } from '../../runtime/retry.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { leaveOut } from '../support/left-out.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores?.close())
beforeEach((context) => {
  if (!mayTakeBack(own)) leaveOut(context, 'needs Linux and the right to be less nice again (CAP_SYS_NICE)')
})

const own = getPriority()
/** It looks every two seconds, and hurries for ten. */
const noticedWithinMs = 3_000

/** How many threads of it are nicer than this process. */
function givingWay({ child }: TestIngest): number {
  const threads = readdirSync(`/proc/${child.pid}/task`).map(Number)
  return threads.filter((thread) => getPriority(thread) > own).length
}

test('ingest gives way, and to none once it came round late', async () => {
  const ingest = await startIngest(stores)
  try {
    await expect.poll(() => givingWay(ingest)).toBe(1)
    // A stop that ends just as ingest looks at its delays is missed: another one follows.
    await vi.waitUntil(async () => {
      ingest.child.kill('SIGSTOP')
      await sleep(2 * lateMsMax)
      ingest.child.kill('SIGCONT')
      await sleep(noticedWithinMs)
      return givingWay(ingest) === 0
    }, 60_000)
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
