/** When svc.js records a pageview, and what it says of it. */
import { expect, test } from 'vitest'
import { setUpSurface } from '../support/tracking-surface.ts'
import { namesOf, root, shop, startVisit, untilLate, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

test('a visit of a page is one pageview with the page, the browser and the visitor, and one in the overview', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/prices': { title: 'Prices', main: '<h1>Prices</h1>' } })
  visit.site('news.example', { '/': { snippet: '', main: `<a href="${root}/prices?a=1#plans">to the shop</a>` } })
  await visit.page.goto('http://news.example/')
  await visit.page.click('a')
  const [event] = await visit.expectSent('pageview')
  expect(event).toMatchObject({
    url: `${root}/prices?a=1#plans`,
    referrer: 'http://news.example/',
    title: 'Prices',
    anonymous_id: expect.stringMatching(/^\w{20,254}$/),
    session_id: expect.stringMatching(/^[\w.-]{20,254}$/),
    client_event_id: expect.stringMatching(/^[\w.-]{16,254}$/),
    language: 'en-GB',
    timezone: 'Europe/Berlin',
    screen_width: 1200,
  })
  const [row, ...others] = await visit.stored('pageview')
  expect(others).toEqual([])
  expect(row).toMatchObject({ event_name: 'pageview', path: '/prices', source: 'news.example', medium: 'referral' })
  expect(row).toMatchObject({ language: 'en-GB', timezone: 'Europe/Berlin', screen_width: 1200 })
  const { metrics, top_pages, top_sources, browsers, devices } = await visit.overview()
  expect(metrics).toMatchObject({ visitors: 1, pageviews: 1, sessions: 1, bot_visits: 0 })
  expect(top_pages).toMatchObject([{ path: '/prices', title: 'Prices', pageviews: 1, visitors: 1 }])
  expect(top_sources).toMatchObject([{ source: 'news.example', medium: 'referral', visitors: 1 }])
  expect([browsers[0]?.label, devices[0]?.key]).toEqual(['Chrome', 'desktop'])
  expect(visit.complaints).toEqual([])
})

test('a route change of a single-page app is one pageview, whoever tells of it: the History API, Svc.page() with properties, or both', async (context) => {
  const visit = await visitShop(surface, context)
  const route = (path: string, isTold: boolean) =>
    visit.page.evaluate(`{
      document.title = 'at ${path}'
      history.pushState(null, '', '${path}')
      if (${isTold}) Svc.page({ section: 'tides', words: 800 })
    }`)
  await route('/a', false)
  await visit.expectSent('pageview', 2)
  await route('/b', true)
  await visit.expectSent('pageview', 3)
  await visit.page.evaluate(`{
    Svc.page()
    history.replaceState({ scrolled: true }, '', location.href)
    Svc.page()
  }`)
  await visit.page.evaluate(`history.back()`)
  const events = await visit.expectSent('pageview', 4)
  expect(events.map(({ url }) => new URL(url!).pathname)).toEqual(['/', '/a', '/b', '/a'])
  expect(events.map(({ title }) => title)).toEqual(['/', 'at /a', 'at /b', 'at /b'])
  // The next page's title was there before these ends were recorded.
  expect(visit.sent('page_leave').map(({ title }) => title)).toEqual(['/', 'at /a', 'at /b'])
  expect(new Set(events.map(({ session_id }) => session_id)).size).toBe(1)
  await visit.page.evaluate(`history.replaceState(null, '', '/c')`)
  await visit.expectSent('pageview', 5)
  const rows = await visit.stored('pageview')
  expect(rows.map(({ path }) => path)).toEqual(['/', '/a', '/b', '/a', '/c'])
  expect(rows.map(({ properties }) => properties)).toEqual([{}, {}, { section: 'tides', words: 800 }, {}, {}])
  expect(visit.complaints).toEqual([])
})

test('a route of the Navigation API is a pageview, and properties that are no JSON cost a page nothing but themselves', async (context) => {
  const head = `<script>
    navigation.addEventListener('navigate', (event) => event.intercept({ handler: async () => (document.title = location.pathname) }))
  </script>`
  const visit = await visitShop(surface, context, { '/': { head, main: '<a href="/a">a</a>' } })
  await untilLate(visit)
  await visit.page.click('a')
  await visit.expectSent('pageview', 2)
  await visit.page.evaluate(`{
    history.pushState(null, '', '/b')
    Svc.page({ self })
  }`)
  const events = await visit.expectSent('pageview', 3)
  expect(events.map(({ url, title }) => [new URL(url!).pathname, title])).toEqual([
    ['/', '/'],
    ['/a', '/a'],
    ['/b', '/b'],
  ])
})

