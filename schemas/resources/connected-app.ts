/** Apps that members connected by OAuth, as the dashboard shows them. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'

export const ConnectedApp = z.object({
  id: z.int(),
  /** Chosen by the app. */
  name: z.string(),
  /** Where its answer went, which it can't choose freely. */
  target: z.string(),
  /** The e-mail of the member that it acts for. */
  member: z.string(),
  /** Texts: an app may have one of an earlier release. */
  scopes: z.array(z.string()),
  last_used_at: dateTime.nullable(),
  created_at: dateTime,
})

export const ConnectedApps = z.array(ConnectedApp)
