/** Days of one workspace whose cells can't be written hold up no other's. */
import { expect, test } from 'vitest'
import { CellsError, closeDays } from '../../pipeline/fold/write-cells.ts'
import { readCurrentBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { workOn } from '../support/fold.ts'
import { makeTestWorkspace } from '../support/overview.ts'
import { setUpStores, type TestStores } from '../support/stores.ts'

const stores = setUpStores()
const now = Date.parse('2026-11-20T14:25:00Z')

test('a day that takes too much is left out for an hour, and the days of others get their cells', async () => {
  const [busy, other] = [await makeTestWorkspace(stores, {}), await makeTestWorkspace(stores, {})]
  for (const workspace of [busy, other]) await workspace.addEvents([{ occurred_at: now - 2 * 86_400_000 }])
  let tries = 0
  const ch = {
    ...stores.ch,
    command: (sql: string, params?: Record<string, unknown>, options?: never) => {
      if (!(params?.['workspaces'] as number[] | undefined)?.includes(busy.id))
        return stores.ch.command(sql, params, options)
      tries++
      return Promise.reject(new Error('memory limit exceeded'))
    },
  } as TestStores['ch']
  const heldUntil = new Map<number, number>()
  const close = (at: number) => closeDays(workOn({ pg: stores.pg, ch }), at, heldUntil)
  const through = async ({ id }: { id: number }) => (await readCurrentBuild(stores.pg, id))!.cellsThrough
  await expect(close(now)).rejects.toBeInstanceOf(CellsError)
  expect([await through(busy), await through(other)]).toEqual([null, expect.any(Number)])
  // Together, and apart.
  expect(tries).toBe(2)
  await close(now + 60_000)
  expect(tries).toBe(2)
  heldUntil.clear()
  await expect(close(now + 60_000)).rejects.toBeInstanceOf(CellsError)
})
