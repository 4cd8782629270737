/** The journal of shipping on a disk that fails. */
import { closeSync, openSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ShipJournal } from '../../ingest/ship/journal.ts'
import type { Manifest } from '../../ingest/ship/manifest.ts'
import { unfinishedManifests } from '../../ingest/ship/unfinished.ts'
import { setUpLogFolder, silent } from '../support/log-fixture.ts'

let folder: string
setUpLogFolder((made) => {
  folder = made
})
const open = () => ShipJournal.open(join(folder, 'journal'), 'boot', 600_000, silent)

/** From now on its lines go to a device, until it is written anew. */
function writeTo(journal: ShipJournal, device: string): void {
  const file = journal as unknown as { fd: number }
  closeSync(file.fd)
  file.fd = openSync(device, 'w')
}

function manifest(number: number, file: number): Manifest {
  const segment = { number, folder: 0, file, start: 4096, end: 8192, rows: 10, rowFormat: 1 }
  const rest = { dropped: {}, rows: 10, hasSides: false, keys: [] }
  return { id: number * 2, part: 'all', segments: [segment], ...rest }
}

test('a line behind one that was written by half is read', async () => {
  const journal = await open()
  const first = await journal.freeze(manifest(1, 1))
  await appendFile(join(folder, 'journal'), '{"t":"loaded"')
  writeTo(journal, '/dev/full')
  await expect(journal.markLoaded(first, 1000)).rejects.toThrow('no space left')
  await journal.freeze(manifest(2, 1))
  await journal.close()
  const again = await open()
  expect([...again.frozenParts().keys()]).toEqual([1, 2])
  expect(again.mayLackMarks).toBe(false)
  await again.close()
})

test('a file whose sync failed as a log file was released is written anew', async () => {
  const journal = await open()
  await journal.markLoaded(await journal.freeze(manifest(1, 1)), 1000)
  await journal.freeze(manifest(2, 2))
  const rewritten = vi.spyOn(journal as unknown as { rewriteNow(): Promise<void> }, 'rewriteNow')
  // It takes any bytes, and can't be synced.
  writeTo(journal, '/dev/null')
  await expect(journal.markReleased(0, 1)).rejects.toThrow('EINVAL')
  expect(rewritten).toHaveBeenCalledTimes(1)
  await journal.markReleased(0, 1)
  await journal.close()
  const again = await open()
  expect([...again.frozenParts().keys()]).toEqual([2])
  await again.close()
})

test('a manifest whose segments are gone goes on where that can’t be noted', async () => {
  const journal = await open()
  await journal.freeze(manifest(1, 1))
  const setAside = async () => {
    throw new Error('no space left on device')
  }
  const [state] = unfinishedManifests({ stream: 'events', journal, setAside, log: silent }, [])
  expect(state!.manifest.segments).toEqual([])
  await journal.close()
})
