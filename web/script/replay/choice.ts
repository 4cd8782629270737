/** Which sessions are recorded. Held by test/unit/replay-masking.test.ts. */

/** @param share sessions to record, in percent */
export function isChosen(session: string, share: number): boolean {
  let hash = 0
  for (const letter of session) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0
  return hash % 100 < share
}
