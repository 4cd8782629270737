/** One post: what can be done with it, the state of each target, and what it led to. */
import { useEffect, useState } from 'preact/hooks'
import type { PostStatus, PostWithPerformance } from '../../../schemas/resources/post.ts'
import { AccountName, useHandles } from '../accounts/account-names.tsx'
import { ConfirmOnce } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure, Refusal } from '../parts/failure.tsx'
import { number, revenueText, time } from '../parts/format.ts'
import { useIsOpen } from '../parts/use-is-open.ts'
import type { Workspace } from '../requests/answers.ts'
import { type Asked, type Sent, send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { FeedName } from './feeds.tsx'
import { OnNetwork, wordsOf } from './network-figures.tsx'
import { CommentResult } from './post-comment.tsx'
import { isBegun, type Post, partsIn } from './post-draft.ts'
import { type Duplicate, duplicate } from './post-duplicate.ts'
import { PostForm } from './post-form.tsx'
import { soon } from './post-move.ts'
import { ReviewButtons, ReviewState, SendBack } from './post-review.tsx'
import type { Made } from './post-saving.ts'
import { stepsToDraft, takeSteps } from './post-steps.ts'
import { PartShown, Parts } from './post-thread.tsx'
import { type Queue, QueueButton } from './posting-times.tsx'
import { PublishedLink } from './published-link.tsx'

type PostWithAll = (typeof PostWithPerformance)['_output']

export const tones: Readonly<Record<string, string>> = { published: 'good', failed: 'bad' }

export interface PostProps {
  readonly post: Post
  readonly workspace: Workspace
  readonly queue: Queue
}

export interface OpenedProps extends PostProps {
  /** It has a place in the queue: the moment at which it goes out. */
  queued?(at: string): void
  /** Keeps the post open while a form in it is open, even if it leaves the list. */
  keep(isWritten: boolean): void
  /** It is archived or deleted, before the list is read anew. */
  left?(): void
}

/** A listed post with all of itself, and what can be done with it. An approval is for the text and the time that are read here. */
export function OpenedPost(props: OpenedProps) {
  const { post, workspace } = props
  const asked = useAnswer<PostWithAll>(`/posts/${post.id}`)
  return (
    <>
      <Changes {...props} post={asked.answer ?? post} />
      <Detail {...asked} workspace={workspace} />
    </>
  )
}

/** Actions on a post in its state. */
const actions = [
  { name: 'Unschedule', path: 'unschedule', states: ['scheduled'] },
  { name: 'Archive', path: 'archive', states: ['draft', 'scheduled', 'failed'] },
] as const
const editable: readonly PostStatus[] = ['draft', 'scheduled']
const queueable: readonly PostStatus[] = ['draft', 'failed']
const deletable: readonly PostStatus[] = ['draft', 'scheduled', 'failed', 'archived']

function Changes({ post: read, workspace, queue, queued, keep, left }: OpenedProps) {
  const [edited, edit] = useState<Post>()
  const [isDeleting, setDeleting] = useState(false)
  const [copy, setCopy] = useState<Duplicate>()
  const { refusal, done: showOutcome } = useRefusal()
  const isThere = useIsOpen()
  /** As the last write from here left it: it counts until that is read, as an editor may be opened before. */
  const [made, setMade] = useState<Made>()
  const post = made !== undefined && made.updated_at > read.updated_at ? { ...read, ...made } : read
  const seenAt: string = post.updated_at
  /** `updated_at` of the version that is sent back: the one shown when the form was opened. */
  const [returned, sendBack] = useState<string>()
  const isWritten = edited !== undefined || returned !== undefined
  useEffect(() => {
    keep(isWritten)
    return () => keep(false)
  }, [isWritten])
  const done = (sent: Sent<unknown>) => {
    if ('made' in sent) setMade(sent.made as Post)
    showOutcome(sent)
  }
  /** The post before it was added to the queue, and as it is there. */
  const [added, setAdded] = useState<{ readonly before: Post; readonly queued: Post }>()
  const act = async (path: string) => {
    const sent = await send('POST', `/posts/${post.id}/${path}`, { updated_at: seenAt })
    done(sent)
    if (path === 'archive' && 'made' in sent) left?.()
  }
  const deleted = (sent: Sent<unknown>) => {
    done(sent)
    if ('made' in sent) left?.()
  }
  const addToQueue = async () => {
    const sent = await send<Post>('POST', `/posts/${post.id}/queue`, { updated_at: seenAt })
    done(sent)
    if ('refusal' in sent) return
    setAdded({ before: post, queued: sent.made })
    // A user who has closed the post or left the page isn't brought back.
    if (isThere.current) queued?.(sent.made.scheduled_at!)
  }
  const closeForm = (made?: Made) => {
    edit(undefined)
    // A copy made while another post was edited is still to be announced.
    setCopy((before) => (before?.post.id === edited?.id ? undefined : before))
    if (made?.id === read.id) setMade(made)
  }
  const makeCopy = async () => {
    const sent = await duplicate(post)
    showOutcome(sent)
    if ('made' in sent) setCopy(sent.made)
  }
  const [isTrying, setTrying] = useState(false)
  /** Published targets aren't published again. A second press would name another moment, and be refused. */
  const tryAgain = async () => {
    setTrying(true)
    done(await send('POST', `/posts/${post.id}/schedule`, { scheduled_at: soon(), updated_at: seenAt }))
    setTrying(false)
  }
  if (!may('posts:write')) return null
  if (edited) {
    const shown = edited.id === post.id ? post : edited
    return <PostForm key={edited.id} post={shown} workspace={workspace} queue={queue} done={closeForm} />
  }
  const { timezone } = workspace
  const isShownSomewhere = post.targets.some(isBegun)
  // Whoever may not publish writes drafts alone.
  const mayPublish = may('posts:publish')
  const mayChange = mayPublish || post.status === 'draft'
  /** Several posts may be open, each with these buttons. */
  const nameOf = (verb: string) => `${verb}: ${post.title}`
  return (
    <div class="controls">
      {mayChange && (editable.includes(post.status) || (post.status === 'failed' && !isShownSomewhere)) && (
        <button type="button" aria-label={nameOf('Edit')} onClick={() => edit(post)}>
          Edit
        </button>
      )}
      {post.status === 'failed' && mayPublish && (
        <button type="button" aria-label={nameOf('Try again')} aria-disabled={isTrying} onClick={tryAgain}>
          Try again
        </button>
      )}
      <ReviewButtons post={post} seenAt={seenAt} timezone={timezone} done={done} sendBack={() => sendBack(seenAt)} />
      {returned !== undefined && <SendBack id={post.id} seenAt={returned} close={() => sendBack(undefined)} />}
      {mayPublish && queueable.includes(post.status) && (
        <QueueButton
          queue={queue}
          timezone={timezone}
          type="button"
          aria-label={nameOf('Add to queue')}
          onClick={addToQueue}
        />
      )}
      {actions
        .filter(({ states }) => mayChange && (states as readonly string[]).includes(post.status))
        .map(({ name, path }) => (
          <button key={path} type="button" aria-label={nameOf(name)} onClick={() => act(path)}>
            {name}
          </button>
        ))}
      <button
        type="button"
        aria-label={nameOf('Duplicate')}
        onClick={makeCopy}
        title="Makes a draft that says the same, to the same accounts"
      >
        Duplicate
      </button>
      {mayChange && deletable.includes(post.status) && !isShownSomewhere && (
        <button type="button" class="danger" aria-label={nameOf('Delete')} onClick={() => setDeleting(true)}>
          Delete
        </button>
      )}
      {isDeleting && (
        <ConfirmOnce
          title="Delete this post"
          verb="Delete"
          close={() => setDeleting(false)}
          write={() => send('DELETE', `/posts/${post.id}?updated_at=${encodeURIComponent(seenAt)}`)}
          done={deleted}
        >
          <bdi>{post.title}</bdi> is deleted for good. Its media and links stay.
        </ConfirmOnce>
      )}
      <Refusal text={refusal} />
      {copy && (
        <p class="note" role="status">
          A draft was made of it
          {copy.lost > 0 && `, without ${copy.lost} ${copy.lost === 1 ? 'file' : 'files'} deleted meanwhile`}.{' '}
          <button type="button" class="link" onClick={() => edit(copy.post)}>
            Edit the draft
          </button>
        </p>
      )}
      {added !== undefined && post.status === 'scheduled' && post.scheduled_at === added.queued.scheduled_at && (
        <p class="note" role="status">
          It goes out {time(added.queued.scheduled_at!, timezone)}.{' '}
          {added.before.status === 'draft' && (
            <button
              type="button"
              class="link"
              onClick={async () => done(await takeSteps(added.queued, stepsToDraft(added.before)))}
            >
              Undo
            </button>
          )}
        </p>
      )}
    </div>
  )
}

function Detail({ answer, failure, workspace }: Asked<PostWithAll> & { readonly workspace: Workspace }) {
  const { currency, timezone } = workspace
  const handles = useHandles()
  if (answer === undefined) return failure ? <Failure {...failure} /> : <p class="empty">…</p>
  const { base_caption, thread, first_comment, targets, performance, engagement } = answer
  const shown = (value: number | null) => (value === null ? '–' : number(value))
  return (
    <>
      <ReviewState post={answer} timezone={timezone} />
      {answer.feed_id !== null && <FeedName id={answer.feed_id} />}
      <p class="caption">
        <bdi>{base_caption}</bdi>
      </p>
      {thread.map((part, at) => (
        <PartShown key={at} {...part} />
      ))}
      {first_comment !== null && (
        <p class="caption part-shown">
          <span class="label">First comment</span> <bdi>{first_comment}</bdi>
        </p>
      )}
      <ul>
        {targets.map(({ publish_result, engagement, status, ...target }) => (
          <li key={target.id} class="event target">
            <span class="name">
              <AccountName target={target} handles={handles} />{' '}
              {engagement && <OnNetwork engagement={engagement} timezone={timezone} />}
            </span>
            <span class={tones[status] ?? ''}>{status}</span>
            {thread.length > 0 && partsIn(publish_result) && (
              <Parts parts={partsIn(publish_result)!} all={thread.length + 1} />
            )}
            <Result result={publish_result} />
            <CommentResult result={publish_result} />
          </li>
        ))}
      </ul>
      <Facts
        facts={[
          ['Clicks', shown(performance.clicks)],
          ['Visitors', shown(performance.visitors)],
          ['Sessions', shown(performance.sessions)],
          ['Conversions', shown(performance.conversions)],
          ['Revenue', revenueText(performance, currency)],
          ...(wordsOf(engagement).length > 0 ? ([['On its networks', wordsOf(engagement).join(', ')]] as const) : []),
        ]}
      />
    </>
  )
}

/** Where the publication is, or why there is none. */
function Result({ result }: { result: Readonly<Record<string, unknown>> }) {
  const { error, url } = result as { error?: { message?: string }; url?: string }
  if (error?.message !== undefined)
    return (
      <span class="label">
        <bdi>{error.message}</bdi>
      </span>
    )
  return (
    <PublishedLink url={url} simulated={<span class="label">simulated: it was published nowhere</span>}>
      Open
    </PublishedLink>
  )
}
