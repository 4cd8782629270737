import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makePostTable, type PostRow } from '../../ingest/tables/posts.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { keyPollMs, postOverlap } from '../../schemas/limits/ingest-limits.ts'
import { silent } from '../support/log-fixture.ts'
import { away, fakeTable, passTimeUntil, setUpTableFolder, turn } from '../support/table-folder.ts'

const { pathOf, started } = setUpTableFolder()
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function makeStore(...rows: PostRow[]) {
  const store = Object.assign(fakeTable(rows), {
    lists: [] as number[],
    listPosts: async (afterId: number, limit: number) => {
      store.lists.push(afterId)
      if (store.isDown) return away()
      const newer = store.rows.filter(({ id }) => id > afterId)
      return newer.sort((one, other) => other.id - one.id).slice(0, limit)
    },
    findPost: (id: number) => store.find((row) => row.id === id),
  })
  return store
}

const file = () => pathOf('posts.txt')
const post = (id: number, workspace_id = 1): PostRow => ({ id, workspace_id })
const startTable = ({ listPosts, findPost }: ReturnType<typeof makeStore>, max?: number) =>
  started(makePostTable({ file: file(), listPosts, findPost, clock: fixedClock(0), log: silent, ...(max && { max }) }))

/** Adds posts, lets the time pass after which newer ones are looked for, and waits until they are read. */
async function poll(store: ReturnType<typeof makeStore>, ...added: PostRow[]) {
  store.rows.push(...added)
  const { length } = store.lists
  await passTimeUntil(() => store.lists.length > length, keyPollMs)
  for (let turns = 0; turns < 5; turns++) await turn()
}

test('knows the workspace of posts, and of newer ones seconds later, by reading only those', async () => {
  const store = makeStore(post(5000), post(5001, 2))
  const table = await startTable(store)
  expect([5000, 5001, 5002].map(table.workspaceOf)).toEqual([1, 2, undefined])
  await poll(store, post(5003, 3), post(5002, 3))
  expect([5002, 5003].map(table.workspaceOf)).toEqual([3, 3])
  // Committed after one with a greater id.
  await poll(store, post(4990, 4))
  expect(table.workspaceOf(4990)).toBe(4)
  expect(store.lists).toEqual([0, 5001 - postOverlap, 5003 - postOverlap])
  // All of them are at hand: Postgres is asked for no other.
  for (let id = 5004; id < 6000; id++) expect(table.workspaceOf(id)).toBeUndefined()
  expect(store.finds).toBe(0)
})

test('goes on from its copy while Postgres is away', async () => {
  const store = makeStore(post(1))
  const first = await startTable(store)
  await poll(store, post(2, 2))
  await first.close()
  // A kill has cut the line of a post of workspace 12.
  await writeFile(file(), '3 1', { flag: 'a' })
  store.isDown = true
  const table = await startTable(store)
  expect([1, 2, 3].map(table.workspaceOf)).toEqual([1, 2, undefined])
})

test('holds no more than its bound, and looks up an older one behind whoever asks for it', async () => {
  const store = makeStore(...[1, 2, 3, 4].map((id) => post(id)))
  const table = await startTable(store, 3)
  expect([2, 3, 4].map(table.workspaceOf)).toEqual([1, 1, 1])
  expect(table.workspaceOf(1)).toBeUndefined()
  while (table.workspaceOf(1) === undefined) await turn()
  expect(store.finds).toBe(1)
  expect([3, 4].map(table.workspaceOf)).toEqual([1, 1])
})

test('after a restore of Postgres, ids of lost posts are those of the posts that have them now', async () => {
  const lost = [100, 101, 5000].map((id) => post(id, 9))
  const store = makeStore(post(99), ...lost.slice(0, 2))
  const table = await startTable(store)
  store.rows = [post(99)]
  await poll(store)
  expect([99, 100, 101].map(table.workspaceOf)).toEqual([1, undefined, undefined])
  await poll(store, ...lost)
  // More of them than are read again.
  store.rows = [post(99), post(100, 2)]
  await poll(store)
  expect([99, 100, 101, 5000].map(table.workspaceOf)).toEqual([1, 2, undefined, undefined])
})
