/** Segments, funnels and snippets, which a workspace saves under names by the API, and what each of them refuses. */
import { expect, test } from 'vitest'
import { filterValuesMax } from '../../schemas/limits/overview-limits.ts'
import { savedFunnelsMax } from '../../schemas/limits/saved-funnel-limits.ts'
import { segmentsMax } from '../../schemas/limits/segment-limits.ts'
import { snippetNameLengthMax, snippetsMax, snippetTextLengthMax } from '../../schemas/limits/snippet-limits.ts'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'

const { api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)

const steps = ['path:/', 'event:signup']
/** ` \n` and the likes stay as they were written. */
const text = ' \n#spring  #sale\n— 👩‍👩‍👧 <b>'
const kinds = [
  {
    path: '/v1/segments',
    noun: 'segment',
    called: ['Segment', 'a segment (saved view)', 'segments (saved views)'],
    max: segmentsMax,
    sent: { filters: { source: ['google', '!news*'], country: ['fr'], path: ['/a\\*b'] } },
    changed: { filters: { device: ['!tablet'] } },
  },
  {
    path: '/v1/funnels',
    noun: 'saved_funnel',
    called: ['Funnel', 'a saved funnel', 'saved funnels'],
    max: savedFunnelsMax,
    sent: { steps, within: 'session' },
    changed: { steps: ['event:a*', 'path:/b', 'path:/c'], within: '30' },
  },
  {
    path: '/v1/snippets',
    noun: 'snippet',
    called: ['Snippet', 'a snippet', 'snippets'],
    max: snippetsMax,
    sent: { text },
    changed: { text: '𝒜'.repeat(snippetTextLengthMax) },
  },
]

test.each(kinds)(
  '$path keeps what is sent under a name of its own, listed by name; changes leave the rest, and are audited without contents',
  async ({ path, noun, called: [one, single, many], max, sent, changed }) => {
    const add = (name: string) => ask('POST', path, { name, ...sent })
    const { body: second } = await add('Tags')
    const { body: first } = await add('a list')
    expect([second, first]).toMatchObject([
      { name: 'Tags', ...sent },
      { name: 'a list', ...sent },
    ])
    const taken = { status: 409, body: { detail: `The workspace has ${single} with this name` } }
    expect(await add('Tags')).toEqual(taken)
    expect((await ask('GET', path)).body).toEqual([first, second])

    const renamed = { ...second, name: 'Sales' }
    expect(await ask('PATCH', `${path}/${second.object_id}`, { name: 'Sales' })).toEqual({ status: 200, body: renamed })
    const last = { ...renamed, ...changed }
    const change = (fields: object) => ask('PATCH', `${path}/${second.id}`, fields)
    expect(await change(changed)).toEqual({ status: 200, body: last })
    expect(await change({})).toEqual({ status: 200, body: last })
    expect([await change({ name: 'a list' }), (await change({ name: '' })).status]).toEqual([taken, 422])
    expect(await ask('DELETE', `${path}/${second.id}`)).toEqual({ status: 200, body: last })
    const none = { detail: `${one} not found` }
    for (const method of ['DELETE', 'PATCH']) expect((await ask(method, `${path}/${second.id}`, {})).body).toEqual(none)
    expect((await ask('GET', path)).body).toEqual([first])

    const { body: audit } = await ask<{ action: string; metadata: object }[]>('GET', '/v1/audit-log')
    const verbs = ['delete', ...Array(3).fill('update'), 'create', 'create']
    expect(audit.map(({ action }) => action)).toEqual(verbs.map((verb) => `${noun}.${verb}`))
    const made = ['name', ...Object.keys(sent)]
    const named = [[], Object.keys(changed), ['name'], made, made]
    expect(audit.slice(1).map(({ metadata }) => metadata)).toEqual(named.map((fields) => ({ fields })))

    const more = await Promise.all(Array.from({ length: max - 1 }, (_, at) => add(`S${at}`)))
    expect(new Set(more.map(({ status }) => status))).toEqual(new Set([200]))
    const full = { detail: `The workspace has as many ${many} as it may have` }
    expect(await add('One more')).toEqual({ status: 409, body: full })
  },
)

