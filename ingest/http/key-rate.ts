/** How much each key may send in a second: events of a tracking key, or bytes and nodes of replays. Windows are of one second. */

const keysMax = 100_000

export interface KeyRate {
  /** Counts `amount` for the key; false when that is more than it may send in this second (then nothing is counted). */
  allows(key: string, amount: number, now: number): boolean
}

/** @param perSecond 0: no limit */
export function makeKeyRate(perSecond: number): KeyRate {
  if (perSecond === 0) return { allows: () => true }
  const counts = new Map<string, number>()
  let second = 0
  return {
    allows(key, amount, now) {
      const current = Math.floor(now / 1000)
      if (current !== second || counts.size > keysMax) {
        counts.clear()
        second = current
      }
      const count = counts.get(key) ?? 0
      // A batch larger than the whole limit passes alone, or it could never be sent.
      if (count > 0 && count + amount > perSecond) return false
      counts.set(key, count + amount)
      return true
    },
  }
}
