/**
 * Fetches the recorder where this page's sessions are to be recorded: the second file's own address says so, as
 * `svc.js?late=…&SHARE=KEY`, where the share is of a hundred sessions. The choice follows from the session's id, so that all its pages make the same.
 */

declare const REPLAY_VERSION: string

export function startReplay(): void {
  const here = new URL(import.meta.url)
  const [, [share, key] = []] = here.searchParams
  const isWanted = (session: string) => {
    let hash = 0
    for (const letter of session) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0
    return hash % 100 < +share!
  }
  if (!key || !self.CompressionStream || !isWanted(Svc.sessionId() || '')) return
  import(`${new URL(`svc.js?replay=${REPLAY_VERSION}`, here)}`)
    .then(({ default: recordPage }) => recordPage(new URL('api/v1/growth/replay', here), key, isWanted))
    .catch(() => {})
}
