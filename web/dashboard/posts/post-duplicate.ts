/** Makes a draft that says the same as a post. Files that were deleted since are left out: a published post still names them. */
import type { PostPreview } from '../../../schemas/resources/post.ts'
import { fetchOnce, type Sent, send } from '../requests/query.ts'
import { copyOf, type Post, type SentDraft } from './post-draft.ts'

export interface Duplicate {
  readonly post: Post
  /** How many files of the post are deleted. */
  readonly lost: number
}

const invalid = 422

export async function duplicate(post: Post): Promise<Sent<Duplicate>> {
  const copy = copyOf(post)
  const sent = await send<Post>('POST', '/posts', copy)
  if ('made' in sent) return { made: { post: sent.made, lost: 0 } }
  const lost = sent.status === invalid ? await deletedFilesOf(copy) : undefined
  if (!lost?.size) return sent
  const isThere = (id: number) => !lost.has(id)
  const again = await send<Post>('POST', '/posts', {
    ...copy,
    media_ids: copy.media_ids.filter(isThere),
    thread: copy.thread.map((part) => ({ ...part, media_ids: part.media_ids.filter(isThere) })),
  })
  return 'made' in again ? { made: { post: again.made, lost: lost.size } } : again
}

/** Ids of media that there are no more. */
async function deletedFilesOf(copy: SentDraft): Promise<ReadonlySet<number>> {
  const told = await fetchOnce<(typeof PostPreview)['_output']>('/posts/preview', copy)
  if ('refusal' in told) return new Set()
  const missing = told.made.issues.filter(({ code }) => code === 'media_not_found')
  return new Set(missing.map(({ loc }) => loc.slice(1).reduce(memberOf, copy) as number))
}

function memberOf(whole: unknown, name: string | number): unknown {
  return (whole as Readonly<Record<string | number, unknown>>)[name]
}
