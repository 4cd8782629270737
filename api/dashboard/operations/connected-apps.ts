/** Apps that members connected by OAuth: owner and admins see and end all of the workspace, other members their own. */
import { z } from 'zod'
import { listConnectedApps } from '../../../postgres/tables/members/connected-apps.ts'
import { revokeApiKey } from '../../../postgres/tables/workspaces/api-keys.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { connectedAppsShownMax } from '../../../schemas/limits/oauth-limits.ts'
import { ConnectedApps } from '../../../schemas/resources/connected-app.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import { shownTarget } from '../../oauth/redirect-uris.ts'
import { type CallContext, defineOperation } from '../../operations/define.ts'

export const listApps = defineOperation({
  name: 'connected_app.list',
  http: { method: 'GET', path: '/v1/connected-apps' },
  summary: 'List the apps that act for members over MCP, newest first.',
  tag: 'Workspace',
  effect: 'read',
  scope: 'workspace:read',
  input: {},
  output: ConnectedApps,
  async handle(context) {
    const { workspace, clock, stores } = context
    const which = { workspaceId: workspace.id, ownerId: memberOf(context), at: new Date(clock.now()) }
    const apps = await listConnectedApps(stores.pg, { ...which, max: connectedAppsShownMax })
    return apps.map(({ redirect_uri, last_used_at, created_at, ...app }) => ({
      ...app,
      target: shownTarget(redirect_uri),
      last_used_at: last_used_at?.toISOString() ?? null,
      created_at: created_at.toISOString(),
    }))
  },
})

export const disconnectApp = defineOperation({
  name: 'connected_app.revoke',
  http: { method: 'DELETE', path: '/v1/connected-apps/{connected_app_id}' },
  summary: 'Disconnect an app: its tokens stop working within 5 seconds.',
  tag: 'Workspace',
  effect: 'delete',
  scope: 'workspace:read',
  input: { path: z.object({ connected_app_id: idInPath('connected_app') }) },
  output: z.object({ id: z.int() }),
  problems: ['connected_app_not_found'],
  async handle(context) {
    const { path, workspace, stores } = context
    const id = path.connected_app_id
    const of = { workspaceId: workspace.id, kind: 'connected_app', ownerId: memberOf(context) } as const
    if ((await revokeApiKey(stores.pg, id, of)) === null) throw problem('connected_app_not_found')
    return { id }
  },
})

/** Undefined for who manages the workspace, and so all of its apps. */
function memberOf({ actor, scopes }: Pick<CallContext, 'actor' | 'scopes'>): number | undefined {
  return scopes.includes(manageScope) ? undefined : actor.id
}
