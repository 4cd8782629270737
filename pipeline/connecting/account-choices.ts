/** Pages and boards that a token may publish to, for somebody to choose from. */
import { accountChoicesMax, platformNameLengthMax } from '../../schemas/limits/publish-limits.ts'
import type { AccountField } from '../../schemas/reference/account-fields.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { Reach } from '../publishing/adapter.ts'
import { describePerson, listOwnPages } from '../publishing/platforms/linkedin-pages.ts'
import { facebookApi, get, idIn } from '../publishing/platforms/meta-api.ts'
import { listBoards } from '../publishing/platforms/pinterest.ts'
import { listIn, objectIn } from '../publishing/request.ts'
import { metaTokenIn, renewableTokenIn } from './account-secret.ts'
import { ConnectingRefused } from './connecting-refused.ts'

export interface Choice {
  /** By it an account that is connected again finds its own: a page's id on Facebook, that of the account on Instagram, the URN on LinkedIn, the board's. */
  readonly key: string
  readonly name: string
  /** The fields by which an account is connected. */
  readonly fields: Readonly<Partial<Record<AccountField, string>>>
}

/** The choice that an account was connected by; null where its platform has none. */
export function choiceOf(platform: Platform, externalId: string | null, metadata: Readonly<Record<string, unknown>>) {
  if (platform === 'pinterest') return String(metadata['board_id'] ?? '')
  return ['facebook', 'instagram', 'linkedin'].includes(platform) ? externalId : null
}

/** @returns null where the platform offers none. @throws ConnectingRefused where there is nothing to choose; ProviderError */
export async function listChoices(
  platform: Platform,
  secret: string,
  scopes: readonly string[],
  { signal }: Reach,
): Promise<Choice[] | null> {
  const listed = await list(platform, secret, scopes, signal)
  if (listed === null) return null
  if (listed.length === 0) throw new ConnectingRefused(null, nothingAt[platform]!)
  return listed.slice(0, accountChoicesMax).map((choice) => ({
    ...choice,
    name: [...choice.name].slice(0, platformNameLengthMax).join(''),
  }))
}

const nothingAt: Readonly<Partial<Record<Platform, string>>> = {
  facebook:
    'Facebook names no page that you let this app publish to: sign in again, and choose the page there. Pages of a business portfolio are named only to apps that ask for business_management',
  instagram:
    'Facebook names no page with a professional account on Instagram that you let this app use: sign in again, and choose both there. Pages of a business portfolio are named only to apps that ask for business_management',
  linkedin: 'LinkedIn names no page that you administer',
  pinterest: 'The account has no board on Pinterest: make one there, and sign in again',
}

async function list(platform: Platform, secret: string, scopes: readonly string[], signal: AbortSignal) {
  if (platform === 'facebook' || platform === 'instagram') {
    const { body } = await get({ credentials: metaTokenIn(secret), signal }, `${facebookApi}/me/accounts`, {
      fields: 'id,name,instagram_business_account{id,username}',
      limit: String(accountChoicesMax),
    })
    const pages = listIn(body, 'data')
    return pages.flatMap((page) => (platform === 'facebook' ? [pageChoice(page)] : instagramChoices(page)))
  }
  if (platform === 'linkedin') {
    const call = { credentials: renewableTokenIn(secret), signal }
    const person = scopes.includes('openid') ? [await describePerson(call)] : []
    const pages = scopes.includes('w_organization_social') ? await listOwnPages(call) : []
    return [
      ...person.map(({ externalId, displayName }) => ({ key: externalId, name: displayName, fields: {} })),
      ...pages.map(({ externalId, name, page }) => ({ key: externalId, name, fields: { page } })),
    ]
  }
  if (platform !== 'pinterest') return null
  const boards = await listBoards({ credentials: renewableTokenIn(secret), signal }, accountChoicesMax)
  return boards.map(({ id, name }) => ({ key: id, name, fields: { board: id } }))
}

function pageChoice(page: Readonly<Record<string, unknown>>): Choice {
  const id = idIn(page)
  return { key: id, name: String(page['name'] || id), fields: { page: id } }
}

function instagramChoices(page: Readonly<Record<string, unknown>>): Choice[] {
  if (page['instagram_business_account'] == null) return []
  const account = objectIn(page, 'instagram_business_account')
  const { name, fields } = pageChoice(page)
  return [{ key: idIn(account), name: `@${account['username']} (${name})`, fields }]
}
