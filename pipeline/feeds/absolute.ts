import { feedUrlLengthMax } from '../../schemas/limits/feed-limits.ts'

/**
 * @returns the address, absolute; empty where it is none of the web, or too long. The bound is on the base, too: it is read anew
 * for each address.
 */
export function absolute(address: string, base: string): string {
  if (address === '' || Math.max(address.length, base.length) > feedUrlLengthMax) return ''
  const url = URL.canParse(address, base) ? new URL(address, base) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= feedUrlLengthMax ? url.href : ''
}
