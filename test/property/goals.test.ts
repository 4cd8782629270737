/** Every figure of goals equals a naive computation over the raw events. `SEED=n` and `RUNS=n` as elsewhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRow } from '../../schemas/event/row.ts'
import { goalsMax } from '../../schemas/limits/goal-limits.ts'
import type { GoalFigures } from '../../schemas/resources/goal.ts'
import { viewScope } from '../../schemas/scopes.ts'
import { perCent, visitorsOf } from '../oracle/counters.ts'
import type { OverviewQuery } from '../oracle/facts.ts'
import { previousOf, readableFrom, resolveRange, type Span } from '../oracle/range.ts'
import { makeKey } from '../support/api.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import {
  chosenOf,
  drawCases,
  isOf,
  now,
  queryOf,
  runs,
  setUpSites,
  sites,
  someFilters,
  someRanges,
  steps,
} from './step-cases.ts'

const { stores, api, mine, ask } = setUpSites()

const cases = fc.record({
  site: sites,
  goals: fc.uniqueArray(steps, { maxLength: 6 }),
  // Short ones have events in the period before, too.
  range: fc.oneof(someRanges, fc.constantFrom({ days: '2' }, { days: '4' }, { hours: '60' })),
  compare: fc.constantFrom<Record<string, string>[]>({}, {}, { compare: 'year' }, { compare: 'none' }),
  keptDays: fc.constantFrom(730, 730, 15),
  filters: someFilters,
})

async function call<Answer>(key: string, path: string, method = 'GET', body?: object) {
  const init = body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const response = await api.ask(path, { method, key, ...init })
  return { status: response.status, body: (await response.json()) as Answer }
}

const goalOf = (text: string) => {
  const [, kind, value] = /^(path|event):(.*)$/s.exec(text)!
  return { name: text, kind, value, property: null }
}

function countsOf(goal: string, events: readonly EventRow[]) {
  const done = events.filter((event) => isOf(goal, event))
  const visitors = visitorsOf(done)
  return { visitors, completions: done.length, conversion_rate: perCent(visitors, visitorsOf(events)) }
}

test('every figure equals a naive computation over the raw events', async () => {
  let [reached, compared] = [0, 0]
  for (const { placed, tell, goals, range, compare, keptDays, filters } of await drawCases(stores, cases)) {
    const { timezone, apiKey, workspaceId } = placed
    await stores.pg.query('UPDATE workspaces SET retention_days = $2 WHERE id = $1', [workspaceId, keptDays])
    for (const goal of goals) expect((await call(apiKey, '/v1/goals', 'POST', goalOf(goal))).status).toBe(200)
    const question = `goals?${queryOf({ ...range, ...compare, ...filters })}`
    const body = await ask<GoalFigures>(question, apiKey)
    const told = tell(`${goals.join(' ')}, ${question}, ${keptDays} days`)

    const asked = Object.fromEntries(
      Object.entries({ ...range, ...compare }).map(([name, text]) => [name, /^\d+$/.test(text) ? Number(text) : text]),
    ) as OverviewQuery
    const span = resolveRange(asked, { timezone, retentionDays: keptDays }, now)!
    const since = readableFrom({ timezone, retentionDays: keptDays }, now)
    const before = previousOf(span, asked, timezone)
    const chosen = chosenOf(placed, filters)
    const eventsIn = ({ start, end }: Span) =>
      chosen.filter(({ occurred_at }) => occurred_at >= Math.max(start, since) && occurred_at < end)
    const isCompared = compare['compare'] !== 'none' && before.start >= since && before.start < before.end
    const expected = goals.map((goal) => ({
      ...goalOf(goal),
      ...countsOf(goal, eventsIn(span)),
      previous: isCompared ? countsOf(goal, eventsIn(before)) : null,
    }))
    const shown = body.rows.map(({ id: _, object_id: __, ...row }) => row)
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
    expect([body.visitors, [...shown].sort(byName)], told).toEqual([visitorsOf(eventsIn(span)), expected.sort(byName)])
    const falling = shown.map(({ visitors, completions }) => visitors * 1000 + completions)
    expect(falling, told).toEqual([...falling].sort((one, other) => other - one))

    reached += shown.filter(({ visitors }) => visitors > 0).length
    compared += shown.filter(({ previous }) => previous !== null && previous.visitors > 0).length
  }
  expect([reached > runs, compared > runs / 4]).toEqual([true, true])
})

test('goals are kept once each by name and by what they are about, in bounds, and go when they are deleted', async () => {
  const key = mine.apiKey
  const add = (body: object) => call<Record<string, unknown>>(key, '/v1/goals', 'POST', body)
  const [thanks, signup] = [
    await add({ name: 'Thanks', kind: 'path', value: '/%C3%BCber/*' }),
    await add({ name: 'Sign-up', kind: 'event', value: 'signup' }),
  ]
  expect(thanks).toMatchObject({ status: 200, body: { name: 'Thanks', kind: 'path', value: '/über/*' } })
  const known = { detail: 'The workspace has a goal with this name, or one for this page or event' }
  expect(await add({ name: 'Thanks', kind: 'event', value: 'other' })).toEqual({ status: 409, body: known })
  expect(await add({ name: 'Other', kind: 'path', value: '/über/*' })).toEqual({ status: 409, body: known })
  expect((await call(key, '/v1/goals')).body).toEqual([signup.body, thanks.body])
  expect((await call<GoalFigures>(key, '/v1/analytics/goals?days=1')).body).toMatchObject({
    visitors: 0,
    rows: { length: 2 },
  })

  expect(await call(key, `/v1/goals/${thanks.body['object_id']}`, 'DELETE')).toEqual(thanks)
  const none = { status: 404, body: { detail: 'Goal not found' } }
  expect(await call(key, `/v1/goals/${thanks.body['id']}`, 'DELETE')).toEqual(none)
  // The longest ones in UTF-8 fit into the index.
  const longest = (at: number) => ({
    name: at + '😀'.repeat(118),
    kind: 'path',
    value: `/${at}${'😀'.repeat(497)}`,
  })
  for (let at = 1; at < goalsMax; at++) expect((await add(longest(at))).status).toBe(200)
  expect(await add(longest(0))).toEqual({
    status: 409,
    body: { detail: 'The workspace has as many goals as it may have' },
  })
  const { body } = await call<GoalFigures>(key, '/v1/analytics/goals?path=/a&channel=Direct')
  expect(body.rows).toHaveLength(goalsMax)
})

test.each([
  [{ name: '' }, 'at least 1 character'],
  [{ name: 'x'.repeat(121) }, 'at most 120 characters'],
  [{ kind: 'page' }, "Input should be 'path' or 'event'"],
  [{ value: '' }, 'at least 1 character'],
  [{ value: 'x'.repeat(501) }, 'at most 500 characters'],
  [{ value: '!/a' }, 'a goal can not be negated'],
  [{ value: 'https://example.com/a' }, 'which begins with / or *'],
  [{ value: '/a?b=*' }, 'which begins with / or *'],
  [{ value: '*a'.repeat(11) }, 'a goal has at most 10 wildcards'],
])('%j is refused: %s', async (wrong, text) => {
  const { status, body } = await call(mine.apiKey, '/v1/goals', 'POST', {
    name: 'A',
    kind: 'path',
    value: '/a',
    ...wrong,
  })
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(text)])
})

test('a change keeps what is not sent, is read as a new goal is, and takes no name or page of another goal', async () => {
  const key = mine.apiKey
  const add = (body: object) => call<{ id: number; object_id: string }>(key, '/v1/goals', 'POST', body)
  const { body: thanks } = await add({ name: 'Thanks', kind: 'path', value: '/thanks' })
  await add({ name: 'Sign-up', kind: 'event', value: 'signup' })
  const change = (body: object) => call<{ detail: unknown }>(key, `/v1/goals/${thanks.object_id}`, 'PATCH', body)
  const named = { ...thanks, name: 'Order' }
  expect(await change({ name: 'Order' })).toEqual({ status: 200, body: named })
  const moved = { ...named, value: '/über/*' }
  expect(await change({ name: 'Order', value: '/%C3%BCber/*' })).toEqual({ status: 200, body: moved })
  const known = { detail: 'The workspace has a goal with this name, or one for this page or event' }
  expect(await change({ name: 'Sign-up' })).toEqual({ status: 409, body: known })
  expect(await change({ kind: 'event', value: 'signup' })).toEqual({ status: 409, body: known })
  for (const wrong of [{ value: 'thanks' }, { value: '!/x' }, { name: '' }, { kind: 'page' }, { name: null }]) {
    expect((await change(wrong)).status, JSON.stringify(wrong)).toBe(422)
  }
  const event = { ...moved, kind: 'event', value: 'order' }
  expect(await change({ kind: 'event', value: 'order' })).toEqual({ status: 200, body: event })
  // An event's name that stays is no page.
  expect(await change({ kind: 'path' })).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'kind'] }] } })
  expect((await call(key, '/v1/goals')).body).toMatchObject([{ name: 'Sign-up' }, event])
})

test('a goal with a property counts the events with a value of its pattern, and a shared link shows no property', async () => {
  const { apiKey: key, workspaceId } = mine
  const plans = ['pro', 'pro', 'Pro', 'pro*', 'prolific', 7, 7.5, true, null, { of: 'pro' }, undefined, '']
  const rows = plans.map((plan, at) =>
    makeEventRow({
      workspace_id: workspaceId,
      visitor: 1 + (at >> 1),
      kind: 'custom',
      event_name: 'signup',
      occurred_at: now - 60_000 + at,
      properties: JSON.stringify(plan === undefined ? { other: 'pro' } : { plan }),
    }),
  )
  await insertEventRows(stores.ch, rows)
  await foldWhatIsThere(stores)
  const add = (name: string, property: object | null) =>
    call<{ id: number }>(key, '/v1/goals', 'POST', { name, kind: 'event', value: 'sign*', property })
  const expected: Readonly<Record<string, [visitors: number, completions: number]>> = {
    pro: [1, 2],
    'pro*': [3, 4],
    'pro\\*': [1, 1],
    '7': [1, 1],
    '7*': [2, 2],
    true: [1, 1],
    null: [1, 1],
    '*"pro"*': [1, 1],
    '*': [6, 11],
  }
  const values = Object.keys(expected)
  for (const value of values) expect((await add(value, { name: 'plan', value })).status).toBe(200)
  expect((await add('any', null)).status).toBe(200)
  expect((await add('again', { name: 'plan', value: 'pro' })).status).toBe(409)
  const bad = [{ name: 'plan', value: '!x' }, { name: 'plan' }, { name: '', value: 'x' }, 'plan']
  for (const property of bad) expect((await add('bad', property as object)).status).toBe(422)

  const { body } = await call<GoalFigures>(key, '/v1/analytics/goals?days=1')
  const shown = body.rows.map(({ name, visitors, completions }) => [name, [visitors, completions]])
  expect(Object.fromEntries(shown)).toEqual({ ...expected, any: [6, 12] })
  const { apiKey: token } = await makeKey(stores, workspaceId, { scopes: [viewScope] })
  const { body: shared } = await call<GoalFigures>(token, '/v1/analytics/goals?days=1')
  expect(shared).toEqual({ ...body, rows: body.rows.map((row) => ({ ...row, property: null })) })

  const any = body.rows.find(({ name }) => name === 'any')!
  const change = (property: unknown) => call<object>(key, `/v1/goals/${any.id}`, 'PATCH', { property })
  expect((await change({ name: 'plan', value: '7' })).status).toBe(409)
  expect((await change({ name: 'plan', value: '8' })).body).toMatchObject({ property: { name: 'plan', value: '8' } })
  expect((await change(null)).body).toMatchObject({ name: 'any', property: null })
})
