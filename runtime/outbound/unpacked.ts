import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'

/**
 * A body without its compression. Some servers compress, though nobody asked for it.
 * @param encoding its `Content-Encoding`
 * @returns undefined where it is compressed in a way that isn't known
 */
export function unpacked(body: Readable, encoding: string): AsyncIterable<Buffer> | undefined {
  const name = encoding.trim().toLowerCase()
  if (['', 'identity', 'none'].includes(name)) return body
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(name)) {
    // A body that nobody reads would hold its connection.
    body.on('error', () => undefined).destroy()
    return undefined
  }
  // Whoever reads the last stream is told of errors of both.
  return pipeline(body, name === 'br' ? createBrotliDecompress() : createUnzip(), () => undefined)
}

/** Whether it is the fault of what was to be unpacked. */
export function isUnpackingError(error: unknown): boolean {
  return /^(Z_|ERR__ERROR|ERR_BROTLI)/.test((error as NodeJS.ErrnoException).code ?? '')
}
