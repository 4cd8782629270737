import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makePostTable, type PostRow, type PostTable } from '../../ingest/tables/posts.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { keyPollMs, postOverlap } from '../../schemas/limits/ingest-limits.ts'

let folder: string
let open: PostTable[]
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  folder = await mkdtemp(join(tmpdir(), 'post-table-'))
  open = []
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(open.map((table) => table.close()))
  await rm(folder, { recursive: true })
})

/** Stands for the table of Postgres, which this one knows only by these functions. */
function makeStore(rows: PostRow[]) {
  const store = {
    rows,
    isDown: false,
    lists: [] as number[],
    finds: 0,
    listPosts: async (afterId: number, limit: number) => {
      store.lists.push(afterId)
      if (store.isDown) throw new Error('connection refused')
      const newer = store.rows.filter(({ id }) => id > afterId)
      return newer.sort((one, other) => other.id - one.id).slice(0, limit)
    },
    findPost: async (id: number) => {
      store.finds++
      if (store.isDown) throw new Error('connection refused')
      return store.rows.find((row) => row.id === id) ?? null
    },
  }
  return store
}

const file = () => join(folder, 'posts.txt')
const post = (id: number, workspace_id = 1): PostRow => ({ id, workspace_id })

async function startTable(store: ReturnType<typeof makeStore>, max?: number): Promise<PostTable> {
  const { listPosts, findPost } = store
  const log = makeLog('test', 'silent')
  const table = makePostTable({ file: file(), listPosts, findPost, clock: fixedClock(0), log, ...(max && { max }) })
  open.push(table)
  await table.start()
  return table
}

/** Lets the time pass after which newer posts are looked for, and waits until they are read. */
async function poll(store: ReturnType<typeof makeStore>) {
  const { length } = store.lists
  while (store.lists.length === length) {
    await vi.advanceTimersByTimeAsync(keyPollMs)
    // The next look waits until the one before has been written to disk.
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('knows the workspace of posts, and of newer ones seconds later, by reading only those', async () => {
  const store = makeStore([post(5000), post(5001, 2)])
  const table = await startTable(store)
  expect([5000, 5001, 5002].map((id) => table.workspaceOf(id))).toEqual([1, 2, undefined])
  store.rows.push(post(5003, 3), post(5002, 3))
  await poll(store)
  expect([table.workspaceOf(5002), table.workspaceOf(5003)]).toEqual([3, 3])
  // Committed after one with a greater id.
  store.rows.push(post(4990, 4))
  await poll(store)
  expect(table.workspaceOf(4990)).toBe(4)
  expect(store.lists).toEqual([0, 5001 - postOverlap, 5003 - postOverlap])
  expect(store.finds).toBe(0)
})

test('goes on from its copy while Postgres is away', async () => {
  const store = makeStore([post(1)])
  const first = await startTable(store)
  store.rows.push(post(2, 2))
  await poll(store)
  await first.close()
  await writeFile(file(), '3 ', { flag: 'a' })
  store.isDown = true
  const table = await startTable(store)
  expect([1, 2, 3].map((id) => table.workspaceOf(id))).toEqual([1, 2, undefined])
})

test('holds no more than its bound, and looks up an older one behind whoever asks for it', async () => {
  const store = makeStore([1, 2, 3, 4].map((id) => post(id)))
  const table = await startTable(store, 3)
  expect([2, 3, 4].map((id) => table.workspaceOf(id))).toEqual([1, 1, 1])
  expect(table.workspaceOf(1)).toBeUndefined()
  while (table.workspaceOf(1) === undefined) await new Promise((resolve) => setImmediate(resolve))
  expect(store.finds).toBe(1)
  expect([3, 4].map((id) => table.workspaceOf(id))).toEqual([1, 1])
})

test('asks Postgres for no post as long as all of them are at hand', async () => {
  const store = makeStore([post(1)])
  const table = await startTable(store)
  for (let id = 2; id < 1000; id++) expect(table.workspaceOf(id)).toBeUndefined()
  expect(store.finds).toBe(0)
})

test('its copy grows by what is new, and not beyond its bound', async () => {
  const store = makeStore([post(1)])
  const table = await startTable(store, 5)
  const lines = async () => (await readFile(file(), 'utf8')).split('\n').length - 1
  for (let id = 2; id <= 20; id++) {
    store.rows.push(post(id))
    await poll(store)
    expect(await lines()).toBeLessThanOrEqual(11)
  }
  await table.close()
  expect(await readFile(file(), 'utf8')).toContain('20 1\n')
})
