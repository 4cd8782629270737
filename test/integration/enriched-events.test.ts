/** What a running ingest adds to events from its tables: whose link and post led there, and the country. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { insertLink, type TrackedLink } from '../../postgres/tables/links.ts'
import { createWorkspace } from '../../postgres/tables/workspaces.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { freshStores, type TestStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

let stores: TestStores
let proxy: TcpProxy
let ingest: TestIngest
beforeAll(async () => {
  stores = await freshStores()
  proxy = await startTcpProxy(stores.databaseUrl)
  ingest = await start()
})
afterAll(async () => {
  await ingest?.stop()
  await proxy?.close()
  await stores?.close()
})

const trusting = { TRUSTED_PROXIES: '127.0.0.1' }
const start = (env: Record<string, string> = {}) =>
  startIngest(stores, { ...trusting, DATABASE_URL: proxy.url, ...env }, ingest)

async function makePost(workspaceId: number): Promise<number> {
  const [post] = await stores.pg.query<{ id: number }>(
    `INSERT INTO posts (workspace_id, title, base_caption) VALUES ($1, 'a', 'b') RETURNING id`,
    [workspaceId],
  )
  return post!.id
}

function makeLink(workspaceId: number, postId: number | null): Promise<TrackedLink> {
  const utm = { utmSource: 'svc', utmMedium: 'social', utmCampaign: '', utmContent: '' }
  const destinationUrl = 'https://example.com/sale'
  return insertLink(stores.pg, { workspaceId, label: 'a', destinationUrl, postId, socialAccountId: null, ...utm })
}

async function makeNeighbour(): Promise<number> {
  const workspace = { name: 'Other', slug: 'other', timezone: 'UTC', plan: 'growth' } as const
  return (await stores.pg.transaction((tx) => createWorkspace(tx, workspace))).workspaceId
}

let asked = 0
/** The columns of an event that is sent with these fields and headers, once it is stored. */
async function stored(event: object, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const { status, body } = await ingest.post(
    '/track',
    { tracking_key: ingest.key, event_name: `event-${asked++}`, ...event },
    headers,
  )
  expect([status, body.detail]).toEqual([202, undefined])
  await ingest.shipped()
  const [row] = await stores.ch.query<Record<string, unknown>>(
    'SELECT link_id, post_id, country FROM events WHERE id = {id:UInt64}',
    { id: body.event_id },
  )
  // Of none, two zero bytes, whichever way they are shown.
  return { ...row, country: String(row!['country']).replaceAll('\0', '') }
}

test('an event has the link and the post that its page’s URL names, as far as they are the workspace’s', async () => {
  const neighbour = await makeNeighbour()
  const [post, theirPost] = [await makePost(ingest.workspaceId), await makePost(neighbour)]
  const [plain, ofPost, theirs] = [
    await makeLink(ingest.workspaceId, null),
    await makeLink(ingest.workspaceId, post),
    await makeLink(neighbour, theirPost),
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

test('an event’s country is the proxy’s, the address’s, or the time zone’s', async () => {
  const from = (address: string, country = '') => ({ 'X-Forwarded-For': address, 'CF-IPCountry': country })
  const timezone = 'Europe/Vienna'
  expect(await stored({ timezone }, from('91.12.0.1', 'fr'))).toMatchObject({ country: 'FR' })
  for (const none of ['XX', 'T1', 'EU', 'ZZ', 'deu', '']) {
    expect([none, (await stored({ timezone }, from('91.12.0.1', none)))['country']]).toEqual([none, 'DE'])
  }
  expect(await stored({ timezone }, from('2a02:8070::1'))).toMatchObject({ country: 'DE' })
  expect(await stored({ ip: '200.160.2.3' }, from('91.12.0.1', 'FR'))).toMatchObject({ country: 'BR' })
  expect(await stored({ timezone })).toMatchObject({ country: 'AT' })
  expect(await stored({ timezone: 'UTC' })).toMatchObject({ country: '' })
})

test('a click on a short link has the country of the address that it came from', async () => {
  const link = await makeLink(ingest.workspaceId, null)
  const url = `http://127.0.0.1:${ingest.port}/l/${link.attribution_key}`
  const headers = {
    'X-Forwarded-For': '91.12.0.1',
    'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0',
  }
  expect((await fetch(url, { redirect: 'manual', headers })).status).toBe(302)
  await ingest.shipped()
  expect(await stores.ch.query('SELECT country FROM link_clicks WHERE link_id = {id:UInt32}', { id: link.id })).toEqual(
    [{ country: 'DE' }],
  )
})

test('with the database turned off only proxy and time zone tell of countries; a wrong one ends the start', async () => {
  await ingest.stop()
  ingest = await start({ COUNTRY_DATABASE: 'off' })
  expect(await stored({}, { 'X-Forwarded-For': '91.12.0.1' })).toMatchObject({ country: '' })
  expect(await stored({ timezone: 'Asia/Calcutta' }, { 'X-Forwarded-For': '91.12.0.1' })).toMatchObject({
    country: 'IN',
  })
  await ingest.stop()
  await expect(start({ COUNTRY_DATABASE: '/nowhere/x.mmdb' })).rejects.toThrow(
    /COUNTRY_DATABASE can't be used: ENOENT.*x\.mmdb/,
  )
})
