import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  insertLink,
  insertLinkWithKey,
  type LinkFields,
  markLinkArchived,
  type NewLink,
  type TrackedLink,
  updateLink,
} from '../../postgres/tables/links/links.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { linkPasswordTriesOfNetworkMax } from '../../schemas/limits/ingest-limits.ts'
import { startApi } from '../support/api.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { iPhone, clicksOf as storedClicksOf, visit } from '../support/link-visits.ts'
import { onOneDay } from '../support/one-day.ts'
import { newLink } from '../support/publishing.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
let ingest: TestIngest
let proxy: TcpProxy
beforeAll(async () => {
  proxy = await startTcpProxy(stores.databaseUrl)
  ingest = await start()
})
afterEach(() => proxy.set('open'))
afterAll(async () => {
  await ingest?.stop()
  await proxy?.close()
})

const env = {
  SHORT_URL_HOST: 'https://go.example.com/to/',
  TRUSTED_PROXIES: '127.0.0.1',
  COUNTRY_HEADER: 'CF-IPCountry',
}
const start = (more = {}) => startIngest(stores, { ...env, DATABASE_URL: proxy.url, ...more }, ingest)

const makeLink = (destinationUrl = 'https://example.com/sale?x=1#top', more: Partial<NewLink> = {}) =>
  insertLink(stores.pg, { ...newLink, workspaceId: ingest.workspaceId, destinationUrl, ...more })

const follow = (key: string, headers: Record<string, string> = {}, method = 'GET', at = '/l') =>
  visit(ingest.port, `${at}/${key}`, { method, headers })

/** As many browsers as make it next to certain that a share of 33 % has one, whatever the day's salt. */
const phones = Array.from(
  { length: 60 },
  (_, at) => `Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/${80 + at}.0 Mobile Safari/537.36`,
)

const followLocation = async ({ attribution_key: key }: TrackedLink, agent: string, method = 'GET') =>
  (await follow(key, { 'User-Agent': agent }, method)).location
const clicksOf = (link: TrackedLink) => storedClicksOf(stores, ingest, link)
const requests = () => ingest.counted('ingest_link_requests_total', 'outcome')

test('GET leads to the tracking URL by 302, which nobody stores, and the click is stored as a person’s', async () => {
  const link = await makeLink()
  const { status, header } = await follow(link.attribution_key, { Referer: 'https://x.com/post?gclid=secret' })
  expect(status).toBe(302)
  expect(header('Location')).toBe(link.tracking_url)
  expect(header('Cache-Control')).toBe('private, no-store')
  expect(header('Referrer-Policy')).toBe('unsafe-url')
  expect(header('X-Request-Id')).toMatch(/^[\w.:-]+$/)
  const [row] = await clicksOf(link)
  expect(row).toMatchObject({
    workspace_id: ingest.workspaceId,
    link_id: link.id,
    post_id: 0,
    kind: 'click',
    event_name: 'link_click_through',
    device: 'desktop',
    browser: 'Firefox',
    os: 'Linux',
    bot_name: '',
  })
  expect(row!['referrer']).not.toContain('secret')
  expect(row!['visitor']).not.toBe(0)
  expect(await stores.ch.query('SELECT 1 FROM events')).toEqual([])
})

test('an archived link with every odd character redirects as it is stored, under the root of short links, and is counted', async () => {
  const link = await makeLink('https://bücher.example:8443/straße/a b?q=ö&q=%zz&x="<>"#ü')
  expect(await markLinkArchived(stores.pg, ingest.workspaceId, link.id, true)).not.toBeNull()
  expect((await follow(link.attribution_key, {}, 'GET', '/to')).location).toBe(link.tracking_url)
  expect(await clicksOf(link)).toMatchObject([{ link_id: link.id }])
})

test('the query of the short URL is passed on to wherever the link leads, and to no address after its end', async () => {
  let link = await makeLink()
  const query = '?ref=bio&gclid=Cj0&x=2&utm_source=theirs&svc_link_id=9'
  const asked = (headers = {}, method = 'GET') => follow(`${link.attribution_key}${query}`, headers, method)
  const passed = link.tracking_url.replace('#', '&ref=bio&gclid=Cj0#')
  for (const method of ['GET', 'HEAD']) expect((await asked({}, method)).location).toBe(passed)
  link = await updateLink(stores.pg, link, {
    ...link,
    targets: [{ countries: ['DE'], destination_url: 'https://example.com/de' }],
    preview: { title: 'Half price', description: '', image_url: null },
  })
  await expect
    .poll(async () => (await asked({ 'User-Agent': 'facebookexternalhit/1.1' })).text)
    .toContain(passed.replaceAll('&', '&amp;'))
  link = await updateLink(stores.pg, link, {
    ...link,
    expires_at: new Date(Date.now() - 1),
    expired_url: 'https://example.com/over',
  })
  await expect.poll(async () => (await asked()).location).toBe('https://example.com/over')
})

