/** What a running ingest adds to events from its tables: whose link and post led there, and the country. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createWorkspace } from '../../postgres/tables/workspaces.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { makeLink, makePost } from '../support/publishing.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
let proxy: TcpProxy
let ingest: TestIngest
beforeAll(async () => {
  proxy = await startTcpProxy(stores.databaseUrl)
  ingest = await start()
})
afterAll(async () => {
  await ingest?.stop()
  await proxy?.close()
})

const trusting = { TRUSTED_PROXIES: '127.0.0.1' }
const start = (env: Record<string, string> = {}) =>
  startIngest(stores, { ...trusting, DATABASE_URL: proxy.url, ...env }, ingest)

async function makeNeighbour(): Promise<number> {
  const workspace = { name: 'Other', slug: 'other', timezone: 'UTC', plan: 'growth' } as const
  return (await stores.pg.transaction((tx) => createWorkspace(tx, workspace))).workspaceId
}

let asked = 0
/** The columns of an event that is sent with these fields and headers, once it is stored. */
async function stored(event: object, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const [row] = await storedAll([event], headers)
  return row!
}

/** The same of several, in the order in which they were sent. */
async function storedAll(events: object[], headers: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
  const named = events.map((event) => ({ event_name: `event-${asked++}`, ...event }))
  const { body } = await ingest.post('/track/batch', { tracking_key: ingest.key, events: named }, headers)
  expect([body.accepted, body.rejected]).toEqual([events.length, []])
  await ingest.shipped()
  const rows = await stores.ch.query<Record<string, unknown>>(
    'SELECT link_id, post_id, country, url, path, metric, metric_value FROM events WHERE id IN {ids:Array(UInt64)} ORDER BY id',
    { ids: body.event_ids },
  )
  // Of none, two zero bytes, whichever way they are shown.
  return rows.map((row) => ({ ...row, country: String(row['country']).replaceAll('\0', '') }))
}

test('an event has the link and the post that its page’s URL names, as far as they are the workspace’s', async () => {
  const neighbour = await makeNeighbour()
  const [post, theirPost] = [await makePost(stores, ingest.workspaceId), await makePost(stores, neighbour)]
  const [plain, ofPost, theirs] = [
    await makeLink(stores, ingest.workspaceId, null),
    await makeLink(stores, ingest.workspaceId, post),
    await makeLink(stores, neighbour, theirPost),
  ]
  const at = async (query: string) => {
    const { link_id, post_id } = await stored({ url: `https://example.com/sale?${query}` })
    return [link_id, post_id]
  }
  // New links are told of at once, new posts within seconds.
  await vi.waitUntil(async () => (await at(`svc_post_id=${post}`))[1] === post, { timeout: 60_000 })
  expect((await stored({ url: ofPost.tracking_url }))['link_id']).toBe(ofPost.id)
  expect(await at(`svc_link_id=${ofPost.id}`)).toEqual([ofPost.id, post])
  expect(await at(`svc_link_id=${plain.id}&svc_post_id=${post}`)).toEqual([plain.id, post])
  expect(await at(`svc_link_id=${theirs.id}&svc_post_id=${theirPost}`)).toEqual([0, 0])
  expect(await at(`svc_link_id=${theirs.id + 1}&svc_post_id=${theirPost + 1}`)).toEqual([0, 0])

  // And so it stays while Postgres is away.
  await proxy.set('refusing')
  expect(await at(`svc_link_id=${ofPost.id}`)).toEqual([ofPost.id, post])
  expect(await at(`svc_post_id=${post}`)).toEqual([0, post])
  expect(await at(`svc_link_id=${theirs.id}&svc_post_id=${theirPost}`)).toEqual([0, 0])
  await proxy.set('open')
})

