/** Web vitals: measured as Google's own library measures them in the same page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { setUpSurface } from '../support/tracking-surface.ts'
import { root, shop, startVisit, untilNoted, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

const library = readFileSync(
  join(dirname(createRequire(import.meta.url).resolve('web-vitals')), 'web-vitals.iife.js'),
  'utf8',
)

/** Tells the site what the library measures, as it does by itself at the latest when the page is left. */
const reference = `${library}
for (const name of ['FCP', 'LCP', 'INP', 'CLS'])
  webVitals['on' + name](({ name, value, rating }) => navigator.sendBeacon('/measured', JSON.stringify({ name, value, rating })))`

/** A late picture is the largest paint, a late banner moves what is below it, and a button takes its time. */
const main = `<div id="banner"></div><h1>Tides</h1><img src="/picture.svg" width="700" height="350" alt="">
<button id="slow" type="button">Compute</button><p>${'Some text that is moved. '.repeat(40)}</p>
<script>
document.getElementById('slow').addEventListener('click', () => {
  const end = performance.now() + 180
  while (performance.now() < end);
})
setTimeout(() => { document.getElementById('banner').style.height = '160px' }, 700)
</script>`

test('FCP, LCP, INP and CLS equal those of web-vitals in the same page, in the rows and in the overview', async (context) => {
  const visit = await startVisit(surface, context)
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 350">${Array.from(
    { length: 300 },
    (_, at) =>
      `<circle cx="${(at * 37) % 700}" cy="${(at * 53) % 350}" r="${4 + (at % 9)}" fill="hsl(${at * 7} 60% 50%)"/>`,
  ).join('')}</svg>`
  visit.site(shop, {
    '/': { head: '<script src="/reference.js"></script>', main },
    '/next': { snippet: '' },
  })
  visit.network.decide = ({ url: { host, pathname } }) => {
    if (host !== shop) return undefined
    if (pathname === '/reference.js') return { headers: { 'Content-Type': 'text/javascript' }, body: reference }
    if (pathname === '/picture.svg')
      return { headers: { 'Content-Type': 'image/svg+xml' }, body: picture, afterMs: 400 }
    return pathname === '/measured' ? { status: 204 } : undefined
  }
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  // The first act ends the search for the largest paint, and a shift just after it doesn't count.
  await untilNoted(visit, 'largest-contentful-paint', `({ element }) => element?.tagName === 'IMG'`)
  await untilNoted(visit, 'layout-shift')
  await visit.page.waitForTimeout(1_500)
  await visit.page.click('#slow')
  // Both take what they measured when the browser is idle, at the latest after a second.
  await visit.page.waitForTimeout(1_500)
  await visit.page.goto(`${root}/next`)

  const events = await visit.expectSent('web_vital', 4)
  const measuredByLibrary = () =>
    visit.network.seen
      .filter(({ url }) => url.pathname === '/measured')
      .map(({ body }) => JSON.parse(body) as { name: string; value: number; rating: string })
  const names = () => measuredByLibrary().map(({ name }) => name)
  await expect.poll(() => names().sort()).toEqual(['CLS', 'FCP', 'INP', 'LCP'])
  const measured = measuredByLibrary()
  const sentOf = (metric: string) => events.find(({ properties }) => properties!['metric'] === metric)!.properties!
  for (const { name, value, rating } of measured) {
    const within = name === 'CLS' ? 0.001 : 1
    const ours = sentOf(name)
    expect(Math.abs((ours['value'] as number) - value), `${name} ${ours['value']} for ${value}`).toBeLessThanOrEqual(
      within,
    )
    expect(ours['rating']).toBe(rating.replace('-', '_'))
    expect(ours).toMatchObject({ id: expect.any(String), navigation_type: 'navigate' })
  }
  // There was something to measure.
  expect(sentOf('LCP')['value']).toBeGreaterThanOrEqual(400)
  expect(sentOf('INP')['value']).toBeGreaterThanOrEqual(176)
  expect(sentOf('CLS')['value']).toBeGreaterThan(0.01)

  expect(await visit.stored('web_vital')).toHaveLength(4)
  const { web_vitals, web_vital_pages } = await visit.overview()
  for (const { name, value } of measured) {
    const row = web_vitals.find(({ metric }) => metric === name)!
    expect(row.count).toBe(1)
    expect(Math.abs(row.latest - value)).toBeLessThanOrEqual(name === 'CLS' ? 0.001 : 1)
  }
  expect(web_vital_pages).toMatchObject([{ path: '/', samples: 4 }])
})

test('what is measured of a return from the back-forward cache belongs to the route that came back', async (context) => {
  const visit = await visitShop(surface, context, { '/': {}, '/elsewhere': {} })
  await visit.page.evaluate(`history.pushState({}, '', '/route')`)
  await visit.expectSent('pageview', 2)
  await visit.page.goto(`${root}/elsewhere`)
  await visit.expectSent('pageview', 3)
  // Not by playwright's own way back, which waits for a load that doesn't come.
  await visit.page.evaluate(`history.back()`).catch(() => {})
  const returned = () =>
    visit.sent('web_vital').filter(({ properties }) => properties!['navigation_type'] === 'back-forward-cache')
  await expect.poll(() => returned().length).toBeGreaterThan(0)
  expect([...new Set(returned().map(({ url }) => url))]).toEqual([`${root}/route`])
})

test('Svc.webVital records one by hand, like one that was measured', async (context) => {
  const visit = await visitShop(surface, context)
  await visit.page.evaluate(`Svc.webVital('INP', 321, { element: '#slow' })`)
  await expect.poll(() => visit.sent('web_vital').some(({ properties }) => properties!['value'] === 321)).toBe(true)
  const row = (await visit.stored('web_vital')).find(({ metric_value }) => metric_value === 321)
  expect(row?.properties).toMatchObject({ metric: 'INP', element: '#slow' })
})

test('vitals come from a file that is loaded after the page', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main: '<img src="/late.svg" alt="">' } })
  let loadedAt = 0
  const scripts: { url: string; at: number }[] = []
  visit.network.decide = ({ url }) => {
    if (url.pathname.endsWith('.js')) scripts.push({ url: url.href, at: Date.now() })
    if (url.pathname !== '/late.svg') return undefined
    loadedAt = Date.now() + 800
    return {
      headers: { 'Content-Type': 'image/svg+xml' },
      body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      afterMs: 800,
    }
  }
  await visit.page.goto(`${root}/`)
  await expect.poll(() => scripts.length).toBe(2)
  expect(scripts[0]).toMatchObject({ url: visit.scriptUrl })
  expect(scripts[0]!.at).toBeLessThan(loadedAt)
  expect(scripts[1]!.at).toBeGreaterThanOrEqual(loadedAt - 20)
})

test('no first paint is lost, however soon the script is there', async (context) => {
  const visit = await startVisit(surface, context)
  const pages = ['/', '/a', '/b', '/c']
  visit.site(shop, Object.fromEntries(pages.map((path) => [path, { main: '<h1>Tides</h1>' }])))
  const paints = () => visit.sent('web_vital').filter(({ properties }) => properties!['metric'] === 'FCP')
  for (const [at, path] of pages.entries()) {
    await visit.page.goto(root + path)
    await expect.poll(() => paints().length).toBe(at + 1)
  }
  const measured = (await visit.stored('web_vital')).filter(({ properties }) => properties['metric'] === 'FCP')
  expect(measured.map(({ path }) => path).sort()).toEqual(pages)
})
