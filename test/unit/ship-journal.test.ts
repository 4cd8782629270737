import { appendFile, copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ShipJournal } from '../../ingest/ship/journal.ts'
import type { Manifest } from '../../ingest/ship/manifest.ts'
import { setUpLogFolder, silent } from '../support/log-fixture.ts'

let folder: string
setUpLogFolder((made) => {
  folder = made
})
const opened: ShipJournal[] = []
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close()
})

async function open(bootId = 'boot', name = 'journal'): Promise<ShipJournal> {
  const journal = await ShipJournal.open(join(folder, name), bootId, 600_000, silent)
  opened.push(journal)
  return journal
}

function manifest(number: number, file = 1, hasSides = false): Manifest {
  const segment = { number, folder: 0, file, start: 4096, end: 8192, rows: 10, rowFormat: 1 }
  return {
    id: number * 2,
    part: 'all',
    segments: [segment],
    dropped: { [number]: [3] },
    rows: 9,
    hasSides,
    keys: [[1, 490_000]],
  }
}

const idsOf = (states: { manifest: Manifest }[]) => states.map(({ manifest: { id } }) => id)

describe('the shipping journal', () => {
  it('takes a torn last line for not written, and a damaged one in the middle as well, without losing the others', async () => {
    const journal = await open()
    await journal.freeze(manifest(1))
    await journal.freeze(manifest(2))
    await journal.freeze(manifest(3))
    const path = join(folder, 'journal')
    const lines = (await readFile(path, 'utf8')).split('\n')
    const middle = lines.findIndex((line) => line.includes('"id":4,'))
    lines[middle] = lines[middle]!.replace('"rows":9', '"rows":8')
    await writeFile(path, lines.join('\n'))
    await appendFile(path, '0123abcd {"t":"loaded","i')
    expect(idsOf((await open()).unfinished())).toEqual([2, 6])
  })

  it('forgets what lay in released files only', async () => {
    const journal = await open()
    await journal.markLoaded(await journal.freeze(manifest(1, 1)), 1000)
    await journal.markLoaded(await journal.freeze(manifest(2, 2)), 1000)
    await journal.markReleased(0, 1)
    expect([...(await open()).frozenParts().keys()]).toEqual([2])
  })

  it('forgets of a manifest over several folders what lay in the released file of one, and keeps the rest', async () => {
    const journal = await open()
    const [segment] = manifest(1).segments
    const segments = [0, 1, 2].map((folder) => ({ ...segment!, number: 1 + folder, folder }))
    await journal.markLoaded(await journal.freeze({ ...manifest(1), segments }), 1000)
    await journal.markReleased(1, 1)
    for (let round = 0; round < 2; round++) expect([...(await open()).frozenParts().keys()]).toEqual([1, 3])
    const again = await open()
    await again.markReleased(0, 1)
    await again.markReleased(2, 1)
    expect((await open()).done()).toEqual([])
  })

  it('loses nothing that is appended while it is written anew', async () => {
    const journal = await open()
    const keys = Array.from({ length: 150_000 }, (_, i) => [i, 490_000] as const)
    for (let round = 1; round <= 4; round++) {
      // Each is half of what makes it be written anew.
      const state = await journal.freeze({ ...manifest(round, 1, true), keys })
      await Promise.all([
        journal.markLoaded(state, round),
        journal.noteMark(1_000_000, round),
        journal.noteMark(2_000_000, 2 * round),
        journal.markCopied(state),
      ])
      await copyFile(join(folder, 'journal'), join(folder, 'as-killed'))
      const again = await open('boot', 'as-killed')
      expect([again.markOf(1_000_000), again.markOf(2_000_000)]).toEqual([round, 2 * round])
      expect(idsOf(again.unfinished())).toEqual([])
      expect(again.done()).toHaveLength(round)
    }
  })

  it('asks again after a power loss for what was loaded last, though a clock that ran ahead had loaded one', async () => {
    const journal = await open()
    await journal.markLoaded(await journal.freeze(manifest(1)), 10_000_000)
    await journal.markLoaded(await journal.freeze(manifest(2)), 1_000_000)
    expect(idsOf((await open('another boot')).unfinished())).toContain(4)
  })

  it('is not written once it is closed', async () => {
    const journal = await open()
    const state = await journal.freeze(manifest(1, 1, true))
    await journal.close()
    const path = join(folder, 'journal')
    const { ino } = await stat(path)
    await expect(journal.freeze(manifest(2))).rejects.toThrow()
    await expect(journal.markCopied(state)).rejects.toThrow()
    expect((await stat(path)).ino).toBe(ino)
  })

  it('stays small however long it is written', async () => {
    const journal = await open()
    const keys = Array.from({ length: 2_000 }, (_, i) => [i, 490_000] as const)
    let written = 0
    for (let number = 1; number <= 300; number++) {
      const frozen = { ...manifest(1), keys }
      written += JSON.stringify(frozen).length
      await journal.markLoaded(await journal.freeze(frozen), number)
      if (number % 50 === 0) expect((await readFile(join(folder, 'journal'))).length).toBeLessThan(5 * 1024 * 1024)
    }
    expect(written).toBeGreaterThan(7 * 1024 * 1024)
  })
})
