/** Links on which anybody sees a workspace's overview, events, funnels and retention: listed, made and revoked by owner and admins in the dashboard. */
import { z } from 'zod'
import { countLiveKeys, createApiKey, listApiKeys, revokeApiKey } from '../../../postgres/tables/workspaces/api-keys.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { apiKeysShownMax, sharedLinksMax } from '../../../schemas/limits/api-limits.ts'
import { CreatedSharedLink, SharedLinkCreate, SharedLinks } from '../../../schemas/resources/shared-link.ts'
import { manageScope, viewScope } from '../../../schemas/scopes.ts'
import { defineOperation } from '../../operations/define.ts'
import { sharedPath } from '../pages.ts'
import { expiryOf, serializeKey } from './api-keys.ts'
import { requireManaging } from './require-managing.ts'

export const listSharedLinks = defineOperation({
  name: 'shared_link.list',
  http: { method: 'GET', path: '/v1/shared-links' },
  summary: 'List the shared links: working ones first, then newest first.',
  tag: 'Workspace',
  effect: 'read',
  scope: manageScope,
  input: {},
  output: SharedLinks,
  async handle({ workspace, stores: { pg } }) {
    const links = await listApiKeys(pg, workspace.id, { kind: 'shared_link', max: apiKeysShownMax })
    return links.map(serializeKey)
  },
})

export const createSharedLink = defineOperation({
  name: 'shared_link.create',
  http: { method: 'POST', path: '/v1/shared-links' },
  summary: 'Make a shared link. The answer holds its address, once.',
  tag: 'Workspace',
  effect: 'create',
  scope: manageScope,
  input: { body: SharedLinkCreate },
  output: CreatedSharedLink,
  answersWithSecret: true,
  problems: ['shared_links_full'],
  async handle({ body: { name, expires_at }, workspace, actor, clock, config, stores: { pg } }) {
    const now = clock.now()
    const expiresAt = expires_at && expiryOf(expires_at, workspace.timezone, now)
    await requireManaging(pg, workspace.id, actor)
    if ((await countLiveKeys(pg, workspace.id, 'shared_link', new Date(now))) >= sharedLinksMax)
      throw problem('shared_links_full')
    const made = await createApiKey(pg, {
      workspaceId: workspace.id,
      ownerId: actor.id,
      name,
      scopes: [viewScope],
      expiresAt,
    })
    // Browsers send no fragment: the token is in no log, and in no Referer.
    return { id: made!.id, name, url: `${config.apiHost}${sharedPath}#${made!.apiKey}` }
  },
})

export const revokeSharedLink = defineOperation({
  name: 'shared_link.revoke',
  http: { method: 'DELETE', path: '/v1/shared-links/{shared_link_id}' },
  summary: 'Revoke a shared link: it stops working everywhere within 5 seconds.',
  tag: 'Workspace',
  effect: 'delete',
  scope: manageScope,
  input: { path: z.object({ shared_link_id: idInPath('shared_link') }) },
  output: z.object({ id: z.int() }),
  problems: ['shared_link_not_found'],
  async handle({ path: { shared_link_id: id }, workspace, stores: { pg } }) {
    const revoked = await revokeApiKey(pg, id, { workspaceId: workspace.id, kind: 'shared_link' })
    if (revoked === null) throw problem('shared_link_not_found')
    return { id }
  },
})
