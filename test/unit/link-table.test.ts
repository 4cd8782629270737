import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { LinkRow } from '../../ingest/tables/link-target.ts'
import { type LinkTable, makeLinkTable } from '../../ingest/tables/links.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { linkOverlapMs, unknownKeyCacheMs } from '../../schemas/limits/ingest-limits.ts'
import { silent } from '../support/log-fixture.ts'
import { away, fakeTable, setUpTableFolder, until } from '../support/table-folder.ts'

const now = Date.UTC(2026, 10, 20, 12)
const keyOf = (id: number) => String(id).padStart(8, '0')
const lasting = {
  expires_at: null,
  expired_url: null,
  tracking_params: {},
  targets: [],
  password_hash: null,
  preview: null,
}
const targetOf = (id: number, postId: number | null = null) => ({
  id,
  workspaceId: 1,
  postId,
  url: `https://example.com/${id}`,
  expiresAt: null,
  expiredUrl: null,
  targets: [],
  passwordHash: null,
  preview: null,
})
const rowOf = (id: number, at = now, more = ''): LinkRow => ({
  attribution_key: keyOf(id),
  id,
  workspace_id: 1,
  post_id: null,
  domain_id: null,
  ...lasting,
  tracking_url: `https://example.com/${id}${more}`,
  updated_at: new Date(at),
})
const urlOf = (table: LinkTable, id: number) => table.find(keyOf(id))?.url
const { pathOf, started } = setUpTableFolder()
const copy = () => readFile(pathOf('links.jsonl'), 'utf8')

function makeStore(...rows: LinkRow[]) {
  const store = Object.assign(fakeTable(rows), {
    sinces: [] as (number | null)[],
    deleted: [] as number[],
    listChanged: async (since: Date | null, limit: number) => {
      store.sinces.push(since?.getTime() ?? null)
      if (store.isDown) return away()
      const changed = store.rows.filter(({ updated_at }) => since === null || updated_at >= since)
      return changed.sort((one, other) => Number(other.updated_at) - Number(one.updated_at)).slice(0, limit)
    },
    listDeletedWorkspaces: async () => store.deleted,
    findLink: (key: string) => store.find((row) => row.attribution_key === key),
    findLinkOfId: async (id: number) => store.rows.find((row) => row.id === id) ?? null,
  })
  return store
}

async function startTable(
  store: ReturnType<typeof makeStore>,
  more: { max?: number; bytesMax?: number; keepsCopy?: boolean } = {},
) {
  const clock = fixedClock(now)
  const table = makeLinkTable({ ...store, file: pathOf('links.jsonl'), clock, log: silent, ...more })
  return { table: await started(table), clock }
}

/** Adds rows, notifies, and waits until the change was read. */
async function change(store: ReturnType<typeof makeStore>, ...added: LinkRow[]) {
  store.rows.push(...added)
  const { length } = store.sinces
  store.notify()
  await until(() => store.sinces.length > length)
  await new Promise((resolve) => setTimeout(resolve, 20))
}

test('finds links, and those that are notified of, by reading only what has changed', async () => {
  const store = makeStore(rowOf(1, now - 1e9))
  const { table } = await startTable(store)
  expect(table.find(keyOf(1))).toEqual(targetOf(1))
  await change(store, rowOf(2))
  expect(urlOf(table, 2)).toBe('https://example.com/2')
  // Committed after one that began later.
  await change(store, rowOf(3, now - linkOverlapMs))
  expect(urlOf(table, 3)).toBe('https://example.com/3')
  // Its post is deleted, and it leads to where it did.
  store.rows[1] = { ...store.rows[1]!, post_id: 9 }
  await change(store)
  expect(table.find(keyOf(2))).toMatchObject({ postId: 9 })
  // It is given an end.
  const end = new Date(now + 5)
  store.rows[1] = { ...store.rows[1]!, expires_at: end, expired_url: 'https://bücher.example' }
  await change(store)
  const expiry = { expiresAt: now + 5, expiredUrl: 'https://xn--bcher-kva.example/' }
  expect(table.find(keyOf(2))).toEqual({ ...targetOf(2, 9), ...expiry })
  const lastCopied = async () => JSON.parse((await copy()).trimEnd().split('\n').at(-1)!).slice(5, 7)
  await expect.poll(lastCopied).toEqual(Object.values(expiry))
  store.sinces.splice(-2)
  expect(store.sinces).toEqual([null, now - 1e9 - linkOverlapMs, now - linkOverlapMs])
  expect(store.finds).toBe(0)
})

