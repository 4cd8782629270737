/**
 * All workspaces at a glance. The session needs for each workspace what that one's own pages demand: a plan, access,
 * perhaps a second factor, and the scope of figures. Held by test/integration/workspace-glance.test.ts.
 */
import { z } from 'zod'
import { listStandings } from '../../../postgres/tables/members/owner-sessions.ts'
import type { Standing } from '../../../postgres/tables/workspaces/api-keys.ts'
import { forEachAtMost } from '../../../runtime/for-each.ts'
import { StoreLate } from '../../../runtime/store-error.ts'
import { Problem } from '../../../schemas/errors/problems.ts'
import { glancesAtOnce, glanceWorkspacesMax } from '../../../schemas/limits/overview-limits.ts'
import { WorkspaceGlance } from '../../../schemas/resources/workspace-glance.ts'
import { requireAccess, requireFactor, requirePlan, requireScope } from '../../guards/authorize.ts'
import { readGlance } from '../../operations/analytics/read-glance.ts'
import { type CallContext, defineOperation } from '../../operations/define.ts'

export const readAllWorkspaces = defineOperation({
  name: 'workspace.glance',
  http: { method: 'GET', path: '/v1/workspaces/glance' },
  summary:
    'The workspaces that whoever is signed in is a member of, with figures of the last days; the most visited first.',
  tag: 'Workspace',
  effect: 'read',
  scope: 'workspace:read',
  isOfAccount: true,
  input: {},
  output: z.array(WorkspaceGlance),
  async handle(context) {
    const standings = await listStandings(context.stores.pg, context.actor.id)
    const asked = standings.filter((standing) => refusalOf(standing) === null).slice(0, glanceWorkspacesMax)
    const figures = await readFigures(context, asked)
    const reasonOf = (standing: Standing) => {
      if (figures.has(standing)) return 'no_event'
      return refusalOf(standing) ?? (asked.includes(standing) ? 'answer_late' : 'too_many')
    }
    return standings
      .map((standing): WorkspaceGlance => {
        const { id, name } = standing.workspace
        const read = figures.get(standing) ?? null
        const common = { id, name, is_current: id === context.workspace.id }
        return { ...common, figures: read, without: read === null ? reasonOf(standing) : null }
      })
      .sort((one, other) => (other.figures?.visitors ?? -1) - (one.figures?.visitors ?? -1))
  },
})

type Figures = Awaited<ReturnType<typeof readGlance>>

/**
 * Once one can't be read, no other is begun. All of them have one deadline: where it passes, those that were read by then
 * are shown. @throws where none was read, or the store is away
 */
async function readFigures(
  { stores, clock }: Pick<CallContext, 'stores' | 'clock'>,
  standings: readonly Standing[],
): Promise<Map<Standing, Figures>> {
  const figures = new Map<Standing, Figures>()
  const failed = new AbortController()
  await forEachAtMost(glancesAtOnce, standings, failed.signal, async (standing) => {
    const { plan_key, ...workspace } = standing.workspace
    try {
      figures.set(standing, await readGlance({ workspace: { ...workspace, plan_key: plan_key! }, stores, clock }))
    } catch (error) {
      failed.abort()
      if (!(error instanceof StoreLate) || figures.size === 0) throw error
    }
  })
  return figures
}

/** Why the workspace would refuse to tell its figures; null where it wouldn't. */
function refusalOf(standing: Standing): WorkspaceGlance['without'] {
  try {
    for (const guard of [requirePlan, requireAccess, requireFactor]) guard(standing)
    requireScope(standing, { scope: 'analytics:read' })
    return null
  } catch (error) {
    if (error instanceof Problem) return WorkspaceGlance.shape.without.parse(error.code)
    throw error
  }
}
