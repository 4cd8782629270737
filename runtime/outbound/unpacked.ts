import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'

/**
 * Decompresses a body. Some servers compress unasked.
 * @param encoding its `Content-Encoding`
 * @returns undefined if the encoding is unknown
 */
export function unpacked(body: Readable, encoding: string): AsyncIterable<Buffer> | undefined {
  const name = encoding.trim().toLowerCase()
  if (['', 'identity', 'none'].includes(name)) return body
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name)) {
    // An unread body would hold its connection.
    body.on('error', () => undefined).destroy()
    return undefined
  }
  // Errors of both streams reach the reader of the last one, so the callback has nothing to do.
  return pipeline(body, name === 'br' ? createBrotliDecompress() : createUnzip(), () => undefined)
}

/** Whether the error means that the compressed data is invalid. */
export function isUnpackingError(error: unknown): boolean {
  return /^(Z_|ERR__ERROR|ERR_BROTLI)/.test((error as NodeJS.ErrnoException).code ?? '')
}
