/** The demo site as a newcomer meets it: clicked through, and read in the overview. */
import { expect, test } from 'vitest'
import { productRoot, setUpSurface } from '../support/tracking-surface.ts'
import { startVisit, untilLate, untilNoted } from '../support/visits.ts'

const surface = setUpSurface()

test('a walk through the demo is in the overview: pages, app, plan, form, outbound link and vitals', async (context) => {
  const visit = await startVisit(surface, context)
  surface.demoScriptUrl = visit.scriptUrl
  const { page } = visit
  await page.goto(`${productRoot}/demo/?utm_source=readme&utm_medium=docs`)
  await visit.expectSent('pageview', 1)
  // The first act ends the search for the largest paint.
  await untilNoted(visit, 'largest-contentful-paint', `({ element }) => element?.className === 'picture'`)
  await page.click('#next-tide')
  expect(await page.textContent('#tide')).toContain('16:38')
  await visit.expectSent('button_click', 1)
  await page.click('nav a[href="/demo/prices"]')
  await visit.expectSent('pageview', 2)
  await page.click('[data-plan=sloop]')
  await page.click('#unseen')
  await visit.expectSent('plan_chosen')
  await visit.expectSent('button_click', 2)
  await page.click('nav a[href="/demo/sign-up"]')
  // The script sees what is done once it is there.
  await visit.expectSent('pageview', 3)
  await page.fill('#email', 'ada@example.com')
  await page.fill('#full-name', 'Ada Lovelace')
  await page.click('#sign-up button')
  await visit.expectSent('signup')
  await visit.expectSent('button_click', 3)
  expect(await page.textContent('#outcome')).toContain('Thank you')
  await page.click('nav a[href="/demo/app/"]')
  await visit.expectSent('pageview', 4)
  await page.click('#routes a[href="/demo/app/week"]')
  const views = await visit.expectSent('pageview', 5)
  expect(views[4]).toMatchObject({ title: 'Week · Slack Water', url: `${productRoot}/demo/app/week` })
  await page.goBack()
  await visit.expectSent('pageview', 6)
  await page.click('header .name')
  await visit.expectSent('pageview', 7)
  // The page that this leads to isn't there: nothing waits for a second file that is still on its way.
  await untilLate(visit)
  await page.click('#outbound', { noWaitAfter: true })
  await visit.expectSent('outbound_click')

  const rows = await visit.stored()
  const count = (name: string) => rows.filter(({ event_name }) => event_name === name).length
  expect(['form_submit', 'identify', 'signup', 'plan_chosen', 'outbound_click'].map(count)).toEqual([1, 1, 1, 1, 1])
  // "When is the next high tide?", "Choose Sloop" and "Sign up", but nothing of the part that is left alone.
  expect(rows.filter(({ event_name }) => event_name === 'button_click').map(({ path }) => path)).toEqual([
    '/demo/',
    '/demo/prices',
    '/demo/sign-up',
  ])
  for (const { request } of visit.sendings())
    if (!request.body.includes('"identify"')) expect(request.body).not.toContain('ada@example.com')
  const { metrics, top_pages, top_sources, web_vitals } = await visit.overview()
  expect(metrics).toMatchObject({
    visitors: 1,
    sessions: 1,
    pageviews: 7,
    conversions: 1,
    new_contacts: 1,
    bounce_rate: 0,
  })
  expect(top_sources[0]).toMatchObject({ source: 'readme', medium: 'docs', visitors: 1, conversions: 1 })
  expect(top_pages.map(({ path }) => path).sort()).toEqual([
    '/demo/',
    '/demo/app/',
    '/demo/app/week',
    '/demo/prices',
    '/demo/sign-up',
  ])
  // The slow picture is the largest paint of the first page.
  expect(
    rows.some(
      ({ event_name, path, properties, metric_value }) =>
        event_name === 'web_vital' && path === '/demo/' && properties['metric'] === 'LCP' && metric_value >= 1_000,
    ),
  ).toBe(true)
  expect(web_vitals.find(({ metric }) => metric === 'FCP')!.count).toBeGreaterThanOrEqual(3)
  expect(visit.complaints.filter((text) => !text.includes('ERR_TUNNEL_CONNECTION_FAILED'))).toEqual([])
})

test('its footer shows what the browser is known by, and forgets and agrees when it is told to', async (context) => {
  const visit = await startVisit(surface, context)
  surface.demoScriptUrl = visit.scriptUrl
  await visit.page.goto(`${productRoot}/demo/`)
  const [event] = await visit.expectSent('pageview')
  await expect.poll(() => visit.page.textContent('#journey')).toContain(event!.anonymous_id!)
  await visit.page.click('text=Forget me')
  expect(await visit.page.textContent('#journey')).not.toContain(event!.anonymous_id!)
  expect(await visit.page.evaluate(`Object.keys(localStorage)`)).toEqual([])
  await visit.page.click('text=Agree')
  await expect.poll(() => visit.page.evaluate(`Object.keys(localStorage)`)).toContain('svc_aid')
  expect(visit.complaints).toEqual([])
})

test('works without the script, as any page should, and what is done before it has come is kept', async (context) => {
  const visit = await startVisit(surface, context)
  surface.demoScriptUrl = visit.scriptUrl
  const { page, network } = visit
  let letPass = () => {}
  const isHeld = new Promise<void>((resolve) => {
    letPass = resolve
  })
  network.decide = ({ url }) => (url.pathname === '/svc.js' ? 'cut' : undefined)
  await page.goto(`${productRoot}/demo/`)
  await page.click('#next-tide')
  expect(await page.textContent('#tide')).toContain('16:38')
  await page.click('nav a[href="/demo/app/"]')
  await page.click('#routes a[href="/demo/app/harbours"]')
  expect(await page.textContent('h1')).toBe('Harbours')
  expect(visit.complaints.filter((text) => !text.includes('net::'))).toEqual([])

  network.decide = ({ url }) => (url.pathname === '/svc.js' ? isHeld.then(() => undefined) : undefined)
  await page.goto(`${productRoot}/demo/sign-up`, { waitUntil: 'commit' })
  await page.fill('#email', 'ada@example.com')
  // The page's own script, which is deferred, has run by then.
  await page.waitForLoadState('domcontentloaded')
  await page.click('#sign-up button')
  await expect.poll(() => page.textContent('#outcome')).toContain('Thank you')
  expect(visit.sent()).toEqual([])
  letPass()
  await visit.expectSent('signup')
  await visit.expectSent('identify')
})
