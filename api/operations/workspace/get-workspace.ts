import { WorkspaceResource } from '../../../schemas/resources/workspace.ts'
import { defineOperation } from '../define.ts'

export const getWorkspace = defineOperation({
  name: 'workspace.get',
  http: { method: 'GET', path: '/v1/workspace' },
  tool: 'svc.get_workspace',
  summary: 'Get the workspace that the API key belongs to.',
  tag: 'Workspace',
  effect: 'read',
  scope: 'workspace:read',
  isShared: true,
  input: {},
  output: WorkspaceResource,
  handle: async ({ workspace }) => serializeWorkspace(workspace),
})

type Resource = (typeof WorkspaceResource)['_output']

export function serializeWorkspace({
  id,
  name,
  slug,
  timezone,
  currency,
  plan_key,
}: Omit<Resource, 'object_id'>): Resource {
  return { id, object_id: `workspace_${id}`, name, slug, timezone, currency, plan_key }
}