test('names are one text however they are spaced, and a funnel lasts a week where nothing is said', async () => {
  expect((await ask('POST', '/v1/snippets', { name: ' Tags ', text })).body.name).toBe('Tags')
  expect((await ask('POST', '/v1/snippets', { name: 'Tags\u00a0', text })).status).toBe(409)
  const { body } = await ask('POST', '/v1/funnels', { name: 'F', steps })
  expect(body.within).toBe('7')
  expect((await ask('PATCH', `/v1/funnels/${body.id}`, { within: 30 })).body.within).toBe('30')
})

/** Parts of a body, where the fault is, and what is said of it. */
type Refused = [fields: object, place: string, said: string]
const filters = (sent: object, place: string, said: string): Refused => [
  { filters: sent },
  `filters${place && `.${place}`}`,
  said,
]
const refused: Readonly<Record<string, Refused[]>> = {
  '/v1/segments': [
    filters({}, '', 'there must be a filter'),
    filters({ source: [] }, '', 'there must be a filter'),
    filters({ sauce: ['google'] }, 'sauce', 'Extra inputs are not permitted'),
    filters({ days: ['7'], os: ['Linux'] }, 'days', 'Extra inputs are not permitted'),
    filters({ source: 'google' }, 'source', 'valid list'),
    filters({ country: ['Mars'] }, 'country.0', 'a country is an ISO alpha-2 code'),
    filters({ channel: ['TV'] }, 'channel.0', 'Input should be'),
    ...['plan', ':pro', 'pl*n:pro', `${'x'.repeat(201)}:pro`].map((property) =>
      filters(
        { event_property: [property] },
        'event_property.0',
        'a property is its name of at most 200 characters, a colon and a value: plan:pro',
      ),
    ),
    filters({ event_property: [`plan:${'*a'.repeat(11)}`] }, 'event_property.0', 'at most 10 wildcards'),
    filters({ path: ['*a'.repeat(11)] }, 'path.0', 'at most 10 wildcards'),
    filters({ path: Array(filterValuesMax + 1).fill('/') }, 'path', `at most ${filterValuesMax} items`),
    filters({ path: Array(5).fill('x'.repeat(2_000)) }, '', 'at most 8000 characters'),
  ],
  '/v1/funnels': [
    [{ steps: ['path:/'] }, 'steps', 'at least 2 items'],
    [{ steps: Array(9).fill('path:/') }, 'steps', 'at most 8 items'],
    [{ steps: ['path:/', 'page:/'] }, 'steps.1', 'a step is path: or event:'],
    [{ steps: ['path:/', 'event:!signup'] }, 'steps.1', 'can not be negated'],
    [{ within: '31' }, 'within', 'should match pattern'],
  ],
  '/v1/snippets': [
    [{ name: 'n'.repeat(snippetNameLengthMax + 1) }, 'name', `at most ${snippetNameLengthMax} characters`],
    [{ name: 'a\nb' }, 'name', 'must be one line'],
    [{ name: ' \u3000 ' }, 'name', 'at least 1 character'],
    [{ text: '' }, 'text', 'at least 1 character'],
    [{ text: ' \n' }, 'text', 'must not be blank'],
    [{ text: 't'.repeat(snippetTextLengthMax + 1) }, 'text', `at most ${snippetTextLengthMax} characters`],
  ],
}

test.each(kinds)('$path refuses at its place, new or in a change, what it can not keep', async ({ path, sent }) => {
  const { body: made } = await ask('POST', path, { name: 'N', ...sent })
  for (const [fields, place, said] of refused[path]!) {
    for (const answer of [
      await ask('POST', path, { name: 'M', ...sent, ...fields }),
      await ask('PATCH', `${path}/${made.id}`, fields),
    ]) {
      expect([fields, answer.status, answer.body.detail[0].loc.join('.')]).toEqual([fields, 422, `body.${place}`])
      expect(answer.body.detail[0].msg).toContain(said)
    }
  }
  expect((await ask('GET', path)).body).toEqual([made])
})
