/** Requests that a browser sends before its visitor has asked for anything. */
import type { HttpRequest } from '../../runtime/http/uws.ts'

/** `Sec-Purpose` is today's; the others are older browsers'. */
const prefetchHeaders = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

export function isPrefetch(request: HttpRequest): boolean {
  return prefetchHeaders.some((name) => /prefetch|prerender|preview/i.test(request.getHeader(name)))
}
