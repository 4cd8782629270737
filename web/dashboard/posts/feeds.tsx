/** Feeds that make posts: how each is, and what can be done with it. */
import { useState } from 'preact/hooks'
import type { Feed as FeedResource } from '../../../schemas/resources/feed.ts'
import { Dialog, Removal } from '../parts/dialog.tsx'
import { Failure, Refusal } from '../parts/failure.tsx'
import { number, time } from '../parts/format.ts'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { FeedForm } from './feed-form.tsx'

export type Feed = (typeof FeedResource)['_output']

interface FeedsProps {
  readonly timezone: string
  close(): void
}

export function Feeds({ timezone, close }: FeedsProps) {
  const { refusal, done } = useRefusal()
  const [edited, edit] = useState<Feed | 'new'>()
  const [removed, remove] = useState<Feed>()
  const { answer: feeds, failure } = useAnswer<Feed[]>('/feeds')
  return (
    <Dialog title="Feeds" close={close}>
      <p class="note">
        New entries of a blog’s feed become drafts, or posts that go out at the next free posting time.
      </p>
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {feeds?.length === 0 && <p class="empty">No feed yet.</p>}
      <ul>
        {feeds?.map((feed) => (
          <li key={feed.id} class="item">
            <span class="name">
              <bdi>{feed.title || feed.url}</bdi> <span class="label">{stateOf(feed, timezone)}</span>
            </span>
            {may('posts:write') && (feed.mode === 'draft' || may('posts:publish')) && (
              <FeedButtons feed={feed} done={done} edit={() => edit(feed)} remove={() => remove(feed)} />
            )}
            {feed.last_error !== null && (
              <p class="bad">
                <bdi>{feed.last_error}</bdi>
              </p>
            )}
          </li>
        ))}
      </ul>
      {may('posts:write') && (
        <button type="button" class="main" aria-disabled={feeds === undefined} onClick={() => edit('new')}>
          Add a feed
        </button>
      )}
      {edited && (
        <FeedForm
          feed={edited === 'new' ? undefined : edited}
          close={() => edit(undefined)}
          made={(made) => done({ made })}
        />
      )}
      {removed && (
        <Removal
          title="Delete this feed"
          verb="Delete"
          path={`/feeds/${removed.id}`}
          close={() => remove(undefined)}
          done={done}
        >
          <bdi>{removed.title || removed.url}</bdi> makes no posts any more. Those that it made stay.
        </Removal>
      )}
    </Dialog>
  )
}

interface ButtonsProps {
  readonly feed: Feed
  done: ReturnType<typeof useRefusal>['done']
  edit(): void
  remove(): void
}

function FeedButtons({ feed: { id, title, url, status }, done, edit, remove }: ButtonsProps) {
  const isActive = status === 'active'
  const nameOf = (verb: string) => `${verb}: ${title || url}`
  const set = async (to: 'active' | 'paused') => done(await send('PATCH', `/feeds/${id}`, { status: to }))
  return (
    <span class="controls">
      {isActive && (
        <button
          type="button"
          aria-label={nameOf('Check now')}
          onClick={async () => done(await send('POST', `/feeds/${id}/check`))}
        >
          Check now
        </button>
      )}
      <button
        type="button"
        aria-label={nameOf(isActive ? 'Pause' : 'Resume')}
        onClick={() => set(isActive ? 'paused' : 'active')}
      >
        {isActive ? 'Pause' : 'Resume'}
      </button>
      <button type="button" aria-label={nameOf('Change')} onClick={edit}>
        Change
      </button>
      <button type="button" class="danger" aria-label={nameOf('Delete')} onClick={remove}>
        Delete
      </button>
    </span>
  )
}

/** `adds to the queue, read 10:15, 2 posts 10:15`. */
function stateOf({ mode, status, looked_at, last_news }: Feed, timezone: string): string {
  const states = {
    active: mode === 'queue' ? 'adds to the queue' : 'makes drafts',
    paused: 'paused',
    failed: 'turned off',
  }
  return [
    states[status],
    looked_at === null ? 'not read yet' : `read ${time(looked_at, timezone)}`,
    last_news === null ? '' : newsInWords(last_news, timezone),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function newsInWords({ at, posts, skipped, note }: NonNullable<Feed['last_news']>, timezone: string): string {
  const made = `${number(posts)} ${posts === 1 ? 'post' : 'posts'} ${time(at, timezone)}`
  const left = skipped === 0 ? '' : ` (${number(skipped)} more were passed over)`
  return made + left + (note === null ? '' : `: ${note}`)
}

/** Names the feed that a post is from. */
export function FeedName({ id }: { readonly id: number }) {
  const { answer } = useAnswer<Feed[]>('/feeds')
  const feed = answer?.find((one) => one.id === id)
  if (feed === undefined) return null
  return (
    <p class="note">
      From the feed <bdi>{feed.title || feed.url}</bdi>
    </p>
  )
}
