/** The dashboard as its owner meets it: the first event, filters, keys, hostile texts, and who can't see colours or use a mouse. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { setOwnerPassword } from '../../postgres/tables/members/owner-passwords.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { setUpApi } from '../support/api.ts'
import { askAnew, card, goBy, goWithin, list, setUpDashboard, violations, withoutPolls } from '../support/dashboard.ts'
import { type EventLike, insertBotVisitRows, makeBotVisitRow } from '../support/event-rows.ts'
import { addEvents } from '../support/fold.ts'
import { onOneDay } from '../support/one-day.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const minute = 60_000
const dateBefore = (days: number) => new Date(Date.now() - days * 24 * 60 * minute).toISOString().slice(0, 10)

async function add(...events: EventLike[]): Promise<void> {
  const occurred_at = Date.now() - 10 * minute
  await addEvents(
    stores,
    mine.workspaceId,
    events.map((event) => ({ occurred_at, ...event })),
  )
}

const some: EventLike[] = [
  { visitor: 1, source: 'google', medium: 'organic', path: '/a', country: 'DE' },
  { visitor: 2, source: 'google', medium: 'organic', path: '/b', country: 'FR' },
  { visitor: 3, source: 'news', medium: 'email', path: '/a', device: 'mobile' },
  { visitor: 3, kind: 'web_vital', metric: 'LCP', metric_value: 5_000, path: '/a' },
  { visitor: 1, kind: 'conversion', path: '/a' },
]

const rows = (page: Page, title: string) =>
  page.$$eval(`${list(title)} .row .name`, (all) => all.map((one) => one.textContent))

test('waits for the first event, shows how to send it, and turns by itself', async (context) => {
  const page = await signIn(context, '/dashboard', { before: withoutPolls })
  await page.waitForSelector('text=Waiting for the first event')
  expect(await page.textContent('.install')).toContain(`svc.js?key=${mine.trackingKey}`)
  expect(new URL(page.url()).search).toBe('')
  // Chrome's translator would leave old figures in sight.
  expect(await page.getAttribute('html', 'translate')).toBe('no')
  await add(some[0]!)
  await card(page, 'visitors', '1')
  expect(await rows(page, 'Sources')).toEqual(['google / organic'])
  // Days without events are no workspace that waits, once the first one came.
  await goWithin(page, `/dashboard?start=${dateBefore(31)}&end=${dateBefore(29)}`)
  await card(page, 'visitors', '0')
  expect(await page.$('text=Waiting for the first event')).toBeNull()
  await goWithin(page, '/dashboard')
  await card(page, 'visitors', '1')
  // A row's share is of all page views, also of those on pages that aren't listed.
  await add(...Array.from({ length: 19 }, (_, at) => ({ ...some[0]!, path: `/${at}` })))
  await askAnew(page)
  await card(page, 'pageviews', '20')
  expect(await page.$$eval(`${list('Pages')} .share`, (all) => all.map((one) => one.textContent))).toEqual(
    Array(10).fill('5 %'),
  )
  await page.goto(`${api.url}/dashboard/nonsense`)
  await page.waitForSelector('text=Page not found')
  await page.click('text=Go to the overview')
  await card(page, 'visitors', '1')
})

test('filters by rows, which stand as chips and in the address; Back takes them off; one that can’t be is told', async (context) => {
  await add(...some)
  const page = await signIn(context)
  await card(page, 'visitors', '3')
  await page.click('section[aria-label="Sources"] .row:has-text("google")')
  await card(page, 'visitors', '2')
  // A row is a source by its medium.
  expect(new URL(page.url()).search).toBe('?source=google&medium=organic')
  await page.click('section[aria-label="Countries"] .row:has-text("Germany")', { modifiers: ['Alt'] })
  await card(page, 'visitors', '1')
  expect(await page.textContent('.chips')).toContain('country: not Germany')
  expect(await rows(page, 'Pages')).toEqual(['/b'])
  await page.goBack()
  await card(page, 'visitors', '2')
  for (const left of ['medium: organic', undefined]) {
    await page.click('.chips button')
    await expect.poll(() => page.$$eval('.chips button', ([chip]) => chip?.textContent?.slice(0, -2))).toBe(left)
  }
  await card(page, 'visitors', '3')

  await goWithin(page, '/dashboard?device=phone')
  await page.waitForSelector('.failure:has-text("There are no such figures")')
  expect(await page.textContent('.chips')).toContain('device: phone')
  await page.click('button:text-is("Filter")')
  await page.waitForSelector('dialog[open]')
  await page.keyboard.press('Escape')
  await page.keyboard.press('c')
  await page.waitForSelector('dialog[open] [data-day]')
  await page.keyboard.press('Escape')
  await page.click('.chips button')
  await card(page, 'visitors', '3')

  await add({ visitor: 3, path: '' })
  await goWithin(page, '/dashboard?path=')
  await page.waitForSelector(`${list('Recent events')} .name:has-text("pageview (no page)")`)
  expect(await page.textContent('.chips')).toContain('path: (no page)')
  expect(await rows(page, 'Pages')).toEqual(['(no page)'])
})

test('the filter form offers what exists, takes countries by name, and refuses other texts itself', async (context) => {
  await add(...some)
  const page = await signIn(context)
  await card(page, 'visitors', '3')
  const suggested = () => page.$$eval('#filter-values option', (all) => all.map((one) => one.getAttribute('value')))
  const choose = async (name: string) => {
    if ((await page.$('dialog[open]')) === null) await page.click('button:text-is("Filter")')
    await page.selectOption('dialog select[name="name"]', name)
  }
  await choose('source')
  expect((await suggested()).sort()).toEqual(['google', 'news'])
  expect(await page.getAttribute('dialog input', 'placeholder')).toBe('google')
  await choose('country')
  expect(await suggested()).toContain('Germany')
  await page.fill('dialog input', 'Germoney')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [role="alert"]:has-text("No country is called “Germoney”")')
  expect(new URL(page.url()).search).toBe('')
  await page.fill('dialog input', 'germany')
  await expect.poll(() => page.$('dialog [role="alert"]')).toBeNull()
  await page.keyboard.press('Enter')
  await card(page, 'visitors', '1')
  expect(new URL(page.url()).search).toBe('?country=DE')
  expect(await page.textContent('.chips')).toContain('country: Germany')
  await page.click('.chips button')
  await card(page, 'visitors', '3')
  await choose('device')
  await page.selectOption('dialog select[name="value"]', { label: 'Mobile' })
  await page.click('dialog button:text-is("Filter")')
  await card(page, 'visitors', '1')
  expect(new URL(page.url()).search).toBe('?device=mobile')
})

test('stored texts are shown and do nothing', async (context) => {
  const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
  await add(
    { visitor: 1, source: markup, path: `/${markup}`, title: markup, browser: markup },
    { visitor: 2, source: 'javascript:alert(1)', path: `/‮evil${'x'.repeat(1_500)}` },
    { visitor: 2, kind: 'custom', event_name: markup },
  )
  const page = await signIn(context)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await card(page, 'visitors', '2')
  expect(await page.$$('main img, main script, main a[href^="javascript"]')).toEqual([])
  expect(await rows(page, 'Sources')).toContain(markup)
  await expect.poll(() => page.title()).toMatch(/^Overview · /)
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.click('section[aria-label="Sources"] .row:has-text("onerror")')
  await card(page, 'visitors', '1')
  expect(errors).toEqual([])
})

test('who is signed out is told how to sign in; a wrong password is told, the right one signs in', async (context) => {
  const page = await signIn(context)
  await page.click('text=Sign out')
  await page.waitForURL('**/dashboard/sign-in')
  expect(await page.textContent('main')).toContain('npx svc owner link')
  expect(await page.title()).toBe('Sign in')
  await page.goto(`${api.url}/dashboard?days=7`)
  await page.waitForURL('**/dashboard/sign-in?next=%2Fdashboard%3Fdays%3D7')
  const email = `owner${mine.workspaceId}@example.com`
  const hash = await hashPassword('correct horse')
  await stores.pg.transaction((tx) => setOwnerPassword(tx, mine.workspaceId, hash, email))
  for (const [password, seen] of [
    ['wrong horse', '[role="alert"]'],
    ['correct horse', 'text=Waiting for the first event'],
  ] as const) {
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.waitForSelector(seen)
    expect(await violations(page)).toEqual([])
  }
  expect(new URL(page.url()).search).toBe('?days=7')
  // Who writes meanwhile is told in the form, which goes on once somebody is signed in again.
  await goBy(page, 'l')
  const form = 'form[aria-label="New link"]'
  await page.fill(`${form} [name="label"]`, 'Kept')
  await page.fill(`${form} [name="destination"]`, 'https://example.com/kept')
  const cookies = await page.context().cookies()
  await page.context().clearCookies()
  await page.click(`${form} >> text=Make a link`)
  await page.waitForSelector('[role="alert"] bdi:has-text("You are signed out. Sign in again in another tab")')
  await page.context().addCookies(cookies)
  await page.click(`${form} >> text=Make a link`)
  await page.waitForSelector('summary:has-text("Kept")')
})

