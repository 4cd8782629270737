/** Lets costly work have a share of the time, and no more, whatever the number of those who want it. */

export interface Allowance {
  /** @returns to be called when the work is done; undefined: it isn't to be done now */
  begin(): (() => void) | undefined
}

/**
 * One work at a time, and after one that took t a pause until it was `share` of the time.
 * @param share 0 to 1
 * @param now milliseconds, as a clock that never jumps back; given for tests
 */
export function makeAllowance(share: number, now: () => number = () => performance.now()): Allowance {
  let isFree = true
  let freeFrom = Number.NEGATIVE_INFINITY
  return {
    begin: () => {
      if (!isFree || now() < freeFrom) return undefined
      isFree = false
      const begunAt = now()
      return () => {
        isFree = true
        freeFrom = begunAt + (now() - begunAt) / share
      }
    },
  }
}
