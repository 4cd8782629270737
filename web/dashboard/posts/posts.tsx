/** Posts: written, scheduled and taken back; as a list, and on the days of a month or a week. */
import { Fragment } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ListedPost } from '../../../schemas/resources/post.ts'
import type { PostingTimes } from '../../../schemas/resources/posting-times.ts'
import { AccountName, type Handles, useHandles } from '../accounts/account-names.tsx'
import { ArchiveTabs, isArchive } from '../parts/archive-tabs.tsx'
import { dayAfter, daysOfSpan } from '../parts/calendar-days.ts'
import { Failure } from '../parts/failure.tsx'
import { time } from '../parts/format.ts'
import { useListPage } from '../parts/list-pages.tsx'
import { useAnswer } from '../requests/query.ts'
import { momentIn, todayIn } from '../requests/request.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { may } from '../shell/may.ts'
import { isDay } from '../view/address.ts'
import { Feeds } from './feeds.tsx'
import { wordsOf } from './network-figures.tsx'
import { OpenedPost, type OpenedProps, type PostProps, tones } from './post-details.tsx'
import type { Post } from './post-draft.ts'
import { PostForm } from './post-form.tsx'
import { timeOfNew } from './post-move.ts'
import { isWaiting, onlyWaiting, WaitingFilter } from './post-review.tsx'
import { PostingTimesEditor } from './posting-times.tsx'
import { type CalendarProps, PostsCalendar } from './posts-calendar.tsx'

const listed = 100
/** Posts in a calendar: more than anybody looks at. */
const shownMax = 200
const views = { list: 'List', month: 'Month', week: 'Week' } as const
type ViewName = keyof typeof views

export function PostsPage({ search, workspace, navigate }: PageProps) {
  const [written, write] = useState<{ readonly at: string | undefined }>()
  const params = new URLSearchParams(search)
  const named = params.get('view') ?? ''
  const view: ViewName = Object.hasOwn(views, named) ? (named as ViewName) : 'list'
  const asked = params.get('day') ?? ''
  const day = asked.length === 10 && isDay(asked) ? asked : todayIn(workspace.timezone)
  const chosen = onlyWaiting(search) ? { review: 'waiting' } : undefined
  const go = (to: ViewName, on: string) =>
    navigate(`/dashboard/posts?${new URLSearchParams({ view: to, day: on, ...chosen })}`)
  const { answer: times } = useAnswer<(typeof PostingTimes)['_output']>('/posting-times')
  const [isSettingUp, setUp] = useState(false)
  const [showsFeeds, showFeeds] = useState(false)
  const queue = { known: times, setUp: () => setUp(true) }
  const common = { workspace, queue }
  const place = useRef<HTMLElement>(null)
  // The form stands above the calendar, whose buttons may be far below it.
  useLayoutEffect(() => {
    if (written) place.current?.querySelector('input')?.focus()
  }, [written])
  return (
    <main ref={place}>
      {written ? (
        <PostForm workspace={workspace} at={written.at} queue={queue} done={() => write(undefined)} />
      ) : (
        <div class="controls">
          <fieldset class="choices" aria-label="View">
            {Object.entries(views).map(([key, name]) => (
              <button key={key} type="button" aria-pressed={view === key} onClick={() => go(key as ViewName, day)}>
                {name}
              </button>
            ))}
          </fieldset>
          <WaitingFilter search={search} navigate={navigate} />
          <button type="button" onClick={() => showFeeds(true)}>
            Feeds
          </button>
          {may('posts:publish') && (
            <button type="button" aria-disabled={times === undefined} onClick={() => setUp(true)}>
              Posting times
            </button>
          )}
          {may('posts:write') && (
            <button type="button" class="main" onClick={() => write({ at: undefined })}>
              Write a post
            </button>
          )}
        </div>
      )}
      {view === 'list' ? (
        <List {...common} search={search} navigate={navigate} />
      ) : (
        <Calendar
          {...common}
          day={day}
          span={view}
          chosen={chosen}
          go={(on, span = view) => go(span, on)}
          write={(on, at) =>
            write({ at: at === undefined ? timeOfNew(on, momentIn(workspace.timezone)) : `${on}T${at}` })
          }
        />
      )}
      {showsFeeds && <Feeds timezone={workspace.timezone} close={() => showFeeds(false)} />}
      {isSettingUp && times && (
        <PostingTimesEditor known={times} timezone={workspace.timezone} close={() => setUp(false)} />
      )}
    </main>
  )
}

type Shown = Omit<PostProps, 'post'>
/** Parameters that choose among the posts. */
type Chosen = Readonly<Record<string, string>> | undefined
type Listed = (typeof ListedPost)['_output']

