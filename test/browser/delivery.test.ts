/** How svc.js gets its events out: at the end of a page, without a network, over a bad one, and without storage. */
import { expect, test } from 'vitest'
import type { SeenRequest } from '../support/network.ts'
import { setUpSurface } from '../support/tracking-surface.ts'
import { namesOf, root, shop, startVisit, type Visit, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

const long = '<div style="height:3200px">long</div>'

const isTracking = ({ method, url }: SeenRequest) =>
  method === 'POST' && url.pathname.startsWith('/api/v1/growth/track')
/** Events that the page has tried to send, answered or not. */
const tried = (visit: Visit, name: string) => visit.sendings().filter(({ event }) => event.event_name === name)
const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' }

/** Runs the code in a page whose events are all refused for now: they wait in it, and none is in a request. */
async function runRefused(visit: Visit, code: string): Promise<void> {
  const headers = { ...cors, 'Retry-After': '600' }
  visit.network.decide = (request) => (isTracking(request) ? { status: 503, headers, body: '{}' } : undefined)
  const refused = visit.page.waitForResponse((response) => response.status() === 503)
  await visit.page.evaluate(code)
  await (await refused).finished()
  // A page has done all that follows an answer before the next of its timers.
  await visit.page.evaluate('new Promise((resolve) => setTimeout(resolve))')
}

test('leaving a page sends page_leave as a beacon, with the time of attention and how far was scrolled', async (context) => {
  const begunAt = Date.now()
  const visit = await visitShop(surface, context, { '/': { main: long }, '/next': {} })
  await visit.page.mouse.move(100, 100)
  await visit.page.mouse.wheel(0, 1600)
  await visit.page.waitForFunction('scrollY >= 1600')
  await new Promise((resolve) => setTimeout(resolve, 700))
  await visit.page.goto(`${root}/next`)
  const [event] = await visit.expectSent('page_leave')
  const tookMs = Date.now() - begunAt
  expect(event!.url).toBe(`${root}/`)
  expect(tried(visit, 'page_leave')[0]!.by).toBe('beacon')
  const [row] = await visit.stored('page_leave')
  expect(row!.engagement_ms).toBeGreaterThanOrEqual(700)
  expect(row!.engagement_ms).toBeLessThanOrEqual(tookMs)
  // 1600 of 3200 pixels and the 800 of the window below.
  expect(row!.scroll_depth).toBeGreaterThanOrEqual(70)
  expect(row!.scroll_depth).toBeLessThanOrEqual(80)
  expect(visit.complaints).toEqual([])
})

test('what the next route shows is no part of how far the one before was read', async (context) => {
  const visit = await visitShop(surface, context, { '/': { main: long } })
  await visit.page.evaluate('scrollTo(0, 800)')
  await visit.page.waitForFunction('scrollY >= 800')
  // As routers do: the address, then a short page, which is scrolled to its beginning.
  await visit.page.evaluate(`{
    history.pushState(null, '', '/short')
    document.querySelector('div').style.height = '200px'
    scrollTo(0, 0)
  }`)
  const [event] = await visit.expectSent('page_leave')
  expect(event).toMatchObject({ url: `${root}/`, properties: { scroll_depth: 50 } })
})

test('a closed tab loses nothing that was tracked just before', async (context) => {
  const visit = await visitShop(surface, context)
  await visit.page.evaluate(`addEventListener('pagehide', () => Svc.track('last_words'))`)
  await visit.page.close({ runBeforeUnload: true })
  await visit.expectSent('last_words')
  await visit.expectSent('page_leave')
  const rows = await visit.stored()
  expect(rows.filter(({ event_name }) => event_name === 'last_words')).toHaveLength(1)
  expect(new Set(rows.map(({ session }) => session)).size).toBe(1)
})

test('a tab that is hidden and shown again has left once more each time of its session, and is no other pageview', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': {} })
  await visit.page.clock.install()
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  // A browser without a screen shows all of its tabs at once: none is ever hidden by another.
  const setHidden = (isHidden: boolean) =>
    visit.page.evaluate(`{
      Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${isHidden ? 'hidden' : 'visible'}' })
      Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
    }`)
  await setHidden(true)
  await visit.expectSent('page_leave', 1)
  await setHidden(false)
  await visit.page.evaluate(`Svc.track('back_again')`)
  await visit.expectSent('back_again')
  // A glance is no other visit: only attention of some length is worth another request.
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  await setHidden(true)
  await visit.expectSent('page_leave', 2)
  // A look long after the last activity would stretch the session by all the time between.
  await visit.page.clock.fastForward('31:00')
  await setHidden(false)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await setHidden(true)
  await visit.expectSent('page_leave', 2)
  const rows = await visit.stored()
  expect(rows.filter(({ event_name }) => event_name === 'pageview')).toHaveLength(1)
})

