/** Traffic that a workspace leaves out: its rules through the API, and what a running ingest does by them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertLink } from '../../postgres/tables/links/links.ts'
import { changeWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { exclusionsMax } from '../../schemas/limits/exclusion-limits.ts'
import { setUpApi } from '../support/api.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { asking, newLink } from '../support/publishing.ts'
import { browserAgent, sendChunk } from '../support/replays.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
const ask = asking(api, () => mine.apiKey)
let ingest: TestIngest
beforeAll(async () => {
  const { trackingKey: key, workspaceId } = mine
  ingest = await startIngest(stores, { TRUSTED_PROXIES: '127.0.0.1' }, { key, workspaceId })
})
afterAll(() => ingest?.stop())

const nothing = { addresses: [], countries: [], paths: [], hostnames: [] }
const rules = {
  addresses: ['198.51.100.0/24'],
  countries: ['AQ'],
  paths: ['/admin/*'],
  hostnames: ['example.com'],
}
const set = (body: unknown) => ask('PATCH', '/v1/exclusions', body as object)
const headersOf = ({ address = '192.0.2.1', agent = browserAgent }) => ({
  'X-Forwarded-For': address,
  'User-Agent': agent,
})
const pageview = (more: object = {}) => ({
  tracking_key: ingest.key,
  event_name: 'pageview',
  url: 'https://example.com/',
  anonymous_id: 'a',
  ...more,
})
const track = (more: object, from: Parameters<typeof headersOf>[0] = {}) =>
  ingest.post('/track', pageview(more), headersOf(from))

/** Sets the rules, and waits until ingest has heard of them. */
async function setRules(): Promise<void> {
  expect((await set(rules)).status).toBe(200)
  await expect.poll(async () => (await track({ event_name: 'probe', path: '/admin/' })).status).toBe(200)
}

async function stored(table: string): Promise<Record<string, unknown>[]> {
  await ingest.shipped()
  return stores.ch.query(`SELECT * FROM ${table} ORDER BY id`)
}

test('lists are stored in one form, without repeats; those that aren’t sent stay; changes are audited', async () => {
  const first = await set({ addresses: ['192.0.2.77/24', '192.0.2.0/24', '::ffff:192.0.2.1'], countries: ['aq'] })
  expect([first.status, first.body]).toEqual([
    200,
    { addresses: ['192.0.2.0/24', '192.0.2.1'], countries: ['AQ'], paths: [], hostnames: [] },
  ])
  const second = await set({ paths: ['/%C3%BCber/*'], hostnames: ['*.Bücher.example'], countries: [] })
  expect(second.body).toEqual({
    addresses: ['192.0.2.0/24', '192.0.2.1'],
    countries: [],
    paths: ['/über/*'],
    hostnames: ['*.xn--bcher-kva.example'],
  })
  const shown = async (address: string) => {
    const headers = { 'X-Forwarded-For': address }
    return (await api.ask('/v1/exclusions', { key: mine.apiKey, headers })).json()
  }
  expect(await shown('9.9.9.9')).toEqual({ ...second.body, caller_address: '9.9.9.9' })
  expect(await shown('2a00:1:2:3:4::5')).toMatchObject({ caller_address: '2a00:1:2:3::/64' })
  // They may be a proxy's, which all visitors come by.
  for (const local of ['127.0.0.1', '10.0.0.7', 'fe80::1']) {
    expect(await shown(local)).toMatchObject({ caller_address: null })
  }
  expect((await ask('GET', '/v1/audit-log?action=exclusions.update')).body).toHaveLength(2)
  expect((await set(nothing)).body).toEqual(nothing)
})

test.each<[object, (string | number)[], string]>([
  // Other texts that are no entries: test/unit/exclusions.test.ts.
  [{ addresses: ['192.0.2.1', 'office'] }, ['addresses', 1], 'value_error'],
  [{ addresses: ['x'.repeat(50)] }, ['addresses', 0], 'string_too_long'],
  [{ addresses: null }, ['addresses'], 'list_type'],
  [{ countries: ['XX'] }, ['countries', 0], 'value_error'],
  [{ paths: ['admin'] }, ['paths', 0], 'value_error'],
  [{ paths: [''] }, ['paths', 0], 'string_too_short'],
  [{ hostnames: ['https://example.com'] }, ['hostnames', 0], 'value_error'],
  [{ paths: Array.from({ length: exclusionsMax + 1 }, () => '/a') }, ['paths'], 'too_long'],
])('%j is 422, and changes nothing', async (body, loc, type) => {
  await set({ paths: ['/before'] })
  const answer = await set({ countries: ['DE'], ...body })
  expect([answer.status, answer.body.detail[0].loc, answer.body.detail[0].type]).toEqual([422, ['body', ...loc], type])
  expect((await set({})).body).toEqual({ ...nothing, paths: ['/before'] })
})

