import { readFile, stat } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { makeSalts } from '../../ingest/enrich/salts.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { saltSweepMs } from '../../schemas/limits/ingest-limits.ts'
import { silent } from '../support/log-fixture.ts'
import { away, passTimeUntil, setUpTableFolder } from '../support/table-folder.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 20, 12)
const { pathOf, started } = setUpTableFolder()

/** Stands for the table in Postgres, shared by nodes. */
function makeTable() {
  const table = {
    isDown: false,
    days: new Map<string, Buffer>(),
    readOrMakeSalt: async (name: string, newSalt: Buffer) => {
      if (table.isDown) return away()
      if (!table.days.has(name)) table.days.set(name, newSalt)
      return table.days.get(name)!
    },
  }
  return table
}

const startSalts = ({ readOrMakeSalt }: ReturnType<typeof makeTable>, clock = fixedClock(now), node = 'a') =>
  started(makeSalts({ file: pathOf(`${node}.json`), readOrMakeSalt, clock, log: silent }))
const copy = () => readFile(pathOf('a.json'), 'utf8')

test('makes the salts of today and tomorrow, each its own, of 32 random bytes, the same on all nodes', async () => {
  const table = makeTable()
  const salts = await startSalts(table)
  expect([...table.days.keys()]).toEqual(['2026-11-20', '2026-11-21'])
  expect(salts.at(now)).toEqual(table.days.get('2026-11-20'))
  expect(salts.at(now + day)).toEqual(table.days.get('2026-11-21'))
  expect((await startSalts(table, fixedClock(now), 'b')).at(now)).toEqual(salts.at(now))
  expect((await stat(pathOf('a.json'))).mode & 0o777).toBe(0o600)
  // Drawn by lot: two installations never have the same.
  const others = await Promise.all(['c', 'd'].map((node) => startSalts(makeTable(), fixedClock(now), node)))
  const all = [salts, ...others].flatMap((one) => [one.at(now), one.at(now + day)])
  expect(all.map(({ length }) => length)).toEqual(Array(6).fill(32))
  expect(new Set(all.map((salt) => salt.toString('hex'))).size).toBe(6)
})

test('with Postgres away goes on with the salt of before, or with its own, which becomes that of all', async () => {
  const table = makeTable()
  table.isDown = true
  const alone = await startSalts(table)
  const own = alone.at(now)
  expect(own).toHaveLength(32)
  expect(alone.at(now + 1000)).toEqual(own)
  await alone.close()
  const again = await startSalts(table)
  expect(again.at(now)).toEqual(own)
  await again.close()
  table.isDown = false
  expect((await startSalts(table)).at(now)).toEqual(own)
  expect(table.days.get('2026-11-20')).toEqual(own)
})

test('a salt is forgotten in memory and on disk two days after its day began', async () => {
  const table = makeTable()
  const clock = fixedClock(now)
  const salts = await startSalts(table, clock)
  const salt = salts.at(now)
  await salts.close()
  clock.set(Date.UTC(2026, 10, 22, 0, 0, 0, 1))
  const later = await startSalts(table, clock)
  expect(Object.keys(JSON.parse(await copy()))).toEqual(['2026-11-21', '2026-11-22', '2026-11-23'])
  expect(await copy()).not.toContain(salt.toString('base64'))
  table.days.clear()
  expect(later.at(now)).not.toEqual(salt)
})

test('a node that runs on makes the next day’s salt a day ahead, and forgets what is two days old', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const table = makeTable()
    const clock = fixedClock(now)
    const salts = await startSalts(table, clock)
    const first = salts.at(now)
    for (const hours of [13, 25, 37]) {
      clock.set(now + hours * 3_600_000)
      const tomorrow = new Date(clock.now() + day).toISOString().slice(0, 10)
      await passTimeUntil(() => table.days.has(tomorrow), saltSweepMs)
    }
    await salts.close()
    expect(await copy()).not.toContain(first.toString('base64'))
    table.days.clear()
    // Asked for once more, that day has another: nothing can make its hashes again.
    expect(salts.at(now)).not.toEqual(first)
  } finally {
    vi.useRealTimers()
  }
})

test.each([3, -3])('a clock %i days off and right again keeps each day’s salt, none after two days', async (days) => {
  const table = makeTable()
  const clock = fixedClock(now)
  const salts = await startSalts(table, clock)
  const saltAt = async (at: number) => {
    clock.set(at)
    const salt = salts.at(at)
    // Waits for the sweep that a new day begins. Later days begin theirs all the same.
    await salts.close()
    return salt
  }
  const before = salts.at(now)
  const moved = await saltAt(now + days * day)
  expect(moved).toHaveLength(32)
  expect(moved).not.toEqual(before)
  await saltAt(now)
  expect(salts.at(now)).toEqual(before)
  // Ten days on, no salt of then is left: the same days get others.
  await saltAt(now + 10 * day)
  table.days.clear()
  for (const at of [now, now + days * day]) {
    for (const old of [before, moved]) expect(salts.at(at)).not.toEqual(old)
  }
})
