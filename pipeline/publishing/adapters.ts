/** Which adapter an account is published by. */
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import { makeSecretBox } from '../../runtime/crypto/secret-box.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { ConnectionType } from '../../schemas/resources/social-account.ts'
import type { Adapter } from './adapter.ts'
import { bluesky } from './bluesky.ts'
import { mastodon } from './mastodon.ts'
import { simulated } from './simulated.ts'

/** Platforms that are really published to, each with the one way by which its accounts are connected. */
const real: Partial<Record<Platform, { readonly connectionType: ConnectionType; readonly adapter: Adapter }>> = {
  mastodon: { connectionType: 'oauth', adapter: mastodon as Adapter },
  bluesky: { connectionType: 'app_password', adapter: bluesky as Adapter },
}

export interface Connected {
  readonly platform: Platform
  readonly connection_type: ConnectionType
}

export function adapterOf({ platform, connection_type }: Connected): Adapter {
  if (connection_type === 'simulated') return simulated as Adapter
  const known = real[platform]
  if (known?.connectionType === connection_type) return known.adapter
  throw new Error(`there is no adapter for ${platform} by ${connection_type}`)
}

/** Seals what accounts are published to by. */
export function makeCredentialsBox(secretKey: string): SecretBox {
  return makeSecretBox(secretKey, 'credentials of social accounts')
}
