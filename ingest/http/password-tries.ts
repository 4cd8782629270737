/**
 * Counts tries of links' passwords, in memory: one object for all threads of a node, so that more threads allow no more
 * tries. Workers ask the main thread. Redis isn't asked: links lead on while it is away.
 *
 * Held by test/unit/link-passwords.test.ts.
 */
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import {
  linkPasswordTriedMax,
  linkPasswordTriesMax,
  linkPasswordTriesMs,
  linkPasswordTriesOfNetworkMax,
} from '../../schemas/limits/ingest-limits.ts'

/** @param network of the visitor */
type Of = [linkId: number, network: string]

export interface PasswordTries {
  /**
   * Takes a try, before the password is compared: none beyond the limit is compared meanwhile.
   * @returns 0, or the milliseconds until another may be taken: then none was
   */
  take(...of: Of): number | Promise<number>
  /** Gives back the try of a right password, or of one that wasn’t compared. */
  giveBack(...of: Of): void
}

/** @param clock asked at each try. The time of a request's head won't do: its form may arrive after those of later requests. */
export function makePasswordTries(clock: Clock): PasswordTries {
  const ofNetworks = makeWindows(linkPasswordTriesOfNetworkMax)
  const ofLinks = makeWindows(linkPasswordTriesMax)
  return {
    take(linkId, network) {
      const now = clock.now()
      const names = [`${linkId} ${network}`, String(linkId)] as const
      // A network that has had its tries takes none away from others.
      const limitedMs = ofNetworks.waitMs(names[0], now) || ofLinks.waitMs(names[1], now)
      if (limitedMs > 0) return limitedMs
      ofNetworks.take(names[0], now)
      ofLinks.take(names[1], now)
      return 0
    },
    giveBack(linkId, network) {
      ofNetworks.giveBack(`${linkId} ${network}`)
      ofLinks.giveBack(String(linkId))
    },
  }
}

interface Window {
  count: number
  readonly endsAt: number
}

/** Tries by name, in windows that begin with the first one. */
function makeWindows(triesMax: number) {
  const all = new LRUCache<string, Window>({ max: linkPasswordTriedMax })
  const current = (name: string, now: number) => {
    const window = all.get(name)
    const leftMs = window === undefined ? 0 : window.endsAt - now
    // One that would last longer began before the clock was set back.
    return leftMs > 0 && leftMs <= linkPasswordTriesMs ? window : undefined
  }
  return {
    /** 0 where another try may be made. */
    waitMs(name: string, now: number): number {
      const window = current(name, now)
      return window !== undefined && window.count >= triesMax ? window.endsAt - now : 0
    },
    take(name: string, now: number): void {
      const window = current(name, now)
      if (window === undefined) all.set(name, { count: 1, endsAt: now + linkPasswordTriesMs })
      else window.count++
    },
    giveBack(name: string): void {
      const window = all.peek(name)
      if (window !== undefined) window.count = Math.max(0, window.count - 1)
    },
  }
}
