/**
 * Postgres look-ups of keys that a table in memory doesn't have. Equal ones that run at once are one, and "no such key"
 * is believed for a moment only. If Postgres is out of reach or takes too long, the answer is `unavailable` and never
 * `unknown`. A late result is kept all the same. Held by test/unit/look-ups.test.ts.
 */
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import {
  keyLookupMs,
  keyLookupsMax,
  unknownKeyCacheMax,
  unknownKeyCacheMs,
} from '../../schemas/limits/ingest-limits.ts'

export interface LookUpOptions<Found> {
  /** Null: there is none. */
  readonly find: (key: string) => Promise<Found | null>
  readonly clock: Clock
  readonly log: Log
}

export interface LookUps<Found> {
  /** Never rejects. */
  ask(key: string): Promise<Found | 'unknown' | 'unavailable'>
  /** Something has changed: a key that was missing may exist now. */
  forget(): void
}

export function makeLookUps<Found>({ find, clock, log }: LookUpOptions<Found>): LookUps<Found> {
  const running = new Map<string, Promise<Found | 'unknown' | 'unavailable'>>()
  /** Keys that Postgres doesn't have, each with the time when it said so; the oldest first. */
  const unknown = new Map<string, number>()

  async function lookUp(key: string): Promise<Found | 'unknown' | 'unavailable'> {
    try {
      const found = await find(key)
      if (found !== null) return found
      rememberUnknown(key)
      return 'unknown'
    } catch (error) {
      log.debug({ err: error }, 'a key could not be looked up')
      return 'unavailable'
    }
  }

  function rememberUnknown(key: string): void {
    if (unknown.size >= unknownKeyCacheMax) unknown.delete(unknown.keys().next().value!)
    unknown.delete(key)
    unknown.set(key, clock.now())
  }

  function isKnownUnknown(key: string): boolean {
    const since = unknown.get(key)
    // Either way: a clock that was set back must not make it believed for days.
    return since !== undefined && Math.abs(clock.now() - since) < unknownKeyCacheMs
  }

  return {
    ask: (key) => {
      if (isKnownUnknown(key)) return Promise.resolve('unknown')
      const asked = running.get(key)
      if (asked !== undefined) return asked
      // A flood of made-up keys must not be a flood of queries.
      if (running.size >= keyLookupsMax) return Promise.resolve('unavailable')
      const lookingUp = lookUp(key).finally(() => running.delete(key))
      const inTime = orUnavailable(lookingUp)
      running.set(key, inTime)
      return inTime
    },
    forget: () => unknown.clear(),
  }
}

/** Not longer than a caller waits. `lookingUp` never rejects. */
function orUnavailable<Answer>(lookingUp: Promise<Answer>): Promise<Answer | 'unavailable'> {
  const answered = new AbortController()
  const late = sleep(keyLookupMs, answered.signal).then(() => 'unavailable' as const)
  return Promise.race([lookingUp, late]).finally(() => answered.abort())
}