test('what happens without a network is sent when it is back, with the same ids, and counted once', async (context) => {
  const visit = await visitShop(surface, context)
  visit.network.decide = (request) => (isTracking(request) ? 'cut' : undefined)
  await visit.context.setOffline(true)
  await visit.page.evaluate(`{
    for (const name of ['one', 'two', 'three']) Svc.track(name)
  }`)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(['one', 'two', 'three'].flatMap((name) => visit.sent(name))).toEqual([])
  visit.network.decide = () => undefined
  await visit.context.setOffline(false)
  for (const name of ['one', 'two', 'three']) await visit.expectSent(name)
  const rows = await visit.stored()
  expect(namesOf(rows)).toEqual(['pageview', 'one', 'two', 'three'])
})

test('an answer that is lost makes another try with the same client_event_id, and one event', async (context) => {
  const visit = await visitShop(surface, context)
  let lost = 0
  visit.network.decide = (request) => (isTracking(request) && lost++ < 2 ? 'lose' : undefined)
  await visit.page.evaluate(`Svc.conversion('order', { plan: 'sloop' })`)
  await visit.expectSent('order')
  const tries = tried(visit, 'order')
  expect(tries.map(({ request }) => request.status)).toEqual([0, 0, 202])
  expect(new Set(tries.map(({ event }) => event.client_event_id)).size).toBe(1)
  expect(await visit.stored('order')).toHaveLength(1)
})

test('a refusal for now is tried again after as long as it says, and a refusal for good is not', async (context) => {
  const visit = await visitShop(surface, context)
  const times: number[] = []
  visit.network.decide = (request) => {
    if (!isTracking(request)) return undefined
    times.push(Date.now())
    if (request.body.includes('"wrong"')) return { status: 422, headers: cors, body: '{"detail":[]}' }
    return times.length === 1
      ? { status: 503, headers: { ...cors, 'Retry-After': '2' }, body: '{"detail":"full"}' }
      : undefined
  }
  await visit.page.evaluate(`Svc.track('later')`)
  await visit.expectSent('later')
  expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(1_990)
  await visit.page.evaluate(`Svc.track('wrong')`)
  await expect.poll(() => tried(visit, 'wrong').map(({ request }) => request.status)).toEqual([422])
  await visit.page.evaluate(`Svc.track('right')`)
  await visit.expectSent('right')
  expect(tried(visit, 'wrong')).toHaveLength(1)
  expect(namesOf(await visit.stored())).toEqual(['pageview', 'later', 'right'])
})

test('an event that is far too long is left out, and those that would have gone with it arrive', async (context) => {
  const visit = await visitShop(surface, context)
  await visit.page.evaluate(`{
    Svc.track('before')
    Svc.track('image', { data: 'x'.repeat(1_100_000) })
    Svc.track('long', { text: 'x'.repeat(16_000) })
    Svc.track('after')
  }`)
  await visit.expectSent('after')
  expect(namesOf(await visit.stored())).toEqual(['pageview', 'before', 'long', 'after'])
  expect(tried(visit, 'image')).toEqual([])
})

