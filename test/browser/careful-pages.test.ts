/** Pages that are strict, hostile or slow: svc.js breaks none of them, and isn't broken by them. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { longestTasksOf } from '../support/long-tasks.ts'
import { isLong } from '../support/short-form.ts'
import { productRoot, setUpSurface } from '../support/tracking-surface.ts'
import { root, shop, startVisit, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

test('under a strict policy and Trusted Types everything works, with the product’s origin allowed and nothing else', async (context) => {
  const policy = `default-src 'none'; script-src ${productRoot}; connect-src ${productRoot}; img-src data:; base-uri 'none'; form-action 'none'`
  const headers = { 'Content-Security-Policy': `${policy}; require-trusted-types-for 'script'; trusted-types 'none'` }
  const visit = await visitShop(surface, context, {
    '/': { headers, main: '<button type="button">Buy</button>' },
    '/next': { headers },
  })
  await visit.page.click('button')
  await visit.expectSent('button_click')
  await visit.page.goto(`${root}/next`)
  await visit.expectSent('page_leave')
  await expect.poll(() => visit.sent('web_vital').map(({ properties }) => properties!['metric'])).toContain('FCP')
  const names = (await visit.stored()).map(({ event_name }) => event_name)
  expect(names).toEqual(expect.arrayContaining(['pageview', 'button_click', 'page_leave', 'web_vital']))
  expect(visit.complaints).toEqual([])
})

/** Each runs before anything else in the page. */
const hostilities: Record<string, string> = {
  'has frozen the prototypes': `for (const kind of [Object, Array, Function, Promise, String, Event, EventTarget, Element, Node, History, Navigator, Storage, Date, RegExp])
    Object.freeze(kind.prototype); Object.freeze(history); Object.freeze(navigator)`,
  'has replaced fetch by one that throws': `window.fetch = () => { throw new Error('not here') }`,
  'has replaced fetch by one that answers nonsense': 'window.fetch = () => "nonsense"',
  'has neither fetch nor sendBeacon':
    'delete window.fetch; window.fetch = undefined; Navigator.prototype.sendBeacon = undefined',
  'has no localStorage': `Object.defineProperty(window, 'localStorage', { value: undefined }); Object.defineProperty(window, 'sessionStorage', { value: null })`,
  'throws on every use of storage': `for (const name of ['getItem', 'setItem', 'removeItem']) Storage.prototype[name] = () => { throw new Error('full') }`,
  'fills what the script keeps with nonsense': `for (const key of ['svc_aid', 'svc_sid', 'svc_first', 'svc_last', 'svc_queue']) localStorage.setItem(key, '{"a":[1,')`,
  'has the toJSON of old Prototype.js':
    'Array.prototype.toJSON = function () { return "[" + this.map((one) => JSON.stringify(one)) + "]" }',
  'has elements in place of its title and referrer': `for (const name of ['title', 'referrer'])
    document.head.append(Object.assign(document.createElement('img'), { name }))`,
  'has an element in place of its title': `document.head.append(Object.assign(document.createElement('img'), { name: 'title' }))`,
  'has an early form of Temporal': 'window.Temporal = { Now: { timeZone: () => "UTC" } }',
  'has a toJSON on everything': 'Object.prototype.toJSON = () => { throw new Error("mine") }',
  'adds enumerable members to prototypes': 'Object.prototype.extra = () => 1; Array.prototype.extra = () => 2',
  'has broken the clock and chance': 'Date.now = () => NaN; Math.random = () => { throw new Error("no") }',
  'has variables with names of the browser': 'const URL = "/api", crypto = []; let history, screen = null',
  'has a variable of our name': 'window.Svc = "mine"',
  'has a frozen object of our name': 'window.Svc = Object.freeze({ q: 7 })',
  'forbids by its policy what the script sends': '',
}
const forbidding = { 'Content-Security-Policy': `script-src ${productRoot} 'unsafe-inline'; connect-src 'none'` }

/** Those in spite of which the visit is recorded, too. */
const recorded = [
  'has frozen the prototypes',
  'has no localStorage',
  'throws on every use of storage',
  'fills what the script keeps with nonsense',
  'has the toJSON of old Prototype.js',
  'has an element in place of its title',
  'has an early form of Temporal',
  'has variables with names of the browser',
  'adds enumerable members to prototypes',
]

const main = `<a id="link" href="#there">Link</a>
<button id="button" type="button" onclick="window.bought = (window.bought || 0) + 1">Buy</button>`

