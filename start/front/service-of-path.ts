/** Which service takes a request, by its path. */
import type { IncomingMessage } from 'node:http'

export type ServiceName = 'ingest' | 'api'

export const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0]!

/** Under a root of their own only possible keys match: all other paths stand beside them. */
export function shortLinkPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/[^\w/]/g, '\\$&')}/[0-9A-Za-z]{8}/?$`)
}

export function serviceByRoute(path: string): ServiceName {
  if (path.startsWith('/api/v1/growth/revenue/')) return 'api'
  const isIngest = path.startsWith('/api/v1/growth/') || path === '/svc.js' || /^\/l(\/|$)/.test(path)
  return isIngest ? 'ingest' : 'api'
}
