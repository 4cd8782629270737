/** Which adapter an account is published by. */
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import { accountCredentialsPurpose, makeSecretBox } from '../../runtime/crypto/secret-box.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { ConnectionType } from '../../schemas/resources/social-account.ts'
import type { Adapter } from './adapter.ts'
import { bluesky } from './platforms/bluesky.ts'
import { discord } from './platforms/discord.ts'
import { facebook } from './platforms/facebook.ts'
import { instagram } from './platforms/instagram.ts'
import { linkedin } from './platforms/linkedin.ts'
import { mastodon } from './platforms/mastodon.ts'
import { pinterest } from './platforms/pinterest.ts'
import { simulated } from './platforms/simulated.ts'
import { telegram } from './platforms/telegram.ts'
import { threads } from './platforms/threads.ts'
import { tiktok } from './platforms/tiktok.ts'
import { x } from './platforms/x.ts'
import { youtube } from './platforms/youtube.ts'

interface RealPlatformEntry {
  readonly connectionType: ConnectionType
  readonly adapter: Adapter
}

/** The one way to connect an account of each platform that is not simulated. */
export const realPlatforms = {
  mastodon: { connectionType: 'oauth', adapter: mastodon as Adapter },
  bluesky: { connectionType: 'app_password', adapter: bluesky as Adapter },
  x: { connectionType: 'oauth', adapter: x as Adapter },
  linkedin: { connectionType: 'oauth', adapter: linkedin as Adapter },
  threads: { connectionType: 'oauth', adapter: threads as Adapter },
  instagram: { connectionType: 'oauth', adapter: instagram as Adapter },
  facebook: { connectionType: 'oauth', adapter: facebook as Adapter },
  pinterest: { connectionType: 'oauth', adapter: pinterest as Adapter },
  youtube: { connectionType: 'oauth', adapter: youtube as Adapter },
  tiktok: { connectionType: 'oauth', adapter: tiktok as Adapter },
  telegram: { connectionType: 'bot_token', adapter: telegram as Adapter },
  discord: { connectionType: 'webhook', adapter: discord as Adapter },
} as const satisfies Record<Platform, RealPlatformEntry>

export interface Connected {
  readonly platform: Platform
  readonly connection_type: ConnectionType
}

export function adapterOf({ platform, connection_type }: Connected): Adapter {
  if (connection_type === 'simulated') return simulated as Adapter
  const real = realPlatforms[platform]
  if (real.connectionType === connection_type) return real.adapter
  throw new Error(`there is no adapter for ${platform} by ${connection_type}`)
}

/** The adapter that publishes a part. A simulated account publishes comments as it does posts. */
export function adapterOfPart(connected: Connected, { isComment }: { readonly isComment: boolean }): Adapter {
  const adapter = adapterOf(connected)
  return isComment && adapter.comments ? { ...adapter, ...adapter.comments, prepare: async () => null } : adapter
}

/** Seals the credentials that accounts are published to with. */
export function makeCredentialsBox(secretKey: string): SecretBox {
  return makeSecretBox(secretKey, accountCredentialsPurpose)
}
