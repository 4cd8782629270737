/** The goals themselves. read-goals.ts of analytics counts them. */
import { goalRows, type StoredGoal } from '../../../postgres/tables/figures/goals.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { readablePath } from '../../../schemas/event/readable-path.ts'
import { goalsMax } from '../../../schemas/limits/goal-limits.ts'
import { Goal, GoalCreate, GoalUpdate } from '../../../schemas/resources/goal.ts'
import { namedItems } from '../named-items.ts'

export const goalOperations = namedItems({
  noun: 'goal',
  word: 'goal',
  tag: 'Analytics',
  toolset: 'analytics',
  reads: 'analytics:read',
  writes: 'analytics:write',
  rows: goalRows,
  max: goalsMax,
  schemas: { one: Goal, create: GoalCreate, update: GoalUpdate },
  list: { summary: 'List the goals, newest first.' },
  create: {
    summary: 'Create a goal: a page that visitors should view, or an event that they should cause.',
    description: 'It counts events from before it was created, too.',
  },
  update: { summary: 'Change a goal. Fields that are left out stay.' },
  delete: { summary: 'Delete a goal. The events that it counts stay.' },
  normalize: (goal, sent) => ({ ...goal, value: readValue(goal, sent.value === undefined ? 'kind' : 'value') }),
})

/** Without host and query: no stored path has these. */
const isPath = /^[/*][^?]*$/

/**
 * As it is stored: one page isn't two goals because it is written in two ways.
 * @param member of the body that is at fault where it names no page
 */
function readValue({ kind, value }: Pick<StoredGoal, 'kind' | 'value'>, member: 'kind' | 'value'): string {
  if (kind !== 'path') return value
  if (isPath.test(value)) return readablePath(value)
  const fault = 'a page is named by its path, which begins with / or *'
  throw invalid([valueError(['body', member], member === 'kind' ? kind : value, fault)])
}
