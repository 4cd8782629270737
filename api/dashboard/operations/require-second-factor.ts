/** Whether the workspace requires a second factor of its members: its owner alone says so. */
import { z } from 'zod'
import { requireSecondFactor } from '../../../postgres/tables/members/required-factors.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { ownScope } from '../../../schemas/scopes.ts'
import { defineOperation } from '../../operations/define.ts'

export const requireFactor = defineOperation({
  name: 'workspace.require_second_factor',
  http: { method: 'PATCH', path: '/v1/workspace/second-factor' },
  summary: 'Require a second factor of the members, or no longer. Sessions without one are refused from then on.',
  tag: 'Workspace',
  effect: 'update',
  scope: ownScope,
  input: { body: z.strictObject({ is_required: z.boolean() }) },
  output: z.object({ id: z.int(), is_required: z.boolean() }),
  auditIds: ['is_required'],
  problems: ['own_factor_missing'],
  async handle({ body: { is_required }, workspace: { id }, stores: { pg } }) {
    if (!(await requireSecondFactor(pg, id, is_required))) throw problem('own_factor_missing')
    return { id, is_required }
  },
})
