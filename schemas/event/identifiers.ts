/** Texts that stand where an identifier should and are none: broken integrations send them for "nobody". */

const notIdentifiers: ReadonlySet<string> = new Set([
  'anonymous',
  'guest',
  'distinct_id',
  'distinctid',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'null',
  'none',
  'nan',
  'true',
  'false',
  '0',
  '-1',
  '[object object]',
])
const longestLength = 17

/** Null for a text that isn't sent, is blank, or is nobody's identifier; else the text as it is. */
export function identifierOf(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null
  // A longer text is none of them, unless it is blank or padded.
  if (text.length > longestLength && isPrinted(text.charCodeAt(0)) && isPrinted(text.charCodeAt(text.length - 1))) {
    return text
  }
  const bare = text.trim().toLowerCase()
  return bare === '' || notIdentifiers.has(bare) ? null : text
}

function isPrinted(code: number): boolean {
  return code > 0x20 && code < 0x7f
}

/** One `@`, and behind it a domain with a dot, in any script: any other text reaches nobody. */
const emailPattern = /^[^\s@"(),:;<>[\\\]]{1,64}@(?:[\p{L}\p{M}\p{N}-]+\.)+[\p{L}\p{M}\p{N}-]{2,}$/u

/**
 * Trimmed and in lower case, which is how people are told apart; empty where none was sent, null for a text that is no
 * address.
 */
export function emailOf(text: string | null | undefined): string | null {
  const email = identifierOf(text)?.trim().toLowerCase() ?? ''
  return email === '' || emailPattern.test(email) ? email : null
}
