/** Who opened a page, and in which session: a visitor is an address and an agent, a session ends after 30 idle minutes. */
import { createHmac } from 'node:crypto'
import type { LogLine } from './log-line.ts'

interface Visit {
  readonly anonymousId: string
  readonly sessionId: string
  readonly isNewSession: boolean
}

export interface VisitTracker {
  /** To be called in order of time. */
  visit(line: LogLine): Visit
  /** Distinct visitors so far. */
  visitors(): number
}

const sessionIdleMs = 30 * 60_000
/** After so many visits the idle ones are looked for and forgotten. */
const sweepEvery = 50_000

/**
 * @param key what the ids are hashed with: without it nobody can try out addresses until one matches an id
 * @param run set apart from other replays of the same file by this: sessions of two replays are two
 */
export function makeVisitTracker(key: Buffer, run: string): VisitTracker {
  interface Session {
    id: string
    lastTime: number
  }
  const open = new Map<string, Session>()
  const seen = new Set<string>()
  let visits = 0
  let newest = 0

  const hash = (...parts: string[]) =>
    createHmac('sha256', key).update(parts.join('\0')).digest('base64url').slice(0, 22)

  function forgetIdle(): void {
    for (const [visitor, { lastTime }] of open) if (newest - lastTime > 2 * sessionIdleMs) open.delete(visitor)
  }

  return {
    visit: (line) => {
      const anonymousId = hash('visitor', line.address, line.agent)
      newest = Math.max(newest, line.time)
      seen.add(anonymousId)
      if (++visits % sweepEvery === 0) forgetIdle()
      const session = open.get(anonymousId)
      if (session !== undefined && line.time - session.lastTime <= sessionIdleMs) {
        session.lastTime = Math.max(session.lastTime, line.time)
        return { anonymousId, sessionId: session.id, isNewSession: false }
      }
      const sessionId = hash('session', anonymousId, String(line.time), run)
      open.set(anonymousId, { id: sessionId, lastTime: line.time })
      return { anonymousId, sessionId, isNewSession: true }
    },
    visitors: () => seen.size,
  }
}
