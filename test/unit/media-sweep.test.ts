/** The sweep of media as its process stops. */
import { expect, test } from 'vitest'
import { sweepMedia } from '../../api/media/sweep.ts'
import { mediaSweepFilesEach } from '../../schemas/limits/media-limits.ts'

test('a stop ends a sweep that finds nothing to delete', async () => {
  const stopping = new AbortController()
  const files = Array.from({ length: 3 * mediaSweepFilesEach }, (_, n) => Buffer.from([n >> 8, n & 255]))
  const storage = { sweepDrafts: async () => 0, owners: async () => [1], olderFiles: async () => files }
  let portions = 0
  const query = async (_: string, params: readonly unknown[] = []) => {
    if (params.length === 0) return [{ id: 1, madeAt: 0 }]
    portions += 1
    stopping.abort()
    return (params[1] as Buffer[]).map((sha256) => ({ sha256 }))
  }
  await sweepMedia(storage as never, { query } as never, 0, stopping.signal)
  expect(portions).toBe(1)
})
