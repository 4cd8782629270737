/**
 * Paths as people read them: browsers send `/%C3%BCber-uns` for what servers call `/über-uns`. Filters and steps of funnels
 * are read likewise.
 */

/**
 * Decodes characters that can be seen. All else stays encoded: ASCII, blanks, control and format characters, what is no UTF-8.
 * A plain blank is encoded, as browsers do it.
 */
export function readablePath(path: string): string {
  return path.replaceAll(' ', '%20').replace(encodedCharacter, (bytes) => {
    try {
      const character = decodeURIComponent(bytes)
      return isSeen.test(character) ? character : bytes
    } catch {
      return bytes
    }
  })
}
const encodedCharacter = /%(?:[CD][\dA-F]|E[\dA-F]%[89AB][\dA-F]|F[\dA-F](?:%[89AB][\dA-F]){2})%[89AB][\dA-F]/gi
/** Letters without a look, such as Hangul fillers, and the Braille blank aren't. Emoji have the last one. */
const isSeen = /^(?:(?![\p{DI}\u2800])[\p{L}\p{M}\p{N}\p{P}\p{S}]|\uFE0F)$/u
