/**
 * Posts on their days, a week or a month at a time. Dragging puts a post on another day, by mouse or by finger; so do Space, the arrow keys and
 * Enter. Its time of day stays. It stands there at once, and goes back when the API refuses.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { dayAfter, dayInWords, daysOfSpan, monthAfter, monthInWords, type Span } from '../parts/calendar-days.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Refusal } from '../parts/failure.tsx'
import { localMoment, timeOfDay } from '../parts/format.ts'
import type { Workspace } from '../requests/answers.ts'
import { may } from '../shell/may.ts'
import { CalendarDay, PostChip } from './calendar-day.tsx'
import { OpenedPost } from './post-details.tsx'
import type { Post } from './post-draft.ts'
import type { Queue } from './posting-times.tsx'
import { useMoves } from './use-moves.ts'

export interface CalendarProps {
  /** Undefined: not known yet. */
  readonly posts: readonly Post[] | undefined
  readonly workspace: Workspace
  readonly queue: Queue
  readonly span: Span
  /** The one that is looked at: `YYYY-MM-DD`. */
  readonly day: string
  go(day: string, span?: Span): void
  /** Begins a post for a day, at a time of it: `HH:MM`, or the usual one. */
  write(day: string, time?: string): void
}

export function PostsCalendar({ posts, workspace, queue, span, day, go, write }: CalendarProps) {
  const [opened, open] = useState<number>()
  const days = daysOfSpan(span, day)
  const localTime = (post: Post) =>
    post.scheduled_at === null ? null : localMoment(post.scheduled_at, workspace.timezone)
  const clockOf = (post: Post) => post.scheduled_at && timeOfDay(localTime(post)!.slice(11))
  const moves = useMoves({
    posts,
    timezone: workspace.timezone,
    localTime,
    isShown: (on) => days.includes(on),
    go,
  })
  const { shown, message, refusal, undo, now } = moves
  const today = now().slice(0, 10)
  const at = (on: string) =>
    shown
      .filter((post) => localTime(post)?.startsWith(on))
      .sort((one, other) => one.scheduled_at!.localeCompare(other.scheduled_at!))
  const free = useMemo(
    () =>
      may('posts:write') ? (queue.known?.free.map((moment) => localMoment(moment, workspace.timezone)) ?? []) : [],
    [queue.known, workspace.timezone],
  )
  const drafts = shown.filter(({ scheduled_at, status }) => scheduled_at === null && status === 'draft')
  const [isEdited, keep] = useState(false)
  const last = useRef<Post>(undefined)
  const found = shown.find(({ id }) => id === opened)
  // Somebody else may have moved it to other days since it was opened.
  if (found || opened === undefined || !isEdited) last.current = found
  const openedPost = last.current
  const isGone = posts !== undefined && openedPost === undefined
  // Where it is shown again, as without a filter, nobody has opened it.
  useEffect(() => {
    if (isGone) open(undefined)
  }, [isGone])
  const chip = (post: Post) => (
    <PostChip key={post.id} post={post} time={clockOf(post)} moves={moves} open={() => open(post.id)} />
  )

  return (
    <section class="panel" aria-label="Posts">
      <div class="tabs">
        <h2>{monthInWords(day)}</h2>
        <span class="choices">
          <button type="button" aria-label={`The ${span} before`} onClick={() => go(moved(-1))}>
            ‹
          </button>
          <button type="button" onClick={() => go(today)}>
            Today
          </button>
          <button type="button" aria-label={`The ${span} after`} onClick={() => go(moved(1))}>
            ›
          </button>
        </span>
      </div>
      <p class="note" role="status">
        {message ||
          `${may('posts:publish') ? 'Drag a post to another day (by finger: hold it first), or press Space on it. ' : ''}Times are those of ${workspace.timezone}.`}{' '}
        {undo && (
          <button type="button" class="link" onClick={undo}>
            Undo
          </button>
        )}
      </p>
      <Refusal text={refusal} />
      <div class="weekdays" aria-hidden="true">
        {days.slice(0, 7).map((on) => (
          <span key={on}>{dayInWords(on, { weekday: 'short' })}</span>
        ))}
      </div>
      <ol class={`calendar ${span}`}>
        {days.map((on) => (
          <CalendarDay
            key={on}
            on={on}
            span={span}
            today={today}
            isBeside={span === 'month' && on.slice(0, 7) !== day.slice(0, 7)}
            posts={at(on)}
            free={free.filter((moment) => moment.startsWith(on)).map((moment) => moment.slice(11))}
            moves={moves}
            chip={chip}
            showWeek={() => go(on, 'week')}
            write={(time) => write(on, time)}
          />
        ))}
      </ol>
      {drafts.length > 0 && (
        <section aria-label="Drafts without a time">
          <h3>Drafts without a time</h3>
          <ul class="drafts">{drafts.map(chip)}</ul>
        </section>
      )}
      {openedPost && (
        <Dialog title={openedPost.title} close={() => open(undefined)}>
          <OpenedPost
            workspace={workspace}
            queue={queue}
            post={openedPost}
            keep={keep}
            queued={(at) => {
              const on = localMoment(at, workspace.timezone).slice(0, 10)
              if (!days.includes(on)) go(on)
            }}
          />
        </Dialog>
      )}
    </section>
  )

  function moved(by: 1 | -1): string {
    return span === 'month' ? monthAfter(`${day.slice(0, 8)}01`, by) : dayAfter(day, 7 * by)
  }
}
