/** Measurements that a snippet may ask for beside vitals and clicks: downloads, missing pages, searches on the site. */
import { expect, test } from 'vitest'
import { setUpSurface } from '../support/tracking-surface.ts'
import { root, shop, startVisit, untilLate, type Visit, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

const files = `
<a id="paper" href="/files/Tides.PDF?for=ada#page=2"><b>Tide</b> tables</a>
<a id="archive" href="http://cdn.example/all.tar.gz">All</a>
<a id="book" href="/files/tides.epub">Book</a>
<a id="page" href="/prices?file=a.pdf">Prices</a>
<a id="mail" href="mailto:ada@files.pdf">Mail</a>
<p data-svc-ignore><a id="ignored" href="/files/b.pdf">B</a></p>
<p data-svc-mask><a id="masked" href="/files/c.csv">Ada Lovelace</a></p>`
const stay = `addEventListener('click', (event) => event.preventDefault())`
const ids = ['paper', 'archive', 'book', 'page', 'mail', 'ignored', 'masked']

/** Clicks all of them, which lead nowhere, after the second file is there. */
async function clickAll(visit: Visit): Promise<void> {
  await untilLate(visit)
  await visit.page.evaluate(stay)
  for (const id of ids) await visit.page.click(`#${id}`)
}
const sentProperties = async (visit: Visit, name: string, count: number) =>
  (await visit.expectSent(name, count)).map(({ properties }) => properties)

test('a click on a link to a file is a download, beside the click: by its extension, without the query', async (context) => {
  const visit = await visitShop(surface, context, { '/': { main: files } }, { flags: 'downloads=true' })
  await clickAll(visit)
  const all = { href: 'http://cdn.example/all.tar.gz', extension: 'gz', id: 'archive', text: 'All' }
  expect(await sentProperties(visit, 'file_download', 3)).toEqual([
    { href: `${root}/files/Tides.PDF`, extension: 'pdf', id: 'paper', text: 'Tide tables' },
    all,
    { href: `${root}/files/c.csv`, extension: 'csv', id: 'masked' },
  ])
  expect(await sentProperties(visit, 'link_click', 4)).toContainEqual({
    href: `${root}/files/Tides.PDF?for=ada#page=2`,
    id: 'paper',
    text: 'Tide tables',
  })
  await visit.expectSent('outbound_click', 2)
  expect((await visit.stored('file_download')).map(({ properties }) => properties)).toContainEqual(all)
  expect(visit.complaints).toEqual([])
})

test('a download that takes the page with it is sent; a site names its own extensions, and needs no autocapture', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'downloads=true&autocapture=false' })
  const snippet = visit.snippet.replace('<script', '<script data-svc-downloads=".EPUB, mobi"')
  visit.site(shop, { '/': { snippet, main: files }, '/files/tides.epub': { snippet: '' } })
  await visit.page.goto(`${root}/`)
  await untilLate(visit)
  await visit.page.click('#book')
  await visit.page.waitForURL('**/tides.epub')
  expect(await sentProperties(visit, 'file_download', 1)).toEqual([
    { href: `${root}/files/tides.epub`, extension: 'epub', id: 'book', text: 'Book' },
  ])
  await visit.page.goto(`${root}/`)
  await clickAll(visit)
  await visit.expectSent('file_download', 2)
  expect(visit.sent('link_click')).toEqual([])
})

test('a page is missing if its server said so, or a meta element does; with its path and the page that led to it', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'not_found=true' })
  const meta = '<meta name="svc:status" content="404">'
  visit.site(shop, {
    '/': { main: '<a href="/gone?x=1">Gone</a>' },
    '/gone': { status: 410 },
    '/told': { head: meta },
    '/fine': { head: meta.replace('404', '200') },
  })
  await visit.page.goto(`${root}/?mail=ada`)
  await visit.page.click('a')
  await visit.expectSent('not_found', 1)
  await visit.page.goto(`${root}/told`)
  await visit.expectSent('not_found', 2)
  await visit.page.goto(`${root}/fine`)
  await expect.poll(() => visit.sent('pageview').length).toBe(4)
  await untilLate(visit)
  // A route that the app doesn't know, and one that it does.
  await visit.page.evaluate(`{
    history.pushState(null, '', '/lost')
    document.querySelector('meta[name="svc:status"]').content = '404'
  }`)
  await visit.expectSent('not_found', 3)
  await visit.page.evaluate(`{
    history.pushState(null, '', '/found')
    document.querySelector('meta[name="svc:status"]').remove()
  }`)
  await visit.expectSent('pageview', 6)
  await visit.page.waitForTimeout(1_500)
  const events = await visit.expectSent('not_found', 3)
  expect(events.map(({ url, properties }) => [url, properties])).toEqual([
    [`${root}/gone?x=1`, { path: '/gone', referrer: `${root}/` }],
    [`${root}/told`, { path: '/told' }],
    [`${root}/lost`, { path: '/lost', referrer: `${root}/fine` }],
  ])
  // A visit that meets nothing else stays a bounce.
  const kinds = await surface.ch.query(
    `SELECT DISTINCT kind FROM events WHERE workspace_id = {id:UInt32} AND event_name = 'not_found'`,
    { id: visit.workspace.workspaceId },
  )
  expect(kinds).toEqual([{ kind: 'autocapture' }])
})

