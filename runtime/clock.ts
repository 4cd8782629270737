/** The clock of every service, replaceable so that tests can hold it. */

export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that stands still until it is moved: for tests. */
export function fixedClock(start: number): Clock & { set(time: number): void; advance(ms: number): void } {
  let time = start
  return {
    now: () => time,
    set: (to) => {
      time = to
    },
    advance: (ms) => {
      time += ms
    },
  }
}
