/** How chunks become one row of events to play. */
import { expect, test } from 'vitest'
import { type Chunk, placeOf, recordingOf } from '../../web/dashboard/replays/replay-events.ts'

const begin = Date.UTC(2026, 10, 20, 12)
/** The visitor's clock is an hour behind. */
const offset = -3_600_000
/** `events`: the type of each and the time after the chunk's begin, as `2@0 3@10`. */
function chunk(page_id: string, sequence: number, at: number, events: string): Chunk {
  const started_at = new Date(begin + at).toISOString()
  return {
    id: 1,
    page_id,
    sequence,
    url: `https://example.com/${page_id}`,
    started_at,
    events: events.split(' ').map((event) => {
      const [type, after] = event.split('@').map(Number)
      return { type: type!, timestamp: begin + at + offset + after!, data: {} }
    }),
  }
}
const timesOf = (chunks: readonly Chunk[]) => recordingOf(chunks).events.map(({ timestamp }) => timestamp - begin)

test('chunks are in order whatever came first, each once, by the server’s clock', () => {
  const later = chunk('a', 1, 5_000, '3@100')
  expect(timesOf([later, chunk('a', 0, 0, '4@0 2@10'), later])).toEqual([0, 10, 5_100])
})

test('tabs that were open together follow one another, and long gaps are short', () => {
  const tabs = [chunk('a', 0, 0, '2@0 3@60000'), chunk('b', 0, 30_000, '2@0 3@20000')]
  const chunks = [...tabs, chunk('c', 0, 3_600_000 * 5, '2@0 3@10')]
  expect(recordingOf(chunks).loads.map(({ at }) => at)).toEqual([0, 60_001, 80_002 + 600_000])
  expect(timesOf(chunks).slice(2, 4)).toEqual([60_001, 80_001])
  // The one after that came a second later.
  const next = recordingOf([...chunks, chunk('d', 0, 3_600_000 * 5 + 1_010, '2@0 3@10')]).loads[3]!
  expect(next.at).toBe(680_002 + 1_010)
})

test('a load whose begin is missing isn’t played, and of nothing comes nothing', () => {
  expect(recordingOf([chunk('a', 3, 0, '3@0')]).events).toEqual([])
  expect(recordingOf([chunk('a', 3, 0, '3@0')]).lacksParts).toBe(true)
  expect(recordingOf([chunk('a', 0, 0, '2@0'), chunk('a', 2, 9, '3@0')]).lacksParts).toBe(true)
  expect(recordingOf([])).toEqual({ events: [], loads: [], lacksParts: false })
})

test('a clock that was set back or jumps a year moves no event before the snapshot, nor a year away', () => {
  const year = 365 * 86_400_000
  const events = [`2@0 3@100 3@${-3_600_000} 3@-3599000`, `3@${year} 3@${year + 10}`]
  const chunks = events.map((each, sequence) => ({
    ...chunk('a', sequence, 0, each),
    started_at: new Date(begin).toISOString(),
  }))
  const { events: played, loads, lacksParts } = recordingOf(chunks)
  expect(played.map(({ type }) => type)).toEqual([2, 3, 3, 3, 3, 3])
  // The chunk began with the earliest time that it has.
  expect(played.map(({ timestamp }) => timestamp - played[0]!.timestamp)).toEqual([0, 100, 101, 1_101, 1_102, 1_112])
  expect(loads.length).toBe(3)
  expect(lacksParts).toBe(false)
})

test('a moment has its place in the load that it happened in, and none between loads', () => {
  const recording = recordingOf([chunk('a', 0, 0, '2@0 3@10000'), chunk('b', 0, 60_000, '2@0 3@10000')])
  const places = [4_000, 11_000, 64_000, 40_000, -10_000].map((after) => placeOf(recording, begin + after))
  expect(places).toEqual([4_000, 10_000, 64_000, null, null])
})

test('a moment has its place in a tab that outlives one that was opened later', () => {
  const recording = recordingOf([chunk('a', 0, 0, '2@0 3@60000'), chunk('b', 0, 10_000, '2@0 3@5000')])
  expect(placeOf(recording, begin + 30_000)).toBe(30_000)
})
