/**
 * The interface of a platform's adapter, and its errors. The publisher (publish-target.ts) calls it in this order:
 *
 *   validate → [lookUp, when it was asked to publish before] → prepare → publish
 *   refresh, once, whenever one of them says that the session is over; and before each of them where it is due
 *
 * `publish` under one key is one publication, however often it is called. The platform's own idempotency key is used
 * where it has one, and `lookUp` finds the publication of an earlier call. A platform that names a publication before it
 * is there is asked by that name, which `keep` stores. Where nothing can tell, `lookUp` fails as `unknown`: a post that
 * may be there isn't sent again.
 *
 * Apart from that, `engagement` reads how published posts do (pipeline/engagement/).
 */
import type { FileHandle } from 'node:fs/promises'
import type { Sleep } from '../../runtime/retry.ts'
import type { Figures } from '../../schemas/engagement.ts'
import type { Fetching } from '../profile/fetch-page.ts'

/** A file of the post, in its place. */
export interface PublishedMedia {
  readonly id: number
  readonly contentType: string
  readonly bytes: number
  readonly altText: string
  readonly width: number | null
  readonly height: number | null
  /** Where a platform can fetch it for the next hour; null where nobody outside can. */
  readonly publicUrl: string | null
  open(): Promise<FileHandle>
}

export interface Publication {
  /** The same in every attempt, and another one for each part of a thread. */
  readonly key: string
  readonly targetId: number
  /** How many parts of its thread come before it. */
  readonly place: number
  /** The post's, for platforms where a publication has one. */
  readonly title: string
  readonly text: string
  readonly media: readonly PublishedMedia[]
  /** The parts of the thread that it follows; null for a post of its own. */
  readonly replyTo: ReplyTo | null
  /** When `publish` was first called for this part of this target, or is now; null before that. */
  readonly sentAt: Date | null
  /** The one that `keep` stored last for this target; null before the first call. */
  readonly reference: string | null
  /** Stores what the platform calls the publication, or where it lists it, for later attempts. */
  keep(reference: string): Promise<void>
}

