/**
 * Asks a platform whose credentials these are, before they are stored: an account that can't be used isn't connected. For the
 * command and the dashboard.
 */
import { isSecureUrl } from '../../runtime/secure-url.ts'
import { accountSecretLengthMax, platformNameLengthMax } from '../../schemas/limits/publish-limits.ts'
import {
  type AccountField,
  accountFields,
  fieldsOfPlatforms,
  type Privacy,
  privacies,
  takes,
} from '../../schemas/reference/account-fields.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { ConnectionType } from '../../schemas/resources/social-account.ts'
import type { Reach } from '../publishing/adapter.ts'
import { realPlatforms } from '../publishing/adapters.ts'
import { openSession } from '../publishing/platforms/bluesky.ts'
import { describeDiscord } from '../publishing/platforms/discord.ts'
import { describeFacebook } from '../publishing/platforms/facebook.ts'
import { describeInstagram } from '../publishing/platforms/instagram.ts'
import { describeLinkedin } from '../publishing/platforms/linkedin.ts'
import { describeMastodon } from '../publishing/platforms/mastodon.ts'
import { describePinterest } from '../publishing/platforms/pinterest.ts'
import { describeTelegram } from '../publishing/platforms/telegram.ts'
import { describeThreads } from '../publishing/platforms/threads.ts'
import { describeTiktok } from '../publishing/platforms/tiktok.ts'
import { describeX, xUrl } from '../publishing/platforms/x.ts'
import { describeYoutube } from '../publishing/platforms/youtube.ts'
import {
  botTokenIn,
  discordCredentialsIn,
  googleRenewalIn,
  metaTokenIn,
  renewableTokenIn,
  tiktokTokenIn,
  tokenIn,
  xKeysIn,
} from './account-secret.ts'
import { type AskOptions, askPlatform } from './ask-platform.ts'
import { ConnectingRefused } from './connecting-refused.ts'

const blueskyUrl = 'https://bsky.social'

export interface SignedIn {
  readonly connectionType: ConnectionType
  /** As the platform names it. */
  readonly handle: string
  readonly displayName: string | undefined
  readonly externalId: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly credentials: object
}

type Account = Omit<SignedIn, 'connectionType'>
type Fields = Readonly<Partial<Record<AccountField, string | undefined>>>

/** The values by which somebody connects an account, as they were written. */
export interface GivenAccount extends Fields {
  readonly platform: Platform
  readonly secret: string
}

const signIns: Readonly<Record<Platform, (given: GivenAccount, reach: Reach) => Promise<Account>>> = {
  mastodon: signInToMastodon,
  bluesky: signInToBluesky,
  x: signInToX,
  linkedin: signInToLinkedin,
  threads: signInToThreads,
  instagram: signInToPage(describeInstagram),
  facebook: signInToPage(describeFacebook),
  pinterest: signInToPinterest,
  youtube: async ({ secret }, { signal }) => describeYoutube(googleRenewalIn(secret), signal),
  tiktok: signInToTiktok,
  telegram: signInToTelegram,
  discord: signInToDiscord,
}

/** @throws ConnectingRefused where a value is missing or wrong, or the platform doesn't take them, or doesn't answer in time */
export async function signIn(given: GivenAccount, options: AskOptions): Promise<SignedIn> {
  const { platform } = given
  const secret = given.secret.trim()
  requireFields(given)
  requireSecret(secret)
  return askPlatform(platform, secret, options, async (reach) => {
    const account = await signIns[platform]({ ...given, secret }, reach)
    requireBounded(account)
    return { connectionType: realPlatforms[platform].connectionType, ...account }
  })
}

function requireSecret(secret: string): void {
  if (secret === '') throw new ConnectingRefused('secret', 'must not be empty')
  if ([...secret].length <= accountSecretLengthMax) return
  throw new ConnectingRefused('secret', `must have at most ${accountSecretLengthMax} characters`)
}

function requireFields(given: GivenAccount): void {
  const { platform } = given
  for (const field of accountFields) {
    if (given[field] === undefined || takes(platform, field)) continue
    if (field === 'handle') throw new ConnectingRefused(field, 'is what the platform says: leave it out')
    const takers = Object.keys(fieldsOfPlatforms).filter((one) => takes(one as Platform, field))
    throw new ConnectingRefused(field, `is for ${new Intl.ListFormat('en').format(takers)}`)
  }
  for (const [field, meaning] of Object.entries(fieldsOfPlatforms[platform].required)) {
    const name = field as AccountField
    if (given[name] === undefined) throw new ConnectingRefused(name, `is required: ${meaning}`)
  }
}