test('ranges: none of their events is no empty workspace; the series before; days by keyboard, click and text', async (context) => {
  await onOneDay()
  const day = 24 * 60 * minute
  await add({ ...some[0]!, occurred_at: Date.now() - 3 * day }, { visitor: 9, occurred_at: Date.now() - 30 * day })
  await insertBotVisitRows(stores.ch, [
    makeBotVisitRow({ workspace_id: mine.workspaceId, bot_name: 'GPTBot', occurred_at: Date.now() - 3 * day }),
  ])
  const page = await signIn(context)
  await card(page, 'visitors', '1')
  await page.waitForSelector(`${list('Crawlers')} li:has-text("GPTBot")`)
  await page.waitForSelector('.chart td:has-text("before: 1")', { state: 'attached' })

  const today = dateBefore(0)
  await page.keyboard.press('c')
  await page.waitForSelector(`dialog [data-day="${today}"]:focus`)
  for (const key of ['ArrowRight', 'ArrowUp', 'Enter', 'ArrowLeft', 'Enter']) await page.keyboard.press(key)
  await page.waitForURL(`**/dashboard?start=${dateBefore(8)}&end=${dateBefore(7)}`)
  expect(await page.$('dialog')).toBeNull()
  await page.click('text=Choose days')
  await page.click('dialog td button:not(:disabled)')
  await page.waitForSelector('dialog :text("Choose the last day")')
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await page.fill('input[name="from"]', '')
  expect(errors).toEqual([])
  await page.waitForSelector('dialog :text("Choose the first day and the last one")')
  const next = 'dialog [aria-label="Next month"]'
  await page.click('dialog [aria-label="Previous month"]')
  await page.focus(next)
  // At the last month it is off, and keeps the focus. It is three away where today is in a month's first week.
  for (const key of ['Enter', 'Enter', 'Enter']) await page.keyboard.press(key)
  await page.waitForSelector(`${next}[aria-disabled="true"]:focus`)
  await page.click('dialog [aria-label="Previous month"]')
  const days = await page.$$eval('dialog td button:not(.beside)', (all) =>
    all.map((one) => one.getAttribute('data-day')),
  )
  await page.click(`dialog [data-day="${days[2]}"]`)
  await page.click(`dialog [data-day="${days[5]}"]`)
  await page.waitForURL(`**/dashboard?start=${days[2]}&end=${days[5]}`)
  await page.keyboard.press('c')
  await page.fill('input[name="from"]', dateBefore(400))
  await page.fill('input[name="to"]', today)
  await page.click('text=Show these days')
  await page.waitForSelector('dialog [role="alert"]:has-text("at most 366 days")')
  expect(await violations(page)).toEqual([])
  await page.fill('input[name="from"]', dateBefore(31))
  await page.fill('input[name="to"]', dateBefore(29))
  await page.click('text=Show these days')
  await card(page, 'visitors', '1')
  expect(new URL(page.url()).search).toBe(`?start=${dateBefore(31)}&end=${dateBefore(29)}`)
  await page.keyboard.press('d')
  await card(page, 'visitors', '0')
  expect(await page.$('text=Waiting for the first event')).toBeNull()
  // The same again is no step of the history.
  await page.keyboard.press('d')
  await page.goBack()
  expect(new URL(page.url()).search).toBe(`?start=${dateBefore(31)}&end=${dateBefore(29)}`)
})
