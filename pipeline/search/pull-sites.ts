/**
 * Pulls search terms of sites that are due, while the process runs. Its queue is in Postgres: a process leases a site for a turn,
 * and another one may pull it after `searchLeaseMs`. Rules: docs/search-console.md.
 */
import type { Postgres } from '../../postgres/client.ts'
import {
  endPull,
  failPull,
  type LeasedSite,
  leaseSearchSites,
  releasePull,
} from '../../postgres/tables/figures/search-pulls.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { backoffMs } from '../../runtime/retry.ts'
import {
  searchHoldMaxMs,
  searchLeaseMs,
  searchLookEveryMs,
  searchRequestMs,
  searchRetryFirstMs,
  searchRetryMaxMs,
  searchSitesAtOnce,
} from '../../schemas/limits/search-limits.ts'
import { type JobLoop, type JobLoopContext, startJobLoop } from '../job-loop.ts'
import { ProviderError } from '../publishing/adapter.ts'
import { type PullContext, pullSite } from './pull-site.ts'

export interface SearchContext extends PullContext, JobLoopContext {
  readonly pg: Postgres
}

/** For connections to Google: it refuses addresses of our own network. @returns undefined where those are allowed */
export function googleDispatcher(allowPrivate: boolean) {
  return allowPrivate ? undefined : makeGuardedAgent({ allowPrivate, connectMs: searchRequestMs })
}

export function startSearchReader(context: SearchContext): JobLoop {
  const job = { name: 'pull-search', whenFailing: 'search terms can not be pulled now', pauseMs: searchLookEveryMs }
  return startJobLoop(context, job, (signal) => pullSites(context, signal))
}

/** One turn of each site that is due, at most `searchSitesAtOnce` of them. @returns whether others may be due */
export async function pullSites(context: SearchContext, stopping: AbortSignal): Promise<boolean> {
  const now = context.clock.now()
  const leasing = { now: new Date(now), until: new Date(now + searchLeaseMs), max: searchSitesAtOnce }
  const sites = await leaseSearchSites(context.pg, leasing)
  await forEachAtMost(searchSitesAtOnce, sites, stopping, (site) => takeTurn(context, site, stopping))
  return sites.length > 0
}

async function takeTurn(context: SearchContext, site: LeasedSite, stopping: AbortSignal): Promise<void> {
  const { pg, clock, log } = context
  try {
    await endPull(pg, site, await pullSite(context, site, stopping))
  } catch (error) {
    if (stopping.aborted) return releasePull(pg, site)
    if (!(error instanceof ProviderError)) throw error
    log.warn({ site: site.id, reason: error.message }, 'the search terms of a site can not be pulled')
    await failPull(pg, site, { message: error.message, nextAt: nextTry(site, error, clock.now()) })
  }
}

/** @returns null: not before somebody connects the site again */
function nextTry({ failures }: LeasedSite, { failure }: ProviderError, now: number): Date | null {
  if (failure.kind === 'reauthenticate') return null
  const asked = Math.min(failure.retryAfterMs ?? 0, searchHoldMaxMs)
  // One doubling more: a backoff may be half as long, and Google asks for all of the first delay.
  return new Date(now + Math.max(asked, backoffMs(failures + 1, searchRetryFirstMs, searchRetryMaxMs)))
}
