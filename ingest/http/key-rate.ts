/** Events a second for each tracking key, in windows of one second: only where a limit is set. */

const keysMax = 100_000

export interface KeyRate {
  /** Counts `events` for the key; false when that is more than it may send in this second (then none is counted). */
  allows(key: string, events: number, now: number): boolean
}

export function makeKeyRate(perSecond: number): KeyRate {
  if (perSecond === 0) return { allows: () => true }
  const counts = new Map<string, number>()
  let second = 0
  return {
    allows(key, events, now) {
      const current = Math.floor(now / 1000)
      if (current !== second || counts.size > keysMax) {
        counts.clear()
        second = current
      }
      const count = counts.get(key) ?? 0
      // A batch larger than the whole limit passes alone, or it could never be sent.
      if (count > 0 && count + events > perSecond) return false
      counts.set(key, count + events)
      return true
    },
  }
}