test('a page that does odd things keeps working, and hears of no error; most of its visits are recorded', async (context) => {
  const visit = await startVisit(surface, context)
  const hostOf = (name: string) => `${name.replaceAll(' ', '-').toLowerCase()}.localhost`
  const isAt = (name: string, { url }: { url?: string }) => url?.startsWith(`http://${hostOf(name)}/`)
  const sentOf = (name: string, event: string) => visit.sent(event).filter((one) => isAt(name, one)).length
  const meet = async (page: Page, [name, hostility]: [string, string]) => {
    const head = `<script>
window.failed = []
addEventListener('error', ({ message }) => failed.push(message))
addEventListener('unhandledrejection', ({ reason }) => failed.push(String(reason)))
${hostility}
</script>`
    visit.site(hostOf(name), { '/': { head, main, ...(hostility === '' && { headers: forbidding }) } })
    await page.goto(`http://${hostOf(name)}/`)
    await page.waitForLoadState('load')
    await page.click('#link')
    await page.click('#button')
    await page.evaluate(`(() => {
      const ours = typeof Svc === 'object' && !Object.isFrozen(Svc) ? Svc : undefined
      for (const call of ['page', 'track', 'identify', 'conversion', 'webVital', 'link', 'journey', 'anonymousId', 'sessionId'])
        try { ours?.[call]('own') } catch (error) { failed.push(call + ': ' + error) }
      window.history.pushState(null, '', '/route')
    })()`)
    await new Promise((resolve) => setTimeout(resolve, 250))
    const state = await page.evaluate('({ failed, bought, path: location.pathname })')
    expect([name, state]).toEqual([name, { failed: [], bought: 1, path: '/route' }])
    // The click is described by the second file, which may still be on its way.
    if (recorded.includes(name)) await expect.poll(() => sentOf(name, 'button_click'), { message: name }).toBe(1)
  }
  // Each is left for the next one, in a few tabs at once.
  const tabs = 4
  await Promise.all(
    Array.from({ length: tabs }, async (_, tab) => {
      const page = await visit.context.newPage()
      const own = Object.entries(hostilities).filter((_, at) => at % tabs === tab)
      for (const hostility of own) await meet(page, hostility)
      await page.goto('about:blank')
    }),
  )
  expect(visit.sendings().filter(({ event }) => isAt('forbids by its policy what the script sends', event))).toEqual([])
  for (const name of recorded) await expect.poll(() => sentOf(name, 'pageview'), { message: name }).toBe(2)
  const rows = await visit.stored('pageview')
  for (const name of recorded) {
    const paths = rows.filter((row) => isAt(name, row)).map(({ path }) => path)
    expect([name, paths]).toEqual([name, ['/', '/route']])
  }
})

test('holds the main thread for less than 50 ms at a time on a processor four times as slow, with 10,000 links', async (context) => {
  const slowdown = 4
  const links = Array.from({ length: 10_000 }, (_, at) => `<a href="/page/${at}">page ${at}</a> `).join('')
  const slow = '<script src="/slow.js"></script>'
  // Work, and not a while: time of the thread is measured, of which a busy machine gives little in a while.
  const busy = 'let sum = 0; for (let at = 0; at < 2e8; at++) sum = (sum * 31 + at) | 0; window.sum = sum'
  const measure = async () => {
    const visit = await startVisit(surface, context)
    visit.site(shop, { '/': { main: links + slow }, '/next': {}, '/slow.js': {} })
    visit.network.decide = ({ url }) =>
      url.pathname === '/slow.js' ? { headers: { 'Content-Type': 'text/javascript' }, body: busy } : undefined
    const [ours, slows] = await longestTasksOf(visit.page, ['/svc.js', '/slow.js'], async () => {
      await visit.page.goto(`${root}/`)
      await expect.poll(() => visit.sent('pageview').length).toBeGreaterThan(0)
      await visit.page.evaluate(`document.addEventListener('click', (event) => event.preventDefault())`)
      for (const place of ['1', '5000', '10000']) await visit.page.click(`a:nth-of-type(${place})`)
      await expect.poll(() => visit.sent('link_click').length).toBeGreaterThanOrEqual(3)
      await visit.page.goto(`${root}/next`)
    })
    expect(ours!.tasks).toBeGreaterThan(3)
    return { ours: ours!.longestMs * slowdown, slow: slows!.longestMs * slowdown }
  }
  // Processes that share the core's caches make a visit slower, also in time of its thread, never faster. So the least
  // of a few visits is the script's own time.
  let leastMs = Infinity
  for (let visits = 0; visits < 4 && leastMs >= 50; visits++) {
    const measured = await measure()
    leastMs = Math.min(leastMs, measured.ours)
    // The measure finds what is long. Milliseconds are judged in the long form alone.
    expect(measured.slow).toBeGreaterThan(isLong ? 50 : measured.ours)
    if (!isLong) return
  }
  expect(leastMs).toBeLessThan(50)
})
