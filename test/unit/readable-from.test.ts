/** From when on a workspace's data is shown. */
import { expect, test } from 'vitest'
import { readableFrom } from '../../schemas/time/readable-from.ts'

test('a raised plan shows nothing of days that are deleted in part', () => {
  const raised = { plan_key: 'growth', retention_days: null, timezone: 'Europe/Berlin' } as const
  const from = (deleted_before: Date | null) =>
    new Date(readableFrom({ ...raised, deleted_before }, Date.UTC(2026, 10, 20, 15, 30))).toISOString()
  expect(from(new Date('2026-10-21T00:00Z'))).toBe('2026-10-21T22:00:00.000Z')
  expect(from(new Date('2026-10-20T22:00Z'))).toBe('2026-10-20T22:00:00.000Z')
  expect(from(new Date('2020-01-01'))).toBe(from(null))
})
