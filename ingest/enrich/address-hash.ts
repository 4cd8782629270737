/** Hash of a crawler's address. It can't be reversed once the day's salt is deleted. */
import { createHmac } from 'node:crypto'
import { networkOf } from '../../runtime/http/network-of.ts'
import { addressCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { SaltedCache, type SaltOfDay } from './salted-cache.ts'

const hashBytes = 16
/** Stands for an unknown address. */
const noAddressHash = '\0'.repeat(hashBytes)

export type AddressHash = (workspaceId: number, address: string, receivedAt: number) => string

/**
 * HMAC-SHA-256 of an IPv4 address or an IPv6 /64, under the salt of the day of receipt and the workspace. It is cut to
 * 16 bytes, each a character of the text, because a FixedString(16) takes these.
 */
export function makeAddressHash(salts: SaltOfDay): AddressHash {
  const known = new SaltedCache<string>(salts, addressCacheMax)
  return (workspaceId, address, receivedAt) => {
    if (address === '') return noAddressHash
    const salt = known.saltAt(receivedAt)
    const who = `${workspaceId}\n${address}`
    let hash = known.get(who)
    if (hash === undefined) {
      const what = `${workspaceId}\n${networkOf(address)}`
      hash = createHmac('sha256', salt).update(what).digest().subarray(0, hashBytes).toString('latin1')
      known.set(who, hash)
    }
    return hash
  }
}
