/** A folder for each test's copies of tables, the tables that are closed at the test's end, and what stands for Postgres. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, vi } from 'vitest'

interface Startable {
  start(): Promise<void>
  close(): Promise<void>
}

export function setUpTableFolder() {
  let folder: string
  const open: Startable[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-table-'))
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((table) => table.close()))
    await rm(folder, { recursive: true })
  })
  return {
    pathOf: (name: string) => join(folder, name),
    async started<Table extends Startable>(table: Table): Promise<Table> {
      open.push(table)
      await table.start()
      return table
    },
  }
}

export const away = () => Promise.reject(new Error('connection refused'))

export async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** Stands for a table of Postgres, which ours know by a few functions only. It can be away, and counts look-ups. */
export function fakeTable<Row>(rows: Row[]) {
  const table = {
    rows,
    isDown: false,
    finds: 0,
    notify: () => {},
    find: async (isIt: (row: Row) => boolean) => {
      table.finds++
      await turn()
      return table.isDown ? away() : (table.rows.find(isIt) ?? null)
    },
    listen: (onNotify: () => void) => {
      table.notify = onNotify
      return { close: async () => {} }
    },
  }
  return table
}

/** Lets what is due be done. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Lets time pass, `ms` at once, where timers are faked. */
export async function passTimeUntil(isDone: () => boolean, ms: number): Promise<void> {
  while (!isDone()) {
    await vi.advanceTimersByTimeAsync(ms)
    // Writes to disk go on meanwhile.
    await turn()
  }
}
