/** Pure; test/unit/dashboard-keys.test.ts. */

/** A sign of another script than the Latin one. */
const foreign = /^[^\p{ASCII}\p{Script=Latin}]$/u

/**
 * The key as shortcuts name it: in lower case. Layouts of other scripts (Cyrillic, Greek, Hebrew, Arabic) have none of
 * their letters, so there the key's place on a QWERTY keyboard counts.
 */
export function keyName({ key, code }: { readonly key: string; readonly code: string }): string {
  const placed = foreign.test(key) ? /^Key([A-Z])$/.exec(code)?.[1] : undefined
  return (placed ?? key).toLowerCase()
}
