/** Posts: written, scheduled and taken back, with the state of each target and what they led to. */
import { useState } from 'preact/hooks'
import type { PostWithPerformance } from '../../schemas/resources/post.ts'
import { money, number, time } from './format.ts'
import type { Workspace } from './overview-data.ts'
import { Facts, Failure, Refusal } from './parts.tsx'
import { type Post, PostForm } from './post-form.tsx'
import { send, useAnswer } from './query.ts'

type PostWithAll = (typeof PostWithPerformance)['_output']

const tones: Readonly<Record<string, string>> = { published: 'good', failed: 'bad' }

export function PostsPage({ workspace }: { workspace: Workspace }) {
  const [round, setRound] = useState(0)
  const [isWriting, setWriting] = useState(false)
  const { answer, failure } = useAnswer<Post[]>('/posts?limit=200', { round })
  const changed = () => setRound((before) => before + 1)
  const written = () => {
    setWriting(false)
    changed()
  }
  return (
    <main>
      {failure && <Failure {...failure} />}
      {isWriting ? (
        <PostForm workspace={workspace} done={written} />
      ) : (
        <div class="controls">
          <button type="button" onClick={() => setWriting(true)}>
            Write a post
          </button>
        </div>
      )}
      <section class="panel" aria-label="Posts">
        <h2>
          Posts<span class="label">Newest first, without archived ones</span>
        </h2>
        {answer?.length === 0 && <p class="empty">No post yet.</p>}
        <ul>
          {answer?.map((post) => (
            <OnePost key={post.id} post={post} workspace={workspace} changed={changed} />
          ))}
        </ul>
      </section>
    </main>
  )
}

interface PostProps {
  readonly post: Post
  readonly workspace: Workspace
  changed(): void
}

function OnePost({ post, workspace, changed }: PostProps) {
  const [isOpen, setOpen] = useState(false)
  const { id, title, status, scheduled_at, targets } = post
  return (
    <li class="item">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="name">
            <bdi>{title}</bdi> <span class="label">{targets.map(({ platform }) => platform).join(', ')}</span>
          </span>
          <span class={tones[status] ?? ''}>{status}</span>
          {scheduled_at !== null && <time dateTime={scheduled_at}>{time(scheduled_at, workspace.timezone)}</time>}
        </summary>
        {isOpen && (
          <>
            <Changes post={post} workspace={workspace} changed={changed} />
            <Detail id={id} workspace={workspace} />
          </>
        )}
      </details>
    </li>
  )
}

/** What can be done with a post in its state. */
const actions = [
  { name: 'Unschedule', path: 'unschedule', states: ['scheduled'] },
  { name: 'Archive', path: 'archive', states: ['draft', 'scheduled', 'failed'] },
] as const

function Changes({ post, workspace, changed }: PostProps) {
  const [isEditing, setEditing] = useState(false)
  const [refusal, setRefusal] = useState('')
  const act = async (path: string) => {
    const sent = await send('POST', `/posts/${post.id}/${path}`)
    setRefusal('refusal' in sent ? sent.refusal : '')
    changed()
  }
  const edited = () => {
    setEditing(false)
    changed()
  }
  if (isEditing) return <PostForm post={post} workspace={workspace} done={edited} />
  return (
    <div class="controls">
      {(post.status === 'draft' || post.status === 'scheduled') && (
        <button type="button" onClick={() => setEditing(true)}>
          Edit
        </button>
      )}
      {actions
        .filter(({ states }) => (states as readonly string[]).includes(post.status))
        .map(({ name, path }) => (
          <button key={path} type="button" onClick={() => act(path)}>
            {name}
          </button>
        ))}
      <Refusal text={refusal} />
    </div>
  )
}

function Detail({ id, workspace: { currency } }: { id: number; workspace: Workspace }) {
  const { answer, failure } = useAnswer<PostWithAll>(`/posts/${id}`)
  if (answer === undefined) return failure ? <Failure {...failure} /> : <p class="empty">…</p>
  const { base_caption, targets, performance } = answer
  const shown = (value: number | null) => (value === null ? '–' : number(value))
  return (
    <>
      <p class="caption">
        <bdi>{base_caption}</bdi>
      </p>
      <ul>
        {targets.map(({ id: target, platform, status, publish_result }) => (
          <li key={target} class="event">
            <span class="name">{platform}</span>
            <span class={tones[status] ?? ''}>{status}</span>
            <span class="label">
              <bdi>{errorOf(publish_result)}</bdi>
            </span>
          </li>
        ))}
      </ul>
      <Facts
        facts={[
          ['Clicks', shown(performance.clicks)],
          ['Visitors', shown(performance.visitors)],
          ['Sessions', shown(performance.sessions)],
          ['Conversions', shown(performance.conversions)],
          ['Revenue', money(performance.revenue_cents, currency)],
        ]}
      />
    </>
  )
}

function errorOf(result: Readonly<Record<string, unknown>>): string {
  const { error } = result as { error?: { message?: string } }
  return error?.message ?? ''
}
