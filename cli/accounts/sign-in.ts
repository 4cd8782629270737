/** Asks a platform whose credentials these are, before they are stored: an account that can't be used isn't connected. */
import { ProviderError } from '../../pipeline/publishing/adapter.ts'
import { isReal, type RealPlatform, realPlatforms } from '../../pipeline/publishing/adapters.ts'
import { openSession } from '../../pipeline/publishing/bluesky.ts'
import { describeMastodon } from '../../pipeline/publishing/mastodon.ts'
import { isSecureUrl } from '../../runtime/secure-url.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { ConnectionType } from '../../schemas/resources/social-account.ts'
import { CommandFailed, type OptionValues, UsageError } from '../command.ts'
import { readSecret } from '../read-secret.ts'

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
type SignIn = (
  secret: string,
  handle: string | undefined,
  options: OptionValues,
  signal: AbortSignal,
) => Promise<Account>

const signIns: Readonly<Record<RealPlatform, SignIn>> = { mastodon: signInToMastodon, bluesky: signInToBluesky }

/** @returns null where the account is to be simulated */
export async function signIn(
  platform: Platform,
  type: ConnectionType | undefined,
  handle: string | undefined,
  options: OptionValues,
  signal: AbortSignal,
): Promise<SignedIn | null> {
  const secret = readSecret(options)
  const real = isReal(platform) ? platform : undefined
  const realType = real && realPlatforms[real].connectionType
  if ((type ?? 'simulated') !== 'simulated' && type !== realType) {
    throw new CommandFailed(`${platform} accounts can't be connected by ${type}: --type simulated publishes nowhere`)
  }
  if (secret === undefined) {
    if (type === realType && realType !== undefined) {
      throw new UsageError(`--type ${type} needs --secret or --secret-file`)
    }
    if (options.httpUrl('url') !== undefined) throw new UsageError('--url needs --secret or --secret-file')
    return null
  }
  if (real === undefined || realType === undefined || type === 'simulated') {
    const names = Object.keys(realPlatforms).join(' and ')
    throw new UsageError(`--secret is for accounts of ${names} that are not simulated`)
  }
  try {
    return { connectionType: realType, ...(await signIns[real](secret, handle, options, signal)) }
  } catch (error) {
    if (error instanceof ProviderError) throw new CommandFailed(`${platform} didn't take it: ${error.message}`)
    throw error
  }
}

async function signInToMastodon(
  token: string,
  handle: string | undefined,
  options: OptionValues,
  signal: AbortSignal,
): Promise<Account> {
  const url = readRoot(options)
  if (url === undefined) throw new UsageError('--url is required: the instance, such as https://mastodon.social')
  if (handle !== undefined) throw new UsageError('--handle is what the instance says: leave it out')
  const credentials = { url, token }
  return { credentials, ...(await describeMastodon(credentials, signal)) }
}

async function signInToBluesky(
  password: string,
  identifier: string | undefined,
  options: OptionValues,
  signal: AbortSignal,
): Promise<Account> {
  if (identifier === undefined) throw new UsageError('--handle is required: the one to sign in with')
  const signing = { url: readRoot(options) ?? blueskyUrl, identifier: identifier.replace(/^@/, ''), password }
  const { tokens, did, handle } = await openSession(signing, signal)
  return {
    credentials: { ...signing, ...tokens },
    ...{ handle, displayName: undefined, externalId: did, metadata: { url: signing.url } },
  }
}

function readRoot(options: OptionValues): string | undefined {
  const url = options.httpUrl('url')
  if (url === undefined) return undefined
  if (!isSecureUrl(url)) throw new UsageError('--url must be https: the secret goes there')
  return url.origin
}
