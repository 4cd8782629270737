/**
 * Rules by which a workspace leaves traffic out, and the one form in which each entry is stored. docs/tracking.md says
 * what they do, and ingest/exclusion-matcher.ts applies them. Held by test/unit/exclusions.test.ts.
 */
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import ipaddr from 'ipaddr.js'
import { readablePath } from './event/readable-path.ts'
import { sentDomainLengthMax } from './limits/domain-limits.ts'
import { excludedPathLengthMax, excludedPrefixLeast } from './limits/exclusion-limits.ts'
import { filterWildcardsMax } from './limits/overview-limits.ts'
import { isCountryCode } from './reference/country-zones.ts'
import { readPattern } from './session-filters.ts'

/** Entries in the forms that the functions below give. */
export interface Exclusions {
  readonly addresses: string[]
  readonly countries: string[]
  readonly paths: string[]
  /** Not empty: only these hosts count. */
  readonly hostnames: string[]
}

/** Why an event is left out, in the order in which the rules are looked at: the labels of the metric. */
export type ExclusionReason = 'address' | 'country' | 'hostname' | 'path'

/** An entry as it is stored, or what is wrong with it. */
export type ReadEntry = { readonly entry: string } | { readonly fault: string }

/** An address or a CIDR range, in its shortest form. IPv4 mapped into IPv6 is IPv4; bits behind a prefix become 0. */
export function readAddressRange(text: string): ReadEntry {
  const [address = '', bits, ...more] = text.split('/')
  if (isIP(address) === 0 || address.includes('%') || more.length > 0) {
    return { fault: 'an address is IPv4 or IPv6, or a range of them such as 192.0.2.0/24' }
  }
  const written = ipaddr.parse(address)
  const parsed = ipaddr.process(address)
  if (bits === undefined) return { entry: parsed.toString() }
  const mappedBits = written.kind() === parsed.kind() ? 0 : 96
  const isIpv4 = parsed.kind() === 'ipv4'
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) - mappedBits : Number.NaN
  const [least, most] = isIpv4 ? [excludedPrefixLeast.ipv4, 32] : [excludedPrefixLeast.ipv6, 128]
  if (!(prefix >= least && prefix <= most)) {
    return {
      fault: `a range of ${isIpv4 ? 'IPv4' : 'IPv6'} has a prefix of ${least + mappedBits} to ${most + mappedBits} bits`,
    }
  }
  if (prefix === most) return { entry: parsed.toString() }
  const cidr = `${parsed.toString()}/${prefix}`
  const network = isIpv4
    ? ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(cidr).toString()
  return { entry: `${network}/${prefix}` }
}

/** A code of ISO 3166-1 alpha-2, in upper case. */
export function readCountryCode(text: string): ReadEntry {
  const code = text.toUpperCase()
  return isCountryCode(code) ? { entry: code } : { fault: 'a country is an ISO alpha-2 code' }
}

/** A pattern of a page's path, with the signs that filters have. */
export function readPathPattern(text: string): ReadEntry {
  const { texts } = readPattern(text)
  if (texts.length - 1 > filterWildcardsMax) return { fault: `a path has at most ${filterWildcardsMax} wildcards` }
  const beginsWithAny = texts[0] === '' && texts.length > 1
  if (!beginsWithAny && !texts[0]!.startsWith('/')) return { fault: 'a path begins with a slash, or with `*`' }
  if (texts.some((each) => each.includes('?'))) return { fault: 'a path has no parameters: nothing from `?` on' }
  const entry = readablePath(text)
  // Encoded blanks make it longer. Whoever sends the stored list again mustn't be refused.
  if ([...entry].length > excludedPathLengthMax) {
    return { fault: `a path has at most ${excludedPathLengthMax} characters, with blanks as %20` }
  }
  return { entry }
}

/** A hostname as browsers send it: in lower case, beyond ASCII by its `xn--`. With `*.` before it, all hosts below it. */
export function readHostname(text: string): ReadEntry {
  const isAnyBelow = text.startsWith('*.')
  const host = canonicalHost(isAnyBelow ? text.slice(2) : text)
  if (!/^[\p{L}\p{M}\p{N}._-]+$/u.test(isAnyBelow ? text.slice(2) : text) || !hostShape.test(host)) {
    return { fault: 'a hostname is like www.example.com or *.example.com, without scheme, port and path' }
  }
  return { entry: isAnyBelow ? `*.${host}` : host }
}
/** Labels of up to 63 characters. */
const hostShape = /^(?=.{1,253}$)[\da-z_-]{1,63}(?:\.[\da-z_-]{1,63})*$/

/** The host of a URL in the form of `readHostname`. Browsers send it so; servers may not. */
export function canonicalHost(host: string): string {
  const bare = host.endsWith('.') ? host.slice(0, -1) : host
  if (plainHost.test(bare)) return bare
  return (bare.length <= sentDomainLengthMax && domainToASCII(bare)) || bare.toLowerCase()
}
const plainHost = /^[\da-z._-]*$/
