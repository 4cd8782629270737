/** Before svc.js has loaded, and in pages that nobody sees yet. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { browserWithinMs, openUndriven } from '../support/browser.ts'
import { startTrackingSurface, type TrackingSurface } from '../support/tracking-surface.ts'
import { namesOf, startVisit } from '../support/visits.ts'

let surface: TrackingSurface
beforeAll(async () => {
  surface = await startTrackingSurface()
}, browserWithinMs)
afterAll(() => surface?.close())

const shop = 'shop.localhost'
const root = `http://${shop}`
/** Takes calls until the script comes. */
const stub = `<script>
window.Svc = { q: [] }
for (const name of ['page', 'track', 'identify', 'conversion', 'webVital', 'consent'])
  Svc[name] = function () { Svc.q.push([name, arguments]) }
</script>`

test('calls made before the script has loaded are made once it has, once and in their order', async (context) => {
  const visit = await startVisit(surface, context)
  const calls = `<script>
Svc.track('early', { at: 1 })
Svc.identify('ada@example.com', { full_name: 'Ada' })
Svc.conversion('signup')
Svc.track('early', { at: 2 })
</script>`
  visit.site(shop, { '/': { head: stub + calls } })
  visit.network.decide = ({ url }) => (url.pathname === '/slow.css' ? { afterMs: 300 } : undefined)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  await visit.expectSent('early', 2)
  await visit.expectSent('signup')
  await visit.page.evaluate(`Svc.track('late')`)
  await visit.expectSent('late')
  const rows = await visit.stored()
  expect(namesOf(rows)).toEqual(['pageview', 'early', 'identify', 'signup', 'early', 'late'])
  expect(rows.filter(({ event_name }) => event_name === 'early').map(({ properties }) => properties['at'])).toEqual([
    1, 2,
  ])
  expect((await visit.overview()).metrics).toMatchObject({ visitors: 1, pageviews: 1, conversions: 1, new_contacts: 1 })
  expect(visit.complaints).toEqual([])
})

test('consent that was given before the script has loaded counts', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'require_consent=true' })
  visit.site(shop, { '/': { head: `${stub}<script>Svc.consent(true)</script>` } })
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  expect(namesOf(await visit.stored())).toEqual(['pageview'])
})

test('a page that is prerendered sends nothing until it is shown, and then one pageview', async (context) => {
  const visit = await startVisit(surface, context)
  const rules = `<script type="speculationrules">{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}</script>
<script>addEventListener('load', () => setTimeout(() => location.assign('/next'), 2500))</script>`
  const tell = `<script>fetch('/told?' + document.prerendering)
document.addEventListener('prerenderingchange', () => fetch('/told?shown'))</script>`
  visit.site(shop, { '/': { main: rules }, '/next': { head: tell }, '/told': { snippet: '' } })
  const told = () => visit.network.seen.filter(({ url }) => url.pathname === '/told').map(({ url }) => url.search)
  const views = () => visit.sendings().filter(({ event }) => event.event_name === 'pageview')
  let viewsWhenShown: number | undefined
  visit.network.decide = ({ url }) => {
    if (url.search === '?shown') viewsWhenShown = views().length
    return undefined
  }
  await openUndriven(`${root}/`, visit.network.port, join(surface.stores.dataDir, 'undriven'), context)
  await expect.poll(told, { timeout: 20_000 }).toEqual(['?true', '?shown'])
  await visit.expectSent('pageview', 2)
  // For two seconds the script was in the hidden page, too, and sent nothing of it.
  expect(viewsWhenShown).toBe(1)
  expect(views().map(({ event }) => event.url)).toEqual([`${root}/`, `${root}/next`])
  const rows = await visit.stored('pageview')
  expect(rows.map(({ path }) => path)).toEqual(['/', '/next'])
  expect((await visit.overview()).metrics).toMatchObject({ visitors: 1, sessions: 1, pageviews: 2 })
}, 60_000)
