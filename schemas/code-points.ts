/** Texts are counted in Unicode code points everywhere, as the contract counts them. */
export function lengthOf(text: string): number {
  let pairs = 0
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) ?? 0) > 0xffff) pairs++
  return text.length - pairs
}
