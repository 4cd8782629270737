/** The overview in both themes and three widths; its figures against the API's; lists, keys and dialogs by keyboard. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { Breakdown } from '../../schemas/resources/breakdown.ts'
import type { AnalyticsOverview } from '../../schemas/resources/overview.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { goBy, goWithin, list, look, setUpDashboard } from '../support/dashboard.ts'
import type { EventLike } from '../support/event-rows.ts'
import { addEvents } from '../support/fold.ts'
import { onOneDay } from '../support/one-day.ts'
import { isLong } from '../support/short-form.ts'

const { stores, api } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const site = {} as TestWorkspace
const signIn = setUpDashboard({ stores, api, mine: site })
const hour = 3_600_000
const markup = '<img src=x onerror="document.title=1">'

/** Two weeks of a small site, the same in every run. */
function someWeeks(): EventLike[] {
  const pick = <One>(list: readonly One[], n: number) => list[n % list.length]!
  return Array.from({ length: 420 }, (_, n) => {
    // Each fifth one goes on in the session before it.
    const session = n % 5 === 4 ? n - 1 : n
    const at = Date.now() - hour - ((session * 7919) % (14 * 24)) * hour + (n - session) * 75_000
    const visit = {
      visitor: (session % 90) + 1,
      session,
      occurred_at: at,
      title: pick(['Home', 'Prices', markup], n),
      ...pick([{ source: 'google', medium: 'organic' }, { source: 'news', medium: 'email', campaign: 'may' }, {}], n),
      path: pick(['/', '/prices', `/${markup}`, '/docs/‮evil'], n),
      country: pick(['DE', 'FR', 'US', 'BR'], n),
      ...(n % 4 === 0 && { region: 'DE-BE', region_name: 'Land Berlin', city: `Berlin ${markup}` }),
      device: pick(['desktop', 'mobile'] as const, n),
      browser: pick(['Firefox', 'Chrome'], n),
      os: pick(['Linux', 'iOS'], n),
    }
    return n % 12 === 0 ? { ...visit, kind: 'conversion' as const } : visit
  })
}

beforeAll(async () => {
  Object.assign(site, await makeWorkspace(stores))
  await addEvents(stores, site.workspaceId, someWeeks())
})

/** As the dashboard writes it. */
function lengthOf(seconds: number): string {
  const rounded = Math.round(seconds)
  return rounded < 60 ? `${rounded}s` : `${Math.floor(rounded / 60)}m ${rounded % 60}s`
}

const ready = (page: Page) => page.waitForSelector('main:not([aria-busy="true"]) [data-card="visitors"]')
async function asked<Answer>(path: string): Promise<Answer> {
  return (await (await api.ask(`/v1/analytics/${path}`, { key: site.apiKey })).json()) as Answer
}

test('axe finds nothing on the overview and in its dialogs, and none is wider than the screen', async (context) => {
  const page = await signIn(context)
  await ready(page)
  expect(await page.textContent('.range')).toContain('UTC')
  await page.keyboard.press('q')
  await page.waitForURL('**/dashboard?days=90')
  await ready(page)
  await page.click(`${list('Countries')} >> text=Map`)
  await page.waitForSelector('[data-country="DE"]')
  await page.waitForSelector('canvas')
  await look(page, 'overview')
  await page.click(`${list('Sources')} >> text=Details`)
  for (const [name, key, seen] of [
    ['details', undefined, 'dialog .all tbody tr'],
    ['keys', '?', 'dialog .keys'],
    ['filter', 'f', 'dialog form'],
  ] as const) {
    if (key !== undefined) await page.keyboard.press(key)
    await page.waitForSelector(seen)
    await look(page, name)
    await page.keyboard.press('Escape')
  }
})

const filters = ['source=google', 'country=DE', 'device=!mobile', 'os=Linux', 'path=/p*']
const dayBefore = (days: number) => new Date(Date.now() - days * 24 * hour).toISOString().slice(0, 10)
const ranges = ['days=1', 'days=7', 'days=30', 'days=90', `start=${dayBefore(10)}&end=${dayBefore(4)}`]
/** In short each range, with two filters, and each filter twice; in the long form all pairs in all ranges. */
const questions = filters.flatMap((one, a) =>
  filters.flatMap((other, b) =>
    ranges
      .filter((_, at) => isLong || (b === (a + 1) % filters.length && at === a))
      .map((range) => [range, ...new Set([one, other])].join('&')),
  ),
)

