/** A file over HTTP: ranges and conditions (RFC 9110). A list of ranges is answered with the whole file, as may be. */
import { isKnownEtag } from '../../runtime/http/etag.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import { type HttpReply, jsonReply } from '../../runtime/http/reply.ts'
import { problem } from '../../schemas/errors/problems.ts'
import type { FileContent } from '../operations/file-output.ts'

type Conditions = Pick<RequestHead, 'method' | 'headers'>

export function fileReply(
  { filename, contentType, bytes, tag, open }: FileContent,
  { method, headers }: Conditions,
  more: Readonly<Record<string, string>>,
): HttpReply {
  const etag = `"${tag}"`
  // Asked for again each time, because the key may have ended; the answer is mostly 304.
  const about = { ...more, ETag: etag, 'Cache-Control': 'private, no-cache' }
  if (isKnownEtag(headers.get('if-none-match'), etag)) return { status: 304, headers: about }
  const all = {
    ...about,
    'Accept-Ranges': 'bytes',
    'Content-Type': contentType,
    'Content-Disposition': dispositionOf(filename),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  }
  const range = method === 'GET' ? rangeOf(headers, etag, bytes) : undefined
  if (range === undefined) return { status: 200, headers: all, file: { from: 0, bytes, open } }
  if (range === 'unsatisfiable') {
    const { status, detail } = problem('range_unsatisfiable')
    return jsonReply(status, { detail }, { ...about, 'Content-Range': `bytes */${bytes}` })
  }
  const { first, last } = range
  const part = { ...all, 'Content-Range': `bytes ${first}-${last}/${bytes}` }
  return { status: 206, headers: part, file: { from: first, bytes: last - first + 1, open } }
}

/** Undefined: the whole file, also for what isn't understood. */
function rangeOf(
  headers: Conditions['headers'],
  etag: string,
  bytes: number,
): { first: number; last: number } | 'unsatisfiable' | undefined {
  const ifRange = headers.get('if-range')
  if (ifRange !== undefined && ifRange.trim() !== etag) return undefined
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(headers.get('range') ?? '')
  const [, from = '', to = ''] = match ?? []
  if (match === null || (from === '' && to === '')) return undefined
  if (from === '') {
    const count = Math.min(Number(to), bytes)
    return count === 0 ? 'unsatisfiable' : { first: bytes - count, last: bytes - 1 }
  }
  const first = Number(from)
  if (to !== '' && Number(to) < first) return undefined
  if (first >= bytes) return 'unsatisfiable'
  return { first, last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) }
}

/** Never shown in the place of a page, and saved under its own name (RFC 6266). */
function dispositionOf(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
