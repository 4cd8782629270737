import { expect, test, vi } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { staticPages } from '../../api/static-pages.ts'
import { setUpApi } from '../support/api.ts'
import { browserWithinMs, demand, sharedBrowser } from '../support/browser.ts'

const { api, mine } = setUpApi({ sharesWorkspace: true })

const files = ['/docs', '/docs/reference.js', '/docs/swagger-ui.js', '/docs/swagger-ui.css']

test.each(files)(
  '%s is served to anybody, compressed, again only when it has changed, under a policy, and read only',
  async (path) => {
    const response = await api.ask(path)
    const plain = await api.ask(path, { headers: { 'Accept-Encoding': 'identity' } })
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip'])
    expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null])
    expect(await response.text()).toBe(await plain.text())
    expect(response.headers.get('vary')).toBe('Accept-Encoding')
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600')
    const etag = response.headers.get('etag')!
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await api.ask(path, { headers: { 'If-None-Match': known } })
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, ''])
    }
    expect((await api.ask(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
    // Nothing of another origin is loaded or framed, and no inline script runs.
    const policy = response.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const refused = await api.ask(path, { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const head = await api.ask(path, { method: 'HEAD' })
    expect([head.status, Number(head.headers.get('content-length')) > 100]).toEqual([200, true])
    expect((await api.ask(`${path}/`)).headers.get('location')).toBe(path)
  },
)

test('a file that can’t be read once is read again at the next request', async () => {
  const read = vi.fn(async () => Buffer.from('a')).mockRejectedValueOnce(new Error('EMFILE'))
  const page = staticPages({ '/a': { type: 'text/plain', read } }, {})['/a']!
  const head = { headers: new Map<string, string>() }
  await expect(page(head)).rejects.toThrow('EMFILE')
  expect([(await page(head)).status, (await page(head)).status]).toEqual([200, 200])
  expect(read).toHaveBeenCalledTimes(2)
})

test('the page loads nothing but what is served beside it', async () => {
  const page = await (await api.ask('/docs')).text()
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url!).filter((url) => url !== 'data:,')
  expect(loaded.map((url) => new URL(url, `${api.url}/docs`).pathname).sort()).toEqual(files.slice(1).sort())
  expect(page).not.toMatch(/<script>|<style|style=|onload=|https?:/)
  const script = await (await api.ask('/docs/reference.js')).text()
  expect(script).toContain('v1/openapi.json')
})

test('the document has an ETag as well, and stays where it is behind a proxy under another path', async () => {
  const first = await api.ask('/v1/openapi.json')
  const etag = first.headers.get('etag')!
  const again = await api.ask('/v1/openapi.json', { headers: { 'If-None-Match': etag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  expect((await first.json()) as object).toHaveProperty('openapi')
})

test(
  'shows every operation in a browser, tries a request with a key, and forgets the key with the page',
  async (context) => {
    const browser = await demand(await sharedBrowser(), context)
    context.onTestFinished(() => browser.close())
    const page = await browser.newPage()
    // Errors of scripts, and refusals of the policy.
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.goto(`${api.url}/docs`)
    const unseen = async () => {
      const shown = await page.content()
      return operations.filter(
        ({ http, summary }) => ![summary, http.path.split('/').at(-1)!].every((text) => shown.includes(text)),
      )
    }
    await expect.poll(unseen, { interval: 200 }).toEqual([])
    await page.click('.btn.authorize')
    await page.fill('.auth-container input', mine.apiKey)
    await page.click('.auth-btn-wrapper .btn.authorize')
    await page.click('.auth-btn-wrapper .btn-done')
    const operation = page.locator('.opblock', { hasText: '/v1/workspace' })
    await operation.locator('.opblock-summary-control').click()
    await operation.locator('.try-out__btn').click()
    await operation.locator('.execute').click()
    await expect.poll(() => operation.locator('.live-responses-table').textContent()).toContain(mine.slug)
    expect(complaints).toEqual([])
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
    expect(kept).not.toContain(mine.apiKey)
    await page.goto('data:text/html,<script>nothing()</script>')
    await expect.poll(() => complaints).toHaveLength(1)
  },
  browserWithinMs,
)
