/** The card of events, and the page of funnels: by mouse and by keyboard, shared by its address, in both themes and on a phone. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { goBy, goWithin, list, look, setUpDashboard } from '../support/dashboard.ts'
import type { EventLike } from '../support/event-rows.ts'
import { addEvents } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1', sharesWorkspace: true })
const signIn = setUpDashboard({ stores, api, mine })
const markup = '<img src=x onerror="document.title=1">'

/** Ten come, six see the prices, three sign up a minute later; hostile names beside them. */
beforeAll(async () => {
  // All in one hour, so that no midnight comes between.
  const at = (Math.floor(Date.now() / 3_600_000) - 1) * 3_600_000
  const visits = Array.from({ length: 10 }, (_, n): EventLike[] => [
    { visitor: n + 1, path: '/', occurred_at: at },
    ...(n < 6 ? [{ visitor: n + 1, path: '/prices', occurred_at: at + 30_000 }] : []),
    ...(n < 3 ? [{ visitor: n + 1, kind: 'custom' as const, event_name: 'signup', occurred_at: at + 90_000 }] : []),
  ]).flat()
  const hostile: EventLike = { visitor: 1, kind: 'custom', event_name: `${markup}*`, occurred_at: at + 95_000 }
  await addEvents(stores, mine.workspaceId, [...visits, hostile])
})

const bars = (page: Page) =>
  page.$$eval('.funnel .row', (rows) =>
    rows.map((row) => [row.querySelector('bdi')!.textContent, row.querySelector('.number')!.textContent]),
  )
const addressOf = (page: Page) => new URL(page.url()).pathname + decodeURIComponent(new URL(page.url()).search)

