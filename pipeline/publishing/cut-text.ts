/** As many of a text's characters as fit. */
export function cut(text: string, most: number, sizeOf: (text: string) => number): string {
  if (sizeOf(text) <= most) return text
  let [kept, size] = ['', 0]
  for (const character of text) {
    size += sizeOf(character)
    if (size > most) break
    kept += character
  }
  return kept
}

/** A text on one line. @param most UTF-16 code units */
export function cutTitle(text: string, most: number): string {
  return cut(text.replace(/\s+/g, ' ').trim(), most, ({ length }) => length).trim()
}

/** Platforms change blanks of texts that they list. */
export const comparable = (text: string) => text.replace(/\s+/g, ' ').trim()
