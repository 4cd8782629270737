/** Whether an address lies in one of many ranges: one look-up in a sorted list, however many there are. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An address as a text that sorts as addresses do: `4` or `6` and its bytes in hex. */
export type AddressKey = string

/** Null where it is none. An IPv4 address mapped into IPv6 is the IPv4 address. */
export function keyOfAddress(text: string): AddressKey | null {
  if (isIP(text) === 0) return null
  const address = ipaddr.process(text)
  return keyOfBytes(address.kind() === 'ipv4' ? '4' : '6', address.toByteArray())
}

export interface AddressRanges {
  has(key: AddressKey): boolean
}

/** @param ranges valid ones, as `readAddressList` lets through */
export function makeAddressRanges(ranges: readonly string[]): AddressRanges {
  const sorted = ranges.map(edgesOf).sort(([a], [b]) => (a < b ? -1 : 1))
  // Ranges may lie within each other: merged, the one that begins last before an address is the only one to look at.
  const merged: [first: AddressKey, last: AddressKey][] = []
  for (const [first, last] of sorted) {
    const before = merged.at(-1)
    if (before === undefined || first > before[1]) merged.push([first, last])
    else if (last > before[1]) before[1] = last
  }
  return {
    has: (key) => {
      let low = 0
      let high = merged.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if (merged[middle]![0] <= key) low = middle + 1
        else high = middle
      }
      const candidate = merged[low - 1]
      return candidate !== undefined && key <= candidate[1]
    },
  }
}

function edgesOf(range: string): [first: AddressKey, last: AddressKey] {
  const [text = '', bits] = range.split('/')
  const address = ipaddr.parse(text)
  const bytes = address.toByteArray()
  const family = address.kind() === 'ipv4' ? '4' : '6'
  const length = bits === undefined ? bytes.length * 8 : Number(bits)
  const hostBits = bytes.map((_, at) => 0xff >> Math.min(8, Math.max(0, length - at * 8)))
  return [
    keyOfBytes(
      family,
      bytes.map((byte, at) => byte & ~hostBits[at]!),
    ),
    keyOfBytes(
      family,
      bytes.map((byte, at) => byte | hostBits[at]!),
    ),
  ]
}

function keyOfBytes(family: '4' | '6', bytes: readonly number[]): AddressKey {
  return family + Buffer.from(bytes).toString('hex')
}
