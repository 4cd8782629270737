import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  insertLinkWithKey,
  markLinkArchived,
  type NewLink,
  type TrackedLink,
} from '../../postgres/tables/links/links.ts'
import {
  insertDomain,
  noteCheck,
  removeDomain,
  type StoredDomain,
  updateDomain,
} from '../../postgres/tables/links/short-domains.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { shortDomainHopsMax } from '../../schemas/limits/domain-limits.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { type Visit, visit } from '../support/link-visits.ts'
import { newLink } from '../support/publishing.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
let ingest: TestIngest
let proxy: TcpProxy
let domain: StoredDomain
/** Leads somewhere for `/` and for unknown keys. */
let leading: StoredDomain
const leads = { root_url: 'https://www.example.com/', not_found_url: 'https://www.example.com/söme/404' }
let hosts = 0

beforeAll(async () => {
  proxy = await startTcpProxy(stores.databaseUrl)
  ingest = await startIngest(stores, { DATABASE_URL: proxy.url })
})
beforeEach(async () => {
  domain = await addVerified({ root_url: null, not_found_url: null })
  leading = await addVerified(leads)
})
afterEach(() => proxy.set('open'))
afterAll(async () => {
  await ingest?.stop()
  await proxy?.close()
})

async function addVerified(addresses: Pick<StoredDomain, 'root_url' | 'not_found_url'>): Promise<StoredDomain> {
  const host = `go${hosts++}.example.com`
  const added = (await insertDomain(stores.pg, ingest.workspaceId, { host, token: 't', ...addresses }))!
  return noteCheck(stores.pg, added.id, null)
}

const makeLink = (key: string, at: StoredDomain | null, more: Partial<NewLink> = {}) =>
  insertLinkWithKey(
    stores.pg,
    {
      ...newLink,
      workspaceId: ingest.workspaceId,
      destinationUrl: `https://example.com/${key}`,
      ...more,
      domainId: at?.id ?? null,
    },
    key,
  ) as Promise<TrackedLink>

const ask = (host: string, path: string, { headers, ...more }: Visit = {}) =>
  visit(ingest.port, path, { headers: { Host: host, ...headers }, ...more })

/** A new domain is known within a moment. */
const untilServed = (host: string, path: string, status = 302) =>
  expect.poll(async () => (await ask(host, path)).status).toBe(status)

/** Each thread learns by itself, and the next connection may be another's. */
const untilServedByAll = (host: string, path: string, status: number) =>
  expect
    .poll(async () => new Set((await Promise.all(Array.from({ length: 16 }, () => ask(host, path)))).map(statusOf)))
    .toEqual(new Set([status]))
const statusOf = ({ status }: { status: number }) => status

test('the same key leads elsewhere at each domain, in all that a short link can do, and each click is its own link’s', async () => {
  const own = await makeLink('spring', domain)
  const other = await makeLink('spring', leading)
  const plain = await makeLink('spring', null)
  await untilServed(domain.host, '/spring')
  await untilServed(leading.host, '/spring')
  const locations = [
    (await ask(`${domain.host.toUpperCase()}:8443`, '/spring?ref=bio&svc_qr=1')).location,
    (await ask(leading.host, '/spring', { method: 'HEAD' })).location,
    (await ask('a.example', '/l/spring')).location,
  ]
  expect(locations).toEqual([`${own.tracking_url}&ref=bio`, other.tracking_url, plain.tracking_url])
  expect((await ask(domain.host, '/s%70ring')).location).toBe(own.tracking_url)
  expect(await ask(domain.host, '/spring/')).toMatchObject({ status: 307, location: '/spring' })
  expect(await ask(domain.host, '/spring,/')).toMatchObject({ status: 307, location: '/spring,' })
  const split = await makeLink('split', domain, {
    targets: [{ device: 'desktop', destination_url: 'https://example.com/desktop' }],
  })
  expect((await ask(domain.host, '/split')).location).toMatch(/^https:\/\/example\.com\/desktop\?/)
  await makeLink('over', domain, { expiresAt: new Date(Date.now() - 1), expiredUrl: 'https://example.com/end' })
  expect(await ask(domain.host, '/over')).toMatchObject({ status: 307, location: 'https://example.com/end' })
  await makeLink('card', domain, { preview: { title: 'A card', description: '', image_url: null } })
  expect((await ask(domain.host, '/card', { headers: { 'User-Agent': 'Twitterbot/1.0' } })).text).toContain('A card')
  const locked = await makeLink('locked', domain, { passwordHash: await hashPassword('open') })
  expect((await ask(domain.host, '/locked')).text).toContain('type="password"')
  const form = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
  expect((await ask(domain.host, '/locked', { ...form, body: 'password=wrong' })).status).toBe(403)
  expect(await ask(domain.host, '/locked', { ...form, body: 'password=open' })).toMatchObject({
    status: 303,
    location: locked.tracking_url,
  })
  await ingest.shipped()
  const rows = await stores.ch.query<{ id: number; qr: number; clicks: number }>(
    `SELECT link_id AS id, countIf(way = 'qr') AS qr, count() AS clicks FROM link_clicks WHERE kind IN ('click', 'head')
     AND link_id IN {ids:Array(UInt32)} GROUP BY id ORDER BY id`,
    { ids: [plain, split, locked].map(({ id }) => id) },
  )
  expect(rows.map(({ id }) => id)).toEqual([plain.id, split.id, locked.id])
  const [scan] = await stores.ch.query<{ scans: number }>(
    `SELECT countIf(way = 'qr') AS scans FROM link_clicks WHERE link_id = ${own.id}`,
  )
  expect(scan!.scans).toBe(1)
})

