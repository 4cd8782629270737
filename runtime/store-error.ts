/** The error of an unavailable store, the same for all stores and clients. */

export type StoreName = 'clickhouse' | 'postgres' | 'redis' | 'media'

/**
 * The store can't serve now: connection refused or broken, deadline passed, starting or stopping, out of room, read-only.
 * Whether it has done what it was asked is unknown. The API answers 503 for it, writers try again.
 */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
  readonly store: StoreName

  constructor(store: StoreName, message: string, options?: ErrorOptions) {
    super(`${store}: ${message}`, options)
    this.store = store
  }
}

/** The store gave no answer within the time of the statement. It may be away, or the question too large. */
export class StoreLate extends StoreUnavailable {
  override name = 'StoreLate'
}

const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EADDRNOTAVAIL',
  'ENOENT', // a unix socket that isn't there
  'EMFILE',
  'ENFILE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SOCKET_CLOSED',
])

/** True for an error of the connection itself, not of the statement. */
export function isNetworkError(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (typeof code === 'string' && networkCodes.has(code)) return true
    if (cause.message === 'socket hang up' || cause.message === 'aborted') return true
    // Node tries several addresses of a name and reports them together.
    if (cause instanceof AggregateError && cause.errors.some(isNetworkError)) return true
  }
  return false
}
