/**
 * Reads how published posts do on their networks, while the process runs. Its queue is in Postgres: a process leases an
 * account, reads at most `engagementPostsEach` of its due posts, and lets it rest for a minute. If the process dies, another
 * one reads the account after `engagementLeaseMs`.
 *
 * A read that fails only changes when it is made again, not the post nor the account's health. Rules:
 * docs/posts.md. Held by test/integration/engagement.test.ts.
 */
import {
  type DuePost,
  endLease,
  type LeasedAccount,
  leaseAccounts,
  listDueOf,
  postponeEngagement,
  storeEngagement,
} from '../../postgres/tables/posts/post-engagement.ts'
import { within } from '../../runtime/deadline.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import { inPortions } from '../../runtime/lists.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import {
  engagementAccountsEach,
  engagementEveryMs,
  engagementLeaseMs,
  engagementLimitMaxMs,
  engagementLimitMs,
  engagementPauseMs,
  engagementPostsEach,
  engagementRefusedMs,
  engagementTurnMs,
  engagementUnauthorizedMs,
} from '../../schemas/limits/engagement-limits.ts'
import { type JobLoop, type JobLoopContext, startJobLoop } from '../job-loop.ts'
import { type Session, type Sessions, sessionOf } from '../publishing/account-session.ts'
import { type EngagementReader, engagementReaderOf, type Failure, ProviderError } from '../publishing/adapter.ts'
import { adapterOf } from '../publishing/adapters.ts'
import { nextReadAt, retryAt } from './next-read.ts'

export interface EngagementContext extends Sessions, JobLoopContext {}

export function startEngagementReader(context: EngagementContext): JobLoop {
  const whenFailing = 'how published posts do can not be read now'
  const job = { name: 'read-engagement', whenFailing, pauseMs: engagementEveryMs }
  return startJobLoop(context, job, (signal) => readEngagement(context, signal))
}

/** One turn of each account that is due, at most `engagementAccountsEach` of them. @returns whether others may be due */
export async function readEngagement(context: EngagementContext, stopping: AbortSignal): Promise<boolean> {
  const now = context.clock.now()
  const leasedUntil = new Date(now + engagementLeaseMs)
  const leasing = { now: new Date(now), until: leasedUntil, max: engagementAccountsEach }
  const accounts = await leaseAccounts(context.pg, leasing)
  await forEachAtMost(engagementAccountsEach, accounts, stopping, async (account) => {
    const restMs = await takeTurn(context, account, stopping).catch((error) => {
      if (stopping.aborted) return 0
      throw error
    })
    await endLease(context.pg, account.id, { leasedUntil, until: new Date(context.clock.now() + restMs) })
  })
  return accounts.length === engagementAccountsEach
}

/** @returns how long the account rests after it */
async function takeTurn(context: EngagementContext, leased: LeasedAccount, stopping: AbortSignal): Promise<number> {
  const adapter = adapterOf(leased)
  const { id, platform, handle, external_id: externalId, provider_metadata: metadata } = leased
  const account = { id, platform, handle, externalId, metadata }
  const reader = engagementReaderOf(adapter, account)
  const now = context.clock.now()
  const due = await listDueOf(context.pg, id, new Date(now), engagementPostsEach)
  if (reader === undefined) {
    const ended = due.map(({ targetId }) => ({ targetId, dueAt: null }))
    await postponeEngagement(context.pg, ended)
    return engagementPauseMs
  }
  return within(engagementTurnMs, stopping, async (ending) => {
    const session = sessionOf(context, adapter, account, ending)
    for (const batch of inPortions(due, reader.postsPerRequest)) {
      const restMs = await readBatch(context, { session, reader, ending, stopping }, batch)
      if (restMs !== null) return restMs
    }
    return engagementPauseMs
  })
}

interface Turn {
  readonly session: Session
  readonly reader: EngagementReader
  readonly ending: AbortSignal
  readonly stopping: AbortSignal
}

/** One request. @returns null to go on with the next; else how long the account rests */
async function readBatch(
  { pg, clock, log, metrics }: EngagementContext,
  { session, reader, ending, stopping }: Turn,
  batch: readonly DuePost[],
): Promise<number | null> {
  const postpone = (posts: readonly DuePost[], waitMs?: number) => {
    if (posts.length === 0) return
    const now = clock.now()
    metrics.engagementRead('failed', posts.length)
    return postponeEngagement(
      pg,
      posts.map((post) => ({ targetId: post.targetId, dueAt: retryAt(post, now, waitMs) })),
    )
  }
  try {
    const found = await session((call) =>
      reader.read(
        call,
        batch.map(({ externalId }) => externalId),
      ),
    )
    const now = clock.now()
    const told = batch.flatMap(({ targetId, externalId, publishedAt }) => {
      const figures = found.get(externalId)
      return figures === undefined
        ? []
        : [{ targetId, figures, dueAt: nextReadAt(publishedAt, now, reader.isCharged === true) }]
    })
    await storeEngagement(pg, new Date(now), told)
    const gone = told.filter(({ figures }) => figures === null).length
    metrics.engagementRead('gone', gone)
    metrics.engagementRead('read', told.length - gone)
    await postpone(batch.filter(({ externalId }) => !found.has(externalId)))
    return null
  } catch (error) {
    if (error instanceof StoreUnavailable || stopping.aborted) throw error
    if (!(error instanceof ProviderError) && !ending.aborted) {
      log.error({ err: error, target: batch[0]!.targetId }, 'reading how a post does failed on our side')
    }
    const failure: Pick<Failure, 'kind' | 'retryAfterMs'> =
      error instanceof ProviderError ? error.failure : { kind: 'transient' }
    if (failure.kind === 'rate_limited') {
      metrics.engagementRead('limited', batch.length)
      return Math.max(engagementPauseMs, Math.min(failure.retryAfterMs ?? engagementLimitMs, engagementLimitMaxMs))
    }
    // The account rests, and its posts stay due: they are read once it is connected again.
    if (failure.kind === 'reauthenticate') {
      metrics.engagementRead('failed', batch.length)
      return engagementUnauthorizedMs
    }
    // A refused request will be refused again, as far as the platform says.
    await postpone(batch, failure.kind === 'permanent' ? engagementRefusedMs : undefined)
    return failure.kind === 'transient' ? engagementPauseMs : null
  }
}
