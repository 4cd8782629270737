/** Accounts on social platforms that posts are published to. */
import { z } from 'zod'
import { platforms } from '../reference/providers.ts'
import { objectId } from './object-id.ts'

const accountStatuses = ['connected', 'disconnected', 'expired'] as const
export type AccountStatus = (typeof accountStatuses)[number]
const healthStatuses = ['ok', 'warning', 'error'] as const
export type HealthStatus = (typeof healthStatuses)[number]
export const connectionTypes = ['simulated', 'oauth', 'app_password'] as const
export type ConnectionType = (typeof connectionTypes)[number]

export const SocialAccountResource = z
  .object({
    id: z.int(),
    object_id: objectId('social_account'),
    platform: z.enum(platforms),
    handle: z.string(),
    display_name: z.string(),
    status: z.enum(accountStatuses),
    external_id: z.string().nullable().optional().meta({ description: "The platform's id." }),
    connection_type: z.enum(connectionTypes).optional().meta({ default: 'simulated' }),
    health_status: z.enum(healthStatuses).optional().meta({ default: 'ok' }),
    health_message: z.string().optional().meta({ default: '' }),
    provider_metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'SocialAccount' })
