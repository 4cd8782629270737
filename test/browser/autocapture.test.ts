/** Clicks, submissions and what keeps svc.js from recording them. */
import { expect, test } from 'vitest'
import { setUpSurface } from '../support/tracking-surface.ts'
import { root, shop, startVisit, untilLate, visitShop } from '../support/visits.ts'

const surface = setUpSurface()

const captured = ['button_click', 'form_submit', 'link_click', 'outbound_click']

const allKinds = `
<a id="inside" href="/prices">Prices</a>
<a id="outside" href="http://other.example/tides?x=1">Tides</a>
<button id="button" type="button"><b>Next</b> tide</button>
<div id="control" role="button" tabindex="0">Menu</div>
<label id="labelled"><input type="checkbox" id="box" name="box"> Remember</label>
<p id="text">Only text</p>
<form id="form" action="/thanks" method="get"><input id="secret" name="secret" type="text"><input name="password" type="password" id="password"><button id="send">Send</button></form>`

test('link, outbound, button and control clicks are captured, with what was clicked, and text alone isn’t', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main: allKinds }, '/prices': {} })
  visit.site('other.example', { '/tides': { snippet: '' } })
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  await visit.page.click('#text')
  await visit.page.click('#button b')
  await visit.page.click('#control')
  const buttons = await visit.expectSent('button_click', 2)
  expect(JSON.stringify(buttons[0]!.properties)).toContain('Next tide')
  expect(JSON.stringify(buttons[1]!.properties)).toContain('Menu')
  await visit.page.click('#inside')
  const [link] = await visit.expectSent('link_click')
  expect(link!.url).toBe(`${root}/`)
  expect(JSON.stringify(link!.properties)).toContain('/prices')
  await visit.expectSent('pageview', 2)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview', 3)
  await untilLate(visit)
  await visit.page.click('#outside')
  const [outbound] = await visit.expectSent('outbound_click')
  expect(JSON.stringify(outbound!.properties)).toContain('http://other.example/tides?x=1')
  const names = (await visit.stored()).map(({ event_name }) => event_name)
  expect(names.filter((name) => captured.includes(name)).sort()).toEqual([
    'button_click',
    'button_click',
    'link_click',
    'outbound_click',
  ])
  expect(visit.complaints).toEqual([])
})

test('a submission is captured once, and never what was typed', async (context) => {
  const visit = await visitShop(surface, context, { '/': { main: allKinds }, '/thanks': {} })
  // The page keeps its form to itself: otherwise the browser would put the fields into the next address.
  await visit.page.evaluate(
    `document.querySelector('form').addEventListener('submit', (event) => event.preventDefault())`,
  )
  await visit.page.fill('#secret', 'my secret pin-4711-pin')
  await visit.page.fill('#password', 'hunter2')
  await visit.page.press('#secret', 'Enter')
  await visit.expectSent('form_submit')
  await visit.stored()
  for (const { request } of visit.sendings()) expect(request.body).not.toMatch(/pin-4711-pin|hunter2/)
  expect(JSON.stringify(await visit.stored())).not.toMatch(/pin-4711-pin|hunter2/)
  expect((await visit.stored('form_submit'))[0]?.properties).toEqual({ id: 'form', action: '/thanks', method: 'get' })
  expect(visit.complaints).toEqual([])
})

test('keyboard, middle click and clicks that the page stops count like any click', async (context) => {
  const visit = await visitShop(surface, context, { '/': { main: allKinds }, '/prices': {} })
  await visit.page.evaluate(`{
    for (const link of document.querySelectorAll('a')) {
      link.addEventListener('click', (event) => {
        event.preventDefault()
        event.stopPropagation()
      })
    }
  }`)
  await visit.page.focus('#inside')
  await visit.page.keyboard.press('Enter')
  await visit.expectSent('link_click', 1)
  await visit.page.click('#button', { button: 'left', clickCount: 1 })
  await visit.expectSent('button_click', 1)
  const opened = visit.context.waitForEvent('page')
  await visit.page.evaluate(`document.querySelector('#inside').replaceWith(
    Object.assign(document.createElement('a'), { id: 'fresh', href: '/prices', textContent: 'Prices' }))`)
  await visit.page.click('#fresh', { button: 'middle' })
  await opened
  await visit.expectSent('link_click', 2)
})

const markers = [
  'data-svc-block',
  'class="other svc-block"',
  'class="svc-no-capture"',
  'svc-no-capture',
  'data-svc-ignore',
]

test('what is marked, or stands in a marked region, is left alone: no click, no submission; its neighbours are captured', async (context) => {
  const marked = markers.map(
    (marker) => `<div ${marker}><p>${allKinds}</p></div><button type="button" ${marker}>X</button>`,
  )
  const visit = await visitShop(surface, context, {
    '/': { main: `${marked.join('')}<button id="free" type="button">Free</button>` },
  })
  await visit.page.evaluate(`{
    for (const type of ['click', 'submit']) document.addEventListener(type, (event) => event.preventDefault())
  }`)
  for (const id of ['#inside', '#outside', '#button', '#control', '#send', 'text="X"'])
    for (const at of markers.keys()) await visit.page.locator(id).nth(at).click()
  await visit.page.click('#free')
  const [only] = await visit.expectSent('button_click')
  expect(JSON.stringify(only!.properties)).toContain('Free')
  const names = (await visit.stored()).map(({ event_name }) => event_name)
  expect(names.filter((name) => captured.includes(name))).toEqual(['button_click'])
})

