/**
 * Whether a request failed before it went out: without an address, a connection or a TLS handshake. The error doesn't
 * tell. A connection that is reset in its handshake has the code of one that breaks behind the request. So undici says
 * for each connection that didn't come about what the error was.
 *
 * Held by test/unit/hostile-platforms.test.ts.
 */
import { subscribe } from 'node:diagnostics_channel'

const connectErrors = new WeakSet<Error>()

subscribe('undici:client:connectError', (message) => {
  connectErrors.add((message as { readonly error: Error }).error)
})

/** @param error what undici gave for the request */
export function isUnsent(error: unknown): boolean {
  return connectErrors.has(error as Error)
}
