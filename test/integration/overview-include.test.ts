import { expect, test } from 'vitest'
import { overviewMembers } from '../../schemas/resources/overview.ts'
import { setUpApi } from '../support/api.ts'
import { callTool } from '../support/mcp.ts'

const { api, mine } = setUpApi()

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
  for (const [include, loc] of [
    [[], ['query', 'include']],
    [
      ['metrics', 'nothing'],
      ['query', 'include', 1],
    ],
    [5, ['query', 'include']],
  ]) {
    const { result } = await callTool(api, mine.apiKey, 'svc.analytics_overview', { include })
    expect(result?.isError).toBe(true)
    expect(JSON.parse(result!.content[0]!.text)).toMatchObject({ detail: [{ loc }] })
  }
})
