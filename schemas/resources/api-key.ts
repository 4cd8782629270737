/** Secret keys, as the dashboard shows them: never the key itself, but when it is made. */
import { z } from 'zod'
import { apiKeyNameLengthMax } from '../limits/api-limits.ts'
import { scopes } from '../scopes.ts'
import { writtenTime } from '../time/written-time.ts'
import { dateTime } from './date-time.ts'
import { nameOf } from './plain-line.ts'

const scope = z.enum(scopes)

export const ApiKeyCreate = z.object({
  name: nameOf(apiKeyNameLengthMax),
  scopes: z.array(scope).min(1).max(scopes.length),
  expires_at: writtenTime.optional(),
})

export const ApiKeyResource = z.object({
  id: z.int(),
  name: z.string(),
  prefix: z.string(),
  /** Texts: a key may have one of an earlier release. */
  scopes: z.array(z.string()),
  expires_at: dateTime.nullable(),
  revoked_at: dateTime.nullable(),
  last_used_at: dateTime.nullable(),
  created_at: dateTime,
})

/** `scopes` are those that a new key may have. */
export const ApiKeys = z.object({ keys: z.array(ApiKeyResource), scopes: z.array(scope) })

export const CreatedApiKey = z.object({ id: z.int(), name: z.string(), api_key: z.string() })
