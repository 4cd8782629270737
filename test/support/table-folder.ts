/** A folder for each test's copies of tables, and the tables that are closed at the test's end. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

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
