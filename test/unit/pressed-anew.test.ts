/** Which repeats of a write whose answer was lost are new ones. */
import { expect, test } from 'vitest'
import { isPressedAnew } from '../../web/dashboard/requests/pressed-anew.ts'

test('a press is a new one a minute later; what makes something, or names the version it saw, never is', () => {
  const anew = (method: string, body?: string, agoMs = 61_000) =>
    isPressedAnew('/feeds/1', { method, ...(body && { body }) }, performance.now() - agoMs)
  expect([anew('POST'), anew('PATCH', '{"status":"active"}')]).toEqual([true, true])
  expect([anew('POST', undefined, 30_000), anew('POST', '{"name":"a"}'), anew('DELETE')]).toEqual([false, false, false])
  expect(anew('PATCH', '{"title":"a","updated_at":"2026-11-20T09:00:00Z"}')).toBe(false)
})
