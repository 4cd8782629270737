/** The first comment under a post: where it is written, and its outcome on a network. */
import { commentedPlatforms } from '../../../schemas/reference/commented-platforms.ts'
import type { Account, Draft } from './post-draft.ts'
import { PublishedLink } from './published-link.tsx'

export function isCommentedOn(platform: Account['platform']): boolean {
  return (commentedPlatforms as readonly Account['platform'][]).includes(platform)
}

interface FirstCommentProps {
  readonly text: Draft['first_comment']
  /** Networks of the chosen accounts. */
  readonly platforms: readonly Account['platform'][]
  change(changes: Pick<Draft, 'first_comment'>): void
}

/** Not there where no chosen network has one, unless one is written. */
export function FirstComment({ text, platforms, change }: FirstCommentProps) {
  if (text === null && !platforms.some(isCommentedOn)) return null
  return (
    <label>
      First comment, under the post on Facebook, Instagram and LinkedIn
      <textarea
        rows={2}
        value={text ?? ''}
        onInput={(event) => change({ first_comment: event.currentTarget.value || null })}
      />
    </label>
  )
}

/** Its outcome, in the result of a target that is published. */
export function CommentResult({ result }: { readonly result: Readonly<Record<string, unknown>> }) {
  const { error, url } = (result['first_comment'] ?? {}) as { error?: { message?: string }; url?: string }
  if (error !== undefined) {
    return (
      <span class="bad">
        The first comment failed: <bdi>{error.message}</bdi>
      </span>
    )
  }
  return (
    <PublishedLink url={url} simulated={<span class="label">with its first comment</span>}>
      First comment
    </PublishedLink>
  )
}
