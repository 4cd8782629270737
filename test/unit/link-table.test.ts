import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LinkRow, type LinkTable, makeLinkTable } from '../../ingest/tables/links.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { linkOverlapMs, unknownKeyCacheMs } from '../../schemas/limits/ingest-limits.ts'

const now = Date.UTC(2026, 10, 20, 12)
const rowOf = (id: number, at = now): LinkRow => ({
  ...{ attribution_key: keyOf(id), id, workspace_id: 1, post_id: null },
  ...{ tracking_url: `https://example.com/${id}`, updated_at: new Date(at) },
})
const keyOf = (id: number) => String(id).padStart(8, '0')
const urlOf = (table: LinkTable, id: number) => table.find(keyOf(id))?.url

let folder: string
let open: LinkTable[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'link-table-'))
  open = []
})
afterEach(async () => {
  await Promise.all(open.map((table) => table.close()))
  await rm(folder, { recursive: true })
})

/** Stands for the table of Postgres, which this one knows only by these functions. */
function makeStore(rows: LinkRow[]) {
  const store = {
    rows,
    isDown: false,
    sinces: [] as (number | null)[],
    finds: 0,
    notify: () => {},
    listChanged: async (since: Date | null, limit: number) => {
      store.sinces.push(since?.getTime() ?? null)
      if (store.isDown) throw new Error('connection refused')
      const changed = store.rows.filter(({ updated_at }) => since === null || updated_at >= since)
      return changed.sort((one, other) => Number(other.updated_at) - Number(one.updated_at)).slice(0, limit)
    },
    findLink: async (key: string) => {
      store.finds++
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (store.isDown) throw new Error('connection refused')
      return store.rows.find((row) => row.attribution_key === key) ?? null
    },
    findLinkOfId: async (id: number) => store.rows.find((row) => row.id === id) ?? null,
    listen: (onNotify: () => void) => {
      store.notify = onNotify
      return { close: async () => {} }
    },
  }
  return store
}

async function startTable(
  store: ReturnType<typeof makeStore>,
  more: { max?: number; bytesMax?: number; keepsCopy?: boolean } = {},
) {
  const clock = fixedClock(now)
  const log = makeLog('test', 'silent')
  const table = makeLinkTable({ ...store, file: join(folder, 'links.jsonl'), clock, log, ...more })
  open.push(table)
  await table.start()
  return { table, clock }
}

/** Notifies, and waits until the change was read. */
async function change(store: ReturnType<typeof makeStore>) {
  const { length } = store.sinces
  store.notify()
  while (store.sinces.length === length) await new Promise((resolve) => setTimeout(resolve, 1))
  await new Promise((resolve) => setTimeout(resolve, 20))
}

test('finds links, and those that are notified of, by reading only what has changed', async () => {
  const store = makeStore([rowOf(1, now - 1e9)])
  const { table } = await startTable(store)
  expect(table.find(keyOf(1))).toEqual({ id: 1, workspaceId: 1, postId: null, url: 'https://example.com/1' })
  store.rows.push(rowOf(2))
  await change(store)
  expect(urlOf(table, 2)).toBe('https://example.com/2')
  // Committed after one that began later.
  store.rows.push(rowOf(3, now - linkOverlapMs))
  await change(store)
  expect(urlOf(table, 3)).toBe('https://example.com/3')
  // Its post is deleted, and it leads to where it did.
  store.rows[1] = { ...store.rows[1]!, post_id: 9 }
  await change(store)
  expect(table.find(keyOf(2))).toMatchObject({ postId: 9 })
  store.sinces.pop()
  expect(store.sinces).toEqual([null, now - 1e9 - linkOverlapMs, now - linkOverlapMs])
  expect(store.finds).toBe(0)
})

test('goes on from its copy while Postgres is away, the newest links included, until it answers once', async () => {
  const store = makeStore([rowOf(1)])
  const first = await startTable(store)
  store.rows.push({ ...rowOf(2), post_id: 7 })
  await change(store)
  // Found by a look-up, and not changed when it is read.
  store.rows.push(rowOf(3))
  expect(await first.table.resolve(keyOf(3))).toMatchObject({ id: 3 })
  await change(store)
  await first.table.close()
  await writeFile(join(folder, 'links.jsonl'), '["00000004",4,1,nu', { flag: 'a' })
  store.isDown = true
  const { table } = await startTable(store)
  expect(urlOf(table, 1)).toBe('https://example.com/1')
  expect(table.find(keyOf(2))).toEqual({ id: 2, workspaceId: 1, postId: 7, url: 'https://example.com/2' })
  expect(urlOf(table, 3)).toBe('https://example.com/3')
  store.isDown = false
  store.rows.splice(0, 1)
  await change(store)
  expect([urlOf(table, 1), urlOf(table, 2)]).toEqual([undefined, 'https://example.com/2'])
})