test('what stands on the screen is what the API says, by ranges and filters', async (context) => {
  await onOneDay()
  const page = await signIn(context)
  await ready(page)
  for (const question of questions) {
    await goWithin(page, `/dashboard?${question}&tab=systems`)
    await ready(page)
    const { metrics, ...lists } = await asked<AnalyticsOverview>(`overview?${question}`)
    const shown = () => page.$$eval('[data-card] strong', (all) => all.map((one) => one.textContent))
    const m = metrics as Record<string, number>
    await expect
      .poll(shown, { message: question })
      .toEqual([
        ...[m['visitors'], m['pageviews'], m['sessions']].map(String),
        `${Math.round(m['bounce_rate']! * 10) / 10} %`,
        lengthOf(m['average_session_seconds']!),
        String(m['conversions']),
        '$0.00',
      ])
    const rowsOf = (title: string) =>
      page.$$eval(`${list(title)} .row`, (all) =>
        all.map((one) => [one.querySelector('.name')!.textContent, Number(one.querySelector('.number')!.textContent)]),
      )
    await expect
      .poll(() => rowsOf('Sources'))
      .toEqual(
        lists.top_sources.map(({ source, medium, visitors }) => [
          medium === 'none' ? source : `${source} / ${medium}`,
          visitors,
        ]),
      )
    await expect.poll(() => rowsOf('Pages')).toEqual(lists.top_pages.map(({ path, pageviews }) => [path, pageviews]))
    const { rows } = await asked<Breakdown>(`breakdown?by=os&${question}`)
    await expect.poll(() => rowsOf('Devices')).toEqual(rows.map(({ label, visitors }) => [label, visitors]))
  }
})

test('each card is a tab of the chart, whose values are the API’s', async (context) => {
  await onOneDay()
  const { traffic_series = [] } = await asked<AnalyticsOverview>('overview?days=7')
  const values = <Name extends keyof (typeof traffic_series)[number]>(name: Name) =>
    traffic_series.map((point) => point[name])
  const shown = {
    visitors: values('visitors').map(String),
    pageviews: values('pageviews').map(String),
    sessions: values('sessions').map(String),
    bounce_rate: values('bounce_rate').map((rate) => `${rate} %`),
    average_session_seconds: values('average_session_seconds').map((seconds) => lengthOf(seconds!)),
    conversions: values('conversions').map(String),
    revenue_cents: traffic_series.map(() => '$0.00'),
  }
  for (const texts of [shown.bounce_rate, shown.average_session_seconds]) {
    expect(new Set(texts).size).toBeGreaterThan(2)
  }
  const page = await signIn(context, '/dashboard?days=7&compare=none')
  await ready(page)
  for (const [name, texts] of Object.entries(shown)) {
    await page.click(`[data-card="${name}"]`)
    await expect
      .poll(() => page.$$eval('.chart .unseen td', (all) => all.map((one) => one.textContent)), { message: name })
      .toEqual(texts)
    // The chart is drawn anew a moment after the table: before that the pointer would be over the other one.
    const label = await page.textContent('.chart caption')
    await page.waitForSelector(`.chart .u-series:nth-child(2) .u-label:text-is("${label}")`)
    // The middle of seven days.
    await page.hover('.u-over')
    await expect
      .poll(() => page.textContent('.chart .u-series:nth-child(2) .u-value'), { message: name })
      .toBe(texts[3])
  }
  const names = await page.$$eval('[data-card]', (cards) => cards.map((one) => one.getAttribute('data-card')))
  expect(names).toEqual(Object.keys(shown))
})

