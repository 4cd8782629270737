/** `fdatasync` fails under load: what was in it is not acknowledged, and what was acknowledged is there once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { exact, judge, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { leaveOut } from '../support/left-out.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { breakSyncs } from '../support/system-tools.ts'

const rounds = isLong ? 10 : 1
const roundMs = 700
const failure = 'a group could not be written'

const stores = setUpStores()
/** That of the test before. */
let ingest: TestIngest

beforeAll(async () => {
  ingest = await startIngest(stores)
})
afterAll(() => ingest?.stop('SIGKILL'))

/** Fails a sync of a group, each thread's first: of every file that syncs at the moment, the one that comes next included. */
async function failSyncs(): Promise<string | undefined> {
  const before = ingest.log.split(failure).length
  const failing = await breakSyncs(ingest.child.pid!, 1)
  if (typeof failing === 'string') return failing
  for (let waited = 0; ingest.log.split(failure).length === before; waited += 10) {
    if (waited > 20_000) throw new Error(`no sync has failed: ${ingest.log}`)
    await sleep(10)
  }
  await failing.end()
  return undefined
}

test(
  'a group whose sync failed is not acknowledged, and its retries count, also where ingest is killed at once and started again',
  async (context) => {
    const failWhereTools = async () => {
      const whyNot = await failSyncs()
      if (whyNot !== undefined) leaveOut(context, whyNot)
    }
    const ledger = openLedger()
    const target = () => ({ trackingUrl: ingest.url, trackingKey: ingest.key })
    for (let round = 0; round < rounds; round++) {
      await ledger.runDuring(
        target,
        async () => {
          await sleep(roundMs)
          await failWhereTools()
          await sleep(roundMs)
          // It goes on by itself.
          expect(ingest.child.exitCode).toBeNull()
          if (round === 0) await expect.poll(() => [...ledger.failures.keys()]).toEqual([503])
          await failWhereTools()
          await ingest.stop('SIGKILL')
          ingest = await startIngest(stores, {}, ingest)
          await sleep(roundMs)
        },
        0,
      )
    }
    await ingest.shipped()
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
  },
  rounds * 300_000,
)

test('while no sync succeeds the health says so in either way of receiving, and events are taken again afterwards', async (context) => {
  const post = async () => (await ingest.post('/track', { tracking_key: ingest.key, event_name: 'one' })).status
  for (const workers of [1, 2]) {
    if (workers > 1) {
      await ingest.stop()
      ingest = await startIngest(stores, { INGEST_WORKERS: String(workers) }, ingest)
    }
    const failing = await breakSyncs(ingest.child.pid!, 10_000)
    if (typeof failing === 'string') leaveOut(context, failing)
    expect(await post()).toBe(503)
    await expect.poll(ingest.health).toMatchObject({ code: 503, reason: 'The event log can’t be written' })
    await failing.end()
    await expect.poll(ingest.health).toMatchObject({ code: 200, reason: null })
    expect(await post()).toBe(202)
  }
})
