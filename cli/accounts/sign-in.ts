/** Asks a platform whose credentials these are, before they are stored: an account that can't be used isn't connected. */
import { ProviderError } from '../../pipeline/publishing/adapter.ts'
import { realPlatforms } from '../../pipeline/publishing/adapters.ts'
import { openSession } from '../../pipeline/publishing/bluesky.ts'
import { describeFacebook } from '../../pipeline/publishing/facebook.ts'
import { describeInstagram } from '../../pipeline/publishing/instagram.ts'
import { describeLinkedin } from '../../pipeline/publishing/linkedin.ts'
import { describeMastodon } from '../../pipeline/publishing/mastodon.ts'
import { describePinterest } from '../../pipeline/publishing/pinterest.ts'
import { describeThreads } from '../../pipeline/publishing/threads.ts'
import { describeTiktok, privacies } from '../../pipeline/publishing/tiktok.ts'
import { describeX, type XCredentials } from '../../pipeline/publishing/x.ts'
import { describeYoutube } from '../../pipeline/publishing/youtube.ts'
import { isSecureUrl } from '../../runtime/secure-url.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { ConnectionType } from '../../schemas/resources/social-account.ts'
import { CommandFailed, type OptionValues, UsageError } from '../command.ts'
import { readSecret } from '../read-secret.ts'
import { googleRenewalIn, isToken, metaTokenIn, renewableTokenIn, tiktokTokenIn } from './renewable-secret.ts'

const blueskyUrl = 'https://bsky.social'
const xUrl = 'https://api.x.com'

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

interface Given {
  readonly secret: string
  readonly handle: string | undefined
  readonly options: OptionValues
  readonly signal: AbortSignal
}

const ownOptions = ['url', 'page', 'board', 'privacy'] as const

interface SignIn {
  /** Options that not every platform takes; `handle` where the platform doesn't say it, or wants it. */
  readonly takes: readonly ((typeof ownOptions)[number] | 'handle')[]
  run(given: Given): Promise<Account>
}

const signIns: Readonly<Record<Platform, SignIn>> = {
  mastodon: { takes: ['url'], run: signInToMastodon },
  bluesky: { takes: ['url', 'handle'], run: signInToBluesky },
  x: { takes: ['url'], run: signInToX },
  linkedin: { takes: ['page', 'handle'], run: signInToLinkedin },
  threads: { takes: [], run: signInToThreads },
  instagram: { takes: ['page'], run: signInToPage(describeInstagram) },
  facebook: { takes: ['page'], run: signInToPage(describeFacebook) },
  pinterest: { takes: ['board'], run: signInToPinterest },
  youtube: { takes: [], run: signInToYoutube },
  tiktok: { takes: ['privacy'], run: signInToTiktok },
}

/** @returns null where the account is to be simulated */
export async function signIn(
  platform: Platform,
  type: ConnectionType | undefined,
  handle: string | undefined,
  options: OptionValues,
  signal: AbortSignal,
): Promise<SignedIn | null> {
  const secret = readSecret(options)
  const realType = realPlatforms[platform].connectionType
  if ((type ?? 'simulated') !== 'simulated' && type !== realType) {
    throw new CommandFailed(`${platform} accounts can't be connected by ${type}: --type simulated publishes nowhere`)
  }
  if (secret === undefined) {
    if (type === realType) throw new UsageError(`--type ${type} needs --secret or --secret-file`)
    for (const name of ownOptions) {
      if (options.text(name) !== undefined) throw new UsageError(`--${name} needs --secret or --secret-file`)
    }
    return null
  }
  if (type === 'simulated') throw new UsageError('--secret is for accounts that are not simulated')
  requireTaken(platform, handle, options)
  try {
    return { connectionType: realType, ...(await signIns[platform].run({ secret, handle, options, signal })) }
  } catch (error) {
    if (error instanceof ProviderError) throw new CommandFailed(`${platform} didn't take it: ${error.message}`)
    throw error
  }
}

