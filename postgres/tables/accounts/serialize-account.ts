/** Social accounts as the API, webhooks and the command line show them. */
import type { SocialAccount } from './social-accounts.ts'

export function serializeAccount(account: SocialAccount) {
  return { ...account, object_id: `social_account_${account.id}` }
}
