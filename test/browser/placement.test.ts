/** Where svc.js comes from and what comes with it: proxies, copies, a second file that doesn't come, other tabs. */
import { expect, test } from 'vitest'
import { setUpSurface } from '../support/tracking-surface.ts'
import { namesOf, root, shop, startVisit, type Visit } from '../support/visits.ts'

const surface = setUpSurface()

const script = { 'Content-Type': 'text/javascript' }

/** The script as the product serves it, for a site that passes it on. */
async function textOf(visit: Visit, query = `key=${visit.workspace.trackingKey}`): Promise<string> {
  return (await fetch(`http://127.0.0.1:${surface.front.port}/svc.js?${query}`)).text()
}

test('from a proxy under a folder of the site, events and the second file go by the same folder', async (context) => {
  const visit = await startVisit(surface, context)
  const text = await textOf(visit)
  const late = await textOf(visit, 'late=x')
  const query = `key=${visit.workspace.trackingKey}`
  visit.site(shop, { '/': { snippet: `<script async src="/stats/svc.js?${query}"></script>` } })
  visit.network.decide = ({ url, method }) => {
    if (url.host !== shop || !url.pathname.startsWith('/stats/')) return undefined
    if (method === 'POST') return { status: 202, body: '{}' }
    return { headers: script, body: url.searchParams.has('late') ? late : text }
  }
  await visit.page.goto(`${root}/`)
  const asked = () => visit.network.seen.map(({ method, url }) => `${method} ${url.host}${url.pathname}`)
  await expect.poll(asked).toContain(`POST ${shop}/stats/api/v1/growth/track/batch`)
  await expect.poll(() => visit.network.seen.some(({ url }) => url.searchParams.has('late'))).toBe(true)
  expect(visit.network.seen.filter(({ url }) => url.host !== shop)).toEqual([])
  expect(visit.complaints).toEqual([])
})

test('inserted by another script after the page has loaded, as tag managers do, it records the page and its vitals', async (context) => {
  const visit = await startVisit(surface, context)
  const insert = `const script = document.createElement('script'); script.src = '${visit.scriptUrl}'; document.body.append(script)`
  const snippet = `<script>addEventListener('load', () => { ${insert} })</script>`
  visit.site(shop, { '/': { snippet, main: '<button type="button">Buy</button>' } })
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  await expect.poll(() => visit.network.seen.some(({ url }) => url.searchParams.has('late'))).toBe(true)
  await visit.page.click('button')
  await visit.expectSent('button_click')
  await visit.page.close({ runBeforeUnload: true })
  await visit.expectSent('page_leave')
  await expect.poll(() => visit.sent('web_vital').map(({ properties }) => properties!['metric'])).toContain('FCP')
  expect(visit.complaints).toEqual([])
})

test('a copy that the site serves itself sends to the product’s own address', async (context) => {
  const visit = await startVisit(surface, context)
  const text = await textOf(visit)
  visit.site(shop, { '/': { snippet: '<script async src="/assets/all.js?v=3"></script>' } })
  visit.network.decide = ({ url }) => (url.pathname === '/assets/all.js' ? { headers: script, body: text } : undefined)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  expect(await visit.stored()).toHaveLength(1)
  expect(visit.complaints).toEqual([])
})

test('where the second file doesn’t come, pageviews, calls and engagement are recorded all the same', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main: '<button type="button">Buy</button>' }, '/next': { snippet: '' } })
  visit.network.decide = ({ url }) => (url.searchParams.has('late') ? 'cut' : undefined)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  for (let clicks = 0; clicks < 3; clicks++) await visit.page.click('button')
  await visit.page.evaluate('Svc.track("bought")')
  await visit.expectSent('bought')
  await visit.page.goto(`${root}/next`)
  await visit.expectSent('page_leave')
  const names = (await visit.stored()).map(({ event_name }) => event_name)
  expect(names).toEqual(['pageview', 'bought', 'page_leave'])
  expect(visit.complaints.filter((text) => !text.includes('net::'))).toEqual([])
})

test('a second file that didn’t come is asked for again, and what it measures is recorded', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main: '<button type="button">Buy</button>' } })
  let asked = 0
  visit.network.decide = ({ url }) => (url.searchParams.has('late') && asked++ === 0 ? 'cut' : undefined)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  await expect.poll(() => asked).toBe(1)
  // By itself after a while, or as soon as the visitor acts.
  await visit.page.click('button')
  await visit.expectSent('button_click')
  expect(asked).toBe(2)
  await visit.page.close({ runBeforeUnload: true })
  await visit.expectSent('page_leave')
  // The largest paint is known as the page goes, and sent after its end.
  const measured = () => visit.sent('web_vital').map(({ properties }) => properties!['metric'])
  await expect.poll(measured).toEqual(expect.arrayContaining(['FCP', 'LCP']))
  const metrics = (await visit.stored('web_vital')).map(({ properties }) => properties['metric'])
  expect(metrics).toEqual(expect.arrayContaining(['FCP', 'LCP']))
})

