import { readFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type KeyRow, makeKeyTable } from '../../ingest/tables/tracking-key-table.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { silent } from '../support/log-fixture.ts'
import { away, fakeTable, setUpTableFolder, turn, until } from '../support/table-folder.ts'

const now = Date.UTC(2026, 10, 20, 12)
const keyOf = (name: string) => `svc_pk_${name.padEnd(24, '0')}`
const rowOf = (name: string, workspace_id: number, retires_at: Date | null = null): KeyRow => ({
  key: keyOf(name),
  workspace_id,
  timezone: 'Europe/Berlin',
  replay_share: 0,
  exclusions: null,
  retires_at,
})
const { pathOf, started } = setUpTableFolder()

function makeStore(...rows: KeyRow[]) {
  const store = Object.assign(fakeTable(rows), {
    lists: 0,
    listKeys: async () => {
      store.lists++
      return store.isDown ? away() : [...store.rows]
    },
    findKey: (key: string) => store.find((row) => row.key === key),
  })
  return store
}

const startTable = (store: ReturnType<typeof makeStore>, clock = fixedClock(now)) =>
  started(makeKeyTable({ ...store, file: pathOf('keys.json'), clock, log: silent }))

test('knows a key at once that was made a moment ago, and lets a revoked one go when it is told of a change', async () => {
  const store = makeStore(rowOf('a', 1), rowOf('b', 2))
  const table = await startTable(store)
  store.rows.push(rowOf('new', 3))
  expect(table.find(keyOf('new'))).toBeUndefined()
  expect(await table.resolve(keyOf('new'))).toMatchObject({ id: 3 })
  expect(table.find(keyOf('new'))).toMatchObject({ id: 3 })
  store.rows.shift()
  store.notify()
  await until(() => table.find(keyOf('a')) === undefined)
  expect(table.find(keyOf('b'))).toMatchObject({ id: 2 })
  expect(await table.resolve(keyOf('a'))).toBe('unknown')
})

test('lets a rotated key end at its hour without being told', async () => {
  const clock = fixedClock(now)
  const table = await startTable(makeStore(rowOf('old', 1, new Date(now + 1000))), clock)
  expect(table.find(keyOf('old'))).toMatchObject({ id: 1 })
  clock.advance(1000)
  expect(table.find(keyOf('old'))).toBeUndefined()
})

test.each([3, -3])('with a clock %i days off believes a new key, and no rotated one once it is right', async (days) => {
  const clock = fixedClock(now)
  const store = makeStore(rowOf('old', 1, new Date(now + 3_600_000)))
  const table = await startTable(store, clock)
  expect(await table.resolve(keyOf('new'))).toBe('unknown')
  store.rows.push(rowOf('new', 1))
  clock.advance(days * 86_400_000)
  expect(await table.resolve(keyOf('new'))).toMatchObject({ id: 1 })
  clock.set(now + 3_600_000)
  expect(table.find(keyOf('old'))).toBeUndefined()
})

test('with Postgres away at the first start every key may be one, except for what can be no tracking key', async () => {
  const store = makeStore(rowOf('a', 1))
  store.isDown = true
  const table = await startTable(store)
  const secret = `svc_sk_${'a'.repeat(38)}`
  for (const key of ['', secret, 'svc_pk_short', '__proto__', 'svc_pk_!00000000000000000000000'])
    expect(await table.resolve(key)).toBe('unknown')
  expect(store.finds).toBe(0)
  expect(await table.resolve(keyOf('a'))).toBe('unavailable')
})

test('a start with Postgres away goes on with the keys of the last time, which only its owner can read', async () => {
  const store = makeStore(rowOf('a', 1), rowOf('ended', 2, new Date(now - 1)), rowOf('revoked', 3))
  await (await startTable(store)).close()
  expect((await stat(pathOf('keys.json'))).mode & 0o777).toBe(0o600)
  const later = makeStore(rowOf('a', 1))
  later.isDown = true
  const table = await startTable(later)
  expect(table.find(keyOf('a'))).toEqual({ id: 1, timezone: 'Europe/Berlin', replayShare: 0, exclusions: null })
  expect(table.find(keyOf('revoked'))).toMatchObject({ id: 3 })
  expect(table.find(keyOf('ended'))).toBeUndefined()
  later.isDown = false
  later.notify()
  await until(() => table.find(keyOf('revoked')) === undefined && later.lists >= 2)
  await table.close()
  expect(await readFile(pathOf('keys.json'), 'utf8')).not.toContain('revoked')
})

test('the rules of a workspace hold without Postgres, too, and are read anew only where they have changed', async () => {
  const rules = (address: string) => JSON.stringify({ addresses: [address], countries: [], paths: [], hostnames: [] })
  const store = makeStore({ ...rowOf('a', 1), exclusions: rules('192.0.2.1') }, rowOf('b', 2))
  await (await startTable(store)).close()
  store.isDown = true
  const table = await startTable(store)
  const found = () => table.find(keyOf('a'))?.exclusions
  const reason = (address: string) => found()?.reasonFor({ address, country: '', url: '', path: '' })
  expect([reason('192.0.2.1'), reason('192.0.2.2'), table.exclusionsOf(1), table.exclusionsOf(2)]).toEqual([
    'address',
    null,
    found(),
    null,
  ])
  const before = found()
  const reads = store.lists
  store.isDown = false
  store.notify()
  await until(() => store.lists > reads)
  await turn()
  expect(found()).toBe(before)
  store.rows[0] = { ...store.rows[0]!, exclusions: rules('192.0.2.2') }
  store.notify()
  await until(() => reason('192.0.2.2') === 'address')
  expect(reason('192.0.2.1')).toBeNull()
})

test('a change that comes while the table is read is read after it', async () => {
  const store = makeStore()
  const table = await startTable(store)
  store.notify()
  store.rows.push(rowOf('late', 9))
  store.notify()
  await until(() => table.find(keyOf('late')) !== undefined)
  expect(table.find(keyOf('late'))).toMatchObject({ id: 9 })
  // At start, at the first change, and once more for the second.
  expect(store.lists).toBe(3)
})
