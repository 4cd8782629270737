import { type PlanKey, planKeys } from '../postgres/tables/workspaces/workspaces.ts'

/** Choices of plan on the command line. */
export const planChoices = [...planKeys, 'none'] as const

export function planOf(choice: (typeof planChoices)[number]): PlanKey | null {
  return choice === 'none' ? null : choice
}
