/** Social accounts as the API shows them. */
import type { SocialAccount } from '../../../postgres/tables/social-accounts.ts'

export function shownAccount(account: SocialAccount) {
  return { ...account, object_id: `social_account_${account.id}` }
}
