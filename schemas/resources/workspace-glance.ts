/** All workspaces of whoever is signed in at a glance, as the dashboard shows them. */
import { z } from 'zod'

const counts = { visitors: z.int(), pageviews: z.int() }

/** Those of the workspace's overview for as many days, in its timezone. */
export const GlanceFigures = z.object({
  live_visitors: z.int(),
  ...counts,
  /** Null where the days before aren't kept in full. */
  previous: z.object(counts).nullable(),
  /** One for each local day, `YYYY-MM-DD`. */
  days: z.array(z.object({ day: z.string(), visitors: z.int() })),
})

export const WorkspaceGlance = z.object({
  id: z.int(),
  name: z.string(),
  /** The session is in it. */
  is_current: z.boolean(),
  figures: GlanceFigures.nullable(),
  /**
   * Why there are none. The first four are codes of problems that the workspace itself would answer with.
   * `answer_late`: reading the others took all the time of an answer. `too_many`: as many workspaces as may have
   * figures have some.
   */
  without: z
    .enum([
      'plan_missing',
      'workspace_access_denied',
      'second_factor_missing',
      'role_insufficient',
      'no_event',
      'answer_late',
      'too_many',
    ])
    .nullable(),
})
export type WorkspaceGlance = z.output<typeof WorkspaceGlance>