/** Anybody's server may be behind an address: what it answers is stored, and shown in lists. */
function requireBounded({ handle, displayName = '', externalId }: Account): void {
  if ([handle, displayName, externalId].every((text) => [...text].length <= platformNameLengthMax)) return
  const max = `more than ${platformNameLengthMax} characters`
  throw new ConnectingRefused(null, `The platform answered with a name, handle or id of ${max}`)
}

async function signInToMastodon({ secret, url }: GivenAccount, reach: Reach): Promise<Account> {
  const credentials = { url: rootOf(url!), token: tokenIn(secret).accessToken }
  return { credentials, ...(await describeMastodon(credentials, reach)) }
}

async function signInToBluesky({ secret, handle, url = blueskyUrl }: GivenAccount, reach: Reach): Promise<Account> {
  const signing = { url: rootOf(url), identifier: handle!.replace(/^@/, ''), password: secret }
  const { tokens, did, handle: told } = await openSession(signing, reach)
  return {
    credentials: { ...signing, ...tokens },
    handle: told,
    displayName: undefined,
    externalId: did,
    metadata: { url: signing.url },
  }
}

async function signInToX({ secret, url = xUrl }: GivenAccount, reach: Reach): Promise<Account> {
  const credentials = { url: rootOf(url), ...xKeysIn(secret) }
  return { credentials, ...(await describeX(credentials, reach)) }
}

async function signInToLinkedin({ secret, handle, page }: GivenAccount, { signal }: Reach): Promise<Account> {
  const credentials = renewableTokenIn(secret)
  const found = await describeLinkedin(credentials, page === undefined ? undefined : numberOf(page), signal)
  return { credentials, ...found, handle: handle ?? found.handle, metadata: {} }
}

function signInToPage(describe: typeof describeFacebook) {
  return async ({ secret, page }: GivenAccount, { signal }: Reach): Promise<Account> =>
    describe(metaTokenIn(secret), String(numberOf(page!)), signal)
}

async function signInToThreads({ secret }: GivenAccount, { signal }: Reach): Promise<Account> {
  const credentials = { ...tokenIn(secret), renewedAt: Date.now() }
  return { credentials, ...(await describeThreads(credentials, signal)) }
}

async function signInToPinterest({ secret, board }: GivenAccount, { signal }: Reach): Promise<Account> {
  if (!/^\d{1,32}$/.test(board!)) {
    throw new ConnectingRefused('board', `must be ${fieldsOfPlatforms.pinterest.required.board}`)
  }
  const credentials = renewableTokenIn(secret)
  return { credentials, ...(await describePinterest(credentials, board!, signal)) }
}

async function signInToTiktok({ secret, privacy }: GivenAccount, { signal }: Reach): Promise<Account> {
  if (!privacies.includes(privacy as Privacy)) {
    throw new ConnectingRefused('privacy', `must be one of ${privacies.join(', ')}, got \`${privacy}\``)
  }
  return describeTiktok(tiktokTokenIn(secret), privacy as Privacy, signal)
}

async function signInToTelegram({ secret, channel }: GivenAccount, { signal }: Reach): Promise<Account> {
  if (!/^(?:@\w{1,64}|-?\d{1,20})$/.test(channel!)) {
    throw new ConnectingRefused('channel', `must be ${fieldsOfPlatforms.telegram.required.channel}`)
  }
  const credentials = botTokenIn(secret)
  return { credentials, ...(await describeTelegram(credentials, channel!, signal)) }
}

async function signInToDiscord({ secret, handle }: GivenAccount, { signal }: Reach): Promise<Account> {
  const credentials = discordCredentialsIn(secret)
  const found = await describeDiscord(credentials, signal)
  return { credentials, ...found, handle: handle ?? found.handle }
}

function numberOf(page: string): number {
  const number = Number(page)
  if (/^\d+$/.test(page) && number >= 1 && number <= Number.MAX_SAFE_INTEGER) return number
  throw new ConnectingRefused('page', `must be a whole number from 1, got \`${page}\``)
}

/** The server that somebody named, without a path. @throws ConnectingRefused */
export function rootOf(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new ConnectingRefused('url', `must be an http or https URL, got \`${url}\``)
  }
  const parsed = new URL(url)
  if (!isSecureUrl(parsed)) throw new ConnectingRefused('url', 'must be https: the secret goes there')
  return parsed.origin
}