test('the root and unknown keys lead where the domain says, or answer 404, and links of elsewhere are unknown', async () => {
  await makeLink('here', null)
  await makeLink('there', domain)
  await untilServed(leading.host, '/', 307)
  await untilServed(domain.host, '/there')
  expect(await ask(leading.host, '/')).toMatchObject({ status: 307, location: leads.root_url })
  const notFound = 'https://www.example.com/s%C3%B6me/404'
  for (const path of ['/none', '/here', '/there', '/l/here', '/a/b', '/favicon.ico']) {
    expect([path, (await ask(leading.host, path)).location]).toEqual([path, notFound])
    if (path !== '/there')
      expect([path, (await ask(domain.host, path)).text]).toEqual([path, expect.stringContaining('Link not found')])
  }
  expect(await ask(domain.host, '/')).toMatchObject({ status: 404, location: undefined })
  // At no other host anything stands under the root.
  expect((await ask('a.example', '/there')).text).toContain('"Not Found"')
  expect((await ask('a.example', `/l/${domain.id}/there`)).text).toContain('Link not found')
})

test('a domain has nothing of the product but links, and events, which need a key at any host', async () => {
  // A host that isn't known yet answers 404, too.
  await expect.poll(async () => (await ask(domain.host, '/none')).text).toContain('Link not found')
  for (const path of ['/metrics', '/svc.js', '/api/v1/growth/health', '/dashboard', '/v1/links']) {
    expect([path, (await ask(domain.host, path)).text]).toEqual([path, expect.stringContaining('Link not found')])
    expect((await ask(domain.host, path, { method: 'PUT' })).status).toBe(405)
  }
  expect((await ask(domain.host, '/none', { method: 'DELETE' })).status).toBe(405)
  const sent = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }
  expect((await ask(domain.host, '/api/v1/growth/track', sent)).status).toBe(422)
  expect((await ask(domain.host, '/api/v1/growth/pixel')).text).toContain('GIF89a')
})

test('a domain in a loop answers itself, and one that leads out of it leads on', async () => {
  const at = (host: string, path: string) => `https://${host}/${path}`
  const first = await addVerified({ root_url: 'https://www.example.com/', not_found_url: at(leading.host, '') })
  const second = await addVerified({ root_url: at(first.host, ''), not_found_url: at(first.host, 'a') })
  const third = await addVerified({ root_url: at(second.host, 'b'), not_found_url: at(second.host, '') })
  await updateDomain(stores.pg, leading.id, { root_url: at(third.host, ''), not_found_url: null })
  await expect.poll(async () => (await ask(third.host, '/x')).location).toBe(at(second.host, ''))
  await expect.poll(async () => (await ask(second.host, '/')).location).toBe(at(first.host, ''))
  // Each of these would lead to another of them, once ingest knows where the leading one leads by now.
  for (const [{ host }, path] of [
    [first, '/x'],
    [third, '/'],
    [second, '/x'],
  ] as const) {
    await expect.poll(() => ask(host, path), { message: path }).toMatchObject({ status: 404, location: undefined })
  }
})