test('half a pair, as a cut may leave it, and NUL are left out of texts, which take no other event with them', async (context) => {
  const visit = await visitShop(surface, context)
  await visit.page.evaluate(`{
    document.title = 'x'.repeat(499) + '😀'
    Svc.track('n'.repeat(119) + '😀', { 'a\\ud83d': 'b\\0', path: 'C:\\\\u0000', ok: '😀' })
    Svc.track('after')
  }`)
  await visit.expectSent('after')
  const [, odd, after] = await visit.stored()
  const properties = { a: 'b', path: 'C:\\u0000', ok: '😀' }
  expect(odd).toMatchObject({ event_name: 'n'.repeat(119), title: 'x'.repeat(499), properties })
  expect(after!.event_name).toBe('after')
})

test('what couldn’t be sent before the tab was closed is sent by the next page, at most 50 events', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': {} })
  await visit.page.goto(`${root}/`)
  const [before] = await visit.expectSent('pageview')
  await runRefused(visit, `for (let at = 1; at <= 70; at++) Svc.track('step', { at })`)
  await visit.page.close({ runBeforeUnload: true })
  // A page that is closed writes last, and the browser takes it over when it comes to it.
  const isStored = async () => {
    const { origins } = await visit.context.storageState()
    return origins.flatMap(({ localStorage }) => localStorage).some(({ name, value }) => name === 'svc_queue' && value)
  }
  await expect.poll(isStored).toBeTruthy()
  visit.network.decide = () => undefined
  const later = await visit.context.newPage()
  await later.goto(`${root}/`)
  const [, after] = await visit.expectSent('pageview', 2)
  expect(after!.anonymous_id).toBe(before!.anonymous_id)
  await expect.poll(() => visit.sent('step').length).toBeGreaterThanOrEqual(40)
  const rows = await visit.stored('step')
  expect(rows.length).toBeLessThanOrEqual(50)
  expect(new Set(rows.map(({ client_event_id }) => client_event_id)).size).toBe(rows.length)
  expect(new Set(rows.map(({ properties }) => properties['at'])).size).toBe(rows.length)
})

test('what couldn’t be sent waits for a page of its own workspace, where an origin has pages of two', async (context) => {
  const visit = await startVisit(surface, context)
  const other = await surface.makeWorkspace()
  const others = visit.snippet.replace(visit.workspace.trackingKey, other.trackingKey)
  visit.site(shop, { '/': {}, '/app': { snippet: others } })
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  await runRefused(visit, `Svc.track('own')`)
  // The other's page is refused nothing: it would wait for as long as that says.
  const { decide } = visit.network
  visit.network.decide = (request) => (request.body.includes(visit.workspace.trackingKey) ? decide(request) : undefined)
  await visit.page.goto(`${root}/app`)
  visit.network.decide = () => undefined
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.evaluate(`Svc.track('theirs')`)
  await visit.expectSent('theirs')
  await visit.page.goto(`${root}/`)
  await visit.expectSent('own')
  const keys = visit.sendings().map(({ event, request }) => [event.event_name, JSON.parse(request.body).tracking_key])
  expect(keys.filter(([name]) => name === 'own').every(([, key]) => key === visit.workspace.trackingKey)).toBe(true)
  expect(await visit.stored('own')).toHaveLength(1)
})

test('what was too long to outlive its page, and under way when it was left, is sent by the next page', async (context) => {
  const visit = await visitShop(surface, context, { '/': {}, '/other': { snippet: '' } })
  let cut = () => {}
  const isOver = new Promise<void>((resolve) => {
    cut = resolve
  })
  visit.network.decide = (request) =>
    isTracking(request) && request.body.includes('"held"') ? isOver.then(() => 'cut' as const) : undefined
  // A page that is kept for coming back would hear of its failure.
  await visit.page.evaluate(`addEventListener('unload', () => {})`)
  // Browsers let no more than 64 KiB outlive a page.
  await visit.page.evaluate(`for (let at = 0; at < 6; at++) Svc.track('held', { text: 'x'.repeat(15_000) })`)
  await expect.poll(() => tried(visit, 'held').length).toBe(6)
  await visit.page.goto(`${root}/other`)
  cut()
  visit.network.decide = () => undefined
  await visit.page.goto(`${root}/`)
  await visit.expectSent('held', 6)
  expect(await visit.stored('held')).toHaveLength(6)
})

