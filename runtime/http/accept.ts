/** Parses `Accept`, `Accept-Encoding` and similar headers, which list formats by preference (RFC 9110, 12.4.2). */

/** Formats in lower case, with their weights from 0 to 1. */
export function acceptedWeights(header = ''): ReadonlyMap<string, number> {
  return new Map(header.toLowerCase().split(',').map(weightOf))
}

function weightOf(item: string): [name: string, weight: number] {
  const [name = '', ...parameters] = item.split(';').map((text) => text.trim())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  return [name, q === undefined ? 1 : Number(q.slice(2)) || 0]
}