test('HEAD, bots, HTTP libraries, previews and prefetches are redirected, and kept apart from people’s clicks', async () => {
  const link = await makeLink()
  const { attribution_key: key } = link
  const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
  const cases: [headers: Record<string, string>, kind: string, name?: string, method?: string][] = [
    [{}, 'head', '', 'HEAD'],
    [{ 'Sec-Purpose': 'prefetch;prerender' }, 'prefetch'],
    [{ Purpose: 'prefetch' }, 'prefetch'],
    [{ 'User-Agent': 'facebookexternalhit/1.1' }, 'preview', 'facebookexternalhit'],
    [{ 'User-Agent': googlebot }, 'bot', 'Googlebot', 'HEAD'],
    [{ 'User-Agent': 'curl/8.5.0' }, 'bot', 'curl'],
    [{ 'User-Agent': '' }, 'bot', 'Unknown', 'HEAD'],
    [{}, 'click'],
    // A proxy may add its own line behind the client's.
    [{ 'X-Forwarded-For': '203.0.113.7', 'x-forwarded-for': '198.51.100.1' }, 'click'],
    [{ 'X-Forwarded-For': '203.0.113.8', 'x-forwarded-for': '198.51.100.1' }, 'click'],
  ]
  for (const [headers, , , method] of cases) {
    const { status, header } = await follow(key, headers, method)
    expect([status, header('Location')]).toEqual([302, link.tracking_url])
  }
  const rows = await clicksOf(link)
  const expected = cases.map(([, kind, name = '']) => [kind, name])
  expect(rows.map(({ kind, bot_name }) => [kind, bot_name])).toEqual(expected)
  // The same browser at the address that the trusted proxy's own line names is one visitor.
  const [direct, one, other] = rows.slice(-3).map(({ visitor }) => visitor)
  expect([one === other, one === direct]).toEqual([true, false])
})

test('a link is found at once after it was made, though it wasn’t there a moment before', async () => {
  const key = 'aaaaaaaa'
  expect((await follow(key)).status).toBe(404)
  const link = await makeLink()
  await stores.pg.query('UPDATE links SET attribution_key = $1 WHERE id = $2', [key, link.id])
  await expect.poll(async () => (await follow(key)).status).toBe(302)
})

test('from its end on a link leads elsewhere or nowhere, by the time of the request, and counts no click', async () => {
  let link = await makeLink()
  const change = async (fields: Partial<LinkFields>) => {
    link = await updateLink(stores.pg, link, { ...link, ...fields })
  }
  const { attribution_key: key } = link
  const lead = async (headers = {}, method = 'GET') => {
    const { status, header } = await follow(key, headers, method)
    return [status, header('Location'), header('Cache-Control')]
  }
  const there = [302, link.tracking_url, 'private, no-store']
  expect(await lead()).toEqual(there)
  let end = 0
  // On a slow machine the end has passed before anybody could ask: a later one then.
  for (let inMs = 1_000; Date.now() >= end; inMs *= 2) {
    end = Date.now() + inMs
    await change({ expires_at: new Date(end), expired_url: 'https://bücher.example/vorbei?a=ö' })
    let led = await lead()
    // That an earlier end was put off is told within seconds.
    while (led[0] !== 302 && Date.now() < end) led = await lead()
    if (Date.now() < end) expect(led).toEqual(there)
  }
  const elsewhere = [307, 'https://xn--bcher-kva.example/vorbei?a=%C3%B6', 'private, no-store']
  await expect.poll(() => lead()).toEqual(elsewhere)
  expect(Date.now()).toBeGreaterThanOrEqual(end)
  const { expired } = await requests()
  expect(await lead({}, 'HEAD')).toEqual(elsewhere)
  expect((await requests())['expired']).toBe(expired! + 1)
  const stored = await clicksOf(link)
  expect(stored.every(({ occurred_at }) => Date.parse(`${occurred_at}Z`) < end)).toBe(true)

  await change({ expired_url: null })
  await expect.poll(() => lead()).toEqual([410, undefined, 'no-store'])
  const { header, text } = await follow(key)
  expect([header('Content-Type'), text.includes('expired')]).toEqual(['text/html; charset=utf-8', true])
  await change({ expires_at: null, destination_url: 'https://example.com/again' })
  await expect.poll(() => lead()).toEqual([302, link.tracking_url, 'private, no-store'])
  expect(link.tracking_url).toContain('/again?')
})

