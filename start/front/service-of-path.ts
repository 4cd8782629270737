/** Which service takes a request, by its path. */
import type { IncomingMessage } from 'node:http'
import { linkKeyOfPath } from '../../schemas/link-key.ts'
import type { ServiceName } from '../processes/services.ts'

export const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0]!

/** Under a root of their own only possible keys match: all other paths stand beside them. @param root their path */
export function isShortLink(path: string, root: string): boolean {
  return path.startsWith(`${root}/`) && linkKeyOfPath(path.slice(root.length + 1)) !== null
}

export function serviceByRoute(path: string): ServiceName {
  if (path.startsWith('/api/v1/growth/revenue/')) return 'api'
  const isIngest = path.startsWith('/api/v1/growth/') || /^\/svc\.js\/?$/.test(path) || /^\/l(\/|$)/.test(path)
  return isIngest ? 'ingest' : 'api'
}

/** `/metrics` is the API's; `?service=` names another's. A proxy that hides the path from the public hides all of them. */
export function serviceOfMetrics({ url = '' }: IncomingMessage): ServiceName | undefined {
  const name = /^\/metrics\?service=(ingest|pipeline)$/.exec(url)?.[1]
  return name as ServiceName | undefined
}
