/** The dashboard where figures can't be read, and where there are none of one's own yet: it says what is so. */
import type { Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClickHouse, connectClickHouse } from '../../clickhouse/client.ts'
import { createDemo, markDemoFilled } from '../../postgres/tables/workspaces/demo-workspaces.ts'
import { setUpApi, startApi, type TestApi } from '../support/api.ts'
import {
  askAnew,
  goBy,
  goWithin,
  holdRequests,
  list,
  look,
  setUpDashboard,
  violations,
  withoutPolls,
} from '../support/dashboard.ts'
import { insertBotVisitRows, insertEventRows, makeBotVisitRow, makeEventRow } from '../support/event-rows.ts'
import { addEvents, foldWhatIsThere } from '../support/fold.ts'
import { asking, makeLink } from '../support/publishing.ts'
import { isLong } from '../support/short-form.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
/** The same dashboard behind another port, whose ClickHouse can be taken away. */
let toClickHouse: TcpProxy
let ch: ClickHouse
let breakable: TestApi
beforeAll(async () => {
  toClickHouse = await startTcpProxy(stores.clickhouseUrl)
  ch = connectClickHouse(toClickHouse.url)
  breakable = await startApi({ ...stores, ch }, { apiHost: 'http://127.0.0.1' })
})
afterAll(async () => {
  await breakable?.close()
  await ch?.close()
  await toClickHouse?.close()
})

test('while ClickHouse is away the pages say so, keep the last figures, and go on by themselves', async (context) => {
  await addEvents(stores, mine.workspaceId, [{ occurred_at: Date.now() - 60_000, visitor: 1, path: '/a' }])
  await makeLink(stores, mine.workspaceId, null)
  const page = await signIn(context, '/dashboard', { at: breakable.url })
  await page.waitForSelector('[data-card="visitors"] strong:text-is("1")')
  await toClickHouse.set('refusing')
  await askAnew(page)
  await page.waitForSelector('.failure:has-text("Nothing new since")')
  expect(await page.textContent('[data-card="visitors"] strong')).toBe('1')
  // The browser's clock is that of another place than the workspace's.
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kathmandu' })
  await page.goto(`${breakable.url}/dashboard?path=/a`)
  await page.waitForSelector('section[aria-label="No figures"] >> text=events are still taken')
  const [, minute] = /since \d+:(\d+):/.exec((await page.textContent('.failure'))!)!
  expect((60 + new Date().getUTCMinutes() - Number(minute)) % 60).toBeLessThan(15)
  await page.click('ul[aria-label="Filters"] button')
  await expect.poll(() => new URL(page.url()).search).toBe('')
  expect(await page.$('[data-card]')).toBeNull()
  await look(page, 'away')
  // Parts that need no figures work.
  await goBy(page, 'l')
  await page.click('section[aria-label="Links"] summary')
  await page.waitForSelector('img[alt^="QR code of"]')
  await goBy(page, 'o')
  await page.waitForSelector('section[aria-label="No figures"]')
  await toClickHouse.set('open')
  await page.waitForSelector('[data-card="visitors"] strong:text-is("1")')
  expect(await page.$('.failure')).toBeNull()
})

