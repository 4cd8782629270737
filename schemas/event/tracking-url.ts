/**
 * Where a short link leads: its destination with the parameters that tell later whose visit it was.
 *
 * The destination's own text stays byte for byte. Only characters that no URL on the wire may hold (beyond ASCII,
 * blanks) are percent-encoded, and a host in another script gets its ASCII name. If a parameter is in both, the link's
 * wins. Held by test/property/tracking-url.test.ts.
 */
import { parsedUrlLengthMax } from '../limits/api-limits.ts'
import { decodePiece, splitQuery } from '../reference/campaign-query.ts'

/** Scheme and authority, as every reader of URLs divides them; without that text there is none to divide. */
const beginning = /^https?:\/\/[^/?#\\]+/i

export interface LinkParameters {
  readonly linkId: number
  readonly postId: number | null
  readonly utmSource: string
  readonly utmMedium: string
  readonly utmCampaign: string
  readonly utmContent: string
}

/** The fault of a destination, in words, or null. */
export function destinationProblem(text: string): string | null {
  // A reader of URLs would drop them silently.
  if (/\p{Cc}/u.test(text)) return 'The URL must not have control characters'
  const authority = beginning.exec(text)?.[0]
  if (authority === undefined) return 'The URL must begin with http:// or https:// and a host'
  if (authority.includes('@')) return 'The URL must not have credentials'
  // Some readers take the text before a backslash for a user, and look for the host behind an `@`.
  if (text[authority.length] === '\\') return 'The host of the URL must not be followed by a backslash'
  const canParse = authority.length <= parsedUrlLengthMax && URL.canParse(authority)
  return canParse ? null : 'The host or the port of the URL is none'
}

/** The parameters that a link adds, by name and in order; empty ones are left out. */
export function trackingParamsOf(link: LinkParameters): Record<string, string> {
  const { linkId, postId, utmSource, utmMedium, utmCampaign, utmContent } = link
  const all = {
    utm_source: utmSource,
    utm_medium: utmMedium,
    utm_campaign: utmCampaign,
    utm_content: utmContent,
    svc_link_id: String(linkId),
    svc_post_id: postId === null ? '' : String(postId),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}

/**
 * @param destination one that `destinationProblem` finds nothing wrong with
 * @param params none: the destination alone, as a header may hold it
 */
export function trackingUrlOf(destination: string, params: Readonly<Record<string, string>>): string {
  const authority = beginning.exec(destination)![0]
  const { start: path, pieces, fragment } = splitQuery(destination.slice(authority.length))
  const kept = pieces.filter((piece) => !Object.hasOwn(params, decodePiece(piece)[0]))
  const own = Object.entries(params).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  const before = kept.join('&')
  const all = before === '' ? own : [before, ...own]
  const mark = all.length === 0 ? '' : '?'
  return `${new URL(authority).origin}${inAscii(path) || '/'}${mark}${all.map(inAscii).join('&')}${inAscii(fragment)}`
}

function inAscii(text: string): string {
  return text.replace(/[^\x21-\x7e]+/g, encodeURIComponent)
}