test('a click on a link before the second file is there is captured, if the next page takes its time', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main: '<img src="/slow.svg" alt=""><a href="/next">Next</a>' }, '/next': { snippet: '' } })
  const isLateSent = () => visit.network.seen.some(({ url, status }) => url.searchParams.has('late') && status === 200)
  visit.network.decide = async ({ url }) => {
    if (url.pathname === '/slow.svg') return { afterMs: 5_000, headers: { 'Content-Type': 'image/svg+xml' }, body: '' }
    if (url.pathname !== '/next') return undefined
    await expect.poll(isLateSent).toBe(true)
    return { afterMs: 600, headers: { 'Content-Type': 'text/html' }, body: 'next' }
  }
  await visit.page.goto(`${root}/`, { waitUntil: 'commit' })
  await visit.expectSent('pageview')
  await visit.page.click('a')
  const [click] = await visit.expectSent('link_click')
  expect(click!.properties).toMatchObject({ href: `${root}/next`, text: 'Next' })
})

test('a click before the second file is there is of the page that it was on, whatever was clicked before it', async (context) => {
  const visit = await startVisit(surface, context)
  // A field of that name stands in the place of the form's own method.
  const odd = '<form onsubmit="return false"><input name="matches"><button>Find</button></form>'
  const link = `<a href="/next" onclick="history.pushState(null, '', this.href); document.title = 'next'; return false">Next</a>`
  visit.site(shop, { '/': { main: odd + link } })
  let go = () => {}
  const isDone = new Promise<void>((resolve) => (go = resolve))
  visit.network.decide = ({ url }) => (url.searchParams.has('late') ? isDone.then(() => undefined) : undefined)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  await visit.page.click('button')
  await visit.page.click('a')
  await visit.expectSent('pageview', 2)
  go()
  const [click] = await visit.expectSent('link_click')
  expect(click).toMatchObject({ url: `${root}/`, title: '/', properties: { href: `${root}/next` } })
})

test('consent that is withdrawn, though none was required, ends recording in all tabs, and brings nothing back', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/a': { main: '<button type="button">Buy</button>' }, '/b': {} })
  const other = await visit.context.newPage()
  await visit.page.goto(`${root}/a`)
  await other.goto(`${root}/b`)
  await visit.expectSent('pageview', 2)
  // A site that deletes all that it keeps, as at a log-out, withdraws nothing.
  await visit.page.evaluate('for (const key of Object.keys(localStorage)) localStorage.removeItem(key)')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await other.evaluate('Svc.anonymousId()')).not.toBeNull()
  // That stored the id anew, which reaches the other tab's process a moment later.
  await expect.poll(() => visit.page.evaluate('localStorage.svc_aid ?? null')).not.toBeNull()
  await visit.page.evaluate('Svc.consent(false)')
  await expect.poll(() => other.evaluate('Svc.anonymousId()')).toBeNull()
  const before = visit.network.seen.length
  for (const page of [visit.page, other]) await page.evaluate('Svc.track("after")')
  await visit.page.click('button')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(visit.network.seen).toHaveLength(before)
  expect(await other.evaluate('[Object.keys(localStorage), document.cookie]')).toEqual([[], ''])
  expect(namesOf(await visit.stored())).toEqual(['pageview', 'pageview'])
})

test('consent that is withdrawn in another tab ends this one, though an act of it has just stored the id anew', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': {} })
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  /** As another tab's erasure arrives here, whose id `oldValue` was, while this tab's storage holds `localStorage.svc_aid`. */
  const hear = (oldValue: string) =>
    visit.page.evaluate(`
      dispatchEvent(new StorageEvent('storage', { key: 'svc_aid', oldValue: ${oldValue}, newValue: '' }))
      Svc.anonymousId()
    `)
  expect(await hear('"the id before consent was given again"')).not.toBeNull()
  expect(await hear('localStorage.svc_aid')).toBeNull()
})

test('consent that is refused on a page that waits for it ends recording in the tabs where it was given before', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'require_consent=true' })
  visit.site(shop, { '/': {} })
  const other = await visit.context.newPage()
  for (const page of [visit.page, other]) {
    await page.goto(`${root}/`)
    await page.waitForFunction('window.Svc?.anonymousId')
  }
  await visit.page.evaluate('Svc.consent(true)')
  await visit.expectSent('pageview')
  // The id reaches the other tab's process a moment later.
  await expect.poll(() => other.evaluate('localStorage.svc_aid ?? null')).not.toBeNull()
  await other.evaluate('Svc.consent(false)')
  await expect.poll(() => visit.page.evaluate('Svc.anonymousId()')).toBeNull()
  expect(await visit.page.evaluate('Object.keys(localStorage)')).toEqual([])
})
