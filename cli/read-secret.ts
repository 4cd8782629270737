/** A secret that somebody else made: as an option, or out of a file, where neither the shell's history nor `ps` shows it. */
import { readFileSync } from 'node:fs'
import { accountSecretLengthMax } from '../schemas/limits/publish-limits.ts'
import { CommandFailed, type Option, type OptionValues, UsageError } from './command.ts'

export const secretFileOption = {
  value: 'FILE',
  meaning: 'The file that it stands in; /dev/stdin takes it from a pipe.',
} as const satisfies Option

/** @returns undefined where neither `--secret` nor `--secret-file` is given */
export function readSecret(options: OptionValues): string | undefined {
  const given = options.secret('secret', accountSecretLengthMax)
  const file = options.text('secret-file')
  if (given !== undefined && file !== undefined) throw new UsageError('--secret and --secret-file exclude each other')
  if (file === undefined) return given
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new CommandFailed(`--secret-file can't be read: ${(error as Error).message}`)
  }
  if (text === '') throw new CommandFailed('--secret-file holds no secret')
  if ([...text].length > accountSecretLengthMax) {
    throw new CommandFailed(`--secret-file holds more than ${accountSecretLengthMax} characters`)
  }
  return text
}
