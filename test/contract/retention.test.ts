/** Retention through the front door: what it answers without a range, in an empty workspace, and what it refuses. */
import { expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import type { Retention } from '../../schemas/resources/retention.ts'
import { setUpApi } from '../support/api.ts'

const now = Date.parse('2026-11-20T14:25:00Z')
const { api, mine } = setUpApi({ clock: fixedClock(now), sharesWorkspace: true })

const ask = async (query: string) => {
  const response = await api.ask(`/v1/analytics/retention?${query}`, { key: mine.apiKey })
  return [response.status, await response.json()] as const
}

test.each([
  ['', 'week', 12, '2026-W36', '2026-08-31T00:00:00.000Z'],
  ['interval=day', 'day', 30, '2026-10-22', '2026-10-22T00:00:00.000Z'],
  ['interval=month', 'month', 12, '2025-12', '2025-12-01T00:00:00.000Z'],
])('“%s” has whole buckets up to now, and nobody where nobody came', async (query, bucket, length, label, start) => {
  const [status, answer] = (await ask(query)) as [number, Retention]
  expect([status, answer.range]).toEqual([200, { start, end: new Date(now).toISOString(), timezone: 'UTC', bucket }])
  expect(answer.cohorts).toHaveLength(length)
  expect(answer.cohorts[0]).toMatchObject({ label, start, visitors: 0 })
  expect(answer.cohorts.every(({ visitors, returned }) => visitors === 0 && !returned.some(Boolean))).toBe(true)
})

test('60 cohorts are answered, and 61 refused', async () => {
  expect((await ask('interval=day&days=60'))[0]).toBe(200)
  const [status, { detail }] = (await ask('interval=day&days=61')) as [number, { detail: object[] }]
  expect([status, detail]).toEqual([
    422,
    [
      expect.objectContaining({
        loc: ['query', 'interval'],
        msg: expect.stringContaining('a range has at most 60 cohorts'),
        input: 'day',
      }),
    ],
  ])
})

test.each([
  'interval=hour',
  'interval=',
  'days=0',
  'days=366',
  'hours=745',
  'start=2026-11-20&end=2026-11-19',
  'start=x',
])('%s is refused', async (query) => {
  expect((await ask(query))[0]).toBe(422)
})

test('a range far in the past or the future is empty', async () => {
  for (const range of [
    'start=0001-01-01&end=0001-02-01',
    'start=9999-01-01&end=9999-02-01',
    'start=2027-01-01&end=2027-01-31',
  ]) {
    const [status, { cohorts }] = (await ask(range)) as [number, Retention]
    expect([status, cohorts.length > 3, cohorts.filter(({ returned }) => returned.length > 0)]).toEqual([200, true, []])
  }
})
