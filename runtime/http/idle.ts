/**
 * How long a connection may be idle before we close it. Proxies keep theirs for up to two minutes (Caddy), and they must
 * be the ones that close: a request that crosses with our end is answered 502 by the proxy.
 */
export const idleConnectionMs = 150_000
