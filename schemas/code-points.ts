/** Texts are counted in Unicode code points everywhere, as the contract counts them. */
export function lengthOf(text: string): number {
  let pairs = 0
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) ?? 0) > 0xffff) pairs++
  return text.length - pairs
}

/** Whether there is nothing to see: blanks, controls, Hangul fillers and other letters without a look. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{DI}\u2800]/u.test(text)
}
