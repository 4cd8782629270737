/** The clock and the source of randomness of every service, replaceable so that tests can hold them. */
import { randomBytes } from 'node:crypto'

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

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` characters of base62, each drawn without bias from the system's randomness. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour the first characters.
      if (byte < 248 && text.length < length) text += base62[byte % 62]
    }
  }
  return text
}

/** `value` (a non-negative integer) in base62, left-padded with `0` to `length`. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = base62[rest % 62] + text
  return text
}
