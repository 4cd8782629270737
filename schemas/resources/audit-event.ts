/** Changes, with who made them: rows that stay as they are, each with the hash of the one before. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'

export const actorTypes = ['api_key', 'user', 'system'] as const
export type ActorType = (typeof actorTypes)[number]
/** How a change came in. */
const interfaces = ['rest', 'mcp', 'console', 'cli'] as const
export type AuditedInterface = (typeof interfaces)[number]

export const AuditEventResource = z
  .object({
    id: z.int(),
    object_id: objectId('audit_event'),
    action: z.string(),
    actor_type: z.enum(actorTypes),
    actor_id: z.int().nullable(),
    actor_name: z.string(),
    interface: z.enum(interfaces),
    resource_type: z.string(),
    resource_id: z.int().nullable(),
    request_id: z.string().nullable(),
    ip_hash: z.string().nullable().meta({ description: 'Keyed hash of the address, which is kept nowhere.' }),
    metadata: z.record(z.string(), z.unknown()),
    created_at: dateTime,
    previous_hash: z.string(),
    hash: z.string(),
  })
  .meta({ id: 'AuditEvent' })
