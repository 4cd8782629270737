import type { RequestOptions } from './request.ts'

/** After this time a press such as Verify or Resume is a new one: its old key would repeat the old answer. */
const pressedAnewMs = 60_000

/** @param lostAt when an equal write's answer was lost, as `performance.now()` */
export function isPressedAnew(path: string, options: RequestOptions, lostAt: number): boolean {
  return isPress(path, options) && performance.now() - lostAt > pressedAnewMs
}

/** Whether a repeat is harmless or wanted. A change with `updated_at` isn't one: its repeat would be refused as outdated. */
function isPress(path: string, { method, body }: RequestOptions): boolean {
  if (method === 'PATCH') return !String(body).includes('"updated_at":')
  return method === 'POST' && (body === undefined || path === '/social-accounts/sign-in')
}