test('the status of a landing is of no route that the app has gone on to before consent', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'not_found=true&require_consent=true' })
  visit.site(shop, { '/gone': { status: 404 } })
  const consentAfter = async (goOn: string) => {
    await visit.page.goto(`${root}/gone?x=1`)
    await visit.page.waitForFunction('window.Svc?.anonymousId')
    await visit.page.evaluate(`${goOn}; Svc.consent(true)`)
    await untilLate(visit)
  }
  await consentAfter(`history.pushState(null, '', '/home')`)
  await visit.page.waitForTimeout(1_500)
  await visit.page.evaluate('Svc.consent(false)')
  await consentAfter(`location.hash = 'top'`)
  const events = await visit.expectSent('not_found', 1)
  expect(events.map(({ properties }) => properties)).toEqual([{ path: '/gone' }])
})

test('a search is its term: once for all pages of its result, and not for each letter that is typed', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'search=true' })
  visit.site(shop, { '/': {}, '/find': { main: '<a href="/find?q=spring+tide&page=2">2</a>' } })
  await visit.page.goto(`${root}/find?utm_source=x&q=+spring%20%20tide%0A&s=${'x'.repeat(9)}`)
  await visit.expectSent('site_search', 1)
  await visit.page.click('a')
  await visit.expectSent('pageview', 2)
  await untilLate(visit)
  // By the page's own clock: a machine under load delays both it and the script's.
  await visit.page.evaluate(`(async () => {
    for (const term of ['n', 'ne', 'nea', 'neap', 'neap']) {
      history.replaceState(null, '', '/find?s=' + term)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()`)
  await visit.expectSent('site_search', 2)
  await visit.page.goto(`${root}/find?query=${'😀'.repeat(200)}`)
  await visit.expectSent('site_search', 3)
  await visit.page.goto(`${root}/find?q=%20&p=9`)
  await visit.expectSent('site_search', 3)
  expect(visit.sent('site_search').map(({ properties }) => properties)).toEqual([
    ...['spring tide', 'neap', '😀'.repeat(100)].map((search_term) => ({ search_term })),
  ])
  expect(visit.complaints).toEqual([])
})

test('nothing of it is recorded unless it is asked for, nor before consent; a site names its own parameters', async (context) => {
  const visit = await startVisit(surface, context)
  const later = `${visit.snippet.replace('key=', 'search=true&amp;downloads=true&amp;not_found=true&amp;require_consent=true&amp;key=')}`
  visit.site(shop, {
    '/': { main: files, status: 404 },
    '/later': { snippet: later.replace('<script', '<script data-svc-search="find term"'), main: files, status: 404 },
  })
  const optional = ['file_download', 'not_found', 'site_search']
  const recorded = () => visit.sent().filter(({ event_name }) => optional.includes(event_name))
  await visit.page.goto(`${root}/?q=tides`)
  await clickAll(visit)
  await visit.expectSent('link_click', 4)
  expect(recorded()).toEqual([])
  await visit.page.goto(`${root}/later?q=tides&term=moon`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.evaluate(stay)
  await visit.page.click('#paper')
  await visit.page.waitForTimeout(500)
  expect(recorded()).toEqual([])
  await visit.page.evaluate('Svc.consent(true)')
  await visit.expectSent('site_search', 1)
  await visit.page.click('#paper')
  await visit.expectSent('file_download', 1)
  await visit.page.evaluate('Svc.consent(false)')
  await visit.page.click('#masked')
  await visit.page.evaluate(`history.pushState(null, '', '/later?term=sun')`)
  await visit.page.waitForTimeout(1_500)
  const names = recorded().map(({ event_name }) => event_name)
  expect(names.sort()).toEqual(optional)
  expect(recorded().find(({ event_name }) => event_name === 'site_search')?.properties).toEqual({ search_term: 'moon' })
})
