import { expect, test } from 'vitest'
import { systemClock } from '../../runtime/clock.ts'
import { overviewMembers } from '../../schemas/resources/overview.ts'
import { setUpApi, startApi } from '../support/api.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import { callTool } from '../support/mcp.ts'

const { stores, api, mine } = setUpApi()

async function ask(query: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await api.ask(`/v1/analytics/overview?${query}`, { key: mine.apiKey })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const isEmpty = (value: unknown) =>
  Object.values(value as object).every((one) => one === '' || one === mine.workspaceId)
const filled = (body: Record<string, unknown>) => Object.keys(body).filter((member) => !isEmpty(body[member]))

test('include names the members that are wanted; the others are there and empty', async () => {
  const whole = (await ask('hours=1')).body
  expect(Object.keys(whole)).toEqual(expect.arrayContaining(overviewMembers))
  for (const member of overviewMembers) {
    const { status, body } = await ask(`hours=1&include=${member}`)
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(Object.keys(whole).sort())
    expect(filled(body)).toEqual(isEmpty(whole[member]) ? [] : [member])
    if (member !== 'metrics') expect(Object.keys(body[member] as object)).toEqual(Object.keys(whole[member] as object))
  }
  expect(filled((await ask('hours=1&include=metrics,%20snippet')).body)).toEqual(['metrics', 'snippet'])
  expect((await ask(`hours=1&include=${overviewMembers.join(',')}`)).body).toMatchObject({ snippet: whole['snippet'] })
})

test('what is left out takes no statement, and what is there is as in the whole answer', async () => {
  const now = Date.now() - 60_000
  const of = { workspace_id: mine.workspaceId, visitor: 1, occurred_at: now }
  await insertEventRows(stores.ch, [
    makeEventRow({ ...of, path: '/a', title: 'A' }),
    makeEventRow({ ...of, path: '/a', kind: 'web_vital', metric: 'LCP', metric_value: 9_000 }),
    makeEventRow({ ...of, kind: 'conversion', occurred_at: now - 86_400_000 }),
  ])
  await foldWhatIsThere(stores)
  let statements = 0
  let limit = 10
  const counting = await startApi(stores, {
    ch: {
      ...stores.ch,
      query: (...args) => {
        statements++
        return stores.ch.query(...args) as never
      },
    },
    clock: { ...systemClock, now: () => now + 1_000 },
  })
  try {
    const read = async (include: string) => {
      statements = 0
      // Equal questions share an answer.
      const path = `/v1/analytics/overview?days=1&limit=${limit++}&include=${include}`
      const response = await counting.ask(path, { key: mine.apiKey })
      expect(response.status).toBe(200)
      return { answer: (await response.json()) as Record<string, unknown>, took: statements }
    }
    const whole = await read(overviewMembers.join(','))
    const took: Record<string, number> = {}
    for (const member of overviewMembers) {
      const alone = await read(member)
      took[member] = alone.took
      expect(alone.answer[member]).toEqual(whole.answer[member])
    }
    expect([whole.took, took]).toEqual([
      4,
      {
        ...{ metrics: 2, recommendations: 4, recent_events: 2, snippet: 0, traffic_series: 1 },
        ...{ top_sources: 1, devices: 1, browsers: 1, countries: 1, top_pages: 2 },
        ...{ web_vitals: 2, web_vital_pages: 2, web_vital_series: 2 },
      },
    ])
    expect((await read('top_sources,recent_events')).took).toBe(2)
  } finally {
    await counting.close()
  }
})

test('a name that is no member, or none at all, is 422', async () => {
  for (const [query, input] of [
    ['include=metrics,nothing', 'nothing'],
    ['include=', ''],
    ['include=__proto__', '__proto__'],
  ] as const) {
    const { status, body } = await ask(query)
    expect(status).toBe(422)
    expect(body).toMatchObject({ detail: [{ loc: ['query', 'include'], type: 'enum', input }] })
  }
})

test('a tool takes it as a list as well', async () => {
  for (const include of [['metrics', 'web_vitals'], 'metrics,web_vitals']) {
    const { result } = await callTool(api, mine.apiKey, 'svc.analytics_overview', { hours: 1, include })
    expect(filled(result!.structuredContent!)).toEqual(['metrics', 'web_vitals'])
  }
  for (const include of [[], ['metrics', 'nothing'], 5]) {
    const { result } = await callTool(api, mine.apiKey, 'svc.analytics_overview', { include })
    expect(result?.isError).toBe(true)
    expect(JSON.parse(result!.content[0]!.text).detail[0].loc.slice(0, 2)).toEqual(['query', 'include'])
  }
})
