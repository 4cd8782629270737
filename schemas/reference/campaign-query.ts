/** Campaign parameters in the query of a destination: read from it and written into it. All the rest stays byte for byte. */
import { linkUtmLengthMax } from '../limits/api-limits.ts'

/**
 * Everything before the query, its pieces, and the fragment with its mark. It begins with the first `#`, even if further marks
 * follow.
 */
export function splitQuery(url: string): { start: string; pieces: string[]; fragment: string } {
  const hash = url.indexOf('#')
  const [whole, fragment] = hash < 0 ? [url, ''] : [url.slice(0, hash), url.slice(hash)]
  const mark = whole.indexOf('?')
  if (mark < 0) return { start: whole, pieces: [], fragment }
  const query = whole.slice(mark + 1)
  return { start: whole.slice(0, mark), pieces: query === '' ? [] : query.split('&'), fragment }
}

/** As a form's reader decodes the piece; behind the `&` a question mark is part of the name. */
export function decodePiece(piece: string): [name: string, value: string] {
  return [...new URLSearchParams(`&${piece}`)][0] ?? ['', '']
}

/** The first value of a parameter; undefined: the URL hasn't got it. */
export function paramOf(url: string, name: string): string | undefined {
  return splitQuery(url)
    .pieces.map(decodePiece)
    .find(([own]) => own === name)?.[1]
}

/** @param value empty: the parameter goes. It keeps its place; a new one is the last. */
export function withParam(url: string, name: string, value: string): string {
  const { start, pieces, fragment } = splitQuery(url)
  const own = value === '' ? [] : [`${name}=${encodeURIComponent(value.toWellFormed())}`]
  const at = pieces.findIndex((piece) => decodePiece(piece)[0] === name)
  const others = (some: string[]) => some.filter((piece) => decodePiece(piece)[0] !== name)
  const written = at < 0 ? [...pieces, ...own] : [...pieces.slice(0, at), ...own, ...others(pieces.slice(at))]
  return `${start}${written.length === 0 ? '' : '?'}${written.join('&')}${fragment}`
}

/**
 * A link that names these keeps the source and medium of its destination: else its defaults replace them. An empty
 * value leaves the destination's as it is. That is for values that a link can't have: too long ones, and texts that
 * can't be stored.
 */
export function ownUtm(url: string): { utm_source?: string; utm_medium?: string } {
  const pieces = splitQuery(url).pieces.map(decodePiece)
  const named = (['utm_source', 'utm_medium'] as const).flatMap((name) => {
    const value = pieces.find(([own, value]) => own === name && value !== '')?.[1]
    if (value === undefined) return []
    return [[name, [...value].length > linkUtmLengthMax || /[\0\ufffd]/.test(value) ? '' : value] as const]
  })
  return Object.fromEntries(named)
}
