import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeSalts, type Salts } from '../../ingest/enrich/salts.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { saltSweepMs } from '../../schemas/limits/ingest-limits.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 20, 12)

let folder: string
let open: Salts[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salts-'))
  open = []
})
afterEach(async () => {
  await Promise.all(open.map((salts) => salts.close()))
  await rm(folder, { recursive: true })
})

/** Stands for the table in Postgres, shared by nodes. */
function makeTable() {
  const table = {
    isDown: false,
    days: new Map<string, Buffer>(),
    readOrMakeSalt: async (name: string, newSalt: Buffer) => {
      if (table.isDown) throw new Error('connection refused')
      if (!table.days.has(name)) table.days.set(name, newSalt)
      return table.days.get(name)!
    },
  }
  return table
}

async function startSalts(
  table: ReturnType<typeof makeTable>,
  options: { clock?: ReturnType<typeof fixedClock>; node?: string } = {},
) {
  const { clock = fixedClock(now), node = 'a' } = options
  const { readOrMakeSalt } = table
  const salts = makeSalts({ file: join(folder, `${node}.json`), readOrMakeSalt, clock, log: makeLog('test', 'silent') })
  open.push(salts)
  await salts.start()
  return salts
}

test('makes the salts of today and tomorrow, each its own, of 32 random bytes', async () => {
  const table = makeTable()
  const salts = await startSalts(table)
  expect([...table.days.keys()]).toEqual(['2026-11-20', '2026-11-21'])
  expect(salts.current(now)).toEqual(table.days.get('2026-11-20'))
  expect(salts.current(now + day)).toEqual(table.days.get('2026-11-21'))
  expect(salts.current(now)).toHaveLength(32)
  expect(salts.current(now)).not.toEqual(salts.current(now + day))
})

test('nodes share their salts', async () => {
  const table = makeTable()
  const [one, other] = [await startSalts(table, { node: 'a' }), await startSalts(table, { node: 'b' })]
  expect(one.current(now)).toEqual(other.current(now))
})

test('a start with Postgres away goes on with the salt of before', async () => {
  const table = makeTable()
  const before = await startSalts(table)
  const salt = before.current(now)
  await before.close()
  table.isDown = true
  expect((await startSalts(table)).current(now)).toEqual(salt)
})

test('a day that begins with Postgres away has a salt of the node, which becomes that of all', async () => {
  const table = makeTable()
  table.isDown = true
  const alone = await startSalts(table)
  const own = alone.current(now)
  expect(own).toHaveLength(32)
  expect(alone.current(now + 1000)).toEqual(own)
  await alone.close()
  table.isDown = false
  const again = await startSalts(table)
  expect(again.current(now)).toEqual(own)
  expect(table.days.get('2026-11-20')).toEqual(own)
})

test('a clock that jumps finds a salt at once, and the same again', async () => {
  const salts = await startSalts(makeTable())
  const salt = salts.current(now + 30 * day)
  expect(salts.current(now + 30 * day + 1000)).toEqual(salt)
})

test('a salt is forgotten in memory and on disk two days after its day began', async () => {
  const table = makeTable()
  const clock = fixedClock(now)
  const salts = await startSalts(table, { clock })
  const salt = salts.current(now)
  await salts.close()
  clock.set(Date.UTC(2026, 10, 22, 0, 0, 0, 1))
  const later = await startSalts(table, { clock })
  const copy = await readFile(join(folder, 'a.json'), 'utf8')
  expect(Object.keys(JSON.parse(copy))).toEqual(['2026-11-21', '2026-11-22', '2026-11-23'])
  expect(copy).not.toContain(salt.toString('base64'))
  table.days.clear()
  expect(later.current(now)).not.toEqual(salt)
})

test('a node that runs on makes the next day’s salt a day ahead, and forgets what is two days old', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const table = makeTable()
    const clock = fixedClock(now)
    const salts = await startSalts(table, { clock })
    const first = salts.current(now)
    for (const hours of [13, 25, 37]) {
      clock.set(now + hours * 3_600_000)
      const tomorrow = new Date(clock.now() + day).toISOString().slice(0, 10)
      while (!table.days.has(tomorrow)) {
        await vi.advanceTimersByTimeAsync(saltSweepMs)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await salts.close()
    expect(await readFile(join(folder, 'a.json'), 'utf8')).not.toContain(first.toString('base64'))
    table.days.clear()
    // Asked for once more, that day has another: nothing can make its hashes again.
    expect(salts.current(now)).not.toEqual(first)
  } finally {
    vi.useRealTimers()
  }
})

test('salts are drawn by lot: two installations never have the same', async () => {
  const drawn = await Promise.all(['a', 'b', 'c'].map((node) => startSalts(makeTable(), { node })))
  const all = drawn.flatMap((salts) =>
    [salts.current(now), salts.current(now + day)].map((salt) => salt.toString('hex')),
  )
  expect(new Set(all).size).toBe(all.length)
})

test('the copy can be read by its owner only', async () => {
  await startSalts(makeTable())
  expect((await stat(join(folder, 'a.json'))).mode & 0o777).toBe(0o600)
})