function requireTaken(platform: Platform, handle: string | undefined, options: OptionValues): void {
  const { takes } = signIns[platform]
  for (const name of ownOptions) {
    if (options.text(name) === undefined || takes.includes(name)) continue
    const takers = Object.entries(signIns).flatMap(([one, signIn]) => (signIn.takes.includes(name) ? [one] : []))
    throw new UsageError(`--${name} is for ${new Intl.ListFormat('en').format(takers)}`)
  }
  if (handle !== undefined && !takes.includes('handle')) {
    throw new UsageError('--handle is what the platform says: leave it out')
  }
}

async function signInToMastodon({ secret: token, options, signal }: Given): Promise<Account> {
  const url = readRoot(options)
  if (url === undefined) throw new UsageError('--url is required: the instance, such as https://mastodon.social')
  const credentials = { url, token }
  return { credentials, ...(await describeMastodon(credentials, signal)) }
}

async function signInToBluesky({ secret: password, handle: identifier, options, signal }: Given): Promise<Account> {
  if (identifier === undefined) throw new UsageError('--handle is required: the one to sign in with')
  const signing = { url: readRoot(options) ?? blueskyUrl, identifier: identifier.replace(/^@/, ''), password }
  const { tokens, did, handle } = await openSession(signing, signal)
  return {
    credentials: { ...signing, ...tokens },
    ...{ handle, displayName: undefined, externalId: did, metadata: { url: signing.url } },
  }
}

/** The access token of a user begins with the user's id, which shows values in another order. */
const xValues = /^(\S+)\s+(\S+)\s+(\d+-\S+)\s+(\S+)$/

async function signInToX({ secret, options, signal }: Given): Promise<Account> {
  const found = xValues.exec(secret)
  if (found === null) {
    throw new UsageError(
      'the secret of an X account is four lines: API key, API key secret, access token, access token secret',
    )
  }
  const [, apiKey, apiKeySecret, token, tokenSecret] = found as unknown as string[]
  const credentials = { url: readRoot(options) ?? xUrl, apiKey, apiKeySecret, token, tokenSecret } as XCredentials
  return { credentials, ...(await describeX(credentials, signal)) }
}

async function signInToLinkedin({ secret, handle, options, signal }: Given): Promise<Account> {
  const credentials = renewableTokenIn(secret)
  const found = await describeLinkedin(credentials, options.id('page', Number.MAX_SAFE_INTEGER), signal)
  return { credentials, ...found, handle: handle ?? found.handle, metadata: {} }
}

function signInToPage(describe: typeof describeFacebook): SignIn['run'] {
  return async ({ secret, options, signal }) => {
    const page = options.id('page', Number.MAX_SAFE_INTEGER)
    if (page === undefined) throw new UsageError('--page is required: the number of the page on Facebook')
    return describe(metaTokenIn(secret), String(page), signal)
  }
}

async function signInToThreads({ secret, signal }: Given): Promise<Account> {
  const credentials = { ...tokenIn(secret), renewedAt: Date.now() }
  return { credentials, ...(await describeThreads(credentials, signal)) }
}

async function signInToPinterest({ secret, options, signal }: Given): Promise<Account> {
  const board = options.text('board')
  if (board === undefined || !/^\d{1,32}$/.test(board)) {
    throw new UsageError('--board is required: the number of the board on Pinterest')
  }
  const credentials = renewableTokenIn(secret)
  return { credentials, ...(await describePinterest(credentials, board, signal)) }
}

async function signInToYoutube({ secret, signal }: Given): Promise<Account> {
  return describeYoutube(googleRenewalIn(secret), signal)
}

async function signInToTiktok({ secret, options, signal }: Given): Promise<Account> {
  const privacy = options.oneOf('privacy', privacies)
  if (privacy === undefined) throw new UsageError(`--privacy is required: ${privacies.join(', ')}`)
  return describeTiktok(tiktokTokenIn(secret), privacy, signal)
}

function tokenIn(secret: string): { accessToken: string } {
  if (isToken(secret)) return { accessToken: secret }
  throw new CommandFailed('the secret must be an access token')
}

function readRoot(options: OptionValues): string | undefined {
  const url = options.httpUrl('url')
  if (url === undefined) return undefined
  if (!isSecureUrl(url)) throw new UsageError('--url must be https: the secret goes there')
  return url.origin
}