test('the card lists events with visitors and counts; a click filters, details have all columns', async (context) => {
  const page = await signIn(context)
  await page.waitForSelector(`${list('Events')} .row:has-text("signup")`)
  const row = await page.textContent(`${list('Events')} .row:has-text("signup")`)
  expect(row).toContain('3 events')
  expect(row).toContain('30 %')
  await page.click(`${list('Events')} >> text=Details`)
  await page.waitForSelector(`dialog th:has-text("${'<img src=x'}")`)
  expect(await page.$$eval('dialog thead th', (all) => all.map((one) => one.textContent!.trim()))).toEqual([
    'Events',
    'Visitors ▼',
    'Events',
    'Sessions',
    'Conversions',
  ])
  await page.keyboard.press('Escape')
  await page.click(`${list('Events')} .row:has-text("<img")`)
  await page.waitForURL(/event=/)
  await page.waitForSelector('[data-card="visitors"] strong:text-is("1")')
  await page.keyboard.press('Escape')
  await page.focus(`${list('Events')} .row:has-text("signup")`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('[data-card="visitors"] strong:text-is("3")')
  expect(await page.title()).not.toBe('1')
})

test('a funnel is put together by keyboard, stands in the address, and Back takes a step off again', async (context) => {
  const page = await signIn(context)
  await page.waitForSelector(`${list('Events')} .row`)
  await page.keyboard.press('w')
  await page.waitForURL('**/dashboard?days=7')
  await goBy(page, 'f')
  await page.waitForURL('**/dashboard/funnels?days=7')
  await page.waitForSelector(`${list('Funnel')} .empty:has-text("Add two or more steps")`)
  expect(await page.textContent('nav [aria-current="page"]')).toBe('Funnels')
  await page.waitForSelector('datalist option[value="/prices"]', { state: 'attached' })
  // The events are asked for apart.
  await expect
    .poll(() => page.$$eval('#suggested-event option', (all) => all.map((one) => one.getAttribute('value'))))
    .toContain(`${markup}\\*`)

  await page.focus('input[aria-label^="Step 1"]')
  await page.keyboard.type('/')
  await page.keyboard.press('Tab')
  await page.focus('input[aria-label^="Step 2"]')
  await page.keyboard.type('/pri*')
  await page.keyboard.press('Enter')
  await expect
    .poll(() => bars(page))
    .toEqual([
      ['/', '10'],
      ['/pri*', '6'],
    ])
  expect(addressOf(page)).toBe('/dashboard/funnels?step=path:/&step=path:/pri*&days=7')
  await page.focus('text=Add a step')
  await page.keyboard.press('Enter')
  await page.waitForSelector('input[aria-label^="Step 3"]:focus')
  await page.keyboard.type('signup')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.funnel li:nth-child(3)')
  expect(await bars(page)).toEqual([
    ['/', '10'],
    ['/pri*', '6'],
    ['signup', '3'],
  ])
  expect(await page.textContent('.funnel li:nth-child(3)')).toContain(
    '50 % went on, half of them within 1m 0s; 3 dropped out',
  )
  await page.waitForSelector(`${list('Funnel')} >> text=3 of 10 visitors went all the way: 30 %.`)
  await look(page, 'funnel')

  await page.goBack()
  await page.waitForSelector('.funnel li:nth-child(3)', { state: 'detached' })
  expect(await page.$$('.funnel-steps li')).toHaveLength(2)
  await page.goForward()
  await page.waitForSelector('.funnel li:nth-child(3)')
  await page.reload()
  await page.waitForSelector('.funnel li:nth-child(3)')
})

test('order, time, filters and what nobody did are shown; a refused filter says why', async (context) => {
  const page = await signIn(
    context,
    '/dashboard/funnels?step=path:/&step=path:/prices&step=event:signup&within=session',
  )
  await page.waitForSelector('.funnel li:nth-child(3)')
  expect(await page.inputValue('select[aria-label="Time for all steps"]')).toBe('session')
  await page.click('[aria-label="Move step 3 up"]')
  await expect
    .poll(() => bars(page))
    .toEqual([
      ['/', '10'],
      ['signup', '3'],
      ['/prices', '0'],
    ])
  await page.click('[aria-label="Remove step 1"]')
  await expect.poll(() => addressOf(page)).toBe('/dashboard/funnels?step=event:signup&step=path:/prices&within=session')
  await page.selectOption('select[aria-label="Time for all steps"]', '30')
  await page.keyboard.press('f')
  await page.selectOption('dialog select[name="name"]', 'path')
  await page.fill('dialog input[name="value"]', '/none')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('Funnel')} .empty:has-text("Nobody did the first step")`)
  expect(addressOf(page)).toBe('/dashboard/funnels?step=event:signup&step=path:/prices&within=30&path=/none')
  await page.click('nav >> text=Overview')
  await page.waitForURL('**/dashboard?path=%2Fnone')
  await goWithin(page, '/dashboard/funnels?step=path:/&step=path:/a&device=fridge')
  await page.waitForSelector('[role="alert"]:has-text("There are no such figures")')
  await page.route('**/analytics/funnel?**', (route) => route.abort())
  await page.click('.chips button')
  await page.waitForSelector('[role="alert"]:has-text("Nothing new since")')
})

test('a funnel is saved under a name, opened by a click beside its own range, changed, and deleted', async (context) => {
  const page = await signIn(context, '/dashboard/funnels?step=path:/&step=event:signup&within=session')
  await page.focus(`${list('Saved funnels')} input[name="name"]`)
  await page.keyboard.type(markup)
  await page.keyboard.press('Enter')
  const saved = `${list('Saved funnels')} .row:has-text("/ → signup, in one session")`
  await page.waitForSelector(saved)
  await look(page, 'saved-funnels', list('Saved funnels'))

  await goWithin(page, '/dashboard/funnels?days=7')
  await page.focus(saved)
  await page.keyboard.press('Enter')
  await page.waitForSelector('.funnel li:nth-child(2)')
  expect(addressOf(page)).toBe('/dashboard/funnels?step=path:/&step=event:signup&within=session&days=7')

  await page.selectOption('select[aria-label="Time for all steps"]', '3')
  await page.click('[aria-label^="Change <img"]')
  await page.fill('dialog input[name="name"]', 'Sign-ups')
  await page.click('text=Put the page’s steps in place')
  await page.click('dialog >> text=Save')
  await page.waitForSelector(`${list('Saved funnels')} .row:has-text("Sign-ups/ → signup, within 3 days")`)
  await page.click('[aria-label="Delete Sign-ups"]')
  await page.click('dialog .danger')
  await page.waitForSelector(`${list('Saved funnels')} .row`, { state: 'detached' })
  expect(await page.title()).not.toBe('1')
})
