/** The newest events of a range, as the overview shows them. */
import { expect, test } from 'vitest'
import { recentEventsMax } from '../../schemas/limits/overview-limits.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { makeTestWorkspace, type Overview } from '../support/overview.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()

const [second, hour, day] = [1_000, 3_600_000, 86_400_000]
const now = Date.UTC(2026, 10, 20, 14, 25)
const namesOf = ({ recent_events }: Overview) => recent_events.map(({ event_name }) => event_name)

test('are at most fifty, the newest first, and of one moment those of higher ids', async () => {
  const workspace = await makeTestWorkspace(stores, {})
  // Two of each second, over an hour's end and with gaps, in an order of ids that isn't that of time.
  const at = (nth: number) => now - 30 * 60 * second - (nth >> 1) * 37 * second
  const events = Array.from({ length: 3 * recentEventsMax }, (_, nth) => ({
    event_name: `${nth}`,
    occurred_at: at(nth),
  }))
  await workspace.addEvents(events.filter((_, nth) => nth % 3 === 0))
  await workspace.addEvents(events.filter((_, nth) => nth % 3 !== 0))
  const ids = new Map<string, number>()
  for (const { id, event_name } of (await workspace.ask({ days: '30' })).recent_events) ids.set(event_name, id)
  expect(ids.size).toBe(recentEventsMax)
  const expected = events
    .slice(0, recentEventsMax)
    .sort((a, b) => b.occurred_at - a.occurred_at || ids.get(b.event_name)! - ids.get(a.event_name)!)
  expect(namesOf(await workspace.ask({ days: '30' }))).toEqual(expected.map(({ event_name }) => event_name))
})

test('are those that the workspace may read, of its own events and of those that are folded', async () => {
  const [workspace, other] = [
    await makeTestWorkspace(stores, { retentionDays: 3 }),
    await makeTestWorkspace(stores, {}),
  ]
  await other.addEvents([{ event_name: "another's", occurred_at: now - hour }])
  await workspace.addEvents([
    { event_name: 'readable', occurred_at: now - 2 * day },
    { event_name: 'past its retention', occurred_at: now - 4 * day },
  ])
  await insertEventRows(stores.ch, [
    makeEventRow({ workspace_id: workspace.id, event_name: 'not folded', occurred_at: now - hour }),
  ])
  expect(namesOf(await workspace.ask({ days: '30' }))).toEqual(['readable'])
})
