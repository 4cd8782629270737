/** A new password, as a person types it unseen, or as a file or standard input has it. */
import { openSync, readSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { passwordLengthMax, passwordLengthMin } from '../../schemas/limits/api-limits.ts'
import { isAcceptablePassword } from '../../schemas/password-rule.ts'
import { CommandFailed } from '../command.ts'

/**
 * @param file undefined: standard input, where a person is asked twice
 * @throws CommandFailed where it can't be read, or no account may have it
 */
export async function readNewPassword(file: string | undefined): Promise<string> {
  // Not `process.stdin.isTTY`: a pipe that `process.stdin` has touched fails where its writer takes a moment.
  const isAsked = file === undefined && isatty(0)
  const password = isAsked ? await askTwice() : readText(file)
  if (isAcceptablePassword(password)) return password
  throw new CommandFailed(`a password must have ${passwordLengthMin} to ${passwordLengthMax} characters`)
}

/** More has too many characters in any case: no end of the input need come. */
const bytesMax = 4 * (passwordLengthMax + 1)

function readText(file: string | undefined): string {
  const bytes = Buffer.alloc(bytesMax)
  let length = 0
  try {
    const from = file === undefined ? 0 : openSync(file, 'r')
    for (let read = -1; read !== 0; length += read) read = readSync(from, bytes, length, bytesMax - length, null)
  } catch (error) {
    throw new CommandFailed(`the password can't be read: ${(error as Error).message}`)
  }
  // The line's end, as an editor or `echo` writes it, is no part of the password.
  return bytes.toString('utf8', 0, length).replace(/\r?\n$/, '')
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
