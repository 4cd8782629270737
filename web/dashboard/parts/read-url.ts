/** Undefined for a text that is no URL. Safari before 17 and Chrome before 120 lack `URL.canParse`. */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
