/** Checks the URLs of stores in settings. */

export const notUrl = 'must be a URL (in a user or password, `#` `/` `?` `@` are written `%23` `%2F` `%3F` `%40`)'

/** No host, but a `host` parameter with a socket, as libpq accepts it: `postgres://user:password@/svc?host=/cloudsql/…`. */
const socketInPlaceOfHost = /@\/(?=[^@]*[?&]host=)/

/** @returns what is wrong with it, without showing it: it may hold a password */
export function faultInStoreUrl(text: string, protocols: readonly string[]): string | undefined {
  const beginning = `must begin with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`
  // Most likely a bare host.
  if (!text.includes('://')) return beginning
  const readable = protocols.includes('postgres:') ? text.replace(socketInPlaceOfHost, '@localhost/') : text
  if (!URL.canParse(readable)) {
    return notUrl
  }
  const { protocol, username, password, pathname } = new URL(readable)
  if (!protocols.includes(protocol)) return beginning
  // Postgres' client accepts an unescaped `%`.
  if (protocol.startsWith('postgres') || [username, password, pathname].every(isDecodable)) return undefined
  return 'must have `%25` in place of each `%` that stands for itself'
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
