/**
 * How far a post on TikTok is ("Get Post Status"). A post is there once its state is PUBLISH_COMPLETE. Its own id follows
 * when TikTok has reviewed it, and only if everybody may see it.
 */
import { within } from '../../../runtime/deadline.ts'
import { tiktokProcessingMs, tiktokReviewMs } from '../../../schemas/limits/publish-limits.ts'
import { type Pausing, ProviderError } from '../adapter.ts'
import { pollUntil } from '../poll-until.ts'
import { codes, textIn } from '../request.ts'
import { kindOfCode, post, type Signed, waitOfCode } from './tiktok-api.ts'

export interface PostStatus {
  readonly isPublished: boolean
  /** Why nothing will be published; null where it may still be. */
  readonly failure: ProviderError | null
  /** TikTok waits for the rest of the video. */
  readonly isUpload: boolean
  /** Bytes of the video that have arrived, where TikTok says so. */
  readonly receivedBytes: number | undefined
  readonly postId: string | null
}

/** @throws ProviderError */
export async function readStatus(call: Signed, publishId: string): Promise<PostStatus> {
  const data = await post(call, 'status/fetch', { publish_id: publishId })
  const state = textIn(data, 'status')
  // So TikTok spells it.
  const ids = data['publicaly_available_post_id']
  const [id] = Array.isArray(ids) ? ids : []
  const received = data['uploaded_bytes']
  return {
    isPublished: state === 'PUBLISH_COMPLETE',
    failure: state === 'FAILED' ? failureOf(String(data['fail_reason'] || 'no reason given')) : null,
    isUpload: state === 'PROCESSING_UPLOAD',
    receivedBytes: typeof received === 'number' ? received : undefined,
    postId: /^\d{1,32}$/.test(String(id)) ? String(id) : null,
  }
}

function failureOf(reason: string): ProviderError {
  const kind = kindOfCode(reason)
  const failure = { kind, code: codes[kind], retryAfterMs: waitOfCode(reason), isUnpublished: true } as const
  return new ProviderError(failure, `TikTok can't publish the post: ${reason}`)
}

/**
 * Waits until the post is there. A public one has an id soon after, which is waited for as well, but not for long.
 * @returns its id, or null. @throws ProviderError where it can't be published, or TikTok still works on it
 */
export async function untilPublished(
  call: Signed & Pausing,
  publishId: string,
  isPublic: boolean,
): Promise<string | null> {
  const found = await watch(call, tiktokProcessingMs, publishId, ({ isPublished }) => isPublished)
  if (found === null) {
    throw new ProviderError({ kind: 'transient', code: 'unavailable' }, 'TikTok is still working on the post')
  }
  if (found.postId !== null || !isPublic) return found.postId
  try {
    return (await watch(call, tiktokReviewMs, publishId, ({ postId }) => postId !== null))?.postId ?? null
  } catch (error) {
    // It is published. Only its address isn't known.
    if (error instanceof ProviderError) return null
    throw error
  }
}

/** @returns null where the time is up. @throws ProviderError where it failed */
async function watch(
  { credentials, sleep, signal }: Signed & Pausing,
  ms: number,
  publishId: string,
  isEnd: (status: PostStatus) => boolean,
): Promise<PostStatus | null> {
  let found: PostStatus | null = null
  const look = async (ending: AbortSignal) => {
    const status = await readStatus({ credentials, signal: ending }, publishId)
    if (status.failure !== null) throw status.failure
    if (isEnd(status)) found = status
    return found !== null
  }
  return within(ms, signal, async (ending) => {
    try {
      await pollUntil({ sleep, signal: ending }, () => look(ending))
    } catch (error) {
      if (signal.aborted || !ending.aborted) throw error
    }
    return found
  })
}