async function dropped(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${ingest.port}/metrics`)).text()
  const found = text.matchAll(/^ingest_fields_dropped_total\{.*reason="(\w+)".*\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, reason, count]) => [reason, Number(count)]))
}

test('a measurement beyond all bounds is no sample, and is counted', async () => {
  const vital = ([metric, value]: [string, number]) => ({ event_name: 'web_vital', properties: { metric, value } })
  const good = Object.entries({ LCP: 60_000, CLS: 10 })
  const bad: [string, number][] = [...Object.entries({ LCP: 1e9, FCP: 60_001, INP: 1e5, CLS: 11 }), ['LCP', -1]]
  const rows = await storedAll([...good, ...bad].map(vital))
  const kept = rows.map(({ metric, metric_value: value }) => [metric, value])
  expect(kept).toEqual([...good, ...bad.map(() => ['none', 0])])
  expect((await dropped())['vital_out_of_bounds']).toBe(bad.length)
})

test('an e-mail that is none makes no contact: it is counted, and the event kept', async () => {
  const bad = ['nope', 'a@b', 'a b@example.com', '@example.com', 'a@example..com', 'a@b@example.com']
  const good = ['Ada@Example.com', 'jörg@müller.example', "o'brien+tag@mail.example.co.uk"]
  const identify = (email: string) => ({ event_type: 'identify', anonymous_id: 'somebody', email })
  expect(await storedAll([...bad, ...good].map(identify))).toHaveLength(bad.length + good.length)
  const sent = await stores.pg.query<{ email: string | null }>('SELECT email FROM inbox ORDER BY event_id')
  expect(sent.map(({ email }) => email)).toEqual([...bad.map(() => null), ...good.map((email) => email.toLowerCase())])
  expect((await dropped())['invalid_email']).toBe(bad.length)
})

test('a text that is no page is none, and no path leads a browser away', async () => {
  const script = 'javascript:alert(1)'
  const bad = [
    ...[script, `${script}//https://x.example/`, ' javascript://x/%0aalert(1)', 'JavaScript://x.example/%0aalert(1)'],
    ...['data:text/html,x', 'no URL'],
  ]
  for (const row of await storedAll(bad.map((url) => ({ url })))) expect(row).toMatchObject({ url: '', path: '' })
  expect((await dropped())['not_a_page_url']).toBe(bad.length)
  const named: [string, string][] = [
    [script, `/${script}`],
    ['//evil.example/x', '/evil.example/x'],
    ['/\\evil.example/x', '/evil.example/x'],
    ['/\t/evil.example/x', '/evil.example/x'],
    ['pricing?x=1', '/pricing'],
    ['https://example.com/a', '/a'],
  ]
  const beside = named.map(([path]) => ({ url: 'https://example.com/b', path }))
  const alone = named.map(([path]) => ({ path }))
  const inUrl = { url: 'https://example.com//evil.example/x' }
  const paths = (await storedAll([...beside, ...alone, inUrl])).map(({ path }) => path)
  const kept = named.map(([, path]) => path)
  expect(paths).toEqual([...kept, ...kept, '/evil.example/x'])
})

test('an event’s country is the proxy’s, the address’s, or the time zone’s', async () => {
  const from = (address: string, country = '') => ({ 'X-Forwarded-For': address, 'CF-IPCountry': country })
  const timezone = 'Europe/Vienna'
  const cases: (readonly [event: object, headers: Record<string, string>, country: string])[] = [
    [{ timezone }, from('91.12.0.1', 'fr'), 'FR'],
    ...['XX', 'T1', 'EU', 'ZZ', 'deu', ''].map((none) => [{ timezone }, from('91.12.0.1', none), 'DE'] as const),
    [{ timezone }, from('2a02:8070::1'), 'DE'],
    [{ ip: '200.160.2.3' }, from('91.12.0.1', 'FR'), 'BR'],
    [{ timezone }, {}, 'AT'],
    [{ timezone: 'UTC' }, {}, ''],
  ]
  const rows = await Promise.all(cases.map(([event, headers]) => stored(event, headers)))
  expect(rows.map(({ country }) => country)).toEqual(cases.map(([, , country]) => country))
})

test('a click on a short link has the country of the address that it came from', async () => {
  const link = await makeLink(stores, ingest.workspaceId, null)
  const url = `http://127.0.0.1:${ingest.port}/l/${link.attribution_key}`
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0'
  const headers = { 'X-Forwarded-For': '91.12.0.1', 'User-Agent': agent }
  expect((await fetch(url, { redirect: 'manual', headers })).status).toBe(302)
  await ingest.shipped()
  const sql = 'SELECT country FROM link_clicks WHERE link_id = {id:UInt32}'
  expect(await stores.ch.query(sql, { id: link.id })).toEqual([{ country: 'DE' }])
})

test('with the database turned off only proxy and time zone tell of countries; a wrong one ends the start', async () => {
  await ingest.stop()
  ingest = await start({ COUNTRY_DATABASE: 'off' })
  const countries = await storedAll([{}, { timezone: 'Asia/Calcutta' }], { 'X-Forwarded-For': '91.12.0.1' })
  expect(countries).toMatchObject([{ country: '' }, { country: 'IN' }])
  await ingest.stop()
  await expect(start({ COUNTRY_DATABASE: '/nowhere/x.mmdb' })).rejects.toThrow(
    /COUNTRY_DATABASE can't be used: ENOENT.*x\.mmdb/,
  )
})
