/** The guides, as somebody reads them who has nothing but the address of the product. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { guides } from '../../api/guides.ts'
import { projectFile } from '../../runtime/paths.ts'
import { renderGuide } from '../../web/bundle/guides.ts'
import { setUpApi, testApiHost } from '../support/api.ts'
import { browserWithinMs, demand, sharedBrowser } from '../support/browser.ts'

const { api } = setUpApi()

const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!)

async function read(path: string, accept: string): Promise<string> {
  const response = await api.ask(path, { headers: { Accept: accept } })
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

test('every page of docs/ is listed', () => {
  const listed = Object.values(guides).flatMap((section) => Object.keys(section))
  const pages = readdirSync(projectFile('docs')).filter((name) => name.endsWith('.md'))
  expect(listed.map((name) => `${name}.md`).sort()).toEqual(pages.sort())
})

/** Reads all pages to which links lead, by their paths. @param linksIn paths */
async function readAll(from: string[], accept: string, linksIn: (text: string, path: string) => string[]) {
  const pages = new Map<string, string>()
  const waiting = from
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue
    const text = await read(path, accept)
    pages.set(path, text)
    waiting.push(...linksIn(text, path))
  }
  return pages
}

test('from the index everything is found, and no link leads to nothing', async () => {
  const pages = await readAll(['/llms.txt', '/guides'], 'text/markdown', (text, path) => {
    if (path.endsWith('.json')) return []
    const own = linksOf(text).filter((link) => !/^(https?:|mailto:|#)/.test(link))
    return own.map((link) => new URL(link, `${api.url}${path}`).pathname)
  })
  const named = Object.values(guides).flatMap((section) => Object.keys(section).map((name) => `/guides/${name}.md`))
  expect([...pages.keys()].sort()).toEqual(['/guides', '/llms.txt', '/v1/openapi.json', ...named].sort())
})

test('llms.txt has the form of its convention: a title, a summary, sections of links with a line each', async () => {
  const lines = (await read('/llms.txt', 'text/markdown')).split('\n').filter((line) => line !== '')
  expect(lines[0]).toMatch(/^# \S/)
  expect(lines[1]).toMatch(/^> \S/)
  const items = lines.slice(3)
  for (const line of items) expect(line).toMatch(/^(## \S.*|- \[[\w-]+\]\(\/guides\/[\w-]+\.md\): \S.*)$/)
})

test('from the index of pages every guide is found, and every link leads to an address and an anchor that there are', async () => {
  const targets = new Set<string>()
  const pages = await readAll(['/guides'], 'text/html,*/*;q=0.8', (text, path) => {
    if (!path.startsWith('/guides') || path.endsWith('.css')) return []
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect([path, ids.length]).toEqual([path, new Set(ids).size])
    const all = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => new URL(link!, `http://own${path}`))
    const own = all.filter(({ host }) => host === 'own')
    for (const { pathname, hash } of own) targets.add(pathname + hash)
    // A stranger is led from there to the page that signs in.
    return own.map(({ pathname }) => pathname).filter((pathname) => pathname !== '/dashboard')
  })
  const named = Object.values(guides).flatMap((section) => Object.keys(section).map((name) => `/guides/${name}`))
  expect([...pages.keys()].sort()).toEqual(['/docs', '/guides', '/guides/style.css', ...named].sort())
  const broken = [...targets].filter((target) => {
    const [path, anchor] = target.split('#') as [string, string | undefined]
    return anchor !== undefined && !pages.get(path)!.includes(` id="${decodeURIComponent(anchor)}"`)
  })
  expect(broken).toEqual([])
  const titles = named.map((path) => /<title>(.+) – svc<\/title>/.exec(pages.get(path)!)?.[1])
  expect([titles.includes(undefined), new Set(titles).size]).toEqual([false, named.length])
})

test('an address has a page, or markdown for clients that name it, and says so to caches', async () => {
  const typeFor = async (path: string, accept: string) => {
    for (const encoding of ['identity', 'br']) {
      const plain = await api.ask(path, { headers: { Accept: accept, 'Accept-Encoding': encoding } })
      expect(plain.headers.get('vary')).toBe('Accept, Accept-Encoding')
    }
    const { headers } = await api.ask(path, { headers: { Accept: accept } })
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; style-src 'self'")
    return headers.get('content-type')!.split(';')[0]
  }
  for (const path of ['/guides', '/guides/posts']) {
    expect(await typeFor(path, '*/*')).toBe('text/html')
    expect(await typeFor(path, 'text/html, text/markdown;q=0.5')).toBe('text/html')
    expect(await typeFor(path, 'text/markdown, text/html, */*')).toBe('text/markdown')
  }
})

test('a guide’s raw HTML, code and foreign files stay texts', () => {
  const { html } = renderGuide(
    '# A\n<b>b</b> `<i>` [gone](../x.ts) [run](javascript:a) [m](media.md#a)\n\n<script>1</script>\n',
  )
  expect(html).not.toMatch(/<(b|i|script)>|x\.ts|javascript/)
  expect(html).toContain('gone run <a href="media#a">m</a>')
})

test(
  'fits a phone: code and tables scroll, and the page doesn’t',
  async (context) => {
    const browser = await demand(await sharedBrowser(), context)
    context.onTestFinished(() => browser.close())
    const page = await browser.newPage({ viewport: { width: 360, height: 640 } })
    for (const name of ['tracking', 'settings', 'operations']) {
      await page.goto(`${api.url}/guides/${name}`)
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, 360])
    }
  },
  browserWithinMs,
)

test('examples of a guide ask where the world reaches the product', async () => {
  for (const path of ['/guides/browser', '/guides/browser.md']) {
    const text = await read(path, 'text/html')
    expect(text).toContain(`${testApiHost}/svc.js?key=`)
    expect(text).not.toContain('localhost:8080')
  }
})

test('a guide is markdown that no browser takes for a page', async () => {
  const { headers } = await api.ask('/guides/api.md')
  expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('etag')).not.toBe(null)
  expect((await api.ask('/guides/gone.md')).status).toBe(404)
  expect((await api.ask('/guides/../package.json')).status).toBe(404)
})