test('an unknown key is a 404 page, whatever it looks like', async () => {
  for (const key of ['00000000', 'short', 'far-too-long-a-key', '%2e%2e%2f', '../metrics', 'a'.repeat(500)]) {
    const { status, header, text } = await follow(key)
    expect(status).toBe(404)
    if (/^\w+$/.test(key))
      expect([header('Content-Type'), text]).toEqual(['text/html; charset=utf-8', expect.any(String)])
    expect(header('Location')).toBeUndefined()
  }
  const { header } = await follow('00000000')
  expect([header('Cache-Control'), header('X-Content-Type-Options')]).toEqual(['no-store', 'nosniff'])
  const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  expect(header('Content-Security-Policy')).toBe(policy)
})

test('a slash behind a key is redirected away, and the root of links is a 404 page', async () => {
  const link = await makeLink()
  for (const at of ['/l', '/to']) {
    const { status, header } = await follow(`${link.attribution_key}/?a=1`, {}, 'GET', at)
    expect([status, header('Location')]).toEqual([307, `${at}/${link.attribution_key}?a=1`])
    expect((await follow(`${link.attribution_key}/`, {}, 'HEAD', at)).status).toBe(307)
    for (const path of [at, `${at}/`, `${at}/no.key/`, `${at}/${link.attribution_key}/more`]) {
      const { status, header } = await follow(path.slice(1), {}, 'GET', '')
      expect([path, status, header('Content-Type')]).toEqual([path, 404, 'text/html; charset=utf-8'])
    }
  }
})

test('a chosen key leads on by its case, with a slash behind it and with escaped letters too', async () => {
  const fields = { ...newLink, workspaceId: ingest.workspaceId }
  const made = (await insertLinkWithKey(stores.pg, fields, 'Spring-sale_1'))!
  const statusOf = async (key: string) => (await follow(key)).status
  expect((await follow('Spring-sale_1')).location).toBe(made.tracking_url)
  for (const at of ['/l', '/to']) {
    for (const written of ['%53pring%2dsale%5F1', 'Spring-sale_1).', 'Spring-sale_1%E2%80%9D'])
      expect((await follow(written, {}, 'GET', at)).location).toBe(made.tracking_url)
    expect((await follow('%53pring-sale_1/', {}, 'GET', at)).header('Location')).toBe(`${at}/%53pring-sale_1`)
  }
  expect([await statusOf('Spring-sale_1/'), await statusOf('spring-sale_1'), await statusOf('-')]).toEqual([
    307, 404, 404,
  ])
  expect(await insertLinkWithKey(stores.pg, fields, 'Spring-sale_1')).toBeNull()
})

test('other methods are 405', async () => {
  const link = await makeLink()
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const { status, header } = await follow(link.attribution_key, { 'Content-Length': '0' }, method)
    // The form of another link is sent by POST.
    expect([status, header('Allow')]).toEqual([405, method === 'POST' ? 'GET, HEAD' : 'GET, HEAD, POST'])
  }
})

test('redirects go on while Postgres is away, also after a restart; what can’t be looked up is 503 and never 404', async () => {
  // A visitor's share is of a day.
  await onOneDay()
  const targets = [
    { device: 'ios' as const, destination_url: 'https://example.com/ios' },
    { countries: ['FR'], destination_url: 'https://example.com/fr' },
    { device: 'android' as const, share: 50, destination_url: 'https://example.com/half' },
  ]
  const known = await makeLink(undefined, { targets })
  expect((await follow(known.attribution_key)).status).toBe(302)
  const copy = join(stores.dataDir, 'ingest', 'links.jsonl')
  await vi.waitUntil(() => readFileSync(copy, 'utf8').includes('/fr'), { timeout: 60_000 })
  await proxy.set('refusing')
  const unseen = await makeLink()
  const answers = async () => {
    const keys = [known.attribution_key, unseen.attribution_key, 'zzzzzzzz']
    const [one, other, none] = await Promise.all(keys.map((key) => follow(key)))
    expect([one!.status, one!.location]).toEqual([302, known.tracking_url])
    expect([other!.status, none!.status, other!.header('Retry-After')]).toEqual([503, 503, '5'])
    expect((await follow('no.key')).status).toBe(404)
  }
  await answers()
  expect(await clicksOf(known)).toHaveLength(2)
  const ofPhones = () => Promise.all(phones.map((agent) => followLocation(known, agent)))
  const divided = await ofPhones()
  await ingest.stop('SIGKILL')
  await proxy.set('hanging')
  ingest = await start()
  const one = await follow(known.attribution_key)
  expect([one.status, one.location]).toEqual([302, known.tracking_url])
  const led = async (headers: Record<string, string>) => (await follow(known.attribution_key, headers)).location
  expect(await led({ 'User-Agent': iPhone })).toContain('https://example.com/ios?')
  expect(await led({ 'CF-IPCountry': 'FR' })).toContain('https://example.com/fr?')
  expect(await ofPhones()).toEqual(divided)
  expect((await follow(unseen.attribution_key)).status).toBe(503)

  await proxy.set('refusing')
  await proxy.set('open')
  await expect.poll(async () => (await follow(unseen.attribution_key)).status).toBe(302)
})

