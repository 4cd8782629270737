/**
 * The request for a post that is moved to another day: its time of day stays where it can. Pure;
 * test/unit/dashboard-calendar.test.ts.
 */
import type { PostStatus } from '../../../schemas/resources/post.ts'
import { serverNow } from '../requests/request.ts'

export interface Movable {
  readonly status: PostStatus
  /** Local to the workspace, `YYYY-MM-DDTHH:MM`; null without a time. */
  readonly localTime: string | null
}

export type Move =
  | { readonly path: 'schedule' | 'reschedule'; readonly scheduled_at: string }
  | { readonly refusal: string }
  | 'stays'

const usualTime = '09:00'

export function isMovable(status: PostStatus): boolean {
  return status === 'draft' || status === 'scheduled' || status === 'failed'
}

/** @param now local to the workspace, as `localTime` */
export function moveTo(day: string, { status, localTime }: Movable, now: string): Move {
  if (!isMovable(status)) return { refusal: `A post that is ${status} stays where it is.` }
  if (day < now.slice(0, 10)) return { refusal: 'That day is over.' }
  if (status === 'scheduled' && localTime?.startsWith(day)) return 'stays'
  const scheduled_at = timeOn(day, localTime?.slice(11) ?? usualTime, now)
  if (scheduled_at === undefined) return { refusal: 'No full hour is left of this day. Choose the time in the editor.' }
  return { path: status === 'scheduled' ? 'reschedule' : 'schedule', scheduled_at }
}

/** The usual time of a new post on a day, or the next full hour; undefined where none is left. */
export function timeOfNew(day: string, now: string): string | undefined {
  return timeOn(day, usualTime, now)
}

/** A post can't be scheduled for the moment itself: its request takes a while, and the server's time is known to a second. */
const soonMs = 20_000

/** When a post is scheduled for that is to go out now. */
export function soon(): string {
  return new Date(serverNow() + soonMs).toISOString()
}

function timeOn(day: string, time: string, now: string): string | undefined {
  if (`${day}T${time}` > now) return `${day}T${time}`
  const hour = Number(now.slice(11, 13)) + 1
  return hour > 23 ? undefined : `${day}T${String(hour).padStart(2, '0')}:00`
}
