/** Reads the values of a sign-in from the account that it connects again, so that nobody is asked for them twice. */
import type { SocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import { privacies } from '../../schemas/reference/account-fields.ts'
import { privacyLevels } from '../publishing/platforms/tiktok.ts'
import { choiceOf } from './account-choices.ts'
import type { Wanted } from './begin-sign-in.ts'

export function renewalOf(account: SocialAccount): Omit<Wanted, 'platform'> {
  const { id, handle, platform, external_id: externalId, provider_metadata: metadata } = account
  const choice = choiceOf(platform, externalId, metadata)
  const { url, privacy_level: level } = metadata
  return {
    renews: { id, handle, choice },
    url: platform === 'mastodon' && typeof url === 'string' ? url : undefined,
    privacy: platform === 'tiktok' ? privacies.find((privacy) => privacyLevels[privacy] === level) : undefined,
  }
}
