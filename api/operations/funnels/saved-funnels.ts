/** Funnels under a name. */
import { z } from 'zod'
import {
  deleteFunnel,
  holdFunnel,
  insertFunnel,
  listFunnels,
  type StoredFunnel,
  updateFunnel,
} from '../../../postgres/tables/saved-funnels.ts'
import { holdWorkspace } from '../../../postgres/tables/workspaces.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { savedFunnelsMax } from '../../../schemas/limits/saved-funnel-limits.ts'
import { SavedFunnel, SavedFunnelCreate, SavedFunnelUpdate } from '../../../schemas/resources/saved-funnel.ts'
import { defineOperation } from '../define.ts'

export const listSavedFunnels = defineOperation({
  name: 'saved_funnel.list',
  http: { method: 'GET', path: '/v1/funnels' },
  tool: 'svc.list_funnels',
  toolset: 'analytics',
  summary: 'List the saved funnels by their names.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: {},
  output: z.array(SavedFunnel),
  handle: async ({ workspace, stores: { pg } }) => (await listFunnels(pg, workspace.id)).map(serialize),
})

export const createSavedFunnel = defineOperation({
  name: 'saved_funnel.create',
  http: { method: 'POST', path: '/v1/funnels' },
  tool: 'svc.create_funnel',
  toolset: 'analytics',
  summary: 'Save the steps of a funnel under a name.',
  tag: 'Analytics',
  effect: 'create',
  scope: 'analytics:write',
  input: { body: SavedFunnelCreate },
  output: SavedFunnel,
  problems: ['saved_funnels_full', 'saved_funnel_known'],
  async handle({ body, workspace, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    if ((await listFunnels(pg, workspace.id)).length >= savedFunnelsMax) throw problem('saved_funnels_full')
    const funnel = await insertFunnel(pg, workspace.id, body)
    if (funnel === null) throw problem('saved_funnel_known')
    return serialize(funnel)
  },
})

export const changeSavedFunnel = defineOperation({
  name: 'saved_funnel.update',
  http: { method: 'PATCH', path: '/v1/funnels/{funnel_id}' },
  tool: 'svc.update_funnel',
  toolset: 'analytics',
  summary: 'Change a saved funnel. Fields that are left out stay.',
  description: '`steps` replaces all of them.',
  tag: 'Analytics',
  effect: 'update',
  scope: 'analytics:write',
  input: { path: z.object({ funnel_id: idInPath('funnel') }), body: SavedFunnelUpdate },
  output: SavedFunnel,
  problems: ['saved_funnel_not_found', 'saved_funnel_known'],
  async handle({ path: { funnel_id }, body, workspace, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    const before = await holdFunnel(pg, workspace.id, funnel_id)
    if (before === null) throw problem('saved_funnel_not_found')
    const { name = before.name, steps = before.steps, within = before.within } = body
    const funnel = await updateFunnel(pg, workspace.id, { id: funnel_id, name, steps, within })
    if (funnel === null) throw problem('saved_funnel_known')
    return serialize(funnel)
  },
})

export const removeSavedFunnel = defineOperation({
  name: 'saved_funnel.delete',
  http: { method: 'DELETE', path: '/v1/funnels/{funnel_id}' },
  tool: 'svc.delete_funnel',
  toolset: 'analytics',
  summary: 'Delete a saved funnel.',
  tag: 'Analytics',
  effect: 'delete',
  scope: 'analytics:write',
  input: { path: z.object({ funnel_id: idInPath('funnel') }) },
  output: SavedFunnel,
  problems: ['saved_funnel_not_found'],
  async handle({ path: { funnel_id }, workspace, stores: { pg } }) {
    const funnel = await deleteFunnel(pg, workspace.id, funnel_id)
    if (funnel === null) throw problem('saved_funnel_not_found')
    return serialize(funnel)
  },
})

function serialize({ created_at, ...funnel }: StoredFunnel): z.output<typeof SavedFunnel> {
  return { ...funnel, object_id: `funnel_${funnel.id}`, created_at: created_at.toISOString() }
}
