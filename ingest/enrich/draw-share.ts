/** Draws that choose among targets with shares. */
import { deriveHashKey, hash64, hashed } from '../../runtime/crypto/hash.ts'
import type { Hash64 } from '../../schemas/event/row.ts'

/** Not secret: the visitor's hash has the day's salt in it. */
const key = deriveHashKey('', 'shares of links')

/**
 * The percent, 0–99, that a visitor draws for an audience of a link: the same each time, on each node. It is independent
 * of the visitor's draws for other links and audiences.
 */
export function drawShare(linkId: number, { hi, lo }: Hash64, audience: string): number {
  hash64(key, linkId, `${hi} ${lo} ${audience}`)
  return hashed.lo % 100
}
