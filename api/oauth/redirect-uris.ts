/** Redirect URIs of apps: which ones are registered, which one a request may name, and how a person is shown one. */
import { isLoopback } from '../../runtime/loopback.ts'
import { redirectUriLengthMax } from '../../schemas/limits/oauth-limits.ts'

/**
 * Schemes of desktop apps without a dot. Others could start any program of the person's machine. Schemes that are a domain
 * turned round, as RFC 8252 wants them, are the app's own.
 */
const appSchemes = new Set(['cursor', 'vscode', 'vscode-insiders', 'windsurf', 'zed', 'warp', 'raycast', 'claude'])
const domainScheme = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+$/
/** Neither blanks nor what ends an attribute, a header or a path. */
const plainUri = /^[!#-&(-;=?-[\]_a-z~]+$/
const plainHost = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/

/** Whether an app may register it: https, this machine by http, or the scheme of an app. */
export function isAcceptableRedirect(uri: string): boolean {
  if (uri.length > redirectUriLengthMax || !plainUri.test(uri) || uri.includes('#') || !URL.canParse(uri)) return false
  const { protocol, hostname, username, password } = new URL(uri)
  if (username !== '' || password !== '') return false
  // Without slashes it is a path of our own host to a browser that is on our page.
  if (/^https?:/.test(protocol) && !/^https?:\/\//i.test(uri)) return false
  if (protocol === 'https:') return plainHost.test(hostname)
  if (protocol === 'http:') return isLoopback(hostname)
  const scheme = protocol.slice(0, -1)
  return appSchemes.has(scheme) || domainScheme.test(scheme)
}

/** Exact, but for the port of an app on the person's own machine, which takes a free one each time (RFC 8252). */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  if (registered.includes(asked)) return true
  const portless = withoutPort(asked)
  return portless !== null && registered.some((uri) => withoutPort(uri) === portless)
}

/** Null where the port counts. */
function withoutPort(uri: string): string | null {
  if (!isAcceptableRedirect(uri)) return null
  const url = new URL(uri)
  if (url.protocol !== 'http:') return null
  url.port = ''
  return url.href
}

/** Where an answer goes, for a person to judge by. */
export function shownTarget(uri: string): string {
  const { protocol, host, hostname } = new URL(uri)
  if (protocol === 'https:') return host
  return protocol === 'http:' ? `this machine (${hostname})` : `the app that opens ${protocol} addresses`
}

/** @param answer members that the query gets besides its own */
export function answerAt(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const members = Object.entries(answer).filter((member): member is [string, string] => member[1] !== undefined)
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(members)}`
}
