/** Feeds whose new entries become posts. */
import { z } from 'zod'
import type { Queryable } from '../../../postgres/client.ts'
import { readSocialAccounts } from '../../../postgres/tables/accounts/social-accounts.ts'
import {
  deleteFeed,
  hastenLook,
  insertFeed,
  listFeeds,
  lockFeed,
  readKeyOwner,
  type StoredFeed,
  updateFeed,
} from '../../../postgres/tables/posts/feeds.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { isPublicHost } from '../../../runtime/outbound/public-host.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { feedAskedPauseMs, feedsMax } from '../../../schemas/limits/feed-limits.ts'
import { Feed, FeedCreate, type FeedMode, FeedUpdate, scopesOfFeed } from '../../../schemas/resources/feed.ts'
import { isFromAhead } from '../../../schemas/time/clock-ahead.ts'
import { lacking } from '../../guards/authorize.ts'
import { type Actor, type CallContext, defineOperation } from '../define.ts'
import { notPublic } from '../public-target.ts'

const inPath = z.object({ feed_id: idInPath('feed') })

export const listOwnFeeds = defineOperation({
  name: 'feed.list',
  http: { method: 'GET', path: '/v1/feeds' },
  tool: 'svc.list_feeds',
  toolset: 'publishing',
  summary: 'List the feeds that make posts, newest first.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: {},
  output: z.array(Feed),
  handle: async ({ workspace, stores: { pg } }) => (await listFeeds(pg, workspace.id)).map(serialize),
})

export const createFeed = defineOperation({
  name: 'feed.create',
  http: { method: 'POST', path: '/v1/feeds' },
  tool: 'svc.create_feed',
  toolset: 'publishing',
  summary: 'Add a feed of RSS, Atom or JSON, whose new entries become posts.',
  description: 'It is looked at within seconds. Entries that it has then make no posts, but for the newest if asked.',
  tag: 'Posts',
  effect: 'create',
  scope: 'posts:write',
  input: { body: FeedCreate },
  output: Feed,
  problems: ['feeds_full', 'feed_known'],
  async handle({ body, workspace, actor, scopes, config, clock, stores: { pg } }) {
    if (!config.allowPrivateTargets) requirePublic(body.url)
    requireScopesOf([body], { scopes, actor })
    const accountIds = await chosenAccounts(pg, workspace.id, body.social_account_ids)
    requireAccounts(body.mode, accountIds)
    await lockWorkspace(pg, workspace.id)
    if ((await listFeeds(pg, workspace.id)).length >= feedsMax) throw problem('feeds_full')
    const own = { setUpBy: await accountOf(pg, actor), now: new Date(clock.now()) }
    // However it is written, one URL is one feed: two of them would make each post twice.
    const url = Object.assign(new URL(body.url), { hash: '' }).href
    const feed = await insertFeed(pg, workspace.id, { ...body, url, social_account_ids: accountIds, ...own })
    if (feed === null) throw problem('feed_known')
    return serialize(feed)
  },
})

export const changeFeed = defineOperation({
  name: 'feed.update',
  http: { method: 'PATCH', path: '/v1/feeds/{feed_id}' },
  tool: 'svc.update_feed',
  toolset: 'publishing',
  summary: 'Change, pause or resume a feed. Fields that are left out stay.',
  description: 'Whoever changes a feed that queues its posts needs `posts:publish`, and answers for them from then on.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  input: { path: inPath, body: FeedUpdate },
  output: Feed,
  problems: ['feed_not_found'],
  async handle({ path: { feed_id: id }, body, workspace, actor, scopes, clock, stores: { pg } }) {
    const before = await lockFeed(pg, workspace.id, id)
    if (before === null) throw problem('feed_not_found')
    const { mode = before.mode, template = before.template, shortens_links = before.shortens_links } = body
    requireScopesOf([before, { mode, shortens_links }], { scopes, actor })
    const { social_account_ids: sent, status = before.status } = body
    const accountIds = sent === undefined ? before.social_account_ids : await chosenAccounts(pg, workspace.id, sent)
    requireAccounts(mode, accountIds)
    const beginsAt = status === 'active' && before.status !== 'active' ? nextAskedLook(before, clock.now()) : null
    const own = { setUpBy: await accountOf(pg, actor), beginsAt }
    const chosen = { social_account_ids: accountIds, mode, template, shortens_links }
    return serialize(await updateFeed(pg, workspace.id, { id, status, ...chosen, ...own }))
  },
})

