/** Posts with the state of each target, and what they led to. */
import { useState } from 'preact/hooks'
import type { PostResource, PostWithPerformance } from '../../schemas/resources/post.ts'
import { money, number, time } from './format.ts'
import type { Workspace } from './overview-data.ts'
import { Facts, Failure } from './parts.tsx'
import { useAnswer } from './query.ts'

type Post = (typeof PostResource)['_output']
type PostWithAll = (typeof PostWithPerformance)['_output']

const tones: Readonly<Record<string, string>> = { published: 'good', failed: 'bad' }

export function PostsPage({ workspace }: { workspace: Workspace }) {
  const { answer, failure } = useAnswer<Post[]>('/posts?limit=200')
  return (
    <main>
      {failure && <Failure {...failure} />}
      <section class="panel" aria-label="Posts">
        <h2>
          Posts<span class="label">Newest first, without archived ones</span>
        </h2>
        {answer?.length === 0 && (
          <p class="empty">
            No post yet: the <a href="/guides/posts.md">guide of posts</a> makes one.
          </p>
        )}
        <ul>
          {answer?.map((post) => (
            <OnePost key={post.id} post={post} workspace={workspace} />
          ))}
        </ul>
      </section>
    </main>
  )
}

function OnePost({ post, workspace }: { post: Post; workspace: Workspace }) {
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
        {isOpen && <Detail id={id} workspace={workspace} />}
      </details>
    </li>
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
