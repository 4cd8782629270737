/** One fold takes so many events at most, the oldest ids first, however far apart the ids are. */
import { expect, test } from 'vitest'
import { findCut } from '../../pipeline/fold/read-touched.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

test('where no more ids came than events may be taken, nobody is asked for a cut', async () => {
  const ch = { query: () => expect.unreachable() }
  expect(await findCut(ch, [{ from: 6, through: 8 }], 3)).toBeUndefined()
})

test('a cut is before the first event that is too many', async () => {
  const ids = [5, 6, 7, 1_000, 30_000_000_000, 30_000_000_001, 9_000_000_000_000]
  await insertEventRows(
    stores.ch,
    ids.map((id) => makeEventRow({ id, workspace_id: 1 })),
  )
  const added = [
    { from: 6, through: 40_000_000_000 },
    { from: 8_000_000_000_000, through: 9_500_000_000_000 },
  ]
  const cutAt = (max: number) => findCut(stores.ch, added, max)
  const cuts = await Promise.all([1, 2, 3, 4, 5, 6].map(cutAt))
  expect(cuts).toEqual([6, 999, 29_999_999_999, 30_000_000_000, 8_999_999_999_999, undefined])
})