export const removeFeed = defineOperation({
  name: 'feed.delete',
  http: { method: 'DELETE', path: '/v1/feeds/{feed_id}' },
  tool: 'svc.delete_feed',
  toolset: 'publishing',
  summary: 'Delete a feed. Its posts stay.',
  tag: 'Posts',
  effect: 'delete',
  scope: 'posts:write',
  input: { path: inPath },
  output: Feed,
  problems: ['feed_not_found'],
  async handle({ path: { feed_id: id }, workspace, actor, scopes, stores: { pg } }) {
    const feed = await lockFeed(pg, workspace.id, id)
    if (feed === null) throw problem('feed_not_found')
    requireScopesOf([feed], { scopes, actor })
    await deleteFeed(pg, id)
    return serialize(feed)
  },
})

export const checkFeed = defineOperation({
  name: 'feed.check',
  http: { method: 'POST', path: '/v1/feeds/{feed_id}/check' },
  tool: 'svc.check_feed',
  toolset: 'publishing',
  summary: 'Look at a feed now, not only at its next time.',
  description: 'The look follows within seconds, at most once a minute: `looked_at` tells of it.',
  tag: 'Posts',
  effect: 'update',
  isIdempotent: false,
  scope: 'posts:write',
  input: { path: inPath },
  output: Feed,
  problems: ['feed_not_found', 'feed_not_active'],
  async handle({ path: { feed_id: id }, workspace, clock, stores: { pg } }) {
    const feed = await lockFeed(pg, workspace.id, id)
    if (feed === null) throw problem('feed_not_found')
    if (feed.status !== 'active') throw problem('feed_not_active')
    const now = clock.now()
    const look = { now: new Date(now), at: nextAskedLook(feed, now) }
    return serialize(await hastenLook(pg, workspace.id, id, look))
  },
})

/** However often somebody asks, a feed's server has a pause between looks. */
function nextAskedLook({ looked_at }: StoredFeed, now: number): Date {
  const lookedAt = looked_at?.getTime() ?? 0
  // A clock that ran ahead set it: it tells of no pause.
  if (isFromAhead(lookedAt, now)) return new Date(now)
  return new Date(Math.max(now, lookedAt + feedAskedPauseMs))
}

/** @throws Problem 422; where the host's name leads is checked when connecting */
export function requirePublic(url: string): void {
  if (isPublicHost(new URL(url).hostname)) return
  throw invalid([valueError(['body', 'url'], url, notPublic)])
}

type Acting = Pick<StoredFeed, 'mode' | 'shortens_links'>

/** @throws Problem where the caller may not do by hand what one of these does */
function requireScopesOf(feeds: readonly Acting[], { scopes, actor }: Pick<CallContext, 'scopes' | 'actor'>): void {
  const missing = feeds.flatMap(scopesOfFeed).find((scope) => !scopes.includes(scope))
  if (missing !== undefined) throw lacking(actor.type, missing)
}

/** Each once. @throws Problem 422 where the workspace lacks one */
async function chosenAccounts(pg: Queryable, workspaceId: number, ids: readonly number[]): Promise<number[]> {
  const known = ids.length > 0 ? await readSocialAccounts(pg, workspaceId, ids) : []
  const errors = ids.flatMap((id, at) =>
    known.some((account) => account.id === id)
      ? []
      : [valueError(['body', 'social_account_ids', at], id, 'Social account not found')],
  )
  if (errors.length > 0) throw invalid(errors)
  return [...new Set(ids)]
}

/** @throws Problem 422: a post without an account is never ready */
function requireAccounts(mode: FeedMode, accountIds: readonly number[]): void {
  if (mode === 'draft' || accountIds.length > 0) return
  throw invalid([valueError(['body', 'social_account_ids'], accountIds, 'A feed that queues posts needs an account')])
}

/** The account of the member who calls, or whose key calls. @throws Problem if the key has ended since the call was let in */
async function accountOf(pg: Queryable, { type, id }: Actor): Promise<number> {
  const account = type === 'user' ? id : await readKeyOwner(pg, id)
  if (account === null) throw problem('not_authenticated')
  return account
}

function serialize(feed: StoredFeed): z.output<typeof Feed> {
  const { looked_at, next_look_at, failing_since, created_at, ...rest } = feed
  return {
    ...rest,
    object_id: `feed_${feed.id}`,
    looked_at: looked_at?.toISOString() ?? null,
    next_look_at: feed.status === 'active' ? next_look_at.toISOString() : null,
    failing_since: failing_since?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }
}
