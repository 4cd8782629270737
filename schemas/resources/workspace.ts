/** The workspace that a key belongs to. */
import { z } from 'zod'
import { objectId } from './object-id.ts'

export const WorkspaceResource = z
  .object({
    id: z.int(),
    object_id: objectId('workspace'),
    name: z.string(),
    slug: z.string(),
    timezone: z.string().meta({ description: 'IANA name: local days and times without an offset are read in it.' }),
    currency: z.string(),
    plan_key: z.enum(['starter', 'growth', 'scale']),
  })
  .meta({ id: 'Workspace' })
