/** Saved filters by the API: what the overview's query takes, and nothing else. */
import { expect, test } from 'vitest'
import { filterValuesMax } from '../../schemas/limits/overview-limits.ts'
import { segmentsMax } from '../../schemas/limits/segment-limits.ts'
import type { Segment } from '../../schemas/resources/segment.ts'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'

const { api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
const add = (name: string, filters: object) => ask<Segment>('POST', '/v1/segments', { name, filters })

test('filters are kept under a name of their own, listed by name, audited, and go when they are deleted', async () => {
  const filters = { source: ['google', '!news*'], country: ['fr'], path: ['/a\\*b'] }
  const search = await add('Search', filters)
  expect(search).toMatchObject({ status: 200, body: { name: 'Search', filters } })
  const phones = await add('phones', { device: ['mobile'] })
  const known = { detail: 'The workspace has a segment (saved view) with this name' }
  expect(await add('Search', { device: ['mobile'] })).toEqual({ status: 409, body: known })
  expect((await ask('GET', '/v1/segments')).body).toEqual([phones.body, search.body])
  expect(await ask('DELETE', `/v1/segments/${search.body.object_id}`)).toEqual(search)
  const none = { status: 404, body: { detail: 'Segment not found' } }
  expect(await ask('DELETE', `/v1/segments/${search.body.id}`)).toEqual(none)
  const { body: audit } = await ask<{ action: string }[]>('GET', '/v1/audit-log')
  expect(audit.map(({ action }) => action)).toEqual(['segment.delete', 'segment.create', 'segment.create'])

  for (let at = 1; at < segmentsMax; at++) expect((await add(`S${at}`, { os: ['Linux'] })).status).toBe(200)
  const full = { detail: 'The workspace has as many segments (saved views) as it may have' }
  expect(await add('One more', { os: ['Linux'] })).toEqual({ status: 409, body: full })
})

test('a change keeps what is not sent, replaces all filters, and is refused as a new segment is', async () => {
  const of = (at: string | number) => `/v1/segments/${at}`
  const { body: mobile } = await add('Mobile', { device: ['mobile'], os: ['iOS'] })
  const { body: tablets } = await add('Tablets', { device: ['tablet'] })
  const named = { ...mobile, name: 'Phones' }
  expect(await ask('PATCH', of(mobile.object_id), { name: 'Phones' })).toEqual({ status: 200, body: named })
  const filters = { device: ['!tablet'] }
  const changed = { ...named, filters }
  expect(await ask('PATCH', of(mobile.id), { name: 'Phones', filters })).toEqual({ status: 200, body: changed })
  expect(await ask('PATCH', of(mobile.id), {})).toEqual({ status: 200, body: changed })
  expect((await ask('PATCH', of(mobile.id), { name: 'Tablets' })).status).toBe(409)
  for (const wrong of [{ filters: {} }, { filters: { sauce: ['x'] } }, { name: '' }, { name: null }]) {
    expect((await ask('PATCH', of(mobile.id), wrong)).status).toBe(422)
  }
  expect((await ask('PATCH', of(0), { name: 'None' })).body).toEqual({ detail: 'Segment not found' })
  expect((await ask('GET', '/v1/segments')).body).toEqual([changed, tablets])
  const { body: audit } = await ask<{ action: string; metadata: object }[]>(
    'GET',
    '/v1/audit-log?action=segment.update',
  )
  expect(audit.map(({ metadata }) => metadata)).toEqual([
    { fields: [] },
    { fields: ['name', 'filters'] },
    { fields: ['name'] },
  ])
})

test.each<[object, string[], string]>([
  [{}, [], 'there must be a filter'],
  [{ source: [] }, [], 'there must be a filter'],
  [{ sauce: ['google'] }, ['sauce'], 'Extra inputs are not permitted'],
  [{ days: ['7'], os: ['Linux'] }, ['days'], 'Extra inputs are not permitted'],
  [{ source: 'google' }, ['source'], 'valid list'],
  [{ country: ['Mars'] }, ['country', '0'], 'a country is an ISO alpha-2 code'],
  [{ channel: ['TV'] }, ['channel', '0'], 'Input should be'],
  ...['plan', ':pro', 'pl*n:pro', `${'x'.repeat(201)}:pro`].map((text): [object, string[], string] => [
    { event_property: [text] },
    ['event_property', '0'],
    'a property is its name of at most 200 characters, a colon and a value: plan:pro',
  ]),
  [{ event_property: [`plan:${'*a'.repeat(11)}`] }, ['event_property', '0'], 'at most 10 wildcards'],
  [{ path: ['*a'.repeat(11)] }, ['path', '0'], 'at most 10 wildcards'],
  [{ path: Array(filterValuesMax + 1).fill('/') }, ['path'], `at most ${filterValuesMax} items`],
  [{ path: Array(5).fill('x'.repeat(2_000)) }, [], 'at most 8000 characters'],
])('filters %j are refused at %j: %s', async (filters, place, text) => {
  const { status, body } = await ask('POST', '/v1/segments', { name: 'S', filters })
  expect([status, body.detail[0].loc.map(String)]).toEqual([422, ['body', 'filters', ...place]])
  expect(body.detail[0].msg).toContain(text)
})
