/** How svc.js behaves before consent, with it, and once it is withdrawn. */
import { expect, test } from 'vitest'
import { setUpSurface } from '../support/tracking-surface.ts'
import { namesOf, root, shop, startVisit, type Visit, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

const main = '<button type="button">Buy</button><form><button id="send">Send</button></form>'

/** All that a page can keep in a browser, by its names. */
async function keptBy(visit: Visit): Promise<unknown> {
  const kept = await visit.page.evaluate<object>(`(async () => ({
    local: Object.keys(localStorage),
    session: Object.keys(sessionStorage),
    cookie: document.cookie,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
    name: window.name,
  }))()`)
  return { ...kept, cookies: (await visit.context.cookies()).length }
}
const nothing = { local: [], session: [], cookie: '', databases: 0, caches: 0, name: '', cookies: 0 }

const requested = (visit: Visit) => visit.network.seen.map(({ url }) => url.href).filter((url) => !url.startsWith(root))

/** Signals as browsers give them that have the setting. */
async function signal(visit: Visit, name: string, value: unknown): Promise<void> {
  await visit.context.addInitScript(
    `Object.defineProperty(Navigator.prototype, '${name}', { configurable: true, get: () => ${JSON.stringify(value)} })`,
  )
}

test('nothing is asked for or kept before consent; with it what was held is sent, once; taken back, nothing is left or sent', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'require_consent=true' })
  visit.site(shop, { '/': { main }, '/next': { main } })
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.evaluate(`{
    Svc.track('held', { at: 1 })
    Svc.identify('ada@example.com')
    Svc.conversion('signup')
    Svc.webVital('LCP', 1200)
    history.pushState(null, '', '/route')
    Svc.page()
  }`)
  await visit.page.click('button')
  expect(await visit.page.evaluate(`[Svc.anonymousId(), Svc.sessionId(), Svc.link('http://blog.localhost/')]`)).toEqual(
    [null, null, 'http://blog.localhost/'],
  )
  // Another tab is looked at, and this one again.
  await visit.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(await keptBy(visit)).toEqual(nothing)
  await visit.page.goto(`${root}/next?utm_source=letter&utm_medium=email`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await keptBy(visit)).toEqual(nothing)
  expect(new Set(requested(visit))).toEqual(new Set([visit.scriptUrl]))
  expect(await visit.stored()).toEqual([])
  expect((await visit.overview()).metrics).toMatchObject({ visitors: 0, events: 0, bot_visits: 0 })

  await visit.page.evaluate(`{
    Svc.track('held', { at: 1 })
    Svc.conversion('signup')
  }`)
  await visit.page.click('button')
  await visit.page.evaluate(`{
    Svc.consent(true)
    Svc.consent(true)
  }`)
  for (const name of ['pageview', 'held', 'signup']) await visit.expectSent(name)
  // A click before consent was never captured: autocapture had not begun.
  expect(visit.sent('button_click')).toEqual([])
  await visit.page.click('button')
  await visit.expectSent('button_click')
  expect(await keptBy(visit)).toMatchObject({ local: expect.arrayContaining(['svc_aid']), cookie: '', cookies: 0 })
  const first = await visit.stored()
  expect(namesOf(first).sort()).toEqual(['button_click', 'held', 'pageview', 'signup'])
  expect(new Set(first.map(({ visitor }) => visitor)).size).toBe(1)
  expect(first.find(({ event_name }) => event_name === 'pageview')).toMatchObject({
    source: 'letter',
    medium: 'email',
  })

  // Measurements that are on their way would come after the withdrawal.
  const measured = () => visit.sent('web_vital').map(({ properties }) => properties!['metric'])
  await expect.poll(measured).toEqual(expect.arrayContaining(['FCP', 'LCP']))
  const before = visit.network.seen.length
  await visit.page.evaluate(`{
    Svc.consent(false)
    Svc.track('after')
  }`)
  await visit.page.click('button')
  expect(await keptBy(visit)).toEqual(nothing)
  expect(await visit.page.evaluate(`[Svc.anonymousId(), Svc.sessionId()]`)).toEqual([null, null])
  await visit.page.goto('about:blank')
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(visit.network.seen.slice(before).map(({ url }) => url.href)).toEqual([])
  expect(namesOf(await visit.stored())).toHaveLength(4)
  expect(visit.complaints).toEqual([])
})