export interface Account {
  readonly id: number
  readonly platform: string
  readonly handle: string
  readonly externalId: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

/** @throws Error where it was connected without one */
export function externalIdOf({ account: { externalId, platform } }: Pick<Call<unknown>, 'account'>): string {
  if (externalId === null) throw new Error(`an account on ${platform} without its id`)
  return externalId
}

export interface Published {
  readonly externalId: string
  readonly url: string
  /** The hash of its content, on platforms whose replies name it. */
  readonly cid?: string
}

export interface ReplyTo {
  /** The first part. */
  readonly root: Published
  /** The one before. */
  readonly parent: Published
}

/** The input of every call. */
export interface Call<Credentials> {
  readonly account: Account
  readonly credentials: Credentials
  readonly signal: AbortSignal
  /** Every pause uses it. */
  readonly sleep: Sleep
  /** How servers are reached whose address a user gave: the account's own, and those of pages that a text links to. */
  readonly fetching: Omit<Fetching, 'signal'>
}

/** The part of a call that a pause needs. */
export type Pausing = Pick<Call<unknown>, 'sleep' | 'signal'>

/** The part of a call that a request without an account needs. */
export type Reach = Pick<Call<unknown>, 'signal' | 'fetching'>

/** Which of these ids are publications of other targets. */
export type KnownIds = (externalIds: string[]) => Promise<Set<string>>

export interface Adapter<Credentials = unknown, Prepared = unknown> {
  /** As `publish_result` names it. */
  readonly name: string
  /** Why the platform would refuse the post, or null. Makes no request. Without it, readiness has judged by the same limits. */
  validate?(publication: Publication, account: Account): string | null
  /** The publication of an earlier attempt. */
  lookUp(call: Call<Credentials>, publication: Publication, known: KnownIds): Promise<Published | null>
  /** All that isn't seen by anybody yet: uploads. Repeated by each attempt. */
  prepare(call: Call<Credentials>, publication: Publication): Promise<Prepared>
  /** @param known null at the first attempt: there is no publication of an earlier one */
  publish(
    call: Call<Credentials>,
    publication: Publication,
    prepared: Prepared,
    known: KnownIds | null,
  ): Promise<Published>
  /** Credentials with a new session; null, or without it: a session that is over is over for good. */
  refresh?(call: Call<Credentials>): Promise<Credentials | null>
  /** Whether a session that still holds is to be renewed. One that can't be is used as it is. */
  isDue?(credentials: Credentials): boolean
  /** The first comment under a post. Those of platforms that have comments (providers.ts) have it. */
  readonly comments?: CommentWriter<Credentials>
  /** Which of the account's publications the platform has no more. Those of platforms that take threads have it. */
  findGone?(call: Call<Credentials>, externalIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Without it the platform doesn't say how a post does. */
  readonly engagement?: EngagementReader<Credentials>
}

/** As `lookUp` and `publish` of posts: `replyTo` is the post, and nothing is prepared. */
export type CommentWriter<Credentials = unknown> = Pick<Adapter<Credentials, null>, 'lookUp' | 'publish'>

/** The post that a comment is published under. @throws Error for a publication of its own */
export function commentedOf({ replyTo }: Publication): Published {
  if (replyTo === null) throw new Error('a comment without its post')
  return replyTo.parent
}

export interface EngagementReader<Credentials = unknown> {
  /** How many posts one request asks for. */
  readonly postsPerRequest: number
  /** The network bills each read of a post. */
  readonly isCharged?: boolean
  /** Accounts whose posts can be read; without it all. */
  covers?(account: Pick<Account, 'externalId'>): boolean
  /**
   * Makes one request. @param externalIds at most `postsPerRequest`
   * @returns by external id the figures, or null where the platform says that it has no such post. Posts that it says
   *   nothing of are left out. @throws ProviderError
   */
  read(call: Call<Credentials>, externalIds: readonly string[]): Promise<ReadonlyMap<string, Figures | null>>
}

/** How the account's posts are read; undefined: they can't be. */
export function engagementReaderOf(
  { engagement }: Pick<Adapter, 'engagement'>,
  account: Pick<Account, 'externalId'>,
): EngagementReader | undefined {
  return engagement?.covers?.(account) === false ? undefined : engagement
}

/**
 * reauthenticate: the account has to be connected again. permanent: the same will fail again. transient: it may not.
 * rate_limited: not before `retryAfterMs`. unknown: nobody can tell whether an earlier attempt published it, so a
 * person decides whether it is published anew.
 */
export type ErrorKind = 'reauthenticate' | 'permanent' | 'transient' | 'rate_limited' | 'unknown'

export interface Failure {
  readonly kind: ErrorKind
  /** For `publish_result`. */
  readonly code: string
  readonly retryAfterMs?: number | undefined
  /** This request published nothing: the platform said so, or wasn't reached. The next attempt has nothing to look up. */
  readonly isUnpublished?: boolean
  /** The published parts from this number on were deleted there: the next attempt begins with them. */
  readonly partsLeft?: number
  /** Version of the credentials that were refused, or limited: those of a connection since then may be good. */
  readonly refusedVersion?: number
  /** The workspace is why: the account's health stays as it is. */
  readonly isOfWorkspace?: boolean
  /** The simulated platform's limit: the next attempt comes right after the wait, and counts as one of the target's. */
  readonly isSimulated?: boolean
}

export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly failure: Failure

  constructor(failure: Failure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** Whether the platform itself refused, and so published nothing. */
export function isRefusal(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.failure.kind !== 'transient'
}

/**
 * An error of the request that publishes. A refusal says that nothing was published. An answer that isn't the platform's,
 * or that reports a fault of its own, says nothing about the post.
 */
export function asRefused(error: unknown): unknown {
  return isRefusal(error) ? asUnpublished(error) : error
}

export function asUnpublished({ failure, message, cause }: ProviderError): ProviderError {
  return new ProviderError({ ...failure, isUnpublished: true }, message, { cause })
}