test('a link that is gone leads nowhere, neither from memory nor from the copy', async () => {
  const store = makeStore([rowOf(1, now - 1), rowOf(2)])
  const { table } = await startTable(store)
  store.rows.splice(0, 2, { ...rowOf(1), tracking_url: '' }, rowOf(2))
  await change(store)
  expect([urlOf(table, 1), urlOf(table, 2)]).toEqual([undefined, 'https://example.com/2'])
  expect(await readFile(join(folder, 'links.jsonl'), 'utf8')).not.toContain('https://example.com/1')
})

test('looks up a key once that it doesn’t have, however many ask, and believes “unknown” for a moment only', async () => {
  const store = makeStore([])
  const { table, clock } = await startTable(store)
  expect(await Promise.all(Array.from({ length: 50 }, () => table.resolve(keyOf(1))))).toEqual(
    Array.from({ length: 50 }, () => 'unknown'),
  )
  expect(await table.resolve(keyOf(1))).toBe('unknown')
  expect(store.finds).toBe(1)
  store.rows.push(rowOf(1))
  clock.advance(unknownKeyCacheMs)
  expect(await table.resolve(keyOf(1))).toMatchObject({ id: 1 })
  expect(table.find(keyOf(1))).toBeDefined()
  for (const odd of ['', '1', '000000000', 'ä0000000', '../../..']) expect(await table.resolve(odd)).toBe('unknown')
  expect(store.finds).toBe(2)
})

test('says unavailable and never unknown while Postgres is away', async () => {
  const store = makeStore([])
  const { table } = await startTable(store)
  store.isDown = true
  expect(await table.resolve(keyOf(1))).toBe('unavailable')
  store.isDown = false
  expect(await table.resolve(keyOf(1))).toBe('unknown')
})

test('holds no more than its bound: the newest at first, then those that are used', async () => {
  const store = makeStore([1, 2, 3, 4].map((id) => rowOf(id, now + id)))
  const { table } = await startTable(store, { max: 3 })
  expect([1, 2, 3, 4].map((id) => urlOf(table, id) !== undefined)).toEqual([false, true, true, true])
  expect(await table.resolve(keyOf(1))).toMatchObject({ id: 1 })
  expect([2, 3].map((id) => urlOf(table, id) !== undefined)).toEqual([false, true])
})

test('holds no more than its bytes, in memory and in its copy, however few links they are', async () => {
  const long = (id: number) => ({
    ...rowOf(id, now + id),
    tracking_url: `https://example.com/${id}?${'x'.repeat(1_000)}`,
  })
  const store = makeStore([1, 2, 3, 4].map(long))
  const { table } = await startTable(store, { bytesMax: 3_500 })
  const held = () => Array.from({ length: 20 }, (_, at) => at + 1).filter((id) => urlOf(table, id) !== undefined)
  expect(held()).toEqual([2, 3, 4])
  for (let id = 5; id <= 20; id++) {
    store.rows.push(long(id))
    await change(store)
    expect((await stat(join(folder, 'links.jsonl'))).size).toBeLessThan(2 * 3_500 + 500)
  }
  expect(held()).toEqual([18, 19, 20])
  expect(await table.resolve(keyOf(1))).toMatchObject({ id: 1 })
  expect(held()).toHaveLength(3)
  expect(table.ofId(5)).toBeUndefined()
  while (table.ofId(5) === undefined) await new Promise((resolve) => setTimeout(resolve, 1))
})

test('finds links by their ids, too, and looks up an older one behind whoever asks for it', async () => {
  const store = makeStore([1, 2, 3].map((id) => rowOf(id, now + id)))
  const { table } = await startTable(store, { max: 2 })
  expect([2, 3].map((id) => table.ofId(id)?.url)).toEqual(['https://example.com/2', 'https://example.com/3'])
  expect(table.ofId(1)).toBeUndefined()
  while (table.ofId(1) === undefined) await new Promise((resolve) => setTimeout(resolve, 1))
  expect(urlOf(table, 1)).toBe('https://example.com/1')
  expect(table.ofId(2)).toBeUndefined()
  expect(table.ofId(99)).toBeUndefined()
})

test('its copy grows by what changes and not beyond its bound; of several threads one keeps it', async () => {
  const store = makeStore([rowOf(1)])
  await startTable(store, { max: 5 })
  const lines = async () => (await readFile(join(folder, 'links.jsonl'), 'utf8')).split('\n').length - 1
  for (let id = 2; id <= 30; id++) {
    store.rows.push(rowOf(id, now + id))
    await change(store)
    expect(await lines()).toBeLessThanOrEqual(10)
  }
  await rm(join(folder, 'links.jsonl'))
  await startTable(store, { keepsCopy: false })
  await expect(stat(join(folder, 'links.jsonl'))).rejects.toThrow()
})
