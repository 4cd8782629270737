/** Campaign parameters in the query of a destination: read from it and written into it. All the rest stays byte for byte. */
import { linkUtmLengthMax } from '../limits/api-limits.ts'

/** Everything before the query, its pieces, and the fragment with its mark. */
function divide(url: string): { start: string; pieces: string[]; fragment: string } {
  const hash = url.indexOf('#')
  const [whole, fragment] = hash < 0 ? [url, ''] : [url.slice(0, hash), url.slice(hash)]
  const mark = whole.indexOf('?')
  if (mark < 0) return { start: whole, pieces: [], fragment }
  const query = whole.slice(mark + 1)
  return { start: whole.slice(0, mark), pieces: query === '' ? [] : query.split('&'), fragment }
}

/** As a form's reader decodes the piece; behind the `&` a question mark is part of the name. */
function readPiece(piece: string): [name: string, value: string] {
  return [...new URLSearchParams(`&${piece}`)][0] ?? ['', '']
}

/** The first value of a parameter; undefined: the URL hasn't got it. */
export function paramOf(url: string, name: string): string | undefined {
  return divide(url)
    .pieces.map(readPiece)
    .find(([own]) => own === name)?.[1]
}

/** @param value empty: the parameter goes. It keeps its place; a new one is the last. */
export function withParam(url: string, name: string, value: string): string {
  const { start, pieces, fragment } = divide(url)
  const own = value === '' ? [] : [`${name}=${encodeURIComponent(value.toWellFormed())}`]
  const at = pieces.findIndex((piece) => readPiece(piece)[0] === name)
  const others = (some: string[]) => some.filter((piece) => readPiece(piece)[0] !== name)
  const written = at < 0 ? [...pieces, ...own] : [...pieces.slice(0, at), ...own, ...others(pieces.slice(at))]
  return `${start}${written.length === 0 ? '' : '?'}${written.join('&')}${fragment}`
}

/** The source and medium that a URL names itself, as long as a link's may be. The defaults of a link that names none would replace them. */
export function ownOrigin(url: string): { utm_source?: string; utm_medium?: string } {
  const named = (['utm_source', 'utm_medium'] as const).flatMap((name) => {
    const value = paramOf(url, name)
    return value ? [[name, [...value].slice(0, linkUtmLengthMax).join('')] as const] : []
  })
  return Object.fromEntries(named)
}