test('what is too long together for one beacon goes in several, and what has no room is sent by the next page', async (context) => {
  const visit = await visitShop(surface, context, { '/': {}, '/other': { snippet: '' } })
  await visit.page.evaluate(`{
    for (let at = 0; at < 6; at++) Svc.track('long', { text: 'x'.repeat(15_000) })
    location.href = '/other'
  }`)
  // A navigation that begins before the last one has ended fails.
  await visit.page.waitForURL(`${root}/other`)
  await expect.poll(() => visit.sent('long').length).toBeGreaterThan(0)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('long', 6)
  expect(await visit.stored('long')).toHaveLength(6)
})

test('works where storage throws: the visit is recorded, and ends with the page', async (context) => {
  const visit = await startVisit(surface, context)
  // An origin of no name: there the browser itself refuses all storage.
  const headers = { 'Content-Security-Policy': 'sandbox allow-scripts' }
  visit.site(shop, { '/': { headers, main: '<button type="button">Go</button>' } })
  await visit.page.goto(`${root}/`)
  expect(
    await visit.page.evaluate(`Promise.resolve().then(() => localStorage).then(() => 'kept', ({ name }) => name)`),
  ).toBe('SecurityError')
  await visit.expectSent('pageview')
  await visit.page.click('button')
  await visit.page.evaluate(`Svc.track('own')`)
  await visit.expectSent('own')
  await visit.expectSent('button_click')
  const rows = await visit.stored()
  expect(namesOf(rows).sort()).toEqual(['button_click', 'own', 'pageview'])
  expect(new Set(rows.map(({ visitor }) => visitor)).size).toBe(1)
  expect(new Set(rows.map(({ session }) => session)).size).toBe(1)
  expect(visit.complaints).toEqual([])
})

test('several tabs opened at once are one visitor and one session', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/a': {}, '/b': {}, '/c': {} })
  const pages = [visit.page, await visit.context.newPage(), await visit.context.newPage()]
  await Promise.all(['a', 'b', 'c'].map((name, at) => pages[at]!.goto(`${root}/${name}`)))
  await visit.expectSent('pageview', 3)
  // The storage of a tab reaches the others' processes a moment later.
  const stored = () =>
    Promise.all(pages.map((page) => page.evaluate(`[localStorage.svc_aid, parseInt(localStorage.svc_sid)]`)))
  await expect.poll(async () => new Set((await stored()).map(String)).size).toBe(1)
  await Promise.all(pages.map((page) => page.evaluate(`Svc.track('clicked_about')`)))
  await visit.expectSent('clicked_about', 3)
  const ids = await Promise.all(pages.map((page) => page.evaluate(`[Svc.anonymousId(), Svc.sessionId()]`)))
  expect(new Set(ids.map(String)).size).toBe(1)
  const rows = await visit.stored('clicked_about')
  expect(new Set(rows.map(({ anonymous_id }) => anonymous_id)).size).toBe(1)
})

test('a page without a secure context, and one that refuses beacons or throws at them, is recorded too', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site('plain.example', { '/': {}, '/next': {}, '/last': {} })
  await visit.context.addInitScript(`Navigator.prototype.sendBeacon = () => {
    if (location.pathname === '/next') throw new Error('blocked')
    return false
  }`)
  await visit.page.goto('http://plain.example/')
  expect(await visit.page.evaluate(`isSecureContext`)).toBe(false)
  await visit.expectSent('pageview')
  await visit.page.goto('http://plain.example/next')
  await visit.expectSent('pageview', 2)
  await visit.expectSent('page_leave')
  expect(tried(visit, 'page_leave')[0]!.request.status).toBe(202)
  await visit.page.goto('http://plain.example/last')
  await visit.expectSent('page_leave', 2)
  await visit.expectSent('pageview', 3)
  const rows = await visit.stored()
  expect(namesOf(rows)).toEqual(['pageview', 'pageview', 'pageview'])
  expect(new Set(rows.map(({ session }) => session)).size).toBe(1)
})
