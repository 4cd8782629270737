import { expect, test } from 'vitest'
import { expiryOf, groupByExpiry, keptDays } from '../../pipeline/retention/retention.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'

const now = Date.UTC(2026, 10, 20, 15, 30)
const daysAgo = (days: number) => new Date(now - days * dayMs)
const workspace = (
  plan_key: 'starter' | 'growth' | 'scale' | null,
  retention_days: number | null = null,
  changedDaysAgo = 400,
) => ({ plan_key, retention_days, plan_changed_at: daysAgo(changedDaysAgo) })

test('what the customer shortened holds at once, and a longer wish than the plan is none', () => {
  expect(keptDays(workspace('growth', 7), now)).toBe(7)
  expect(keptDays(workspace('growth', 7, 1), now)).toBe(7)
  expect(keptDays(workspace('starter', 90), now)).toBe(30)
})

test('what a lower or lapsed plan hides is kept for 30 days more', () => {
  for (const plan of ['starter', null] as const) {
    expect(keptDays(workspace(plan, null, 0), now)).toBe(730)
    expect(keptDays(workspace(plan, null, 29.9), now)).toBe(730)
    expect(keptDays(workspace(plan, null, 30), now)).toBe(30)
  }
})

test('the expiry is a UTC midnight that lies before everything readable, by less than a day', () => {
  for (let hour = 0; hour < 48; hour++) {
    const at = now + hour * 3_600_000
    const before = expiryOf(30, at)
    expect(before % dayMs).toBe(0)
    expect(before).toBeLessThanOrEqual(at - 30 * dayMs)
    expect(before).toBeGreaterThan(at - 31 * dayMs)
  }
})

test('what the customer shortened goes to the moment, not to the day', () => {
  const shortened = { id: 1, ...workspace('growth', 7) }
  const sameAsPlan = { id: 2, ...workspace('starter', 30) }
  expect(groupByExpiry([shortened], now)).toEqual([{ before: now - 7 * dayMs, workspaceIds: [1] }])
  expect(groupByExpiry([sameAsPlan], now)).toEqual([{ before: expiryOf(30, now), workspaceIds: [2] }])
})

test('workspaces of one expiry are handled together, the longest kept first', () => {
  const workspaces = [workspace('starter'), workspace('scale'), workspace('starter')].map((w, at) => ({
    id: at + 1,
    ...w,
  }))
  expect(groupByExpiry(workspaces, now)).toEqual([
    { before: expiryOf(730, now), workspaceIds: [2] },
    { before: expiryOf(30, now), workspaceIds: [1, 3] },
  ])
})