test.for([
  ['globalPrivacyControl', true],
  ['doNotTrack', '1'],
] as const)(
  '%s asks for consent as well, unless the flag says that it is not respected',
  async ([name, value], context) => {
    const visit = await startVisit(surface, context)
    await signal(visit, name, value)
    const spited = visit.snippet.replace('?', '?respect_gpc=false&amp;')
    visit.site(shop, { '/': { main }, '/spited': { snippet: spited } })
    await visit.page.goto(`${root}/`)
    await visit.page.waitForFunction('window.Svc?.anonymousId')
    await visit.page.evaluate(`Svc.track('held')`)
    await visit.page.click('button')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await keptBy(visit)).toEqual(nothing)
    expect(requested(visit)).toEqual([visit.scriptUrl])
    await visit.page.evaluate('Svc.consent(true)')
    for (const sent of ['pageview', 'held']) await visit.expectSent(sent)
    await visit.page.evaluate('Svc.consent(false)')
    expect(await keptBy(visit)).toEqual(nothing)
    await visit.page.goto(`${root}/spited`)
    await visit.expectSent('pageview', 2)
    expect(await visit.stored('pageview')).toHaveLength(2)
  },
)

test('attention from before consent is not counted', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'require_consent=true' })
  visit.site(shop, { '/': {} })
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const consentedAt = Date.now()
  await visit.page.evaluate(`Svc.consent(true)`)
  await visit.expectSent('pageview')
  await visit.page.evaluate(`history.pushState(null, '', '/route')`)
  const [left] = await visit.expectSent('page_leave')
  const { engagement_ms } = left!['properties'] as { engagement_ms: number }
  expect(engagement_ms).toBeLessThanOrEqual(Date.now() - consentedAt)
})

test('consent that is given again after it was withdrawn is of another visitor', async (context) => {
  const visit = await startVisit(surface, context, { flags: 'require_consent=true' })
  visit.site(shop, { '/': {} })
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.evaluate('Svc.consent(true)')
  const [first] = await visit.expectSent('pageview')
  await visit.page.evaluate(`{
    Svc.consent(false)
    Svc.consent(true)
    Svc.track('again')
  }`)
  const [again] = await visit.expectSent('again')
  expect([first!.anonymous_id, again!.anonymous_id]).toEqual([expect.any(String), expect.any(String)])
  expect(again!.anonymous_id).not.toBe(first!.anonymous_id)
  expect(again!.session_id).not.toBe(first!.session_id)
})

test('a request that fails after consent was withdrawn leaves nothing in the browser either', async (context) => {
  const visit = await visitShop(surface, context, { '/': { main } })
  let cut = () => {}
  const isOver = new Promise<void>((resolve) => {
    cut = resolve
  })
  const isHeld = ({ body }: { body: string }) => body.includes('"held"')
  visit.network.decide = (request) => (isHeld(request) ? isOver.then(() => 'cut' as const) : undefined)
  await visit.page.evaluate(`{
    Svc.track('held')
    const { fetch } = window
    window.fetch = (...all) => fetch(...all).finally(() => setTimeout(() => { window.hasFailed = true }, 50))
  }`)
  await expect.poll(() => visit.network.seen.some(isHeld)).toBe(true)
  await visit.page.evaluate(`{
    Object.defineProperty(document, 'hidden', { configurable: true, value: true })
    Svc.consent(false)
  }`)
  cut()
  await visit.page.waitForFunction('window.hasFailed')
  expect(await keptBy(visit)).toEqual(nothing)
})

test('a browser whose visits shall not count sends nothing, until it may again', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main } })
  await visit.context.addInitScript(`localStorage.svc_off ??= 1`)
  await visit.page.goto(`${root}/`)
  await visit.page.waitForFunction('window.Svc?.anonymousId')
  await visit.page.evaluate(`{
    Svc.consent(true)
    Svc.track('unwanted')
  }`)
  await visit.page.click('button')
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(new Set(requested(visit))).toEqual(new Set([visit.scriptUrl]))
  expect(await keptBy(visit)).toEqual({ ...nothing, local: ['svc_off'] })
  await visit.page.evaluate(`localStorage.svc_off = 0`)
  await visit.page.reload()
  await visit.expectSent('pageview')
  expect(visit.sent('unwanted')).toEqual([])
})
