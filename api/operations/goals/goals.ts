/** The goals themselves. read-goals.ts of analytics counts them. */
import { z } from 'zod'
import {
  deleteGoal,
  holdGoal,
  insertGoal,
  listGoals,
  type StoredGoal,
  updateGoal,
} from '../../../postgres/tables/goals.ts'
import { holdWorkspace } from '../../../postgres/tables/workspaces.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { readablePath } from '../../../schemas/event/readable-path.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { goalsMax } from '../../../schemas/limits/goal-limits.ts'
import { Goal, GoalCreate, GoalUpdate } from '../../../schemas/resources/goal.ts'
import { defineOperation } from '../define.ts'

export const listOwnGoals = defineOperation({
  name: 'goal.list',
  http: { method: 'GET', path: '/v1/goals' },
  tool: 'svc.list_goals',
  toolset: 'analytics',
  summary: 'List the goals, newest first.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  input: {},
  output: z.array(Goal),
  handle: async ({ workspace, stores: { pg } }) => (await listGoals(pg, workspace.id)).map(serialize),
})

export const createGoal = defineOperation({
  name: 'goal.create',
  http: { method: 'POST', path: '/v1/goals' },
  tool: 'svc.create_goal',
  toolset: 'analytics',
  summary: 'Create a goal: a page that visitors should view, or an event that they should cause.',
  description: 'It counts events from before it was created, too.',
  tag: 'Analytics',
  effect: 'create',
  scope: 'analytics:write',
  input: { body: GoalCreate },
  output: Goal,
  problems: ['goals_full', 'goal_known'],
  async handle({ body: { name, kind, value, property }, workspace, stores: { pg } }) {
    const read = readValue(kind, value, 'value')
    await holdWorkspace(pg, workspace.id)
    if ((await listGoals(pg, workspace.id)).length >= goalsMax) throw problem('goals_full')
    const goal = await insertGoal(pg, workspace.id, { name, kind, value: read, property })
    if (goal === null) throw problem('goal_known')
    return serialize(goal)
  },
})

export const changeGoal = defineOperation({
  name: 'goal.update',
  http: { method: 'PATCH', path: '/v1/goals/{goal_id}' },
  tool: 'svc.update_goal',
  toolset: 'analytics',
  summary: 'Change a goal. Fields that are left out stay.',
  tag: 'Analytics',
  effect: 'update',
  scope: 'analytics:write',
  input: { path: z.object({ goal_id: idInPath('goal') }), body: GoalUpdate },
  output: Goal,
  problems: ['goal_not_found', 'goal_known'],
  async handle({ path: { goal_id }, body, workspace, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    const before = await holdGoal(pg, workspace.id, goal_id)
    if (before === null) throw problem('goal_not_found')
    const { name = before.name, kind = before.kind, value = before.value, property = before.property } = body
    const read = readValue(kind, value, body.value === undefined ? 'kind' : 'value')
    const goal = await updateGoal(pg, workspace.id, { id: goal_id, name, kind, value: read, property })
    if (goal === null) throw problem('goal_known')
    return serialize(goal)
  },
})

export const removeGoal = defineOperation({
  name: 'goal.delete',
  http: { method: 'DELETE', path: '/v1/goals/{goal_id}' },
  tool: 'svc.delete_goal',
  toolset: 'analytics',
  summary: 'Delete a goal. The events that it counts stay.',
  tag: 'Analytics',
  effect: 'delete',
  scope: 'analytics:write',
  input: { path: z.object({ goal_id: idInPath('goal') }) },
  output: Goal,
  problems: ['goal_not_found'],
  async handle({ path: { goal_id }, workspace, stores: { pg } }) {
    const goal = await deleteGoal(pg, workspace.id, goal_id)
    if (goal === null) throw problem('goal_not_found')
    return serialize(goal)
  },
})

/** Without host and query: no stored path has these. */
const isPath = /^[/*][^?]*$/

/**
 * As it is stored: one page isn't two goals because it is written in two ways.
 * @param member of the body that is at fault where it names no page
 */
function readValue(kind: StoredGoal['kind'], value: string, member: 'kind' | 'value'): string {
  if (kind !== 'path') return value
  if (isPath.test(value)) return readablePath(value)
  const fault = 'a page is named by its path, which begins with / or *'
  throw invalid([valueError(['body', member], member === 'kind' ? kind : value, fault)])
}

function serialize({ created_at, ...goal }: StoredGoal): z.output<typeof Goal> {
  return { ...goal, object_id: `goal_${goal.id}`, created_at: created_at.toISOString() }
}
