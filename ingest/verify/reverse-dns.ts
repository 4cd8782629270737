/**
 * The host names of crawlers' addresses, confirmed forward: the name that an address has counts only if it has that
 * address. Results are remembered, a no as well as a yes. Only names that operators have published for their crawlers
 * are confirmed: any other is a no.
 *
 * Held by test/integration/reverse-dns.test.ts.
 */
import { promises as dns } from 'node:dns'
import { LRUCache } from 'lru-cache'
import {
  dnsConfirmedKeepMs,
  dnsDeniedKeepMs,
  dnsFailedKeepMs,
  dnsKnownMax,
  dnsLookUpsAtOnceMax,
  dnsNamesMax,
  dnsQuestionMs,
} from '../../schemas/limits/bot-limits.ts'
import { isCrawlerHost } from '../../schemas/reference/bot-checks.ts'
import { type AddressKey, keyOfAddress } from './address-ranges.ts'

/** The zone of all IPv4 addresses: a name server that reaches the Internet can name its servers. */
const reverseZone = 'in-addr.arpa'

/** A confirmed name; `none`: it has none that an operator has published; `unknown`: nobody answered. */
type ConfirmedHost = { readonly host: string } | 'none' | 'unknown'

export interface ReverseDns {
  /** A recent result; undefined where nobody has asked. */
  find(key: AddressKey): ConfirmedHost | undefined
  /** Asks, unless too many are asked at the time. Resolves, never rejects, when `find` knows. */
  lookUp(key: AddressKey): Promise<void> | null
  close(): void
}

/** @param servers `address` or `address:port`; undefined: those of the system */
export function makeReverseDns({ servers }: { servers: readonly string[] | undefined }): ReverseDns {
  const resolver = new dns.Resolver({ timeout: dnsQuestionMs, tries: 1 })
  if (servers !== undefined) resolver.setServers(servers)
  const known = new LRUCache<AddressKey, ConfirmedHost>({ max: dnsKnownMax })
  const asked = new Map<AddressKey, Promise<void>>()
  let isConnected = Promise.resolve(false)
  /** By the monotonic clock. */
  let asksAgainAt = 0

  async function ask(key: AddressKey): Promise<void> {
    const found = await confirm(key).catch(async (error): Promise<ConfirmedHost> => {
      return isDefiniteNo(error) && (await isOnline()) ? 'none' : 'unknown'
    })
    known.set(key, found, { ttl: keepMs(found) })
    asked.delete(key)
  }

  async function confirm(key: AddressKey): Promise<ConfirmedHost> {
    // Not by `reverse`: that asks the machine's file of hosts too.
    const names = await resolver.resolvePtr(arpaName(key))
    const wanted = names.map((name) => name.toLowerCase().replace(/\.$/, '')).filter(isCrawlerHost)
    for (const host of wanted.slice(0, dnsNamesMax)) {
      if ((await addressesOf(host, key)).some((address) => keyOfAddress(address) === key)) return { host }
    }
    return 'none'
  }

  /** Whether the name server reaches the Internet. One that is cut off may answer that no name exists. */
  async function isOnline(): Promise<boolean> {
    if (performance.now() >= asksAgainAt) {
      asksAgainAt = performance.now() + dnsFailedKeepMs
      isConnected = resolver.resolveNs(reverseZone).then(
        (servers) => servers.length > 0,
        () => false,
      )
    }
    return isConnected
  }

  async function addressesOf(host: string, key: AddressKey): Promise<string[]> {
    try {
      return await (key.startsWith('4') ? resolver.resolve4(host) : resolver.resolve6(host))
    } catch (error) {
      if (isDefiniteNo(error)) return []
      throw error
    }
  }

  return {
    find: (key) => known.get(key),
    lookUp: (key) => {
      const running = asked.get(key)
      if (running !== undefined) return running
      if (asked.size >= dnsLookUpsAtOnceMax) return null
      const asking = ask(key)
      asked.set(key, asking)
      return asking
    },
    close: () => resolver.cancel(),
  }
}

/** The name's own server says that there is no such name, or that it has no such record. */
function isDefiniteNo(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOTFOUND' || code === 'ENODATA'
}

function keepMs(found: ConfirmedHost): number {
  if (found === 'unknown') return dnsFailedKeepMs
  return found === 'none' ? dnsDeniedKeepMs : dnsConfirmedKeepMs
}

/** `1.66.249.66.in-addr.arpa`: bytes of IPv4, half bytes of IPv6, the last one first. */
function arpaName(key: AddressKey): string {
  const hex = key.slice(1)
  if (key.startsWith('6')) return `${[...hex].reverse().join('.')}.ip6.arpa`
  return `${[...Buffer.from(hex, 'hex')].reverse().join('.')}.in-addr.arpa`
}
