/**
 * Compares passwords that visitors send with the hashes of their links. Tries are counted in password-tries.ts. A
 * comparison runs in libuv's pool, off the event loop. A thread has one at a time, since the log's syncs need the pool too.
 *
 * Held by test/unit/link-passwords.test.ts and test/integration/link-pages.test.ts.
 */
import { isPasswordOf } from '../../runtime/crypto/password.ts'
import { networkOf } from '../../runtime/http/network-of.ts'
import { linkPasswordLengthMax } from '../../schemas/limits/api-limits.ts'
import { linkPasswordsWaitingMax } from '../../schemas/limits/ingest-limits.ts'
import type { PasswordTries } from './password-tries.ts'

interface PasswordTry {
  readonly linkId: number
  readonly passwordHash: string
  readonly password: string
  /** The visitor's. */
  readonly address: string
}

/** `limitedMs`: how long no more are compared, since too many were wrong. `busy`: others are being compared, and this one was not. */
type PasswordOutcome = 'right' | 'wrong' | 'busy' | { readonly limitedMs: number }

export interface LinkPasswords {
  /** @throws the error of the hash's library for a text that is no hash */
  check(tried: PasswordTry): Promise<PasswordOutcome>
}

/**
 * @param tries of all threads of the node
 * @param compare for tests
 */
export function makeLinkPasswords(tries: PasswordTries, compare: typeof isPasswordOf = isPasswordOf): LinkPasswords {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  /** Behind those that came before. */
  function compareInTurn(password: string, hash: string): Promise<boolean> {
    waiting++
    const turn = last.then(() => compare(password, hash)).finally(() => waiting--)
    last = turn.catch(() => {})
    return turn
  }

  return {
    async check({ linkId, passwordHash, password, address }) {
      // No link has such a one.
      if (password === '' || [...password].length > linkPasswordLengthMax) return 'wrong'
      const network = networkOf(address)
      const limitedMs = await tries.take(linkId, network)
      if (limitedMs > 0) return { limitedMs }
      const isBusy = waiting > linkPasswordsWaitingMax
      if (!isBusy && !(await compareInTurn(password, passwordHash))) return 'wrong'
      tries.giveBack(linkId, network)
      return isBusy ? 'busy' : 'right'
    },
  }
}