test('by keyboard alone: a tab of a list, its details searched, sorted and filtered by, the range moved', async (context) => {
  await onOneDay()
  const page = await signIn(context)
  await ready(page)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForSelector('main:focus')
  // Alt and Enter leave a row's value out, as a click with Alt does.
  await page.focus(`${list('Countries')} .row:has-text("Brazil")`)
  await page.keyboard.press('Alt+Enter')
  await page.waitForSelector('.chips >> text=country: not Brazil')
  await page.keyboard.press('Escape')
  await page.focus('text=As a table')
  await page.keyboard.press('Enter')
  // A table that is wider than its place is scrolled by the arrows, which move no range then.
  await page.$eval('.chart .scrolled', (table) => {
    table.style.width = '60px'
  })
  await page.focus('.chart .scrolled')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowLeft')
  await page.focus('text=As a table')
  await page.keyboard.press('Enter')
  expect(new URL(page.url()).search).toBe('')
  const turnKeys = async () => {
    await page.focus('header >> text=Shortcuts')
    await page.keyboard.press('Enter')
    await page.focus('dialog input')
    for (const key of ['Space', 'Escape', 'd']) await page.keyboard.press(key)
    // Until it has gone, its button opens nothing.
    await page.waitForSelector('dialog', { state: 'detached' })
  }
  await turnKeys()
  expect(new URL(page.url()).search).toBe('')
  await turnKeys()
  await page.waitForURL('**/dashboard?days=1')
  await page.keyboard.press('m')
  await page.focus(`${list('Sources')} >> text=Campaigns`)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('Sources')} .row:has-text("may")`)
  await page.focus(`${list('Sources')} >> text=Details`)
  await page.keyboard.press('Enter')
  await page.focus('dialog th button:has-text("Sessions")')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog th[aria-sort="descending"]:has-text("Sessions")')
  await page.focus('dialog input[type="search"]')
  await page.keyboard.type('ma')
  await expect.poll(() => page.$$eval('dialog tbody tr', (rows) => rows.length)).toBe(1)
  await page.focus('dialog tbody button')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard?campaign=may&tab=campaigns')
  expect(await page.$('dialog')).toBeNull()
  await page.keyboard.press('w')
  await page.keyboard.press('ArrowLeft')
  await page.waitForURL(/start=[\d-]+&end=[\d-]+&days=7&campaign=may/)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('e')
  const day = dayBefore(1)
  await page.waitForURL(`**/dashboard?start=${day}&end=${day}&days=1&campaign=may&tab=campaigns`)
  await page.keyboard.press('f')
  await page.selectOption('dialog select[name="name"]', 'path')
  await page.focus('dialog input[name="value"]')
  await page.keyboard.type('/p*')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.chips >> text=path: /p*')
  await page.keyboard.press('Escape')
  await page.waitForSelector('.chips >> text=path: /p*', { state: 'detached' })
  await page.keyboard.press('x')
  await page.waitForURL(/compare=none/)
  await page.focus('[data-card="conversions"]')
  await page.keyboard.press('Space')
  expect(await page.getAttribute('[data-card="conversions"]', 'aria-pressed')).toBe('true')
  await page.waitForSelector('.chart caption:text-is("Conversions")', { state: 'attached' })
  // Another scheme draws the chart anew.
  const color = () => page.$eval('.chart .u-series:nth-child(2) .u-marker', (marker) => marker.getAttribute('style'))
  const light = await color()
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(color).not.toBe(light)
  // Where the system has the colours, too, the chosen card is told from others.
  await page.emulateMedia({ forcedColors: 'active' })
  const groundOf = (pressed: boolean) =>
    page.evaluate(`getComputedStyle(document.querySelector('[data-card][aria-pressed="${pressed}"]')).backgroundColor`)
  expect(await groundOf(true)).not.toBe(await groundOf(false))
  await page.emulateMedia({ forcedColors: 'none' })
  // A screen of 1,280 pixels at 400 %.
  await page.setViewportSize({ width: 320, height: 256 })
  // The chart follows the screen a frame later.
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  await page.setViewportSize({ width: 1280, height: 900 })
})

test('card and tabs stand in the address: reload, other pages and Back keep them', async (context) => {
  const page = await signIn(context)
  await ready(page)
  await page.click('[data-card="sessions"]')
  await page.click(`${list('Sources')} >> text=Channels`)
  await page.click(`${list('Pages')} >> text=Exit pages`)
  await page.waitForSelector(`${list('Pages')} .row:has-text("/prices")`)
  await page.click(`${list('Countries')} >> text=Map`)
  await page.waitForURL('**/dashboard?card=sessions&tab=channels&tab=exit_pages&tab=map')
  const chosen = () => page.$$eval('main [aria-pressed="true"]', (all) => all.map((one) => one.textContent))
  const shown = [expect.stringContaining('Sessions'), 'Channels', 'Exit pages', 'Map', 'Devices']
  await expect.poll(chosen).toEqual(shown)
  // The page comes with its figures, whatever is chosen on it.
  await page.route('**/api/v1/analytics/overview?*', (route) =>
    route.request().url().includes('include=') ? route.continue() : route.abort(),
  )
  await expect
    .poll(async () => {
      await page.reload()
      await page.waitForSelector('[data-card], .failure')
      return page.$$eval('[data-card]', (all) => all.length)
    })
    .toBe(7)
  expect(await chosen()).toEqual(shown)
  await page.unroute('**/api/v1/analytics/overview?*')
  // Another page begins at its top, also by keys from far down.
  await page.setViewportSize({ width: 1280, height: 300 })
  await page.evaluate('scrollTo(0, 500)')
  await goBy(page, 't')
  await page.waitForSelector(list('Tracking'))
  expect(await page.evaluate('scrollY')).toBe(0)
  await page.goBack()
  await ready(page)
  await goBy(page, 'p')
  await page.waitForSelector(list('People'))
  await page.goBack()
  await ready(page)
  expect(await chosen()).toEqual(shown)
  await page.goBack()
  await page.waitForURL('**/dashboard?card=sessions&tab=channels&tab=exit_pages')
  await expect.poll(chosen).toEqual(shown.with(3, 'Countries'))
})

test('a region filters by a click, and a city of any name', async (context) => {
  const page = await signIn(context)
  await ready(page)
  await page.click(`${list('Countries')} >> text=Regions`)
  await page.click(`${list('Countries')} .row:has-text("Land Berlin, Germany")`)
  await page.waitForURL('**/dashboard?region=DE-BE&tab=regions')
  await page.click(`${list('Countries')} >> text=Cities`)
  await page.click(`${list('Countries')} .row:has-text(${JSON.stringify(`Berlin ${markup}, Land Berlin`)})`)
  await expect.poll(() => page.textContent('.chips')).toContain(`city: Berlin ${markup}, DE-BE`)
  await expect.poll(() => page.locator(`${list('Countries')} .row`).count()).toBe(1)
})

test('a row says what it was before, the map filters, and dragging over the chart zooms', async (context) => {
  // The page and the question beside it have the same days.
  await onOneDay()
  const page = await signIn(context, '/dashboard?days=7')
  await ready(page)
  await page.hover(`${list('Sources')} .row`)
  await page.waitForSelector(`${list('Sources')} .row:hover .before`)
  const endsOf = (cell: string) =>
    page.$$eval(`${list('Sources')} ${cell}`, (all) => all.map((one) => one.getBoundingClientRect().right))
  const ends = [...(await endsOf('.number')), ...(await endsOf('.heads .number'))]
  expect(new Set(ends).size).toBe(1)
  const { metrics } = await asked<AnalyticsOverview>('overview?days=7')
  const { start, end } = (metrics as { previous_range: { start: string; end: string } }).previous_range
  const before = await asked<AnalyticsOverview>(`overview?${new URLSearchParams({ start, end })}`)
  const row = await page.textContent(`${list('Sources')} .row:hover`)
  const first = before.top_sources.find(({ source }) => row!.startsWith(source))
  expect(row).toContain(`before ${first?.visitors ?? 0}`)

  // The chart is made anew once it has the series of before.
  await page.waitForSelector('.chart .u-label:text-is("Before")')
  const box = (await (await page.waitForSelector('.u-over')).boundingBox())!
  await page.mouse.move(box.x + box.width * 0.3, box.y + 50)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.6, box.y + 50, { steps: 5 })
  await page.mouse.up()
  await page.waitForURL(/start=\d{4}-\d\d-\d\d&end=\d{4}-\d\d-\d\d&days=7/)
  await goWithin(page, '/dashboard')
  await page.click(`${list('Countries')} >> text=Map`)
  // By keys: in the order of names, each name shown, and a country that is left out leaves the focus on the map.
  await page.waitForSelector('.world a')
  await page.keyboard.press('Tab')
  await page.waitForSelector('[data-country="BR"]:focus')
  await page.waitForSelector('.map-focus:has-text("Brazil: ")')
  await page.keyboard.press('Alt+Enter')
  await page.waitForURL('**/dashboard?country=%21BR&tab=map')
  await page.waitForSelector('[data-country="FR"]:focus')
  // With another range, the compared period is the one before that range.
  const asks = (question: string) =>
    page.waitForRequest((request) => decodeURIComponent(request.url()).includes(question))
  const ofDay = ((await asked<AnalyticsOverview>('overview?days=1')).metrics as { previous_range: { start: string } })
    .previous_range.start
  await goWithin(page, '/dashboard?days=7')
  await ready(page)
  await page.hover(`${list('Sources')} .row`)
  const asksOfDay = asks(`include=top_sources&limit=1000&start=${ofDay}`)
  await page.keyboard.press('d')
  await asksOfDay
})
