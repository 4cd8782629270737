import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let ingest: TestIngest
beforeAll(async () => {
  ingest = await startIngest(stores)
})
afterAll(() => ingest?.stop())

describe('the folder of an ingest node', () => {
  it('is refused to a second process, in one line', async () => {
    await expect(startIngest(stores, {}, ingest)).rejects.toThrow(
      /ended at its start: .* is in use by another process \(\d+\)\n$/,
    )
  })

  it('is taken over from one that was killed', async () => {
    await ingest.stop('SIGKILL')
    ingest = await startIngest(stores, {}, ingest)
    expect((await ingest.post('/track', { tracking_key: ingest.key, event_name: 'a' })).status).toBe(202)
  })
})