test('a chain of more domains than one may lead through ends at the first', async () => {
  const domains = [domain]
  while (domains.length < shortDomainHopsMax + 2) {
    domains.unshift(await addVerified({ root_url: null, not_found_url: `https://${domains[0]!.host}/x` }))
  }
  const [first, second, third] = domains
  await untilServed(second!.host, '/x', 307)
  expect((await ask(second!.host, '/x')).location).toBe(`https://${third!.host}/x`)
  await expect.poll(async () => (await ask(first!.host, '/x')).text).toContain('Link not found')
})

test('domains go on while Postgres is away, also through a restart, and an unknown link is none that is gone', async () => {
  await makeLink('stays', domain)
  await untilServed(domain.host, '/stays')
  const copied = async (file: string) => readFile(join(stores.dataDir, 'ingest', file), 'utf8')
  await expect.poll(() => copied('links.jsonl')).toContain(`"${domain.id}/stays"`)
  for (const mode of ['refusing', 'hanging'] as const) {
    await proxy.set(mode)
    expect((await ask(domain.host, '/stays')).status).toBe(302)
    expect((await ask(domain.host, '/other')).status).toBe(503)
    if (mode === 'hanging') break
    // A start takes long where Postgres hangs: test/integration/link-redirect.test.ts.
    await ingest.stop('SIGKILL')
    ingest = await startIngest(stores, { DATABASE_URL: proxy.url, API_HOST: 'https://api.example.com' }, ingest)
  }
  expect(await mayHaveCertificate(domain.host)).toBe(200)
  await ingest.stop('SIGKILL')
  await proxy.set('refusing')
  await rm(join(stores.dataDir, 'ingest', 'short-domains.json'))
  ingest = await startIngest(stores, { DATABASE_URL: proxy.url, API_HOST: 'https://api.example.com' }, ingest)
  for (const path of ['/stays', '/stays/', '/']) {
    const { status, text } = await ask(domain.host, path)
    expect([path, status, text]).toEqual([path, 503, expect.stringMatching(/\r\nRetry-After: \d/i)])
  }
  for (const host of ['api.example.com', '127.0.0.1:80']) expect((await ask(host, '/stays')).status).toBe(404)
  expect(await mayHaveCertificate(domain.host)).toBe(503)
  await proxy.set('open')
  await untilServed(domain.host, '/stays')
  expect(await mayHaveCertificate(domain.host)).toBe(200)
  for (const host of ['api.example.com', 'go.example.org', '']) expect(await mayHaveCertificate(host)).toBe(404)
})

/** As a proxy asks: at whatever host it reaches ingest by. */
const mayHaveCertificate = async (host: string) =>
  (await ask('127.0.0.1', `/api/v1/growth/short-domain?${new URLSearchParams({ domain: host })}`)).status

test('a removed domain serves nothing within a moment, in each thread, and an archived link is back when its host is', async () => {
  await ingest.stop()
  const taken = { API_HOST: `https://${domain.host.toUpperCase()}` }
  await expect(startIngest(stores, taken, ingest)).rejects.toThrow(`API_HOST names ${domain.host}, which is a short`)
  ingest = await startIngest(stores, { DATABASE_URL: proxy.url, INGEST_WORKERS: '2' }, ingest)
  const link = await makeLink('autumn', domain)
  await untilServedByAll(domain.host, '/autumn', 302)
  await markLinkArchived(stores.pg, ingest.workspaceId, link.id, true)
  expect((await ask(domain.host, '/autumn')).status).toBe(302)
  await removeDomain(stores.pg, domain.id)
  await untilServedByAll(domain.host, '/autumn', 404)
  expect((await ask(domain.host, '/metrics')).text).toContain('ingest_')
  const again = await insertDomain(stores.pg, ingest.workspaceId, { ...domain, token: 'u' })
  await noteCheck(stores.pg, again!.id, null)
  await untilServedByAll(domain.host, '/autumn', 302)
})
