/** The hashes of a browser's id and of an e-mail, as events have them. Ingest computes the same from these keys. */
import { deriveHashKey, type HashKey, hash64, hashed } from './hash.ts'

export const visitorKeyOf = (secretKey: string): HashKey => deriveHashKey(secretKey, 'visitors')
export const emailKeyOf = (secretKey: string): HashKey => deriveHashKey(secretKey, 'e-mails')

/** Decimal texts: 64 bits are more than a number holds. */
export interface IdentityHashes {
  visitorOf(workspaceId: number, anonymousId: string): string
  /** @param email trimmed and lower-cased */
  emailHashOf(workspaceId: number, email: string): string
}

export function makeIdentityHashes(secretKey: string): IdentityHashes {
  const [visitorKey, emailKey] = [visitorKeyOf(secretKey), emailKeyOf(secretKey)]
  const hashOf = (key: HashKey, workspaceId: number, text: string) => {
    hash64(key, workspaceId, text)
    // Zero means "none": no hash is zero.
    return ((BigInt(hashed.hi) << 32n) | BigInt(hashed.lo || 1)).toString()
  }
  return {
    visitorOf: (workspaceId, anonymousId) => hashOf(visitorKey, workspaceId, anonymousId),
    emailHashOf: (workspaceId, email) => hashOf(emailKey, workspaceId, email),
  }
}
