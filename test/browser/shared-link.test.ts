/** A shared link in Chromium: made in the settings, opened without an account, passed on, embedded, and revoked. */
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { card, goBy, list, look, playwrightWithinMs, setUpDashboard } from '../support/dashboard.ts'
import { addEvents } from '../support/fold.ts'
import { listening } from '../support/listening.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })

test('a link shows the figures of the API without a cookie, keeps its token through filters, Back and reload, and ends when revoked', async (context) => {
  const at = { occurred_at: Date.now() - 600_000 }
  await addEvents(stores, mine.workspaceId, [
    { ...at, visitor: 1, source: 'google', medium: 'organic', path: '/a', country: 'DE' },
    { ...at, visitor: 2, source: 'news', medium: 'email', path: '/b', country: 'FR' },
    { ...at, visitor: 2, kind: 'custom', event_name: 'signup', path: '/b' },
  ])
  const owner = await signIn(context, '/dashboard/settings')
  const links = list('Shared links')
  await owner.click(`${links} button:text-is("Make a link")`)
  await owner.fill('dialog input[name="name"]', 'Press')
  await owner.fill('dialog input[name="expires"]', '2099-01-01')
  await owner.click('dialog button:text-is("Create")')
  await owner.waitForSelector(`${links} .good:has-text("until 1/1/99")`)
  const made = new URL((await owner.textContent(`${links} pre`))!)
  expect(made.pathname + made.hash).toMatch(/^\/shared#svc_view_\w{38}$/)
  const link = `${api.url}/shared${made.hash}`

  const guest = await owner.context().browser()!.newContext()
  context.onTestFinished(() => guest.close())
  guest.setDefaultTimeout(playwrightWithinMs)
  const page = await guest.newPage()
  const sent: { path: string; headers: Record<string, string> }[] = []
  page.on('request', (request) => {
    expect(request.url().split('#')[0]).not.toContain('svc_view_')
    sent.push({ path: new URL(request.url()).pathname, headers: request.headers() })
  })
  await page.goto(link)
  await card(page, 'visitors', '2')
  const asked = async (query: string) => {
    const answer = await api.ask(`/v1/analytics/overview?${query}`, { key: mine.apiKey })
    return ((await answer.json()) as { metrics: Record<string, number> }).metrics
  }
  for (const [name, value] of Object.entries(await asked('days=30'))) {
    if (['visitors', 'pageviews', 'sessions', 'conversions'].includes(name)) await card(page, name, String(value))
  }
  for (const title of ['Sources', 'Pages', 'Countries', 'Events']) await page.waitForSelector(`${list(title)} .row`)
  for (const hidden of ['form', 'select[aria-label="Workspace"]', list('Recent events')]) {
    expect([hidden, await page.$$(hidden)]).toEqual([hidden, []])
  }
  await goBy(page, 'p')
  expect(await page.$$eval('nav a', (all) => all.map((one) => one.textContent))).toEqual([
    'Overview',
    'Events',
    'Funnels',
    'Retention',
  ])

  await page.click(`${list('Sources')} .row:has-text("google")`)
  await card(page, 'visitors', '1')
  expect(page.url()).toBe(link.replace('#', '?source=google&medium=organic#'))
  await page.reload()
  await card(page, 'visitors', String((await asked('days=30&source=google&medium=organic'))['visitors']))
  await page.goBack()
  await card(page, 'visitors', '2')
  expect(page.url()).toBe(link)
  await page.keyboard.press('w')
  await expect.poll(() => page.url()).toBe(link.replace('#', '?days=7#'))
  await page.click(`${list('Countries')} button:has-text("Details")`)
  await page.waitForSelector('dialog[open] tbody tr')
  await page.keyboard.press('Escape')
  await page.click(`${list('Countries')} >> text=Map`)
  const opened = guest.waitForEvent('page')
  await page.click('[data-country="DE"]', { modifiers: ['ControlOrMeta'] })
  const tab = await opened
  await card(tab, 'visitors', '1')
  expect(tab.url()).toBe(link.replace('#', '?days=7&country=DE&tab=map#'))
  await tab.close()
  expect(page.url()).toBe(link.replace('#', '?days=7&tab=map#'))
  await look(page, 'shared')
  // Funnels and retention are reached with the range, and opened by their own addresses.
  await page.click('nav a:text-is("Retention")')
  await page.waitForSelector('table.retention')
  expect(page.url()).toBe(link.replace('#', '/retention?days=7&tab=map#'))
  await page.goto(link.replace('#', '/events?of=signup&property=plan#'))
  await page.waitForSelector('input[aria-label="signup in the chart"]')
  expect(await page.$$('select[aria-label="Property"]')).toEqual([])
  await page.goto(link.replace('#', '/funnels?step=path:/b&step=event:signup#'))
  await page.waitForSelector('text=1 of 1 visitors went all the way')
  await goBy(page, 'o')
  await card(page, 'visitors', '2')
  await page.click(`${list('Pages')} .row:has-text("/b")`)
  await page.waitForSelector(`${list('Before and after')} .row:has-text("The session ended here")`)
  await page.goto(link)
  await card(page, 'visitors', '2')
  for (const { path, headers } of sent) {
    expect(path).toMatch(/^\/(shared(\/events|\/funnels|\/retention)?$|v1\/|dashboard\/files\/)/)
    expect(headers['cookie'] ?? '').toBe('')
    // A script names itself to the one that it loads.
    expect(headers['referer'] ?? '').toMatch(/^(http:\/\/[\d.:]+\/dashboard\/files\/[\w.-]+)?$/)
  }

  // Another site embeds it.
  const site = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end(`<iframe src="${link}">`))
  const { port } = await listening(site)
  context.onTestFinished(() => void site.close())
  const other = await guest.newPage()
  await other.goto(`http://localhost:${port}/`)
  await other.frameLocator('iframe').locator('[data-card="visitors"] strong:text-is("2")').waitFor()

  await owner.click(`${links} button:has-text("Revoke")`)
  await owner.click('dialog button:text-is("Revoke")')
  await owner.waitForSelector(`${links} .bad:text-is("revoked")`)
  expect(await owner.textContent(links)).toContain('used ')
  const saysSo = '.failure:has-text("This link is wrong, has expired, or was revoked")'
  await expect
    .poll(async () => {
      await page.reload()
      await page.waitForSelector(`${saysSo}, [data-card="visitors"]`)
      return page.$$eval(saysSo, (all) => all.length)
    })
    .toBe(1)
  expect(await page.$$('[data-card]')).toEqual([])
  await look(page, 'shared-revoked')
  await page.goto(`${api.url}/shared`)
  await page.waitForSelector(saysSo)
})
