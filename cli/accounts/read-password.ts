/** A new password, as a person types it unseen, or as a file or standard input has it. */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { passwordLengthMax, passwordLengthMin } from '../../schemas/limits/api-limits.ts'
import { isTakenAsPassword } from '../../schemas/password-rule.ts'
import { CommandFailed } from '../command.ts'

/**
 * @param file undefined: standard input, where a person is asked twice
 * @throws CommandFailed where it can't be read, or is no password that is taken
 */
export async function readNewPassword(file: string | undefined): Promise<string> {
  const isAsked = file === undefined && process.stdin.isTTY
  const password = isAsked ? await askTwice() : readText(file)
  if (isTakenAsPassword(password)) return password
  throw new CommandFailed(`a password must have ${passwordLengthMin} to ${passwordLengthMax} characters`)
}

function readText(file: string | undefined): string {
  try {
    // The line's end, as an editor or `echo` writes it, is no part of the password.
    return readFileSync(file ?? 0, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new CommandFailed(`the password can't be read: ${(error as Error).message}`)
  }
}

async function askTwice(): Promise<string> {
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  const asking = createInterface({ input: process.stdin, output: unseen, terminal: true })
  const ask = async (text: string) => {
    process.stderr.write(text)
    const answer = await asking.question('')
    process.stderr.write('\n')
    return answer
  }
  try {
    const password = await ask('New password: ')
    if ((await ask('Again: ')) === password) return password
  } finally {
    asking.close()
  }
  throw new CommandFailed('the two differ')
}
