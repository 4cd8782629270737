/** The clock of a node is set three days forward or back, and right again: nothing sticks, nothing is kept for longer. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeAuthenticator } from '../../api/guards/authenticate.ts'
import { timeOf } from '../../ingest/enrich/event-time.ts'
import { makeSalts } from '../../ingest/enrich/salts.ts'
import { makeKeyRate } from '../../ingest/http/key-rate.ts'
import { DedupWindow } from '../../ingest/log/dedup-window.ts'
import { type KeyRow, makeKeyTable } from '../../ingest/tables/tracking-key-table.ts'
import { expiryOf, keptDays } from '../../pipeline/retention/retention.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeSecretKey } from '../../schemas/keys.ts'
import { eventAgeMaxMs } from '../../schemas/limits/event-limits.ts'
import { silent } from '../support/log-fixture.ts'

const hour = 3_600_000
const day = 24 * hour
const now = Date.UTC(2026, 10, 20, 12)
const jumps = [
  ['forward', 3 * day],
  ['back', -3 * day],
] as const

let folder: string
const ends: (() => Promise<void>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'moved-clock-'))
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await rm(folder, { recursive: true })
})

describe.each(jumps)('a clock that is set three days %s', (_, jump) => {
  test('frees a key that has used up its second, and limits it again', () => {
    const rate = makeKeyRate(10)
    for (const at of [now, now + jump, now]) {
      expect(rate.allows('a', 10, at)).toBe(true)
      expect(rate.allows('a', 1, at)).toBe(false)
      expect(rate.allows('b', 1, at)).toBe(true)
      expect(rate.allows('a', 10, at + 1000)).toBe(true)
    }
  })

  test('leaves the dedup window what it was told last, and within its bound', () => {
    const window = new DedupWindow(1000, 24 * hour, now)
    const add = (key: number, at: number) => window.add({ hi: key, lo: key }, key, at)
    add(1, now)
    add(2, now + jump)
    expect(window.find({ hi: 1, lo: 1 })).toBe(1)
    expect(window.find({ hi: 2, lo: 2 })).toBe(2)
    for (let key = 3; key < 5000; key++) add(key, now + jump + key)
    let held = 0
    for (let key = 1; key < 5000; key++) if (window.find({ hi: key, lo: key }) > 0) held++
    expect(held).toBeGreaterThanOrEqual(500)
    expect(held).toBeLessThanOrEqual(1000)
    add(5000, now)
    expect(window.find({ hi: 5000, lo: 5000 })).toBe(5000)
    expect(window.find({ hi: 4999, lo: 4999 })).toBe(4999)
  })

  test('believes a new tracking key within a moment, and no rotated one for longer once it is right', async () => {
    const clock = fixedClock(now)
    const rows: KeyRow[] = []
    const row = (name: string, retires_at: Date | null = null): KeyRow => ({
      key: `svc_pk_${name.padEnd(24, '0')}`,
      workspace_id: 1,
      timezone: 'UTC',
      replay_share: 0,
      retires_at,
    })
    rows.push(row('old', new Date(now + hour)))
    const keys = makeKeyTable({
      file: join(folder, 'keys.json'),
      listKeys: async () => rows.slice(0, 1),
      findKey: async (key) => rows.find((each) => each.key === key) ?? null,
      listen: () => ({ close: async () => {} }),
      clock,
      log: silent,
    })
    ends.push(() => keys.close())
    await keys.start()
    expect(await keys.resolve(row('new').key)).toBe('unknown')
    rows.push(row('new'))
    clock.advance(jump)
    expect(await keys.resolve(row('new').key)).toMatchObject({ id: 1 })
    clock.set(now + hour)
    expect(keys.find(row('old').key)).toBeUndefined()
  })

  test('keeps a salt for every day, the same one when it is right again, and none for longer than two days', async () => {
    const clock = fixedClock(now)
    const table = new Map<string, Buffer>()
    const salts = makeSalts({
      file: join(folder, 'salts.json'),
      readOrMakeSalt: async (name, own) => {
        if (!table.has(name)) table.set(name, own)
        return table.get(name)!
      },
      clock,
      log: silent,
    })
    ends.push(() => salts.close())
    await salts.start()
    const before = salts.current(now)
    clock.advance(jump)
    const moved = salts.current(clock.now())
    expect(moved).toHaveLength(32)
    expect(moved).not.toEqual(before)
    await settled()
    clock.set(now)
    salts.current(now)
    await settled()
    expect(salts.current(now)).toEqual(before)

    // Ten days on, no salt of then is left: the same days get others.
    clock.set(now + 10 * day)
    salts.current(now + 10 * day)
    await settled()
    table.clear()
    for (const at of [now, now + jump]) {
      expect(salts.current(at)).not.toEqual(before)
      expect(salts.current(at)).not.toEqual(moved)
    }
  })

  test('dates events between 72 hours before its time and its time, or refuses them', () => {
    const receivedAt = now + jump
    const stated = [
      '1970-01-01T00:00:00Z',
      '9999-12-31T23:59:59Z',
      ...[-4, -2, 0, 2, 4].map((days) => iso(now + days * day)),
    ]
    for (const occurred_at of stated) {
      for (const sent_at of [null, iso(now), iso(now - 3 * day), '9999-12-31T23:59:59Z']) {
        const time = timeOf({ occurred_at, sent_at }, receivedAt, 'UTC')
        if (Number.isNaN(time)) continue
        expect(time).toBeLessThanOrEqual(receivedAt)
        expect(time).toBeGreaterThanOrEqual(receivedAt - eventAgeMaxMs)
      }
    }
    expect(timeOf({ occurred_at: '1970-01-01T00:00:00Z' }, receivedAt, 'UTC')).toBeNaN()
    expect(timeOf({ occurred_at: 'NaN' }, receivedAt, 'UTC')).toBeNaN()
  })

  test('moves what is deleted by as much as itself, and a grace ends when the clock is right', () => {
    const lapsed = { plan_key: 'starter', retention_days: null, plan_changed_at: new Date(now - 29 * day) } as const
    expect(expiryOf(30, now + jump) - expiryOf(30, now)).toBe(jump)
    expect(keptDays(lapsed, now)).toBe(730)
    expect(keptDays(lapsed, now - 3 * day)).toBe(730)
    expect(keptDays(lapsed, now + 2 * day)).toBe(30)
    // A plan that changed in what is the future now: in its grace, not past it.
    expect(keptDays({ ...lapsed, plan_changed_at: new Date(now + 3 * day) }, now)).toBe(730)
  })

  test('asks again about a secret key, so that a revoked one ends', async () => {
    const clock = fixedClock(now)
    const key = makeSecretKey()
    let isRevoked = false
    const pg = {
      query: async (sql: string) =>
        (/^\s*UPDATE/.test(sql) || isRevoked ? [] : [{ id: 1, expires_at: null }]) as never[],
    }
    const authenticator = makeAuthenticator(pg, clock, silent)
    await authenticator.authenticate(`Bearer ${key}`)
    isRevoked = true
    clock.advance(jump)
    await expect(authenticator.authenticate(`Bearer ${key}`)).rejects.toMatchObject({ status: 401 })
  })
})

function iso(time: number): string {
  return new Date(time).toISOString()
}

/** The salts are written to disk meanwhile. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 100))
}
