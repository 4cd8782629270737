/**
 * Fetches the recorder where this page's sessions are to be recorded. The second file's own address says so, as
 * `svc.js?late=…&SHARE=KEY`, with the share in percent. The choice follows from the session's id, so that all its pages
 * make the same. A page that stays open looks for the next session, as the recorder does.
 */
import { nextSessionMs } from './bounds.ts'
import { isChosen } from './replay/choice.ts'
import { sessionIdOf } from './sessions.ts'

declare const REPLAY_VERSION: string
declare const localStorage: Record<string, string>

export function startReplay(): void {
  const here = new URL(import.meta.url)
  const [, [share, key] = []] = here.searchParams
  const isWanted = (session: string) => isChosen(session, +share!)
  if (key && self.CompressionStream) look(Svc.sessionId())

  function look(session: string | null | undefined): void {
    if (session && isWanted(session)) {
      import(new URL(`svc.js?replay=${REPLAY_VERSION}`, here).href)
        .then(({ default: recordPage }) => recordPage(new URL('api/v1/growth/replay', here), key!, isWanted))
        .catch(() => {})
    } else setTimeout(() => look(storedSession()), nextSessionMs)
  }
}

/** Without prolonging it, as `Svc.sessionId()` would. */
function storedSession(): string | null | undefined {
  try {
    const browser = Svc.anonymousId()
    const stored = localStorage['svc_sid']
    return browser && stored && sessionIdOf(stored, browser)
  } catch {}
  return
}
