/**
 * Fetches the recorder where this page's sessions are to be recorded: the second file's own address says so, as
 * `svc.js?late=…&SHARE=KEY`, where the share is in percent. The choice follows from the session's id, so that all its pages
 * make the same.
 */
import { isChosen } from './replay/choice.ts'

declare const REPLAY_VERSION: string

export function startReplay(): void {
  const here = new URL(import.meta.url)
  const [, [share, key] = []] = here.searchParams
  const isWanted = (session: string) => isChosen(session, +share!)
  if (!key || !self.CompressionStream || !isWanted(Svc.sessionId() || '')) return
  import(`${new URL(`svc.js?replay=${REPLAY_VERSION}`, here)}`)
    .then(({ default: recordPage }) => recordPage(new URL('api/v1/growth/replay', here), key, isWanted))
    .catch(() => {})
}
