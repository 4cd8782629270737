/**
 * The token of a link that ends a recipient's reports: sealed, so that nobody can make one or read a number in it. It
 * needs no row of its own, and lasts as long as the recipient.
 */
import type { SecretBox } from './secret-box.ts'

export interface ReportRecipientKey {
  readonly id: number
  readonly createdAt: Date
}

/** The box has other contents as well; no other begins with this. */
const start = 'unsubscribe'

export function makeUnsubscribeToken(box: SecretBox, { id, createdAt }: ReportRecipientKey): string {
  return box.seal(`${start} ${id} ${createdAt.getTime()}`).toString('base64url')
}

/** @returns undefined where we didn't make it */
export function readUnsubscribeToken(box: SecretBox, token: string): ReportRecipientKey | undefined {
  let text: string
  try {
    text = box.open(Buffer.from(token, 'base64url'))
  } catch {
    return undefined
  }
  const [word, id, createdAt] = text.split(' ')
  return word === start ? { id: Number(id), createdAt: new Date(Number(createdAt)) } : undefined
}