test('masked text isn’t taken, nor that of a link or button with a masked or excluded part, or a field; code is no text', async (context) => {
  const visit = await startVisit(surface, context)
  const secret = '<b>Ada Lovelace</b>'
  const buttons = [
    `<button type="button" class="svc-mask">${secret}</button>`,
    `<button type="button" data-svc-mask>${secret}</button>`,
    `<div data-svc-mask><button type="button">${secret}</button></div>`,
    `<button type="button">Account of <i class="svc-mask">${secret}</i></button>`,
    `<button type="button">Account of <i data-svc-block>${secret}</i></button>`,
    `<div role="button">Note <textarea>${secret}</textarea></div>`,
    `<div role="button">Who <select><option>${secret}</option></select></div>`,
    `<div role="button">Note <p contenteditable>${secret}</p></div>`,
    `<div contenteditable><a role="button">${secret}</a></div>`,
  ]
  const drawing = '<svg><style>.a{fill:red}</style><path class="a"/></svg><script>0</script><noscript><img></noscript>'
  const free = `<button type="button" id="free">${drawing}Free <b>tide</b></button>`
  visit.site(shop, { '/': { main: buttons.join('') + free } })
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  await visit.page.evaluate(`for (const button of document.querySelectorAll('button,[role=button]')) button.click()`)
  const clicks = await visit.expectSent('button_click', buttons.length + 1)
  expect(clicks.map(({ properties }) => properties!['text'])).toEqual([...buttons.map(() => undefined), 'Free tide'])
})

test('addresses of links are recorded without a journey, no longer than the server takes them, and never what a link makes', async (context) => {
  const long = `mailto:${'x'.repeat(30_000)}`
  const other = `<a id="other" href="http://other.example/">Other</a><a href="${long}">Long</a>`
  const made = ['data:text/csv,ada@example.com', 'blob:http://shop.localhost/1', 'JavaScript:void 0']
  const visit = await visitShop(surface, context, {
    '/': { main: other + made.map((href) => `<a download href="${href}">Export</a>`).join('') },
  })
  await visit.page.evaluate(`{
    document.addEventListener('click', (event) => event.preventDefault())
    const other = document.querySelector('#other')
    other.href = Svc.link(other.href)
    for (const link of document.querySelectorAll('a')) link.click()
  }`)
  const clicks = await visit.expectSent('outbound_click', 2)
  expect(clicks.map(({ properties }) => properties!['href'])).toEqual(['http://other.example/', long.slice(0, 2048)])
  const others = await visit.expectSent('button_click', made.length)
  expect(others.map(({ properties }) => properties)).toEqual(made.map(() => ({ text: 'Export' })))
  expect(await visit.stored('outbound_click')).toHaveLength(2)
})

test('a button within a link is a click on the link, which the browser follows', async (context) => {
  const visit = await visitShop(surface, context, {
    '/': { main: '<a href="/next"><button type="button">Next</button></a>' },
    '/next': {},
  })
  await untilLate(visit)
  await visit.page.click('button')
  const [click] = await visit.expectSent('link_click')
  expect(click!.properties).toEqual({ href: `${root}/next`, text: 'Next' })
  await visit.expectSent('pageview', 2)
  expect(visit.sent('button_click')).toEqual([])
})

test('a page that was opened with a password in its address sends it with no click', async (context) => {
  const visit = await startVisit(surface, context)
  visit.site(shop, { '/': { main: '<a href="/next">Next</a>' }, '/next': {} })
  await visit.page.goto(`http://ada:hunter2@${shop}/`)
  // The next page comes at once: a click before the second file is there would go with its page.
  await untilLate(visit)
  await visit.page.click('a')
  const [click] = await visit.expectSent('link_click')
  expect(click!.properties).toEqual({ href: `${root}/next`, text: 'Next' })
})

test('autocapture=false turns off clicks and submissions alone: pageviews, calls and vitals go on', async (context) => {
  const visit = await visitShop(
    surface,
    context,
    { '/': { main: allKinds }, '/next': {} },
    { flags: 'autocapture=false' },
  )
  await visit.page.evaluate(`{
    for (const type of ['click', 'submit']) document.addEventListener(type, (event) => event.preventDefault())
  }`)
  for (const id of ['#inside', '#outside', '#button', '#control', '#send']) await visit.page.click(id)
  await visit.page.evaluate(`Svc.track('own')`)
  await visit.expectSent('own')
  await visit.page.goto(`${root}/next`)
  await visit.expectSent('pageview', 2)
  await expect.poll(() => visit.sent('web_vital').map(({ properties }) => properties!['metric'])).toContain('LCP')
  const names = (await visit.stored()).map(({ event_name }) => event_name)
  expect(names.filter((name) => captured.includes(name))).toEqual([])
})
