/** Accounts on social platforms that posts are published to. */
import { z } from 'zod'
import { idInBody } from '../lax.ts'
import { socialAccountNameLengthMax } from '../limits/api-limits.ts'
import { accountFieldLengthMax, accountSecretLengthMax, signInCodeLengthMax } from '../limits/publish-limits.ts'
import { privacies } from '../reference/account-fields.ts'
import { platforms } from '../reference/providers.ts'
import { signInPlatforms } from '../reference/sign-in-platforms.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { nameOf, plainLine } from './plain-line.ts'

const accountStatuses = ['connected', 'disconnected', 'expired'] as const
export type AccountStatus = (typeof accountStatuses)[number]
const healthStatuses = ['ok', 'warning', 'error'] as const
export type HealthStatus = (typeof healthStatuses)[number]
export const connectionTypes = ['simulated', 'oauth', 'app_password', 'bot_token', 'webhook'] as const
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

const field = plainLine(accountFieldLengthMax).min(1).optional()

/** Handles copied from bsky.app come with direction marks around them. */
function withoutDirectionMarks(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '') : value
}

/** Which fields a platform takes, and what they have to be, is said where they are tried (pipeline/connecting/). */
export const SocialAccountConnect = z.object({
  platform: z.enum(platforms),
  secret: z.string().min(1).max(accountSecretLengthMax),
  url: field,
  page: field,
  board: field,
  channel: field,
  privacy: field,
  handle: z.preprocess(withoutDirectionMarks, nameOf(socialAccountNameLengthMax).optional()),
  display_name: nameOf(socialAccountNameLengthMax).optional(),
  /** The account that these are to be new credentials of: those of another one are refused. */
  renews: idInBody('social_account').optional(),
})

/** A sign-in at the platform: what it needs to know before, and can't learn from the account that it renews. */
export const AccountSignInBegin = z.object({
  platform: z.enum(signInPlatforms),
  /** The instance of Mastodon. */
  url: field,
  /** Who sees the posts on TikTok. */
  privacy: z.enum(privacies).optional(),
  renews: idInBody('social_account').optional(),
})

const returned = z.string().max(signInCodeLengthMax).optional()

/** The query that the browser brings back, by the platform's own names. */
export const AccountSignInReturn = z.object({
  /** The state; the request token of X. */
  state: z.string().min(1).max(signInCodeLengthMax),
  code: returned,
  iss: returned,
  error: returned,
  error_description: returned,
  oauth_verifier: returned,
  denied: returned,
})

export const AccountSignInChoose = z.object({
  sign_in_id: idInBody('sign_in'),
  choice: z.string().min(1).max(accountFieldLengthMax),
})

/** The account, or what it is to be chosen from. */
export const AccountSignIn = z.object({
  id: z.int().nullable(),
  platform: z.enum(signInPlatforms),
  handle: z.string().nullable(),
  is_renewed: z.boolean(),
  /** Null: the account is connected. */
  sign_in_id: z.int().nullable(),
  choices: z.array(z.object({ key: z.string(), name: z.string() })),
})

export const AccountSignInAddress = z.object({ address: z.string() })
export const AccountSignInPlatforms = z.object({ platforms: z.array(z.enum(signInPlatforms)) })

export const ConnectedSocialAccount = z.object({ ...SocialAccountResource.shape, is_renewed: z.boolean() })

/** With when the platform last said whether it takes the credentials; null: before that was written down. */
export const CheckedSocialAccount = z.object({ ...SocialAccountResource.shape, checked_at: dateTime.nullable() })
