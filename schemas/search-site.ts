/** Properties of Google Search Console, by the names that its API has for them: a domain, or the beginning of URLs. */
import { domainToASCII } from 'node:url'
import { searchSiteLengthMax } from './limits/search-limits.ts'

const domainPrefix = 'sc-domain:'

/** @returns the property as Search Console writes it; undefined where it can be none */
export function searchSiteOf(text: string): string | undefined {
  if (text.length > searchSiteLengthMax) return undefined
  if (text.toLowerCase().startsWith(domainPrefix)) {
    const domain = domainToASCII(text.slice(domainPrefix.length).trim())
    return /^([a-z0-9_-]+\.)+[a-z0-9-]+$/.test(domain) ? domainPrefix + domain : undefined
  }
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const { href, username, password, search, hash } = new URL(text)
  const isPlain = username + password + search + hash === '' && !/[?#]/.test(href)
  return isPlain && href.length <= searchSiteLengthMax ? href : undefined
}

/** Whether some page may be of both: its clicks would count twice. */
export function sitesOverlap(one: string, other: string): boolean {
  return covers(one, other) || covers(other, one)
}

function covers(whole: string, part: string): boolean {
  if (!whole.startsWith(domainPrefix)) return part.startsWith(whole)
  const domain = whole.slice(domainPrefix.length)
  const host = part.startsWith(domainPrefix) ? part.slice(domainPrefix.length) : new URL(part).hostname
  return host === domain || host.endsWith(`.${domain}`)
}
