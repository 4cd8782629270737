/** Takes secrets out of what platforms say. */

/** Sentences have shorter parts, too. */
const partLengthMin = 8
const memberName = /^[a-z_]+$/

/**
 * A platform's sentence about a secret, with `…` in place of each word that has a part of it: some platforms repeat the token that
 * they refuse, perhaps cut short.
 */
export function withoutSecret(sentence: string, secret: string): string {
  const isJson = secret.startsWith('{')
  const parts = secret
    .split(isJson ? /[\s"{}:,]+/ : /\s+/)
    .filter((part) => part.length >= partLengthMin && !(isJson && memberName.test(part)))
  return sentence.replace(/\S+/g, (word) => {
    const bare = word.replace(/^\W+|\W+$/g, '')
    const isOfSecret = bare.length >= partLengthMin && parts.some((part) => part.includes(bare))
    return isOfSecret || parts.some((part) => word.includes(part)) ? '…' : word
  })
}
