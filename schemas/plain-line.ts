/** Names and other short texts that people give, and that pages, mails and terminals show on one line. */

/** Controls, breaks of lines, and marks that turn the direction of the text behind them, up to the next one. */
const unwanted = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u

/** Joiners and marks of one letter's direction stay allowed: emoji and some scripts need them. */
export function isPlainLine(text: string): boolean {
  return !unwanted.test(text)
}
