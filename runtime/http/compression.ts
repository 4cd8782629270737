/**
 * Compressed answers: Brotli or gzip, by what the client takes. Small bodies and files aren't worth it: a file of media is
 * compressed already. Bodies that never change are compressed once, as well as can be. Held by test/integration/http-answers.test.ts.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { acceptedWeights } from './accept.ts'
import { etagOf, isKnownEtag } from './etag.ts'
import type { HttpReply } from './reply.ts'

type Encoding = 'br' | 'gzip'

/** A body that never changes, in all its encodings. */
export interface StaticBody {
  readonly plain: Uint8Array
  readonly gzip: Uint8Array
  readonly br: Uint8Array
  readonly etag: string
}

export interface StaticRequest {
  readonly acceptEncoding: string | undefined
  readonly ifNoneMatch: string | undefined
}

/** Shorter bodies fit into one packet anyway. */
const compressedBytesMin = 1024
/** For bodies made for one answer: four times as fast as the best, and a tenth longer. */
const quickQuality = 4
/** The best takes two seconds of a megabyte, and is a tenth shorter than the one before. */
const bestQualityBytesMax = 256 * 1024
const goodQuality = 9

const brotliAsync = promisify(brotliCompress)
const gzipAsync = promisify(gzip)
const compressible = /^(?:text\/|application\/(?:json|javascript)|image\/svg)/

export async function makeStaticBody(content: string | Uint8Array): Promise<StaticBody> {
  const plain = Buffer.from(content)
  const quality = plain.length > bestQualityBytesMax ? goodQuality : constants.BROTLI_MAX_QUALITY
  const [gzipped, br] = await Promise.all([
    gzipAsync(plain, { level: constants.Z_BEST_COMPRESSION }),
    brotliAsync(plain, brotliOptions(quality, plain)),
  ])
  return { plain, gzip: gzipped, br, etag: etagOf(plain) }
}

/** 200, or 304 where the client has it. */
export function staticReply(
  body: StaticBody,
  { acceptEncoding, ifNoneMatch }: StaticRequest,
  headers: Readonly<Record<string, string>>,
): HttpReply {
  const all = { ...headers, ETag: body.etag, Vary: 'Accept-Encoding' }
  if (isKnownEtag(ifNoneMatch, body.etag)) return { status: 304, headers: all }
  const encoding = encodingFor(acceptEncoding)
  if (encoding === undefined) return { status: 200, headers: all, body: body.plain }
  return { status: 200, headers: { ...all, 'Content-Encoding': encoding }, body: body[encoding] }
}

/** The reply as this client gets it. */
export async function compressReply(reply: HttpReply, acceptEncoding: string | undefined): Promise<HttpReply> {
  const { body, headers = {} } = reply
  if (body === undefined || 'Content-Encoding' in headers || !compressible.test(headers['Content-Type'] ?? ''))
    return reply
  const bytes = Buffer.from(body)
  if (bytes.length <= compressedBytesMin) return reply
  // A page that is negotiated varies by more, and says so already.
  const varying = 'Vary' in headers ? headers : { ...headers, Vary: 'Accept-Encoding' }
  const encoding = encodingFor(acceptEncoding)
  if (encoding === undefined) return { ...reply, headers: varying }
  const compressed =
    encoding === 'br' ? await brotliAsync(bytes, brotliOptions(quickQuality, bytes)) : await gzipAsync(bytes)
  return { ...reply, headers: { ...varying, 'Content-Encoding': encoding }, body: compressed }
}

function brotliOptions(quality: number, { length }: Uint8Array) {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: length } }
}

/** The client's favourite, Brotli where it has none (RFC 9110, 12.5.3). */
function encodingFor(acceptEncoding = ''): Encoding | undefined {
  const weights = acceptedWeights(acceptEncoding)
  const weight = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  if (weight('br') > 0 && weight('br') >= weight('gzip')) return 'br'
  return weight('gzip') > 0 ? 'gzip' : undefined
}
