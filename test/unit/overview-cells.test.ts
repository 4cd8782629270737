/** By which statements the aggregates of a range are asked: what they say decides for how long answers can be remembered. */
import { expect, test } from 'vitest'
import type { AggregatedCell } from '../../clickhouse/queries/overview/aggregated-cells.ts'
import { cellsOf, composeSpan } from '../../clickhouse/queries/overview/composition.ts'
import type { AggregateSnapshot, LiveGeneration } from '../../schemas/aggregate-snapshot.ts'

const hourMs = 3_600_000
const today = 20_000
const at = (hour: number, day = today) => (day * 24 + hour) * hourMs
const generation = (number: number, day: number, more: Partial<LiveGeneration> = {}): LiveGeneration => ({
  generation: number,
  day,
  isWhole: day < today,
  level: day < today ? 3 : 0,
  lastAt: at(23.9, day),
  newest: number,
  parts: 1,
  ...more,
})
const over = [3, 2, 1].map((ago) => generation(10 - ago, today - ago))
const present = [generation(11, today, { lastAt: at(10.5) }), generation(12, today, { lastAt: at(11.8) })]
const snapshotOf = (generations: readonly LiveGeneration[]): AggregateSnapshot => ({
  ...{ revision: 1, committedAt: 0, blocks: [], resets: [] },
  aggregated: [{ from: 1, through: 100 }],
  generations,
})

/** The cells of the three and a bit days up to a moment, by the generations that they go through. */
function cellsAt(hour: number, generations: readonly LiveGeneration[]): Map<string, AggregatedCell> {
  const span = { workspaceId: 1, readableFrom: 0, start: at(hour, today - 3), end: at(hour) }
  const { aggregated } = cellsOf(composeSpan(snapshotOf(generations), span), { name: 'range' })
  const goneThrough = ({ growing, params }: AggregatedCell) =>
    growing?.generations.map((one) => one.generation) ?? (params['range_days'] as number[])
  return new Map(aggregated.map((cell) => [goneThrough(cell).join(), cell]))
}

test('when an hour has turned, whole days and the present one are asked for as before', () => {
  const before = cellsAt(11.9, [...over, ...present])
  const after = cellsAt(12.1, [...over, ...present])
  expect([...before.keys()]).toEqual(['8,9', '7', '11,12'])
  expect([...after.keys()]).toEqual(['8,9', '7', '11,12'])
  for (const generations of ['8,9', '11,12']) expect(after.get(generations)).toEqual(before.get(generations))
  expect(before.get('7')!.params).toMatchObject({ range_first_start: (today - 3) * 24 + 12 })
  expect(after.get('7')!.params).toMatchObject({ range_first_start: (today - 3) * 24 + 13 })
})

test('what is counted after the range in its last day is left out', () => {
  const late = [...present, generation(13, today, { lastAt: at(12.2) })]
  expect(cellsAt(11.9, [...over, ...late]).get('11,12,13')!.params).toMatchObject({ range_end: today * 24 + 11 })
  expect(cellsAt(12.5, [...over, ...late]).get('11,12,13')!.params).toMatchObject({ range_end: (today + 1) * 24 })
})

test('where nothing comes, all hours are asked for at once', () => {
  expect([...cellsAt(11.9, over).keys()]).toEqual(['8,9', '7'])
  const settled = generation(11, today, { level: 9, lastAt: at(10.5) })
  expect([...cellsAt(11.9, [...over, settled]).keys()]).toEqual(['8,9', '7,11'])
})
