/** Approval of posts: asked for by whoever may not schedule, given by a schedule, or refused with a note. */
import { isArchive } from '../parts/archive-tabs.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { time } from '../parts/format.ts'
import { type Sent, send } from '../requests/query.ts'
import { serverNow } from '../requests/request.ts'
import { addressWith } from '../shell/address-with.ts'
import { may } from '../shell/may.ts'
import type { Post } from './post-draft.ts'

export function isWaiting({ review }: Pick<Post, 'review'>): boolean {
  return review?.status === 'waiting'
}

interface ReviewProps {
  readonly post: Post
  readonly timezone: string
}

/** Who asked for approval, or sent the post back, and when. */
export function ReviewState({ post: { review }, timezone }: ReviewProps) {
  if (review === null) return null
  const { by, at, changed_at, note } = review
  return (
    <p class="note">
      {review.status === 'waiting' ? 'Waiting for approval: asked for by ' : 'Sent back by '}
      <bdi>{by}</bdi>, {time(at, timezone)}
      {changed_at !== null && `, changed ${time(changed_at, timezone)}`}
      {note && (
        <>
          : <bdi>{note}</bdi>
        </>
      )}
    </p>
  )
}

interface ReviewButtonsProps extends ReviewProps {
  readonly seenAt: string
  done(sent: Sent<unknown>): void
  /** Opens the form for the reason. */
  sendBack(): void
}

/** Shown for drafts alone. @param seenAt `updated_at` of the post as it is shown. @param done shows why a call was refused */
export function ReviewButtons({ post, seenAt, timezone, done, sendBack }: ReviewButtonsProps) {
  const { id, scheduled_at } = post
  if (post.status !== 'draft') return null
  const call = async (path: string, body?: object) => done(await send('POST', `/posts/${id}/${path}`, body))
  if (!may('posts:publish')) {
    return isWaiting(post) ? (
      <button type="button" onClick={() => call('return', { updated_at: seenAt })}>
        Take the request back
      </button>
    ) : (
      <button type="button" onClick={() => call('submit', { updated_at: seenAt })}>
        Ask for approval
      </button>
    )
  }
  if (!isWaiting(post)) return null
  return (
    <>
      {scheduled_at !== null && Date.parse(scheduled_at) > serverNow() && (
        <button
          type="button"
          title={`Schedules it for ${time(scheduled_at, timezone)}`}
          aria-label={`Approve: ${post.title}`}
          onClick={() => call('schedule', { scheduled_at, updated_at: seenAt })}
        >
          Approve
        </button>
      )}
      <button type="button" aria-label={`Send back: ${post.title}`} onClick={sendBack}>
        Send back
      </button>
    </>
  )
}

interface SendBackProps {
  readonly id: number
  readonly seenAt: string
  close(): void
}

/** Stays open even if the post stops waiting for approval meanwhile: then the API refuses. */
export function SendBack({ id, seenAt, close }: SendBackProps) {
  const submit = (data: FormData) => {
    // Forms send line ends as CR LF.
    const note = String(data.get('note')).replaceAll('\r\n', '\n') || null
    return send('POST', `/posts/${id}/return`, { note, updated_at: seenAt })
  }
  return (
    <FormDialog title="Send the post back" verb="Send back" close={close} submit={submit}>
      <label>
        What is to change
        <textarea name="note" rows={3} maxLength={500} />
      </label>
    </FormDialog>
  )
}

/** @param search the address's query, which has the choice. No archived post waits */
export function onlyWaiting(search: string): boolean {
  return new URLSearchParams(search).get('review') === 'waiting' && !isArchive(search)
}

interface FilterProps {
  readonly search: string
  navigate(path: string): void
}

/** Shows the posts that wait for approval alone, or all. */
export function WaitingFilter({ search, navigate }: FilterProps) {
  const isOn = onlyWaiting(search)
  const ofActive = new URLSearchParams(search)
  ofActive.delete('status')
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => navigate(addressWith(`${ofActive}`, 'review', isOn ? undefined : 'waiting'))}
    >
      Waiting for approval
    </button>
  )
}