// Its data: test/integration/demo-workspace.test.ts. A filled demo is used again.
test('the demo button goes to the filled workspace, and the choice leads back', async (context) => {
  const [owner] = await stores.pg.query<{ email: string }>('SELECT email FROM owners WHERE id = $1', [mine.ownerId])
  const wanted = { name: 'Demo', timezone: 'UTC', plan: 'growth', ownerEmail: owner!.email } as const
  const demo = await stores.pg.transaction((tx) => createDemo(tx, wanted))
  await markDemoFilled(stores.pg, demo)
  const visit = { workspace_id: demo, occurred_at: Date.now() - 3_600_000 }
  await insertEventRows(
    stores.ch,
    [1, 2].map((visitor) => makeEventRow({ ...visit, visitor })),
  )
  const page = await signIn(context)
  await page.click('text=Fill a demo workspace')
  const workspaces = page.getByLabel('Workspace')
  await expect.poll(() => workspaces.locator('option:checked').textContent()).toBe('Demo')
  await page.waitForSelector('text=figures are being computed')
  expect(await page.$('pre')).toBeNull()
  await foldWhatIsThere(stores)
  await page.waitForSelector('section[aria-label="Sources"] .row')
  const visitors = await page.textContent('[data-card="visitors"] strong')
  expect(Number(visitors!.replace(/[K,]/g, ''))).toBeGreaterThan(1)
  await workspaces.selectOption(String(mine.workspaceId))
  await page.waitForSelector('text=Waiting for the first event')
})

test('a failure says in words what is amiss, ends with its question, and is asked again soon where answers are seldom asked for', async (context) => {
  const html = { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }
  let [asked, isAway] = [0, true]
  const page = await signIn(context, '/dashboard/settings', {
    before: async (page) => {
      await page.route('**/api/v1/workspace/settings', (route) => {
        asked += 1
        return isAway ? route.fulfill(html) : route.continue()
      })
      await page.route('**/api/v1/analytics/overview?days=7&*', (route) => route.fulfill(html))
    },
  })
  // It says why its button is off.
  await page.waitForSelector(`${list('Workspace')} .failure:has-text("The service answered 502")`)
  isAway = false
  await page.waitForSelector(`${list('Workspace')} button[aria-disabled="false"] >> text=Change`)
  // Without the failure it is asked for each minute.
  await expect.poll(() => asked, { timeout: 45_000 }).toBeGreaterThan(1)
  await withoutPolls(page)
  await page.goto(`${api.url}/dashboard`)
  await page.waitForSelector('text=Waiting for the first event')
  await page.keyboard.press('w')
  await page.waitForSelector('.failure:has-text("The service answered 502")')
  await page.keyboard.press('q')
  await page.waitForSelector('.failure', { state: 'detached' })
  // The network's return asks at once, also for what was sent before it; nothing else does.
  await page.keyboard.press('w')
  await page.waitForSelector('.failure')
  await page.unroute('**/api/v1/analytics/overview?days=7&*')
  await askAnew(page)
  await page.waitForSelector('.failure', { state: 'detached' })
  const goOn = (route: Route) => route.continue()
  const answers = [(route: Route) => askAnew(page).then(() => route.fulfill(html)), goOn]
  // The first event is awaited: a second later it is asked again.
  await page.route('**/api/v1/analytics/overview?days=1&*', (route) => (answers.shift() ?? goOn)(route))
  await page.keyboard.press('d')
  await expect.poll(() => answers.length).toBe(0)
  await page.route('**/files/retention-*.js', (route) => route.abort())
  await goBy(page, 'e')
  await page.waitForSelector('main .failure:has-text("script couldn’t be loaded")')
  await page.unroute('**/files/retention-*.js')
  await askAnew(page)
  await page.waitForSelector('.failure', { state: 'detached' })
  await page.waitForSelector(list('Retention'))
})

