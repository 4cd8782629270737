/**
 * The parts of a post: its caption, and those of its thread, each with its files. Each is published as a post of its own, as a
 * reply to the one before. How many are published is stored, so an attempt goes on with the first one that isn't.
 *
 * Where the platform takes no threads but comments, the first comment is the second and last part. With its outcome, good or
 * bad, the target is published.
 */
import type { StoredPublication } from '../../postgres/tables/posts/publication.ts'
import type { SentPart } from '../../postgres/tables/posts/sent-parts.ts'
import { providers } from '../../schemas/reference/providers.ts'
import { type Account, type Adapter, ProviderError, type Publication, type Published, type ReplyTo } from './adapter.ts'

export interface Part {
  /** How many are published before it. */
  readonly place: number
  readonly text: string
  /** Another one for each part. */
  readonly key: string
  readonly replyTo: ReplyTo | null
  /** The post has no thread. */
  readonly isAlone: boolean
  /** The first comment under the post. */
  readonly isComment: boolean
}

type Following = Pick<StoredPublication, 'platform' | 'thread' | 'first_comment'>
type Stored = Following & Pick<StoredPublication, 'caption' | 'sent_parts' | 'publish_key'>

/** The part that comes next; null: all are published. */
export function nextPart(stored: Stored): Part | null {
  const { caption, sent_parts: sent, publish_key } = stored
  const [comment, following] = [commentOf(stored), followingOf(stored)]
  const [root, parent] = [sent[0], sent.at(-1)]
  if (root === undefined || parent === undefined) {
    return {
      place: 0,
      text: caption,
      key: publish_key,
      replyTo: null,
      isAlone: following.length === 0,
      isComment: false,
    }
  }
  const text = following[sent.length - 1]
  if (text === undefined) return null
  const replyTo = { root: publishedOf(root), parent: publishedOf(parent) }
  return {
    place: sent.length,
    text,
    key: `${publish_key}-${sent.length}`,
    replyTo,
    isAlone: false,
    isComment: comment !== null,
  }
}

/** The texts that follow the caption. */
function followingOf(stored: Following): readonly string[] {
  const comment = commentOf(stored)
  return comment === null ? stored.thread : [comment]
}

/** Null where the platform gets none. */
function commentOf({ platform, first_comment }: Following): string | null {
  return providers[platform].commentLengthMax === null ? null : first_comment
}

export function publishedOf({ external_id, url, cid }: SentPart): Published {
  return { externalId: external_id, url, ...(cid !== undefined && { cid }) }
}

export function sentPartOf({ externalId, url, cid }: Published): SentPart {
  return { external_id: externalId, url, published_at: new Date().toISOString(), ...(cid !== undefined && { cid }) }
}

/** For the result of a target that isn't published yet, in front of the reason. */
export function progressOf(stored: Following & Pick<Stored, 'sent_parts'>): string {
  const {
    thread,
    sent_parts: { length: sent },
  } = stored
  if (commentOf(stored) !== null) return sent === 0 ? '' : "The post is published, its first comment isn't yet: "
  if (thread.length === 0) return ''
  const before = ['', ', the one before is published'][sent] ?? `, the ${sent} before are published`
  return `Part ${sent + 1} of ${thread.length + 1}${before}: `
}

/**
 * Later parts are validated with the next one: no thread is begun that can't be finished.
 * @param later the parts that follow `publication`, which is the part at `place`
 * @throws ProviderError where the platform would refuse one of them
 */
export function validateParts(
  adapter: Adapter,
  account: Account,
  publication: Publication,
  { place, later }: { readonly place: number; readonly later: readonly Pick<Publication, 'text' | 'media'>[] },
): void {
  const parts = [publication, ...later.map((part) => ({ ...publication, ...part }))]
  for (const [at, part] of parts.entries()) {
    const refusal = adapter.validate?.(part, account) ?? null
    if (refusal === null) continue
    const said = at === 0 ? refusal : `Part ${place + at + 1} would be refused: ${refusal}`
    throw new ProviderError({ kind: 'permanent', code: 'invalid' }, said)
  }
}
