/** Pure; test/unit/dashboard-keys.test.ts. */

/** One character that is neither ASCII nor Latin. */
const foreign = /^[^\p{ASCII}\p{Script=Latin}]$/u

/**
 * The key as shortcuts name it: in lower case. Layouts of other scripts (Cyrillic, Greek, Hebrew, Arabic) lack the letters
 * of the shortcuts, so the key's position on QWERTY counts.
 */
export function keyName({ key, code }: { readonly key: string; readonly code: string }): string {
  const placed = foreign.test(key) ? /^Key([A-Z])$/.exec(code)?.[1] : undefined
  return (placed ?? key).toLowerCase()
}
