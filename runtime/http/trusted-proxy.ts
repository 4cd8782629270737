/**
 * The client's address behind proxies. `X-Forwarded-For` and the country header count only when the connection itself
 * comes from a proxy that the operator named. The header is read from its end, one trusted proxy after the other. The
 * first address that isn't one is the client, and nothing before it is believed.
 *
 * Held by test/unit/trusted-proxy.test.ts.
 */
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { SettingError } from '../config.ts'

export interface ClientOrigin {
  /** In its shortest form, an IPv4 address mapped into IPv6 as IPv4; empty when unknown. */
  readonly address: string
  /** ISO alpha-2; undefined when unknown. */
  readonly country: string | undefined
}

export interface TrustedProxies {
  /** `socketAddress` is the connection's own, `forwardedFor` and `country` are headers as they came, or empty. */
  resolve(socketAddress: string, forwardedFor: string, country: string): ClientOrigin
}

interface Hop {
  readonly address: string
  readonly isTrusted: boolean
}

type Address = ReturnType<typeof ipaddr.process>

/** IPv6 in full, mapped, with a zone, brackets and a port. */
const addressLengthMax = 80
/** Longer chains of trusted proxies are cut: the header is anybody's to fill. */
const hopsMax = 16

/** Addresses that are known without being parsed again. */
const addressCacheMax = 20_000

/** @throws SettingError naming the entry that is no address and no range */
export function makeTrustedProxies(entries: readonly string[]): TrustedProxies {
  const ranges = entries.map(rangeOf)
  const hops = new LRUCache<string, Hop>({ max: addressCacheMax })

  function hopOf(text: string): Hop {
    const known = hops.get(text)
    if (known !== undefined) return known
    const parsed = parseAddress(text)
    const hop =
      parsed === null
        ? { address: '', isTrusted: false }
        : { address: parsed.toString(), isTrusted: ranges.some((range) => isWithin(parsed, range)) }
    if (text.length <= addressLengthMax) hops.set(text, hop)
    return hop
  }

  return {
    resolve: (socketAddress, forwardedFor, country) => {
      let hop = hopOf(socketAddress)
      if (!hop.isTrusted) return { address: hop.address, country: undefined }
      let end = forwardedFor.length
      for (let count = 0; hop.isTrusted && end > 0 && count < hopsMax; count++) {
        const comma = forwardedFor.lastIndexOf(',', end - 1)
        hop = hopOf(forwardedFor.slice(comma + 1, end).trim())
        end = comma
      }
      return { address: hop.address, country: countryOf(country) }
    },
  }
}

/** Proxies write `XX` and other codes for "unknown". */
function countryOf(header: string): string | undefined {
  const code = header.trim().toUpperCase()
  return /^[A-Z]{2}$/.test(code) && code !== 'XX' && code !== 'ZZ' ? code : undefined
}

function rangeOf(entry: string): [Address, number] {
  const [text = '', bits] = entry.split('/', 2)
  const address = parseAddress(text)
  const bitsMax = address?.kind() === 'ipv4' ? 32 : 128
  if (address === null || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax))) {
    throw new SettingError(`TRUSTED_PROXIES must hold addresses or CIDR ranges, got \`${entry}\``)
  }
  return [address, bits === undefined ? bitsMax : Number(bits)]
}

function isWithin(address: Address, range: [Address, number]): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}

/** With or without a port, in brackets or not. */
function parseAddress(text: string): Address | null {
  if (text.length > addressLengthMax) return null
  const bare = text
    .replace(/^"|"$/g, '')
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  // `isValid` alone would take the short and the octal forms of IPv4.
  if (!ipaddr.IPv6.isValid(bare) && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return null
  return ipaddr.process(bare)
}
