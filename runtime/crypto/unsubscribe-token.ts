/**
 * The token of a link that ends mails to an address: sealed, so that nobody can make one or read it. It names workspace
 * and address, not a recipient's row. So it works as long as the address gets such mails, also by rows added later.
 */
import { createHash } from 'node:crypto'
import type { SecretBox } from './secret-box.ts'

export interface Subscription {
  readonly workspaceId: number
  /** SHA-256 of the recipient's address in hex: addresses of any length make short links. */
  readonly addressHash: string
  /** The mails that the link ends. */
  readonly from: 'reports' | 'alerts' | 'failures' | 'conversions'
}

/** The box has other contents as well; no other begins with one of these. */
const starts = {
  reports: 'unsubscribe',
  alerts: 'unsubscribe-alerts',
  failures: 'unsubscribe-failures',
  conversions: 'unsubscribe-conversions',
} as const
const kinds = Object.keys(starts) as (keyof typeof starts)[]

interface Recipient extends Pick<Subscription, 'workspaceId' | 'from'> {
  /** As it is stored: in lower case. */
  readonly email: string
}

export function makeUnsubscribeToken(box: SecretBox, { workspaceId, email, from }: Recipient): string {
  const addressHash = createHash('sha256').update(email).digest('hex')
  return box.seal(`${starts[from]} ${workspaceId} ${addressHash}`).toString('base64url')
}

/** @returns undefined where we didn't make it */
export function readUnsubscribeToken(box: SecretBox, token: string): Subscription | undefined {
  const text = box.open(Buffer.from(token, 'base64url'))
  if (text === null) return undefined
  const [word, workspaceId, addressHash = ''] = text.split(' ')
  const from = kinds.find((one) => starts[one] === word)
  return from && { workspaceId: Number(workspaceId), addressHash, from }
}
