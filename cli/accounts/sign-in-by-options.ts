/** Signs in to a platform by the options of the command, and says by their names why it can't be done. */
import { ConnectingRefused } from '../../pipeline/connecting/connecting-refused.ts'
import { type SignedIn, signIn } from '../../pipeline/connecting/sign-in.ts'
import { realPlatforms } from '../../pipeline/publishing/adapters.ts'
import type { Config } from '../../runtime/config.ts'
import { socialAccountNameLengthMax } from '../../schemas/limits/api-limits.ts'
import { accountFields } from '../../schemas/reference/account-fields.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { ConnectionType } from '../../schemas/resources/social-account.ts'
import { CommandFailed, type OptionValues, UsageError } from '../command.ts'
import { readSecret } from '../read-secret.ts'

interface Surroundings {
  readonly config: Pick<Config, 'allowPrivateTargets'>
  readonly signal: AbortSignal
}

/** @returns null where the account is to be simulated */
export async function signInByOptions(
  platform: Platform,
  type: ConnectionType | undefined,
  options: OptionValues,
  { config: { allowPrivateTargets: allowPrivate }, signal }: Surroundings,
): Promise<SignedIn | null> {
  const secret = readSecret(options)
  const realType = realPlatforms[platform].connectionType
  if ((type ?? 'simulated') !== 'simulated' && type !== realType) {
    throw new CommandFailed(`${platform} accounts can't be connected by ${type}: --type simulated publishes nowhere`)
  }
  const fields = Object.fromEntries(
    accountFields.map((field) => [
      field,
      options.text(field, field === 'handle' ? socialAccountNameLengthMax : undefined),
    ]),
  )
  if (secret === undefined) {
    if (type === realType) throw new UsageError(`--type ${type} needs --secret or --secret-file`)
    for (const name of accountFields) {
      if (name !== 'handle' && fields[name] !== undefined) {
        throw new UsageError(`--${name} needs --secret or --secret-file`)
      }
    }
    return null
  }
  if (type === 'simulated') throw new UsageError('--secret is for accounts that are not simulated')
  return signIn({ ...fields, platform, secret }, { allowPrivate, signal }).catch(asCommandError)
}

/** @throws the error, in the command's words where it says why an account isn't connected */
export function asCommandError(error: unknown): never {
  if (!(error instanceof ConnectingRefused)) throw error
  if (error.field === null) throw new CommandFailed(error.message)
  if (error.field === 'secret') throw new CommandFailed(`the secret ${error.message}`)
  throw new UsageError(`--${error.field} ${error.message}`)
}