test('targets lead visitors of a device or country elsewhere until the link ends', async () => {
  const link = await makeLink(undefined, {
    targets: [
      { device: 'ios', countries: ['DE', 'AT'], destination_url: 'https://example.com/ios-de?utm_source=a&b=ö' },
      { device: 'ios', destination_url: 'https://example.com/ios' },
      { device: 'android', destination_url: 'https://example.com/android' },
      { device: 'desktop', countries: ['US'], destination_url: 'https://example.com/us#top' },
      { countries: ['FR'], destination_url: 'https://example.com/fr' },
    ],
  })
  const iPad =
    'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 CriOS/138.0 Mobile/15E148 Safari/604.1'
  const android = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/138.0 Mobile Safari/537.36'
  const desktop = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const preview = 'facebookexternalhit/1.1 (iPhone; Android)'
  const asLink = (path: string) => `https://example.com/${path}utm_source=svc&utm_medium=social&svc_link_id=${link.id}`
  const cases: [agent: string, country: string, url: string][] = [
    [iPhone, 'AT', asLink('ios-de?b=%C3%B6&')],
    [iPad, 'FR', asLink('ios?')],
    [android, '', asLink('android?')],
    [desktop, 'US', `${asLink('us?')}#top`],
    [desktop, 'FR', asLink('fr?')],
    [desktop, 'XX', link.tracking_url],
    [desktop, '', link.tracking_url],
    [preview, 'DE', link.tracking_url],
    [preview, 'FR', asLink('fr?')],
  ]
  for (const [agent, country, url] of cases) {
    for (const method of ['GET', 'HEAD']) {
      const headers = { 'User-Agent': agent, ...(country && { 'CF-IPCountry': country }) }
      const { status, header } = await follow(link.attribution_key, headers, method)
      expect([status, header('Location'), header('Cache-Control')]).toEqual([302, url, 'private, no-store'])
    }
  }
  const led = (await clicksOf(link)).map(({ target_url }) => target_url)
  // By GET and HEAD.
  expect(led).toEqual(
    ['ios-de?utm_source=a&b=ö', 'ios', 'android', 'us#top', 'fr', '', '', '', 'fr'].flatMap((path) =>
      Array(2).fill(path && `https://example.com/${path}`),
    ),
  )
  await updateLink(stores.pg, link, { ...link, expires_at: new Date(0), expired_url: 'https://example.com/over' })
  const expired = async () => (await follow(link.attribution_key, { 'User-Agent': iPhone })).location
  await expect.poll(expired).toBe('https://example.com/over')
})

test('shares divide people by link and visitor, programs get the rest, and clicks count by where they led', async () => {
  await onOneDay()
  const link = await makeLink(undefined, {
    targets: ['a', 'b'].map((path) => ({ share: 33, destination_url: `https://example.com/${path}` })),
  })
  const pathOf = (location: string | undefined) => new URL(location!).pathname
  const paths: string[] = []
  for (const agent of phones) paths.push(pathOf(await followLocation(link, agent)))
  expect(new Set(paths)).toEqual(new Set(['/a', '/b', '/sale']))
  const again = [...phones.entries()].slice(0, 10)
  for (const [at, agent] of again) expect(pathOf(await followLocation(link, agent, 'HEAD'))).toBe(paths[at])
  for (const agent of ['Googlebot/2.1', 'facebookexternalhit/1.1', ''])
    expect(await followLocation(link, agent)).toBe(link.tracking_url)
  const rows = await clicksOf(link)
  const led = rows.filter(({ kind }) => kind === 'click').map(({ target_url }) => target_url)
  expect(led).toEqual(paths.map((path) => (path === '/sale' ? '' : `https://example.com${path}`)))
})