test('a change is read though a clock that ran days ahead has dated one before', async () => {
  const store = makeStore(rowOf(1))
  const { table, clock } = await startTable(store)
  clock.advance(3 * 86_400_000)
  await change(store, rowOf(2, clock.now()))
  clock.set(now)
  for (const more of ['/new', '/newest']) {
    store.rows.splice(0, 1, rowOf(1, now + more.length, more))
    await change(store)
    expect(urlOf(table, 1)).toBe(`https://example.com/1${more}`)
  }
})

test('goes on from its copy while Postgres is away, the newest links included, until it answers once', async () => {
  const store = makeStore(rowOf(1))
  const first = await startTable(store)
  await change(store, { ...rowOf(2), post_id: 7 })
  // Found by a look-up, and not changed when it is read.
  store.rows.push(rowOf(3))
  expect(await first.table.resolve(keyOf(3))).toMatchObject({ id: 3 })
  await change(store)
  await first.table.close()
  await writeFile(pathOf('links.jsonl'), '["00000004",4,1,nu', { flag: 'a' })
  store.isDown = true
  const { table } = await startTable(store)
  expect([1, 3].map((id) => urlOf(table, id))).toEqual(['https://example.com/1', 'https://example.com/3'])
  expect(table.find(keyOf(2))).toEqual(targetOf(2, 7))
  // Whether there are others isn't known meanwhile.
  expect(await table.resolve(keyOf(5))).toBe('unavailable')
  store.isDown = false
  expect(await table.resolve(keyOf(5))).toBe('unknown')
  store.rows.splice(0, 1)
  await change(store)
  expect([urlOf(table, 1), urlOf(table, 2)]).toEqual([undefined, 'https://example.com/2'])
})

test('a link whose workspace is deleted leads nowhere, neither from memory nor from the copy', async () => {
  const store = makeStore({ ...rowOf(1, now - 1e9), workspace_id: 2 }, rowOf(2))
  const { table } = await startTable(store)
  store.deleted.push(2)
  await change(store)
  expect([urlOf(table, 1), urlOf(table, 2)]).toEqual([undefined, 'https://example.com/2'])
  await expect.poll(copy).not.toContain('https://example.com/1')
  const { table: another } = await startTable(store)
  expect([urlOf(another, 1), urlOf(another, 2)]).toEqual([undefined, 'https://example.com/2'])
})

test('looks up a key once that it doesn’t have, however many ask, and believes “unknown” for a moment only', async () => {
  const store = makeStore()
  const { table, clock } = await startTable(store)
  const answers = await Promise.all(Array.from({ length: 50 }, () => table.resolve(keyOf(1))))
  expect(new Set([...answers, await table.resolve(keyOf(1))])).toEqual(new Set(['unknown']))
  expect(store.finds).toBe(1)
  store.rows.push(rowOf(1))
  clock.advance(unknownKeyCacheMs)
  expect(await table.resolve(keyOf(1))).toMatchObject({ id: 1 })
  expect(table.find(keyOf(1))).toBeDefined()
  for (const odd of ['', ' ', '0'.repeat(51), 'ä0000000', '../../..']) expect(await table.resolve(odd)).toBe('unknown')
  expect(store.finds).toBe(2)
})

