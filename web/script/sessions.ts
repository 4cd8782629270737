/**
 * Ids, and when one session ends and the next begins. Pure.
 *
 * A session is stored as `start.last`, milliseconds since 1970. Its id is `start.browser`. Tabs that are opened at the
 * same time don't see what the others store. They begin the same session because the start is rounded. Held by
 * test/unit/browser-sessions.test.ts.
 */
import { journeyMsMax, sessionIdleMsMax, sessionMsMax, sessionStartMs, urlLengthMax } from './bounds.ts'

/** 128 random bits. `randomUUID` is for secure contexts only. */
export function makeId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('')
}

/** The session to store for activity at `now`: the stored one, or another after 30 idle minutes, 24 hours, or where `isNew`. */
export function nextSession(stored: string | undefined, now: number, isNew?: boolean): string {
  const [start, last] = (stored + '').split('.')
  const begun = isNew
    ? now
    : isNear(last, now, sessionIdleMsMax) && isNear(start, now)
      ? start
      : now - (now % sessionStartMs)
  return begun + '.' + now
}

/** Without a browser it is for comparing alone. */
export function sessionIdOf(stored: string, browser?: string): string {
  return stored.split('.')[0] + '.' + browser
}

/** A journey in a URL is `browser.start.last`. False for what is none, or too old. */
export function readJourney(url: string, now: number) {
  const found = /[?&]svc_j=(\d{20,40})\.(\d+\.(\d+))/.exec(url)
  return isNear(found?.[3], now, journeyMsMax) && (found as unknown as [url: string, browser: string, session: string])
}

/** A URL as it is recorded: as long as the server takes it, and without a journey, because that names a browser. */
export function addressOf(url: string): string {
  return url.replace(/([?&])svc_j=[^&#]*&|[?&]svc_j=[^&#]*/, '$1').slice(0, urlLengthMax)
}

/**
 * Whether less than `distance` lies between, by itself a day: so long sessions last, and the server remembers ids. In both
 * directions: a clock that was wrong by days must not keep a session alive for as long. False for what is no time; of a
 * stored session the start counts, as the rest stands behind a decimal point.
 */
export function isNear(time: string | number | undefined, now: number, distance = sessionMsMax): boolean {
  return Math.abs(now - (time as number)) < distance
}
