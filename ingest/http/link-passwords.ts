/**
 * Compares passwords that visitors send with the hashes of their links. Tries are counted in memory. A comparison runs in
 * libuv's pool, off the event loop. There is one at a time, since the log's syncs need the pool too.
 *
 * Held by test/unit/link-passwords.test.ts and test/integration/link-passwords.test.ts.
 */
import { LRUCache } from 'lru-cache'
import { isPasswordOf } from '../../runtime/crypto/password.ts'
import { networkOf } from '../../runtime/http/network-of.ts'
import { linkPasswordLengthMax } from '../../schemas/limits/api-limits.ts'
import {
  linkPasswordsWaitingMax,
  linkPasswordTriedMax,
  linkPasswordTriesMax,
  linkPasswordTriesMs,
  linkPasswordTriesOfNetworkMax,
} from '../../schemas/limits/ingest-limits.ts'

export interface PasswordTry {
  readonly linkId: number
  readonly passwordHash: string
  readonly password: string
  /** The visitor's. */
  readonly address: string
  readonly now: number
}

/** `limited`: too many were wrong, for so long. `busy`: others are being compared, and this one was not. */
export type PasswordOutcome = 'right' | 'wrong' | 'busy' | { readonly limitedMs: number }

export interface LinkPasswords {
  /** @throws what the hash's library throws of a hash that is none */
  check(tried: PasswordTry): Promise<PasswordOutcome>
}

/** @param compare for tests */
export function makeLinkPasswords(compare: typeof isPasswordOf = isPasswordOf): LinkPasswords {
  const ofNetwork = makeTries(linkPasswordTriesOfNetworkMax)
  const ofLink = makeTries(linkPasswordTriesMax)
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
    async check({ linkId, passwordHash, password, address, now }) {
      // No link has such a one.
      if (password === '' || [...password].length > linkPasswordLengthMax) return 'wrong'
      const [network, link] = [`${linkId} ${networkOf(address)}`, String(linkId)]
      // A network that has had its tries takes none away from others.
      const limitedMs = ofNetwork.waitMs(network, now) || ofLink.waitMs(link, now)
      if (limitedMs > 0) return { limitedMs }
      if (waiting > linkPasswordsWaitingMax) return 'busy'
      // Counted before it is compared, so that none beyond the limit is compared meanwhile.
      ofNetwork.take(network, now)
      ofLink.take(link, now)
      const isRight = await compareInTurn(password, passwordHash)
      if (!isRight) return 'wrong'
      ofNetwork.giveBack(network)
      ofLink.giveBack(link)
      return 'right'
    },
  }
}

interface Tries {
  count: number
  readonly endsAt: number
}

/** Tries by name, in windows that begin with the first one. */
function makeTries(triesMax: number) {
  const all = new LRUCache<string, Tries>({ max: linkPasswordTriedMax })
  const current = (name: string, now: number) => {
    const tries = all.get(name)
    return tries !== undefined && tries.endsAt > now ? tries : undefined
  }
  return {
    /** 0 where another try may be made. */
    waitMs(name: string, now: number): number {
      const tries = current(name, now)
      return tries !== undefined && tries.count >= triesMax ? tries.endsAt - now : 0
    },
    take(name: string, now: number): void {
      const tries = current(name, now)
      if (tries === undefined) all.set(name, { count: 1, endsAt: now + linkPasswordTriesMs })
      else tries.count++
    },
    giveBack(name: string): void {
      const tries = all.peek(name)
      if (tries !== undefined) tries.count = Math.max(0, tries.count - 1)
    },
  }
}