test('holds no more than its bound: the newest at first, then those that are used, by whatever they are named', async () => {
  const store = makeStore(...[1, 2, 3, 4].map((id) => rowOf(id, now + id)))
  const { table } = await startTable(store, { max: 3 })
  const isHeld = (id: number) => urlOf(table, id) !== undefined
  expect([1, 2, 3, 4].map(isHeld)).toEqual([false, true, true, true])
  expect(await table.resolve(keyOf(1))).toMatchObject({ id: 1 })
  expect([2, 3].map(isHeld)).toEqual([false, true])
  // An older one is looked up behind whoever asks for it by its id.
  expect([3, 2, 99].map((id) => table.ofId(id)?.url)).toEqual(['https://example.com/3', undefined, undefined])
  await until(() => table.ofId(2) !== undefined)
  expect(urlOf(table, 2)).toBe('https://example.com/2')
})

test('holds no more than its bytes, in memory and in its copy, however few links they are', async () => {
  const long = (id: number) => rowOf(id, now + id, `?${'x'.repeat(1_000)}`)
  const store = makeStore(...[1, 2, 3, 4].map(long))
  const { table } = await startTable(store, { bytesMax: 3_500 })
  const held = () => Array.from({ length: 20 }, (_, at) => at + 1).filter((id) => urlOf(table, id) !== undefined)
  expect(held()).toEqual([2, 3, 4])
  for (let id = 5; id <= 20; id++) {
    await change(store, long(id))
    expect((await stat(pathOf('links.jsonl'))).size).toBeLessThan(2 * 3_500 + 500)
  }
  expect(held()).toEqual([18, 19, 20])
  expect(await table.resolve(keyOf(1))).toMatchObject({ id: 1 })
  expect(held()).toHaveLength(3)
})

test('targets count as bytes, however short they are', async () => {
  const targets = Array(10).fill({ device: 'ios', countries: ['DE'], destination_url: 'https://a.de/' })
  const store = makeStore(...[1, 2, 3].map((id) => ({ ...rowOf(id, now + id), targets })))
  const { table } = await startTable(store, { bytesMax: 3_000 })
  expect([1, 2, 3].map((id) => urlOf(table, id) !== undefined)).toEqual([false, true, true])
})

test('a preview is in the copy, and its texts count as bytes', async () => {
  const preview = { title: 'a'.repeat(200), description: '', image_url: 'https://a.de/ä.png' }
  const store = makeStore(...[1, 2, 3].map((id) => ({ ...rowOf(id, now + id), preview })))
  const { table } = await startTable(store, { bytesMax: 1_200 })
  expect([1, 2, 3].map((id) => urlOf(table, id) !== undefined)).toEqual([false, true, true])
  store.isDown = true
  const { table: again } = await startTable(store)
  const { title, description } = preview
  expect(again.find(keyOf(3))?.preview).toEqual({ title, description, imageUrl: 'https://a.de/%C3%A4.png' })
})

test('its copy grows by what changes and not beyond its bound; of several threads one keeps it', async () => {
  const store = makeStore(rowOf(1))
  const { table } = await startTable(store, { max: 5 })
  for (let id = 2; id <= 30; id++) {
    await change(store, rowOf(id, now + id))
    expect((await copy()).split('\n').length - 1).toBeLessThanOrEqual(10)
  }
  // By then its file is written.
  await table.close()
  await rm(pathOf('links.jsonl'))
  await startTable(store, { keepsCopy: false })
  await expect(copy()).rejects.toThrow()
})

test('after a restore of Postgres, links that it lacks lead nowhere, and the others as it says', async () => {
  const store = makeStore(rowOf(1, now - 2 * linkOverlapMs), rowOf(2, now))
  const { table } = await startTable(store)
  await change(store, rowOf(3, now + 1))
  expect([1, 2, 3].map((id) => urlOf(table, id) !== undefined)).toEqual([true, true, true])
  store.rows = []
  await change(store, rowOf(1, now - 2 * linkOverlapMs, '?before'))
  expect([1, 2, 3].map((id) => urlOf(table, id))).toEqual(['https://example.com/1?before', undefined, undefined])
  expect(table.ofId(3)).toBeUndefined()
})
