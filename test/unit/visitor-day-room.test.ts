/** Lists of a visitor's day beyond its room are left out, and what they had still counts. */
import { expect, test } from 'vitest'
import { deriveRows, noHistory } from '../../pipeline/fold/derive-rows.ts'
import type { Conversion, SessionDay } from '../../pipeline/fold/read-session-days.ts'
import { makeVisitorDayRoom } from '../../pipeline/fold/visitor-day-room.ts'
import { conversionsPerSessionDayMax, sessionListsPerVisitorDay } from '../../schemas/limits/figure-limits.ts'

const room = sessionListsPerVisitorDay * conversionsPerSessionDayMax
const day = 20_000

function sessionDay(nth: number, converted: number, more: Partial<SessionDay> = {}): SessionDay {
  const at = day * 86_400_000 + nth * 1_000
  const conversionOf = (one: number): Conversion => [at, nth * room + one, '/', 'desktop', '', 'DE', 'direct', 'none']
  return {
    workspaceId: 1,
    visitor: '1',
    session: String(nth),
    day,
    firstAt: at,
    lastAt: at,
    entry: ['direct', 'none', '', 'desktop', '', '', 'DE', '', '', '', '', '', '', '', ''],
    events: converted,
    pageviews: 0,
    acts: converted,
    engagementMs: 0,
    hours: 1,
    converted,
    views: [],
    leaves: [],
    touches: [],
    conversions: Array.from({ length: converted }, (_, one) => conversionOf(one)),
    sampledPaths: [],
    ...more,
  }
}

test('conversions of sessions that came in later are credited to nothing, and count', () => {
  const inRoom = makeVisitorDayRoom()
  const days = [room - 1, 3, 2].map((converted, nth) => inRoom(sessionDay(nth, converted)))
  const { sessions, visitors, credits } = deriveRows(days, { build: 1, version: 1, fromDay: day, history: noHistory })
  expect(days.map(({ conversions }) => conversions.length)).toEqual([room - 1, 1, 0])
  const countOf = ({ kind, conversions }: (typeof sessions)[number]['seen']) =>
    conversions.reduce((sum, n, at) => sum + (kind[at] === 0 ? n : 0), 0)
  expect(sessions.map(({ seen }) => countOf(seen))).toEqual([room - 1, 3, 2])
  expect([visitors[0]!.conversions, credits.length]).toEqual([room + 4, room])
})

test.each<[string, Partial<SessionDay>]>([
  ['another day', { day: day + 1 }],
  ['another visitor', { visitor: '2' }],
  ['another workspace', { workspaceId: 2 }],
])('%s has room of its own', (_, other) => {
  const inRoom = makeVisitorDayRoom()
  expect(inRoom(sessionDay(1, room)).conversions).toHaveLength(room)
  expect(inRoom(sessionDay(2, 1, other)).conversions).toHaveLength(1)
  expect(inRoom(sessionDay(3, 1, other)).conversions).toHaveLength(1)
})

test('server events of an hour have as much as they have', () => {
  const inRoom = makeVisitorDayRoom()
  const ofServers = { visitor: '0' }
  expect([1, 2].map((nth) => inRoom(sessionDay(nth, room, ofServers)).conversions.length)).toEqual([room, room])
})
