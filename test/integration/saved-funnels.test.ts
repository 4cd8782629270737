/** Saved funnels by the API: what the funnel's query takes, under a name of their own. */
import { expect, test } from 'vitest'
import { savedFunnelsMax } from '../../schemas/limits/saved-funnel-limits.ts'
import type { SavedFunnel } from '../../schemas/resources/saved-funnel.ts'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'

const { api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
const add = (name: string, more: object = {}) =>
  ask<SavedFunnel>('POST', '/v1/funnels', { name, steps: ['path:/', 'event:signup'], ...more })

test('funnels are kept under a name of their own, listed by name, changed, audited, and deleted', async () => {
  const { body: sale } = await add('Sale', { within: 'session' })
  const { body: home } = await add('from home')
  expect([sale.within, home.within, home.steps]).toEqual(['session', '7', ['path:/', 'event:signup']])
  expect((await add('Sale')).body).toEqual({ detail: 'The workspace has a saved funnel with this name' })
  expect((await ask('GET', '/v1/funnels')).body).toEqual([home, sale])

  const renamed = { ...sale, name: 'Sales' }
  expect(await ask('PATCH', `/v1/funnels/${sale.object_id}`, { name: 'Sales' })).toEqual({ status: 200, body: renamed })
  const changed = { ...renamed, steps: ['event:a*', 'path:/b', 'path:/c'], within: '30' }
  const { steps } = changed
  const put = { steps, within: 30 }
  expect(await ask('PATCH', `/v1/funnels/${sale.id}`, put)).toEqual({ status: 200, body: changed })
  expect((await ask('PATCH', `/v1/funnels/${sale.id}`, { name: 'from home' })).status).toBe(409)
  expect(await ask('DELETE', `/v1/funnels/${sale.id}`)).toEqual({ status: 200, body: changed })
  const none = { status: 404, body: { detail: 'Funnel not found' } }
  expect(await ask('DELETE', `/v1/funnels/${sale.id}`)).toEqual(none)
  const { body: audit } = await ask<{ action: string }[]>('GET', '/v1/audit-log')
  expect(audit.map(({ action }) => action.replace('saved_funnel.', ''))).toEqual([
    'delete',
    'update',
    'update',
    'create',
    'create',
  ])

  for (let at = 1; at < savedFunnelsMax; at++) expect((await add(`F${at}`)).status).toBe(200)
  const full = { detail: 'The workspace has as many saved funnels as it may have' }
  expect(await add('One more')).toEqual({ status: 409, body: full })
})

test.each<[object, string[], string]>([
  [{ steps: ['path:/'] }, ['steps'], 'at least 2 items'],
  [{ steps: Array(9).fill('path:/') }, ['steps'], 'at most 8 items'],
  [{ steps: ['path:/', 'page:/'] }, ['steps', '1'], 'a step is path: or event:'],
  [{ steps: ['path:/', 'event:!signup'] }, ['steps', '1'], 'can not be negated'],
  [{ within: '31' }, ['within'], 'should match pattern'],
])('%j is refused at %j: %s', async (more, place, text) => {
  const { status, body } = await ask('POST', '/v1/funnels', {
    name: 'F',
    steps: ['path:/', 'path:/a'],
    ...more,
  })
  expect([status, body.detail[0].loc.map(String)]).toEqual([422, ['body', ...place]])
  expect(body.detail[0].msg).toContain(text)
})
