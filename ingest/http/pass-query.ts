/**
 * Adds the query of a short URL to where the link leads. Whoever follows the link wrote it, so it can add parameters and
 * nothing else:
 *
 * - A piece is left out if a reader may take its name for one that is there, or for one of ours (`svc_`). Readers differ:
 *   some ignore case, PHP reads blanks and dots as `_`, and some divide the destination's query at `;` and `?`, too.
 * - All characters at which some reader divides a URL are encoded: `;`, `?`, quotes, backslashes, what isn't ASCII.
 *
 * Held by test/property/pass-query.test.ts.
 */
import { trackingUrlBytesMax } from '../../schemas/limits/api-limits.ts'
import { passedParametersMax, passedQueryBytesMax } from '../../schemas/limits/ingest-limits.ts'
import { decodePiece, splitQuery } from '../../schemas/reference/campaign-query.ts'

/**
 * @param url where the link leads, in printable ASCII
 * @param query without its question mark, as it came; empty: none
 * @returns the URL with the pieces that may be added, before its fragment; the first ones, where they are too many or too long
 */
export function passQuery(url: string, query: string): string {
  if (query === '') return url
  const { start, pieces, fragment } = splitQuery(url)
  const readings = pieces.flatMap((piece) => [piece, ...piece.split(';'), ...piece.split(/[;?]/)])
  const taken = new Set(readings.map((piece) => comparable(decodePiece(piece)[0])))
  const room = Math.min(passedQueryBytesMax, trackingUrlBytesMax - url.length)
  const added: string[] = []
  let length = 0
  for (const piece of query.split('&', piecesReadMax)) {
    if (!isFree(piece, taken)) continue
    const safe = encoded(piece)
    length += 1 + safe.length
    if (length > room || added.length === passedParametersMax) break
    added.push(safe)
  }
  if (added.length === 0) return url
  return `${start}?${[...pieces, ...added].join('&')}${fragment}`
}

/** Those that may be added, and as many that may not. */
const piecesReadMax = 2 * passedParametersMax

function isFree(piece: string, taken: ReadonlySet<string>): boolean {
  const [name] = decodePiece(piece.toWellFormed())
  // Some readers take a name to end at a control character.
  if (name === '' || /[\p{Cc}[\]]/u.test(name)) return false
  const own = comparable(name)
  return !own.startsWith('svc_') && !taken.has(own)
}

/** Equal for names that some reader takes for one; a list's is what stands before its bracket. */
function comparable(name: string): string {
  const [base = ''] = name.trim().split('[', 1)
  return base.replace(/[\s.]/g, '_').toLowerCase()
}

function encoded(piece: string): string {
  const whole = piece.toWellFormed().replace(/%(?![0-9a-f]{2})/gi, '%25')
  return whole.replace(/[^\w\-.~%+=*!(),/:@$]+/g, (text) => encodeURIComponent(text).replaceAll("'", '%27'))
}