test('figures of the question before are dimmed once new ones take long, and say nothing about what is asked now', async (context) => {
  const at = { workspace_id: mine.workspaceId, occurred_at: Date.now() - 60_000 }
  await insertEventRows(stores.ch, [makeEventRow({ ...at, path: '/a' })])
  await insertBotVisitRows(stores.ch, [makeBotVisitRow({ ...at, bot_name: 'GPTBot' })])
  await foldWhatIsThere(stores)
  const page = await signIn(context)
  const steps = 'step=path:/a&step=path:/b'
  const looks = [
    ['?tab=channels', '?tab=channels&days=7', ['.cards', '.chart', list('Sources'), list('Crawlers')], '.row'],
    [`/funnels?${steps}`, `/funnels?${steps}&days=7`, [list('Funnel')], '.funnel'],
    ['/retention', '/retention?days=7', [list('Retention')], '.retention'],
    ['/people?q=nobody', '/people', [list('People')], '.empty:has-text("Nobody matches")'],
    ['/replays?path=/none', '/replays', [list('Replays')], '.empty:has-text("No replay matches")'],
  ] as const
  const styleOf = (part: string) =>
    page.evaluate<string>(
      `(({ opacity, transitionDelay }) => opacity + ' after ' + transitionDelay)(getComputedStyle(document.querySelector(${JSON.stringify(part)})))`,
    )
  // In short each page in one of the two.
  for (const [nth, reducedMotion] of (['reduce', 'no-preference'] as const).entries()) {
    await page.emulateMedia({ reducedMotion })
    for (const [from, to, parts, seen] of looks.filter((_, at) => isLong || at % 2 === nth)) {
      await goWithin(page, `/dashboard${from}`)
      for (const part of [...parts, seen]) await page.waitForSelector(part)
      const letGo = await holdRequests(page, '**/api/v1/**')
      await goWithin(page, `/dashboard${to}`)
      for (const part of parts) {
        await expect.poll(() => styleOf(part), { message: to + part }).toBe('0.6 after 0.3s')
      }
      if (seen.startsWith('.empty')) expect(await page.$('.empty')).toBeNull()
      letGo()
      await expect.poll(() => styleOf(parts[0])).toMatch(/^1 /)
    }
  }
})

test('a page that is awaited says so after a moment alone', async (context) => {
  const page = await signIn(context)
  const letGo = await holdRequests(page, '**/files/funnels-*.js')
  await goWithin(page, '/dashboard/funnels')
  await page.waitForSelector('.skeleton')
  const visibilityAfter = (ms: number) =>
    page.evaluate(`(() => {
      const main = document.querySelector('.skeleton')
      for (const one of main.getAnimations({ subtree: true })) Object.assign(one, { currentTime: ${ms} }).pause()
      return getComputedStyle(main, '::before').visibility
    })()`)
  expect([await visibilityAfter(0), await visibilityAfter(1_500)]).toEqual(['hidden', 'visible'])
  letGo()
})

test('controls beside a list that is awaited stay as plain as they were', async (context) => {
  const page = await signIn(context)
  for (const [path, label] of [
    ['links', 'Links'],
    ['posts?view=list', 'Posts'],
  ] as const) {
    await goWithin(page, `/dashboard/${path}`)
    await page.waitForSelector(`${list(label)} .empty`)
    await page.route('**/api/v1/*status=archived*', () => undefined)
    await page.click(`${list(label)} button:text-is("Archived")`)
    await page.waitForSelector(`${list(label)}[aria-busy="true"]`)
    await page.waitForTimeout(600)
    expect(await violations(page, ['color-contrast'])).toEqual([])
    await page.unroute('**/api/v1/*status=archived*')
  }
})

test('shares are of the totals of the same question, and a row without visitors or revenue isn’t in a short list', async (context) => {
  const at = { occurred_at: Date.now() - 60_000 }
  await addEvents(stores, mine.workspaceId, [
    { ...at, visitor: 1, path: '/a' },
    { ...at, visitor: 2, path: '/b' },
    { ...at, visitor: 0, kind: 'conversion', device: 'unknown' },
  ])
  const page = await signIn(context, '/dashboard?tab=systems')
  const share = () => page.textContent(`${list('Devices')} .row .share`)
  await expect.poll(share).toBe('100 %')
  const letGo = await holdRequests(page, '**/api/v1/analytics/overview?*')
  await page.click(`${list('Pages')} .row:has-text("/b")`)
  await page.waitForSelector(`${list('Devices')} .row .number:text-is("1")`)
  expect(await share()).toBe('')
  letGo()
  await expect.poll(share).toBe('100 %')

  await goWithin(page, '/dashboard')
  await page.waitForSelector(`${list('Devices')} .row`)
  expect(await page.locator(`${list('Devices')} .row .name`).allTextContents()).toEqual(['Desktop'])
  await page.click(`${list('Devices')} >> text=Details`)
  await page.waitForSelector('dialog tr:has-text("Unknown")')
})

