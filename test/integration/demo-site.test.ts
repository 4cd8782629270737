/** The demo site as HTTP serves it; what its pages send is held by test/browser/demo.test.ts. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeDemoSite } from '../../start/front/demo-site.ts'
import { type Front, startFront } from '../../start/front/front.ts'
import { exchange } from '../support/raw-http.ts'

let scriptUrl: string | undefined
let front: Front
let root: string

beforeAll(async () => {
  front = await startFront({
    host: '127.0.0.1',
    port: 0,
    portOf: () => undefined,
    page: async () => '',
    demo: makeDemoSite(() => scriptUrl),
    countryHeader: 'cf-ipcountry',
    trustedProxies: [],
  })
  root = `http://127.0.0.1:${front.port}`
})
afterAll(() => front.close())
beforeEach(() => {
  scriptUrl = 'https://api.example.com/svc.js?key=svc_pk_123'
})

const pages = ['/demo/', '/demo/prices', '/demo/sign-up', '/demo/app/', '/demo/app/week']
const ask = (path: string, init: RequestInit = {}) => fetch(root + path, { redirect: 'manual', ...init })

test.each(pages)(
  '%s has the snippet of the workspace once, runs nothing inline and takes nothing else from elsewhere',
  async (path) => {
    const response = await ask(path)
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toContain(
      "default-src 'none'; script-src 'self' https://api.example.com; connect-src 'self' https://api.example.com; style-src 'self'",
    )
    expect(policy).not.toMatch(/unsafe|\*/)
    const text = await response.text()
    expect(text.split('<script async src="https://api.example.com/svc.js?key=svc_pk_123"></script>')).toHaveLength(2)
    expect(text).not.toMatch(/<!-- snippet -->|<script>|<style|style=|\son\w+=/)
    const loaded = [...text.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)].map(([, url]) => url!)
    for (const url of loaded.filter((url) => url.startsWith('/')))
      expect([url, (await ask(url)).status]).toEqual([url, 200])
    expect(loaded.filter((url) => !url.startsWith('/'))).toEqual(['data:,', scriptUrl])
  },
)

test('leads only to pages that it has, except for one that leads away', async () => {
  const texts = await Promise.all(pages.map(async (path) => (await ask(path)).text()))
  const links = new Set(texts.flatMap((text) => [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, link]) => link!)))
  const own = [...links].filter((link) => link.startsWith('/'))
  expect(links.size - own.length).toBe(1)
  for (const link of own) expect([link, (await ask(link)).status]).toEqual([link, 200])
})

test('is sent again only when it has changed, the address of the script included', async () => {
  for (const path of [...pages, '/demo/site.css', '/demo/harbour.svg']) {
    const etag = (await ask(path)).headers.get('etag')!
    const again = await ask(path, { headers: { 'If-None-Match': etag } })
    expect([path, again.status, again.headers.get('etag'), await again.text()]).toEqual([path, 304, etag, ''])
  }
  const etag = (await ask('/demo/')).headers.get('etag')!
  scriptUrl = 'https://api.example.com/svc.js?key=svc_pk_456'
  expect((await ask('/demo/', { headers: { 'If-None-Match': etag } })).status).toBe(200)
})

test('is read only, and has a slash behind it', async () => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const refused = await ask('/demo/', { method })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  }
  const head = await ask('/demo/', { method: 'HEAD' })
  expect([head.status, Number(head.headers.get('content-length')) > 500, await head.text()]).toEqual([200, true, ''])
  for (const path of ['/demo', '/demo/app']) {
    const moved = await ask(path)
    expect([moved.status, moved.headers.get('location')]).toEqual([307, `${path}/`])
  }
})

test.each([
  '/demo/gone',
  '/demo/../package.json',
  '/demo/%2e%2e/package.json',
  '/demo/app/..',
  '/demo/constructor',
  '/demo/app/a/b',
])('has nothing at %s', async (path) => {
  // As written: fetch would tidy the path.
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  expect((await exchange(front.port, [head], { until: /\r\n\r\n/ })).statuses).toEqual([404])
})

test('escapes the address of the script, and asks to come back while there is none', async () => {
  scriptUrl = 'https://api.example.com/svc.js?key="><script>alert(1)</script>&x=\'$&'
  const escaped = 'key=&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;x=&#39;$&amp;'
  expect(await (await ask('/demo/')).text()).toContain(`src="https://api.example.com/svc.js?${escaped}"`)
  scriptUrl = undefined
  const response = await ask('/demo/')
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
})
