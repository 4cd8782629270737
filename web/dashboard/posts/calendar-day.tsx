/** A day of the posts' calendar: its posts, its free posting times, and a button that writes a post for it. */
import type { JSX } from 'preact'
import { dayInWords, type Span } from '../parts/calendar-days.ts'
import { timeOfDay } from '../parts/format.ts'
import { may } from '../shell/may.ts'
import type { Post } from './post-draft.ts'
import { isWaiting } from './post-review.tsx'
import { isDraggable, type Moves } from './use-moves.ts'

/** More of a day in a month are in its week. */
const shownInMonth = 4

interface CalendarDayProps {
  /** `YYYY-MM-DD`, as is `today`. */
  readonly on: string
  readonly span: Span
  readonly today: string
  /** It is of the month before or after the one that is looked at. */
  readonly isBeside: boolean
  /** Those of the day, the earliest first. */
  readonly posts: readonly Post[]
  /** Free posting times: `HH:MM`. */
  readonly free: readonly string[]
  readonly moves: Moves
  chip(post: Post): JSX.Element
  showWeek(): void
  /** @param time the usual one where it is left out */
  write(time?: string): void
}

export function CalendarDay(props: CalendarDayProps) {
  const { on, span, today, isBeside, posts, free, moves, chip, showWeek, write } = props
  const shown = span === 'month' && posts.length > shownInMonth ? posts.slice(0, shownInMonth - 1) : posts
  const isOver = on < today
  const marks = [
    ...(isOver ? ['over'] : []),
    ...(moves.dragged !== undefined && moves.target === on ? ['target'] : []),
    ...(isBeside ? ['beside'] : []),
  ]
  return (
    <li
      class={marks.join(' ')}
      aria-current={on === today ? 'date' : undefined}
      data-day={on}
      onDragOver={(event) => moves.over(on, event)}
      onDrop={(event) => moves.drop(on, event)}
    >
      <div class="day">
        <time dateTime={on}>
          <span aria-hidden="true">{Number(on.slice(8))}</span>
          <span class="unseen">{dayInWords(on)}</span>
        </time>
        {!isOver && may('posts:write') && (
          <button type="button" class="link" aria-label={`Write a post for ${dayInWords(on)}`} onClick={() => write()}>
            +
          </button>
        )}
      </div>
      <ul>{shown.map(chip)}</ul>
      {free.slice(0, span === 'month' ? shownInMonth - shown.length : undefined).map((time) => (
        <button
          key={time}
          type="button"
          class="chip free"
          title="A free posting time"
          aria-label={`Write a post for ${dayInWords(on)} at ${timeOfDay(time)}, a free posting time`}
          onClick={() => write(time)}
        >
          {timeOfDay(time)}
        </button>
      ))}
      {shown.length < posts.length && (
        <button type="button" class="link" onClick={showWeek}>
          {posts.length - shown.length} more<span class="unseen"> on {dayInWords(on)}</span>
        </button>
      )}
    </li>
  )
}

const signs: Readonly<Record<Post['status'], string>> = {
  draft: '○',
  scheduled: '◷',
  publishing: '…',
  published: '✓',
  failed: '!',
  archived: '–',
}

interface PostChipProps {
  readonly post: Post
  /** Its time of day, as it is shown; null without one. */
  readonly time: string | null
  readonly moves: Moves
  open(): void
}

/** A post that can be opened, and moved to another day. */
export function PostChip({ post, time, moves, open }: PostChipProps) {
  return (
    <li>
      <button
        type="button"
        id={`post-${post.id}`}
        class={`chip ${post.status}`}
        draggable={isDraggable(post)}
        aria-description={isDraggable(post) ? 'Space moves it' : undefined}
        title={post.title}
        onDragStart={(event) => moves.drag(post, event)}
        onDragEnd={moves.letGo}
        onPointerDown={(event) => moves.press(post, event)}
        onKeyDown={(event) => moves.pickUp(post, event)}
        onKeyUp={(event) => event.key === ' ' && event.preventDefault()}
        onClick={open}
      >
        <span aria-hidden="true">{isWaiting(post) ? '?' : signs[post.status]}</span>{' '}
        <span class="unseen">{isWaiting(post) ? 'waiting for approval' : post.status} </span>
        {time} <bdi>{post.title}</bdi>
      </button>
    </li>
  )
}
