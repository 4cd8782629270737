/** Shared links, as the dashboard shows them: the address itself only when one is made. */
import { z } from 'zod'
import { ApiKeyCreate, ApiKeyResource } from './api-key.ts'

export const SharedLinkCreate = ApiKeyCreate.pick({ name: true, expires_at: true })

export const SharedLinks = z.array(ApiKeyResource.omit({ scopes: true }))

export const CreatedSharedLink = z.object({ id: z.int(), name: z.string(), url: z.string() })