test('a list that is shown again is asked for at once', async (context) => {
  const at = { occurred_at: Date.now() - 60_000, path: '/a' }
  await addEvents(stores, mine.workspaceId, [{ ...at, visitor: 1 }])
  const page = await signIn(context, '/dashboard?tab=systems', { before: withoutPolls })
  const tab = (name: string) => page.click(`${list('Devices')} button:text-is("${name}")`)
  await page.waitForSelector(`${list('Devices')} .row .number:text-is("1")`)
  await tab('Devices')
  await addEvents(stores, mine.workspaceId, [{ ...at, visitor: 2 }])
  await tab('Systems')
  await expect.poll(() => page.textContent(`${list('Devices')} .row .number`)).toBe('2')
})

test('figures of millions fit phones and tablets', async (context) => {
  await addEvents(stores, mine.workspaceId, [{ occurred_at: Date.now() - 60_000, visitor: 1, path: '/a' }])
  await asking(api, () => mine.apiKey)('POST', '/v1/goals', { name: 'Prices', kind: 'path', value: '/a' })
  const page = await signIn(context, '/dashboard/retention')
  await page.route('**/api/v1/analytics/*', async (route) => {
    const response = await route.fetch()
    const counts = /"(visitors|pageviews|sessions|events|completions|revenue_cents)":\d+/g
    await route.fulfill({ response, body: (await response.text()).replace(counts, '"$1":24872311') })
  })
  await goWithin(page, '/dashboard')
  for (const name of ['Sources', 'Events', 'Goals']) {
    await page.waitForSelector(`${list(name)} .number:text-is("24,872,311")`)
  }
  for (const width of [320, 390, 768]) {
    await page.setViewportSize({ width, height: 900 })
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('what comes after the rest moves nothing that stands there', async (context) => {
  await addEvents(stores, mine.workspaceId, [{ occurred_at: Date.now() - 60_000, visitor: 1, path: '/a' }])
  const ask = asking(api, () => mine.apiKey)
  const [today] = new Date().toISOString().split('T')
  await ask('POST', '/v1/notes', { day: today, text: 'Release' })
  await ask('POST', '/v1/funnels', { name: 'Way', steps: ['path:/a', 'path:/b'], within: 'session' })
  await makeLink(stores, mine.workspaceId, null)
  const page = await signIn(context, '/dashboard/retention')
  for (const [path, late, standing, come] of [
    ['', 'notes?*', list('Sources'), '.notes summary'],
    ['', 'analytics/overview?*include=traffic_series*', list('Sources'), '.u-legend >> text=Before'],
    ['/events', 'analytics/events?*', list('Events'), '.uplot'],
    ['/funnels', 'funnels', 'form[aria-label="Steps"]', `${list('Saved funnels')} .row`],
    ['/links', 'links/*', `${list('Links')} button:text-is("Change")`, 'img[alt^="QR code of"]'],
  ] as const) {
    const letGo = await holdRequests(page, `**/api/v1/${late}`)
    await goWithin(page, `/dashboard${path}`)
    if (path === '/links') await page.click('section[aria-label="Links"] summary')
    const box = async () => (await page.locator(standing).first().boundingBox())!
    await page.waitForSelector(standing)
    const before = await box()
    letGo()
    await page.waitForSelector(come)
    const { x, y } = await box()
    expect(Math.hypot(x - before.x, y - before.y), path).toBeLessThan(5)
    await page.unroute(`**/api/v1/${late}`)
    await goWithin(page, '/dashboard/retention')
  }
})
