/**
 * A published list of addresses: Google's JSON, which most operators use too, or a plain list of addresses and ranges,
 * one a line, with `#` before remarks. A file with anything else is refused as a whole.
 */
import { isIP } from 'node:net'
import { addressPrefixLeast, addressRangesMax } from './limits/bot-limits.ts'

export interface AddressList {
  /** When it was like this, in milliseconds since 1970. */
  readonly date: number
  /** Addresses or ranges (`192.0.2.0/24`). */
  readonly ranges: readonly string[]
}

export type ReadList =
  | { readonly ok: true; readonly list: AddressList }
  | { readonly ok: false; readonly problem: string }

/** @param date for a list that doesn't say its own */
export function readAddressList(text: string, date: number): ReadList {
  const isJson = text.trimStart().startsWith('{')
  const read = isJson ? readJson(text) : { ranges: readLines(text), date: undefined }
  if (typeof read === 'string') return { ok: false, problem: read }
  const { ranges } = read
  if (ranges.length === 0) return { ok: false, problem: 'it has no addresses' }
  if (ranges.length > addressRangesMax) return { ok: false, problem: `it has more than ${addressRangesMax} ranges` }
  const problem = ranges.map(problemOf).find((found) => found !== null)
  if (problem !== undefined && problem !== null) return { ok: false, problem }
  return { ok: true, list: { date: read.date ?? date, ranges } }
}

/** The same list as a file that `readAddressList` reads. */
export function writeAddressList({ date, ranges }: AddressList): string {
  const prefixes = ranges.map((range) => ({ [range.includes(':') ? 'ipv6Prefix' : 'ipv4Prefix']: range }))
  return `${JSON.stringify({ creationTime: new Date(date).toISOString(), prefixes }, null, 1)}\n`
}

function readJson(text: string): { ranges: string[]; date: number | undefined } | string {
  let value: { prefixes?: unknown; creationTime?: unknown }
  try {
    value = JSON.parse(text) as typeof value
  } catch {
    return 'it isn’t JSON'
  }
  if (!Array.isArray(value.prefixes)) return 'it has no `prefixes`'
  const ranges: string[] = []
  for (const prefix of value.prefixes as readonly unknown[]) {
    const { ipv4Prefix, ipv6Prefix } = (prefix ?? {}) as { ipv4Prefix?: unknown; ipv6Prefix?: unknown }
    const range = ipv4Prefix ?? ipv6Prefix
    if (typeof range !== 'string') return 'one of its `prefixes` has neither `ipv4Prefix` nor `ipv6Prefix`'
    ranges.push(range)
  }
  return { ranges, date: dateOf(value.creationTime) }
}

/** Operators write UTC with `Z` or without. */
function dateOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const date = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`)
  return Number.isNaN(date) ? undefined : date
}

function readLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
}

function problemOf(range: string): string | null {
  const shown = JSON.stringify(range.slice(0, 60))
  const [address, bits, ...more] = range.split('/') as [string, ...string[]]
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more.length > 0) return `${shown} is no address and no range`
  if (bits === undefined) return null
  const bitsMax = family === 4 ? 32 : 128
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > bitsMax) return `${shown} is no range`
  const least = family === 4 ? addressPrefixLeast.ipv4 : addressPrefixLeast.ipv6
  return Number(bits) < least ? `${shown} is wider than any operator’s addresses` : null
}
