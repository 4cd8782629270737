/**
 * The token of a link that ends a recipient's mails: sealed, so that nobody can make one or read a number in it. It
 * needs no row of its own, and lasts as long as the recipient.
 */
import type { SecretBox } from './secret-box.ts'

export interface Subscription {
  /** Those of the recipient. */
  readonly id: number
  readonly createdAt: Date
  /** The mails that the link ends. */
  readonly from: 'reports' | 'alerts'
}

/** The box has other contents as well; no other begins with one of these. */
const starts = { reports: 'unsubscribe', alerts: 'unsubscribe-alerts' } as const

export function makeUnsubscribeToken(box: SecretBox, { id, createdAt, from }: Subscription): string {
  return box.seal(`${starts[from]} ${id} ${createdAt.getTime()}`).toString('base64url')
}

/** @returns undefined where we didn't make it */
export function readUnsubscribeToken(box: SecretBox, token: string): Subscription | undefined {
  let text: string
  try {
    text = box.open(Buffer.from(token, 'base64url'))
  } catch {
    return undefined
  }
  const [word, id, createdAt] = text.split(' ')
  const from = (['reports', 'alerts'] as const).find((one) => starts[one] === word)
  return from && { id: Number(id), createdAt: new Date(Number(createdAt)), from }
}
