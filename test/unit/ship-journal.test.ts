import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ShipJournal } from '../../ingest/ship/journal.ts'
import type { Manifest } from '../../ingest/ship/manifest.ts'
import { makeLogFolder, silent } from '../support/log-fixture.ts'

let folder: string
let remove: () => Promise<void>
const opened: ShipJournal[] = []
beforeEach(async () => {
  ;({ folder, remove } = await makeLogFolder())
})
afterEach(async () => {
  for (const journal of opened.splice(0)) await journal.close()
  await remove()
})

async function open(bootId = 'boot'): Promise<ShipJournal> {
  const journal = await ShipJournal.open(join(folder, 'journal'), bootId, 600_000, silent)
  opened.push(journal)
  return journal
}

function manifest(number: number, file = 1, hasSides = false): Manifest {
  const segment = { number, file, start: 4096, end: 8192, rows: 10, rowFormat: 1 }
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
  it('gives back after a kill what was frozen and how far it got', async () => {
    const journal = await open()
    const states = []
    for (const number of [1, 2, 3, 4]) states.push(await journal.freeze(manifest(number, 1, true)))
    await journal.markLoaded(states[0]!, 1000)
    await journal.markCopied(states[0]!)
    await journal.markLoaded(states[1]!, 1000)
    await journal.markCopied(states[2]!)
    const again = await open()
    expect(idsOf(again.open())).toEqual([4, 6, 8])
    expect(idsOf(again.done())).toEqual([2])
    expect(again.open().map(({ loadedAt, isCopied }) => [loadedAt > 0, isCopied])).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ])
    expect(again.open()[0]!.manifest).toEqual(manifest(2, 1, true))
    expect([...again.frozenParts().keys()]).toEqual([1, 2, 3, 4])
  })

  it('needs no copy where there is nothing to copy', async () => {
    const journal = await open()
    await journal.markLoaded(await journal.freeze(manifest(1)), 1000)
    expect((await open()).open()).toEqual([])
  })

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
    expect(idsOf((await open()).open())).toEqual([2, 6])
  })

  it('forgets what lay in released files only', async () => {
    const journal = await open()
    await journal.markLoaded(await journal.freeze(manifest(1, 1)), 1000)
    await journal.markLoaded(await journal.freeze(manifest(2, 2)), 1000)
    await journal.markReleased(1)
    expect([...(await open()).frozenParts().keys()]).toEqual([2])
  })

  it('counts as not loaded, after a power loss, what was loaded shortly before', async () => {
    const journal = await open()
    await journal.markLoaded(await journal.freeze(manifest(1)), 1_000_000)
    await journal.markLoaded(await journal.freeze(manifest(2)), 1_500_000)
    await journal.markLoaded(await journal.freeze(manifest(3)), 2_000_000)
    expect(idsOf((await open('another boot')).open())).toEqual([4, 6])
    expect(idsOf((await open('another boot')).open())).toEqual([4, 6])
  })

  it('stays small however long it is written', async () => {
    const journal = await open()
    for (let number = 1; number <= 30_000; number++) {
      const state = await journal.freeze(manifest(1))
      await journal.markLoaded(state, number)
      if (number % 5000 === 0) expect((await readFile(join(folder, 'journal'))).length).toBeLessThan(5 * 1024 * 1024)
    }
  }, 60_000)
})
