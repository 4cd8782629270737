/** Texts as a terminal may get them. Names that anybody stored may hold what moves the cursor or turns the direction of writing. */

const unseen = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** As `\u001b`, which JSON reads as the same character. Line breaks stay. */
export function shownText(text: string): string {
  return text.replace(unseen, (sign) => (sign === '\n' ? sign : escaped(sign)))
}

/** A text that has to stay on its line. */
export function shownLine(text: string): string {
  return text.replace(unseen, escaped)
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
}