test('clicks are listed by device, browser, system, city and way, which the destination isn’t told', async () => {
  const link = await makeLink()
  const berlin = { 'CF-IPCountry': 'DE', 'CF-Region-Code': 'BE', 'CF-Region': 'Land Berlin', 'CF-IPCity': 'Berlin' }
  const lead = async (query: string, headers: Record<string, string>) =>
    expect((await follow(link.attribution_key + query, headers)).location).toBe(link.tracking_url)
  await lead('?svc_qr=1', { 'User-Agent': iPhone, ...berlin })
  await lead('?svc_qr=2&Svc_Qr=1', { 'CF-IPCountry': 'AT' })
  await lead('?svc_qr=1', { 'User-Agent': phones[0]! })
  await lead('?svc_qr=1', { 'User-Agent': 'Googlebot/2.1' })
  await ingest.shipped()
  const api = await startApi(stores)
  const { workspaceId } = ingest
  const { apiKey } = (await createApiKey(stores.pg, { workspaceId, name: 'clicks', scopes: ['links:read'] }))!
  const answer = await api.ask(`/v1/links/${link.id}`, { key: apiKey })
  const { click_lists } = (await answer.json()) as { click_lists: object }
  await api.close()
  const once = { clicks: 1 }
  expect(click_lists).toMatchObject({
    devices: [
      { device: 'mobile', clicks: 2 },
      { device: 'desktop', ...once },
    ],
    browsers: ['Chrome', 'Firefox', 'Safari'].map((browser) => ({ browser, ...once })),
    systems: ['Android', 'Linux', 'iOS'].map((system) => ({ system, ...once })),
    cities: [
      { city: '', label: '', clicks: 2 },
      { city: 'Berlin, DE-BE', label: 'Berlin, Land Berlin', ...once },
    ],
    ways: [
      { way: 'qr', clicks: 2 },
      { way: 'link', ...once },
    ],
  })
})

test('a full log loses clicks and no redirect, and the loss is counted', async () => {
  const link = await makeLink()
  await ingest.stop()
  ingest = await startIngest(stores, { ...env, DISK_FREE_BYTES_MIN: String(2 ** 43) }, ingest)
  await expect.poll(async () => (await fetch(`${ingest.url}/health`)).status).toBe(503)
  expect((await follow(link.attribution_key)).location).toBe(link.tracking_url)
  expect(await requests()).toMatchObject({ not_stored: 1 })
  expect(await clicksOf(link)).toEqual([])
})

describe('with several workers, and links right under the host', () => {
  beforeAll(async () => {
    await ingest.stop()
    ingest = await startIngest(stores, { SHORT_URL_HOST: 'https://go.example.com', INGEST_WORKERS: '2' }, ingest)
  })

  test('clicks are stored; a proxy that isn’t trusted names nobody', async () => {
    const link = await makeLink()
    for (const said of ['203.0.113.7', '203.0.113.8', '203.0.113.9']) {
      expect((await follow(link.attribution_key, { 'X-Forwarded-For': said }, 'GET', '')).status).toBe(302)
    }
    const rows = await clicksOf(link)
    expect([rows.length, new Set(rows.map(({ visitor }) => visitor)).size]).toEqual([3, 1])
    expect(await requests()).toMatchObject({ stored: 3 })
    // Routes beside links under the root are as before.
    expect((await follow('metrics', {}, 'GET', '')).text).toContain('ingest_link_requests_total')
    expect((await ingest.post('/track', { tracking_key: ingest.key, event_name: 'a' })).status).toBe(202)
  })

  test('a network has no more tries of wrong passwords than with one', async () => {
    const { attribution_key: key } = await makeLink(undefined, { passwordHash: await hashPassword('open') })
    const form = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
    // Each over a connection of its own, which Linux gives to either worker.
    async function statusesOf(count: number, password: string) {
      const tries = Array.from({ length: count }, () =>
        visit(ingest.port, `/${key}`, { ...form, body: `password=${password}` }),
      )
      return new Set((await Promise.all(tries)).map(({ status }) => status))
    }
    expect(await statusesOf(linkPasswordTriesOfNetworkMax, 'wrong')).toEqual(new Set([403]))
    expect(await statusesOf(8, 'open')).toEqual(new Set([429]))
  })
})
