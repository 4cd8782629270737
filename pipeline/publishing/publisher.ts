/**
 * Publishes due targets while the process runs. The queue is in Postgres (postgres/tables/posts/publishing.ts), so it needs no
 * Redis, and several processes share the work. If a process dies, another one claims its targets after `publishLeaseMs`.
 */
import { randomUUID } from 'node:crypto'
import type { Postgres } from '../../postgres/client.ts'
import {
  type ClaimedTarget,
  claimTargets,
  prolongClaims,
  readPublishBacklog,
  releaseTarget,
  takeDuePosts,
} from '../../postgres/tables/posts/publishing.ts'
import { resetTimesAhead } from '../../postgres/tables/posts/times-ahead.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { FileStorage } from '../../runtime/files/file-storage.ts'
import type { Log } from '../../runtime/log.ts'
import { type Sleep, sleep } from '../../runtime/retry.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import {
  duePostsEach,
  publishAtOnceEachMax,
  publishAtOnceMax,
  publishAtOncePlatformMax,
  publishAtOnceWorkspaceMax,
  publishCountMs,
  publishEveryMs,
  publishLeaseMs,
  publishLimitWaitMs,
  publishProlongMs,
} from '../../schemas/limits/publish-limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { holdPosts } from './hold-posts.ts'
import { type Publishing, publishTarget } from './publish-target.ts'

/**
 * Time for attempts under way to end, and then for unfinished ones to be given back. It fits the 20 s of a step of the
 * shutdown.
 */
const finishMs = 8_000
const closeDeadlineMs = 15_000

export interface Publisher {
  /** Claims nothing more, lets attempts under way end, and gives back the others. */
  close(): Promise<void>
}

export interface PublisherOptions {
  readonly pg: Postgres
  readonly media: FileStorage
  readonly box: SecretBox
  readonly renewals: Publishing['renewals']
  /** Before anything is published, posts of a time before this are held. */
  readonly holdBefore?: Date | undefined
  readonly clock: Clock
  readonly fetching: Publishing['fetching']
  /** For pauses that posts wait for. Leases go by Postgres's clock. */
  readonly sleep: Sleep
  readonly mediaUrl: Publishing['mediaUrl']
  /** Failures are told by e-mail too, not through channels alone. */
  readonly isMailSetUp: boolean
  readonly log: Log
  readonly metrics: PipelineMetrics
}

export function startPublisher(options: PublisherOptions): Publisher {
  const { pg, media, box, renewals, holdBefore, clock, fetching, mediaUrl, isMailSetUp, log, metrics } = options
  const holder = randomUUID()
  const publishing: Publishing = {
    pg,
    media,
    box,
    log,
    renewals,
    fetching,
    sleep: options.sleep,
    mediaUrl,
    isMailSetUp,
  }
  const stopping = new AbortController()
  const cutting = new AbortController()
  const underWay = new Map<ClaimedTarget, Promise<void>>()
  let wake = () => {}
  let isWell = true
  let areHeld = holdBefore === undefined

  function underWayByAccount(): Map<number, number> {
    const counts = new Map<number, number>()
    for (const { social_account_id: id } of underWay.keys()) counts.set(id, (counts.get(id) ?? 0) + 1)
    return counts
  }

  async function run(target: ClaimedTarget): Promise<void> {
    const startedAt = performance.now()
    const ended = (how: 'done' | 'failed') =>
      metrics.jobEnded('publish-target', how, (performance.now() - startedAt) / 1000, clock.now())
    try {
      const outcome = await publishTarget(publishing, target, holder, cutting.signal)
      if (outcome !== null) metrics.published(outcome)
      ended('done')
    } catch (error) {
      ended('failed')
      log.warn({ err: error, target: target.id }, 'an attempt to publish was broken off and will be made again')
      // Else the claim runs out by itself: a store that is away isn't asked sooner.
      if (cutting.signal.aborted) await releaseTarget(pg, { targetId: target.id, holder }).catch(() => {})
    }
  }

  /** @returns whether there may be more to claim at once */
  async function round(): Promise<boolean> {
    if (holdBefore && !areHeld) await holdPosts(pg, holdBefore)
    areHeld = true
    const room = publishAtOnceMax - underWay.size
    const taken = await pg.transaction((tx) => takeDuePosts(tx, duePostsEach))
    if (room === 0) return false
    await resetTimesAhead(pg, publishLeaseMs)
    const claimed = await claimTargets(pg, {
      holder,
      leaseMs: publishLeaseMs,
      limit: room,
      perAccountMax: publishAtOnceEachMax,
      perWorkspaceMax: publishAtOnceWorkspaceMax,
      perPlatformMax: publishAtOncePlatformMax,
      heldMaxMs: publishLimitWaitMs,
      underWay: underWayByAccount(),
      except: [...underWay.keys()].map(({ id }) => id),
    })
    for (const target of claimed) {
      const running = run(target).finally(() => {
        underWay.delete(target)
        wake()
      })
      underWay.set(target, running)
    }
    return taken === duePostsEach || claimed.length > 0
  }

  async function takeInLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const ended = new AbortController()
      wake = () => ended.abort()
      let isMore = false
      try {
        isMore = await round()
        if (!isWell) log.info('posts are published again')
        isWell = true
      } catch (error) {
        if (isWell) log.warn({ err: error }, 'posts can not be published now')
        isWell = false
      }
      // While there is more, the end of any attempt makes room for it.
      await options.sleep(publishEveryMs, isMore ? ended.signal : stopping.signal)
    }
  }

  async function prolongInLoop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(publishProlongMs, signal)
      const ids = [...underWay.keys()].map(({ id }) => id)
      // A claim that isn't prolonged is another process's: its writes go by the holder, and ours don't count any more.
      if (ids.length > 0) await prolongClaims(pg, holder, ids, publishLeaseMs).catch(() => {})
    }
  }

  async function countInLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const backlog = await readPublishBacklog(pg).catch(() => undefined)
      if (backlog !== undefined) metrics.publishBacklogIs(backlog.targets, backlog.oldestMs / 1000)
      await sleep(publishCountMs, stopping.signal)
    }
  }

  // Not AbortSignal.any: in Node 20 a signal that lasts keeps a trace of each signal made of it.
  stopping.signal.addEventListener('abort', () => wake())
  const stopped = new AbortController()
  const taking = takeInLoop()
  void prolongInLoop(stopped.signal)
  void countInLoop()
  return {
    close: async () => {
      stopping.abort(new Error('the pipeline is stopping'))
      const all = async () => {
        await taking
        await Promise.all(underWay.values())
      }
      const cut = setTimeout(() => cutting.abort(new Error('the pipeline is stopping')), finishMs)
      try {
        await withDeadline(all(), closeDeadlineMs, 'ending the attempts to publish')
      } catch (error) {
        log.warn({ err: error }, 'left attempts to publish: their claims run out')
      }
      clearTimeout(cut)
      stopped.abort()
    },
  }
}
