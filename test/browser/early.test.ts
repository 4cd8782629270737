/** Before svc.js has loaded, and in pages that nobody sees yet. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openUndriven } from '../support/browser.ts'
import { readDoc } from '../support/docs.ts'
import type { SiteAnswer } from '../support/network.ts'
import { setUpSurface } from '../support/tracking-surface.ts'
import { namesOf, root, shop, startVisit, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

/** As docs/browser.md gives it to sites. */
const stub = /<script>[^<]*window\.Svc[^<]*<\/script>/.exec(readDoc('docs/browser.md'))![0]

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
  expect(visit.complaints).toEqual([])
})

test('consent that was given before the script has loaded counts', async (context) => {
  const visit = await visitShop(
    surface,
    context,
    { '/': { head: `${stub}<script>Svc.consent(true)</script>` } },
    { flags: 'require_consent=true' },
  )
  expect(namesOf(await visit.stored())).toEqual(['pageview'])
})

test('a page that is prerendered sends nothing until it is shown, and then one pageview and the calls before', async (context) => {
  const visit = await startVisit(surface, context)
  const rules = `<script type="speculationrules">{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}</script>
<script>fetch('/go').then(() => location.assign('/next'))</script>`
  const tell = `<script>fetch('/told?' + document.prerendering)
document.addEventListener('prerenderingchange', () => fetch('/told?shown'))</script>`
  visit.site(shop, {
    '/': { main: rules },
    '/next': { head: `${stub}<script>Svc.track('early')</script>${tell}` },
    '/told': { snippet: '' },
  })
  const told = () => visit.network.seen.filter(({ url }) => url.pathname === '/told').map(({ url }) => url.search)
  const views = () => visit.sendings().filter(({ event }) => event.event_name === 'pageview')
  let go = (_: SiteAnswer) => {}
  const whenToGo = new Promise<SiteAnswer>((resolve) => (go = resolve))
  visit.network.decide = ({ url }) => (url.pathname === '/go' ? whenToGo : undefined)
  await openUndriven(`${root}/`, visit.network.port, join(surface.folder, 'undriven'), context)
  await expect.poll(told).toEqual(['?true'])
  await visit.expectSent('pageview')
  // The script, which is cached, is in the hidden page as well by then.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(views().map(({ event }) => event.url)).toEqual([`${root}/`])
  const shownAt = Date.now()
  go({ body: 'go' })
  await visit.expectSent('pageview', 2)
  await expect.poll(told).toEqual(['?true', '?shown'])
  await visit.expectSent('early')
  const [early] = visit.sendings().filter(({ event }) => event.event_name === 'early')
  expect(Date.parse(String(early!.event.occurred_at))).toBeGreaterThanOrEqual(shownAt)
  const rows = await visit.stored('pageview')
  expect(rows.map(({ path }) => path)).toEqual(['/', '/next'])
  expect(new Set(rows.map(({ session }) => session)).size).toBe(1)
})