/** Asks for the posts of the days that are shown, and for drafts, which may have no time. */
function Calendar({ chosen, ...shown }: Shown & Omit<CalendarProps, 'posts'> & { readonly chosen: Chosen }) {
  const days = daysOfSpan(shown.span, shown.day)
  const times = new URLSearchParams({
    scheduled_from: days[0]!,
    scheduled_before: dayAfter(days.at(-1)!, 1),
    ...chosen,
  })
  const drafts = new URLSearchParams({ status: 'draft', ...chosen })
  const { answer, failure } = useAnswer<[timed: Post[], drafts: Post[]]>(
    `/posts?${times}&limit=${shownMax} /posts?${drafts}&limit=${shownMax}`,
  )
  const posts = useMemo(
    () => answer && [...answer[0], ...answer[1].filter(({ scheduled_at }) => scheduled_at === null)],
    [answer],
  )
  return (
    <>
      {failure && <Failure {...failure} />}
      <PostsCalendar {...shown} posts={posts} />
      {answer?.some(({ length }) => length === shownMax) && (
        <p class="note">The newest {shownMax} of these days, and as many drafts. The list has all.</p>
      )}
    </>
  )
}

/** The posts of a list, and others whose editor is open: a page before had them, or somebody archived them since. */
function useKept(posts: readonly Listed[] = []) {
  const [kept, setKept] = useState<readonly Listed[]>([])
  const keep = (post: Listed, isEdited: boolean) =>
    setKept((before) => [...before.filter(({ id }) => id !== post.id), ...(isEdited ? [post] : [])])
  const others = kept.filter(({ id }) => !posts.some((post) => post.id === id))
  const isEdited = ({ id }: Listed) => kept.some((post) => post.id === id)
  return { rows: [...posts, ...others].sort((one, other) => other.id - one.id), isEdited, keep }
}

function List({ search, navigate, ...shown }: Shown & Pick<PageProps, 'search' | 'navigate'>) {
  const handles = useHandles()
  const own = onlyWaiting(search) ? '/posts?review=waiting' : '/posts'
  const {
    answer: posts,
    failure,
    isStale,
    isAwaited,
    pager,
  } = useListPage<Listed>(isArchive(search) ? '/posts?status=archived' : own, {
    each: listed,
    after: ({ id }) => ({ before_id: String(id) }),
  })
  const { rows, isEdited, keep } = useKept(posts)
  return (
    <section class="panel paged" aria-label="Posts" aria-busy={isAwaited}>
      {failure && <Failure {...failure} />}
      <ArchiveTabs title="Posts" search={search} navigate={navigate} />
      {posts !== undefined && rows.length === 0 && !isStale && (
        <p class="empty">
          {isArchive(search)
            ? 'None is archived.'
            : onlyWaiting(search)
              ? 'None waits for approval.'
              : `No post yet.${may('posts:write') ? ' Write one: it is a draft until it is given a time and scheduled.' : ''}`}
        </p>
      )}
      <ul>
        {!isStale &&
          rows.map((post) => (
            <OnePost
              key={post.id}
              post={post}
              handles={handles}
              isEdited={isEdited(post)}
              keep={(is) => keep(post, is)}
              {...shown}
            />
          ))}
      </ul>
      {pager}
    </section>
  )
}

interface OneProps extends Shown, Pick<OpenedProps, 'keep'> {
  readonly post: Listed
  readonly handles: Handles
  readonly isEdited: boolean
}

function OnePost({ post, handles, isEdited, keep, ...shown }: OneProps) {
  const [isOpen, setOpen] = useState(false)
  const [hasLeft, setLeft] = useState(false)
  const { title, status, scheduled_at, targets, engagement } = post
  // An editor that was opened before the answer came stays.
  if (hasLeft && !isEdited) return null
  return (
    <li class="item">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="name">
            <bdi>{title}</bdi>{' '}
            <span class="label">
              {targets.map((target, at) => (
                <Fragment key={target.id}>
                  {at > 0 && ', '}
                  <AccountName target={target} handles={handles} />
                </Fragment>
              ))}
            </span>
          </span>
          <span class="label">{wordsOf(engagement).join(', ')}</span>
          <span class={tones[status] ?? ''}>{isWaiting(post) ? 'waiting for approval' : status}</span>
          <span class="when">
            {scheduled_at !== null && (
              <time dateTime={scheduled_at}>{time(scheduled_at, shown.workspace.timezone)}</time>
            )}
          </span>
        </summary>
        {(isOpen || isEdited) && <OpenedPost post={post} keep={keep} left={() => setLeft(true)} {...shown} />}
      </details>
    </li>
  )
}
