/** The workspace that a key belongs to. */
import { z } from 'zod'
import { timezoneLengthMax, workspaceNameLengthMax } from '../limits/api-limits.ts'
import { retentionDaysMax } from '../limits/retention-limits.ts'
import { isCurrency } from '../revenue.ts'
import { timeZoneNamed } from '../time/time-zone-name.ts'
import { objectId } from './object-id.ts'
import { nameOf } from './plain-line.ts'

export const WorkspaceResource = z
  .object({
    id: z.int(),
    object_id: objectId('workspace'),
    name: z.string(),
    slug: z.string(),
    timezone: z.string().meta({ description: 'IANA name, for local days and times without an offset.' }),
    currency: z.string(),
    plan_key: z.enum(['starter', 'growth', 'scale']),
  })
  .meta({ id: 'Workspace' })

const name = nameOf(workspaceNameLengthMax)
const timezone = z
  .string()
  .max(timezoneLengthMax)
  .overwrite((given) => timeZoneNamed(given) ?? given)
  .superRefine((given, context) => {
    if (timeZoneNamed(given) === undefined)
      context.addIssue({ code: 'custom', message: 'The timezone must be an IANA name' })
  })
const currency = z
  .string()
  .max(3)
  .superRefine((given, context) => {
    if (!isCurrency(given)) context.addIssue({ code: 'custom', message: 'The currency must be an ISO 4217 code' })
  })

/** Days that analytics are kept, where that is less than the plan's; null: as long as the plan says. */
const retentionDays = z.int().min(1).max(retentionDaysMax).nullable()

const replayEnabled = z.boolean()
const replayShare = z.int().min(1).max(100).describe('Percentage of sessions recorded while replay is on.')

/** Fields that aren't named stay. */
export const WorkspaceUpdate = z.strictObject({
  name: name.optional(),
  timezone: timezone.optional(),
  currency: currency.optional(),
  retention_days: retentionDays.optional(),
  replay_enabled: replayEnabled.optional(),
  replay_share: replayShare.optional(),
})

export const WorkspaceCreate = z.strictObject({ name, timezone: timezone.default('UTC') })

/** The fields that its owner alone sees. */
export const WorkspaceSettings = WorkspaceResource.extend({
  retention_days: retentionDays,
  replay_enabled: replayEnabled,
  replay_share: replayShare,
}).meta({
  id: 'WorkspaceSettings',
})