test('what the rules leave out is answered without a 202, and isn’t stored, as a batch, a person or a crawler’s visit either', async () => {
  await setRules()
  const elsewhere = { url: 'https://copied.example/' }
  const cases: [more: object, from: Parameters<typeof headersOf>[0], reason: string | null][] = [
    [{}, {}, null],
    [{}, { address: '198.51.100.7' }, 'excluded_address'],
    [{}, { address: '::ffff:198.51.100.7' }, 'excluded_address'],
    [{ ip: '198.51.100.7' }, {}, 'excluded_address'],
    [{ ip: '192.0.2.9' }, { address: '198.51.100.7' }, null],
    [{ timezone: 'Antarctica/Vostok' }, {}, 'excluded_country'],
    [elsewhere, {}, 'excluded_hostname'],
    [elsewhere, { agent: 'Googlebot/2.1' }, 'excluded_hostname'],
    [{ url: 'https://EXAMPLE.com:8443/' }, {}, null],
    [{ url: null }, {}, null],
    [{ path: '/admin/users' }, {}, 'excluded_path'],
    [{ event_type: 'identify', email: 'a@example.com', path: '/admin/users' }, {}, 'excluded_path'],
    [{ event_type: 'conversion', email: 'a@example.com', ...elsewhere }, {}, 'excluded_hostname'],
  ]
  const ids: unknown[] = []
  for (const [more, from, reason] of cases) {
    const { status, body } = await track(more, from)
    if (reason === null) ids.push(body.event_id)
    const taken = { accepted: true, event_id: expect.any(Number), deduplicated: false }
    expect([more, status, body]).toEqual([
      more,
      ...(reason === null ? [202, taken] : [200, { accepted: false, reason }]),
    ])
  }
  // A repeat of an event that is on disk stays one, though it would be left out by now.
  const batch = [
    { client_event_id: 'b-1' },
    { path: '/admin/b' },
    { event_name: '' },
    { client_event_id: 'b-1', ...elsewhere },
    { ip: '198.51.100.8' },
  ].map((more) => ({ event_name: 'pageview', url: 'https://example.com/', anonymous_id: 'b', ...more }))
  const { status, body } = await ingest.post('/track/batch', { tracking_key: ingest.key, events: batch }, headersOf({}))
  expect([status, body]).toMatchObject([
    202,
    {
      accepted: 2,
      deduplicated: 1,
      event_ids: [expect.any(Number), body.event_ids![0]],
      rejected: [{ index: 2 }],
      excluded: [
        { index: 1, reason: 'excluded_path' },
        { index: 4, reason: 'excluded_address' },
      ],
    },
  ])
  ids.push(body.event_ids![0])
  const pixel = `${ingest.url}/pixel?tracking_key=${ingest.key}`
  expect((await fetch(pixel, { headers: headersOf({ address: '198.51.100.9' }) })).status).toBe(200)
  const events = (await stored('events')).filter(({ event_name: name }) => name !== 'probe')
  expect(events.map(({ id }) => id)).toEqual(ids)
  expect(await stored('bot_visits')).toEqual([])
  expect(await stores.pg.query('SELECT 1 FROM inbox')).toEqual([])
  expect(await ingest.counted('ingest_events_excluded_total')).toMatchObject({ address: 5, country: 1, hostname: 3 })
})

test('replays and clicks follow the rules, the redirect goes on, and all of it counts again once the rules are gone', async () => {
  await setRules()
  await changeWorkspace(stores.pg, mine.workspaceId, { replayEnabled: true })
  const chunk = (url: string, from = {}) => sendChunk(ingest, { url }, headersOf(from))
  await expect.poll(async () => (await chunk('https://example.com/')).status).toBe(202)
  for (const [url, from, reason] of [
    ['https://example.com/', { address: '198.51.100.7' }, 'excluded_address'],
    ['https://copied.example/', {}, 'excluded_hostname'],
    ['https://example.com/admin/a', {}, 'excluded_path'],
  ] as const) {
    const { status, body } = await chunk(url, from)
    expect([status, body]).toEqual([200, { accepted: false, reason }])
  }
  const link = await insertLink(stores.pg, {
    ...newLink,
    workspaceId: mine.workspaceId,
    destinationUrl: 'https://example.com/sale',
  })
  const click = async (address: string) => {
    const url = `http://127.0.0.1:${ingest.port}/l/${link.attribution_key}`
    const { status, headers } = await fetch(url, { redirect: 'manual', headers: headersOf({ address }) })
    return [status, headers.get('location')]
  }
  for (const address of ['198.51.100.7', '192.0.2.1']) expect(await click(address)).toEqual([302, link.tracking_url])
  expect(await stored('link_clicks')).toMatchObject([{ link_id: link.id, kind: 'click' }])
  await set(nothing)
  expect(await stores.pg.query('SELECT 1 FROM exclusions')).toEqual([])
  await expect.poll(async () => (await track({ path: '/admin/users' }, { address: '198.51.100.7' })).status).toBe(202)
})