test('the first pageview has the address that the page was loaded with, though the app changes it at once', async (context) => {
  const visit = await startVisit(surface, context)
  const app = `<script>
    const begin = () => window.Svc?.journey ? history.replaceState(null, '', location.pathname === '/old' ? '/new' : '/') : setTimeout(begin)
    begin()
  </script>`
  visit.site(shop, { '/': { head: app }, '/old': { head: app } })
  await visit.page.goto(`${root}/?utm_source=news&svc_link_id=5&svc_post_id=6`)
  await visit.expectSent('pageview', 1)
  await visit.page.goto(`${root}/old?utm_source=news`)
  const views = await visit.expectSent('pageview', 3)
  expect(views.map(({ url }) => url)).toEqual([
    `${root}/?utm_source=news&svc_link_id=5&svc_post_id=6`,
    `${root}/old?utm_source=news`,
    `${root}/new`,
  ])
  expect(await visit.stored('pageview')).toHaveLength(3)
})

test('a page that comes back from the back-forward cache is a pageview of the same visit, and no landing', async (context) => {
  const visit = await startVisit(surface, context)
  const tell = `<script>addEventListener('pageshow', ({ persisted }) => fetch('/told?' + persisted))</script>`
  const home = { main: '<a href="/a?source=pricing&svc_link_id=5">a</a>' }
  visit.site(shop, { '/': home, '/a': { head: tell }, '/b': { head: tell }, '/told': { snippet: '' } })
  const told = () => visit.network.seen.filter(({ url }) => url.pathname === '/told').map(({ url }) => url.search)
  await visit.page.goto(root, { referer: 'https://news.example/' })
  await visit.expectSent('pageview', 1)
  await visit.page.click('a')
  await visit.expectSent('pageview', 2)
  await visit.page.goto(`${root}/b`)
  await visit.expectSent('pageview', 3)
  // Not by playwright's own way back, which waits for a load that doesn't come.
  await visit.page.evaluate(`history.back()`).catch(() => {})
  const events = await visit.expectSent('pageview', 4)
  expect(told()).toEqual(['?false', '?false', '?true'])
  expect(events.map(({ url }) => new URL(url!).pathname)).toEqual(['/', '/a', '/b', '/a'])
  expect(new Set(events.map(({ session_id }) => session_id)).size).toBe(1)
  expect(new Set(events.map(({ client_event_id }) => client_event_id)).size).toBe(4)
  const { last_touch } = await visit.page.evaluate<{ last_touch: object }>('Svc.journey()')
  expect(last_touch).toMatchObject({ url: `${root}/`, referrer: 'https://news.example/' })
  const rows = await visit.stored('pageview')
  expect(rows.map(({ source }) => source)).toEqual(['news.example', 'direct', 'direct', 'direct'])
})

test('the script twice in a page, also with the queue before it, records everything once', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, {
    '/': { snippet: visit.snippet.repeat(2), main: `<button id="buy" type="button">Buy</button>${visit.snippet}` },
  })
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview', 1)
  await visit.page.click('#buy')
  await visit.page.evaluate(`Svc.track('bought')`)
  await visit.expectSent('button_click', 1)
  await visit.expectSent('bought', 1)
  expect(namesOf(await visit.stored()).sort()).toEqual(['bought', 'button_click', 'pageview'])
  expect(visit.complaints).toEqual([])
})

test('a fragment is no page of its own, unless it is a route', async (context) => {
  const visit = await visitShop(surface, context, {
    '/': {
      main: '<a id="jump" href="#there">there</a><a id="menu" href="#!">menu</a><a id="route" href="#/orders">orders</a>',
    },
  })
  // A link that leads nowhere, and the empty routes that routers begin with.
  for (const id of ['jump', 'menu']) await visit.page.click(`#${id}`)
  for (const route of ['#/', '#!/']) await visit.page.evaluate(`history.replaceState(null, '', '${route}')`)
  await visit.expectSent('link_click', 2)
  await visit.page.click('#route')
  const views = await visit.expectSent('pageview', 2)
  expect(views.map(({ url }) => url)).toEqual([`${root}/`, `${root}/#/orders`])
  expect((await visit.stored('pageview')).map(({ path }) => path)).toEqual(['/', '/#/orders'])
})
