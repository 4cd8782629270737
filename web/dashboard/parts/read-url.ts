/** Undefined for a text that is no address. `URL.canParse` isn't there before Safari 17 and Chrome 120. */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
