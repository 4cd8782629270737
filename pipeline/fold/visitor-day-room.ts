/**
 * The room for pages, touches and conversions that the sessions of a visitor on one local day share. A script with one name
 * in a thousand sessions would else have millions of pages written with each fold. ClickHouse has grouped all of them before.
 * Held by test/integration/fold-limits.test.ts and unit/visitor-day-room.test.ts.
 */
import {
  conversionsPerSessionDayMax,
  sessionListsPerVisitorDay,
  touchesPerSessionDayMax,
  viewsPerSessionDayMax,
} from '../../schemas/limits/figure-limits.ts'
import type { SessionDay } from './read-session-days.ts'

type Lists = Pick<SessionDay, 'views' | 'leaves' | 'touches' | 'conversions' | 'sampledPaths'>
type Room = Record<keyof Lists, number>

/**
 * Leaves out what goes beyond.
 * @returns a function for all sessions of a day, one after another, those that came in first before others
 */
export function makeVisitorDayRoom(): (one: SessionDay) => SessionDay {
  let last: SessionDay | undefined
  let left = emptyRoom()
  return (one) => {
    // Server events have hours in place of sessions, and limits of their own.
    if (one.visitor === '0') return one
    if (last?.day !== one.day || last.visitor !== one.visitor || last.workspaceId !== one.workspaceId)
      left = emptyRoom()
    last = one
    const isFull = one.views.length > left.views || one.leaves.length > left.leaves || one.touches.length > left.touches
    const isWhole =
      !isFull && one.conversions.length <= left.conversions && one.sampledPaths.length <= left.sampledPaths
    const lists = isWhole ? one : cut(one, left)
    left.views -= lists.views.length
    left.leaves -= lists.leaves.length
    left.touches -= lists.touches.length
    left.conversions -= lists.conversions.length
    left.sampledPaths -= lists.sampledPaths.length
    return lists
  }
}

function emptyRoom(): Room {
  return {
    views: sessionListsPerVisitorDay * viewsPerSessionDayMax,
    leaves: sessionListsPerVisitorDay * viewsPerSessionDayMax,
    touches: sessionListsPerVisitorDay * touchesPerSessionDayMax,
    conversions: sessionListsPerVisitorDay * conversionsPerSessionDayMax,
    sampledPaths: sessionListsPerVisitorDay * viewsPerSessionDayMax,
  }
}

function cut(one: SessionDay, left: Room): SessionDay {
  return {
    ...one,
    views: one.views.slice(0, left.views),
    leaves: one.leaves.slice(0, left.leaves),
    touches: one.touches.slice(0, left.touches),
    conversions: one.conversions.slice(0, left.conversions),
    sampledPaths: one.sampledPaths.slice(0, left.sampledPaths),
  }
}
