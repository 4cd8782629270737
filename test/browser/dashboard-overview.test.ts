/** Goals, notes, saved views and properties beside the overview's figures; viewers and shared links change none. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { replaceAdSpend } from '../../postgres/tables/revenue/ad-spend.ts'
import { viewScope } from '../../schemas/scopes.ts'
import { makeKey, makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import {
  askAnew,
  card,
  cellsOf,
  goWithin,
  holdRequests,
  list,
  look,
  savedFile,
  setUpDashboard,
} from '../support/dashboard.ts'
import type { EventLike } from '../support/event-rows.ts'
import { addEvents } from '../support/fold.ts'
import { onOneDay } from '../support/one-day.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1', sharesWorkspace: true })
const guest = {} as TestWorkspace
const signIn = setUpDashboard({ stores, api, mine })
const signInGuest = setUpDashboard({ stores, api, mine: guest })
const section = list('Goals')
const markup = '<img src=x onerror="document.title=1">'
const dayBefore = (days: number) => new Date(Date.now() - days * 24 * 3_600_000).toISOString().slice(0, 10)

/** Ten come, three of them order twice, one signs up, and four do what has properties or none. */
beforeAll(async () => {
  const at = Date.now() - 3_600_000
  const custom = (visitor: number, event_name: string, properties: object): EventLike => ({
    visitor,
    kind: 'custom',
    event_name,
    properties: JSON.stringify(properties),
    occurred_at: at + 9,
  })
  const visits = Array.from({ length: 10 }, (_, n): EventLike[] => [
    { visitor: n + 1, path: '/', occurred_at: at },
    ...(n < 3 ? [1, 2].map((order) => ({ visitor: n + 1, path: `/thanks/${order}`, occurred_at: at + order })) : []),
  ]).flat()
  const done = [
    ...[1, 2].map((visitor) => custom(visitor, 'sign*up', { plan: 'pro', n: 1 })),
    custom(2, 'sign*up', { plan: 'pro' }),
    custom(3, 'sign*up', { plan: markup }),
    custom(4, 'bare', {}),
    custom(9, markup, { plan: 'pro' }),
  ]
  await addEvents(stores, mine.workspaceId, [...visits, ...done])
  Object.assign(guest, await makeWorkspace(stores))
})

const goals = (page: Page) =>
  page.$$eval(`section[aria-label="Goals"] .row`, (rows) =>
    rows.map((row) => ['.name', '.count', '.number', '.share'].map((one) => row.querySelector(one)!.textContent)),
  )
/** Where marks of notes stand, in twentieths of the chart's width. */
const marks = (page: Page) =>
  page.$$eval('.note-mark', (all) =>
    all.map((one) => {
      const left = Number.parseFloat(one.getAttribute('style')!.slice('left:'.length))
      return Math.round((left / one.parentElement!.clientWidth) * 20)
    }),
  )
const notes = (page: Page) => page.$$eval('.notes li', (all) => all.map((one) => one.querySelector('bdi')!.textContent))

test('goals are added, filtered by, changed and removed by keyboard; a refusal says why and keeps what was written', async (context) => {
  const page = await signIn(context)
  await page.waitForSelector(`${section} .empty:has-text("A goal is what visitors should do")`)
  await page.focus(`${section} >> text=Add goal`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog datalist#suggested-path option[value="/thanks/1"]', { state: 'attached' })
  await page.focus('dialog input[name="value"]')
  await page.keyboard.type('/thanks/*')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Order')
  await page.keyboard.press('Enter')
  const order = ['Order', '6 times', '3', '30 %']
  await expect.poll(() => goals(page)).toEqual([order])

  await page.click(`${section} >> text=Add goal`)
  await page.selectOption('dialog select', 'event')
  const suggested = await page.getAttribute('dialog #suggested-event option[value*="img"]', 'value')
  await page.fill('dialog input[name="value"]', suggested!)
  await page.fill('dialog input[name="property"]', 'plan')
  await page.fill('dialog input[name="property_value"]', 'p*')
  await page.fill('dialog input[name="name"]', 'Order')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [role="alert"]:has-text("has a goal with this name")')
  expect(await page.inputValue('dialog input[name="value"]')).toBe(markup)
  await look(page, 'goal-form')
  await page.fill('dialog input[name="name"]', markup)
  await page.keyboard.press('Enter')
  const hostile = [markup, '1 time', '1', '10 %']
  await expect.poll(() => goals(page)).toEqual([order, hostile])
  expect(await page.getAttribute(`${section} .row:has-text("<img")`, 'title')).toContain(', where plan is p*')
  await look(page, 'goals', section)
  await page.click(`${section} button.row:has-text("<img")`)
  await card(page, 'visitors', '1')
  expect(decodeURIComponent(new URL(page.url()).search)).toContain('&event_property=plan:p*')
  for (const _ of [1, 2]) await page.keyboard.press('Escape')
  await card(page, 'visitors', '10')

  await page.focus(`${section} .row:has-text("Order")`)
  await page.keyboard.press('Enter')
  await card(page, 'visitors', '3')
  expect(decodeURIComponent(new URL(page.url()).search)).toBe('?path=/thanks/*')
  const filtered = [
    ['Order', '6 times', '3', '100 %'],
    [markup, '0 times', '0', '0 %'],
  ]
  await expect.poll(() => goals(page)).toEqual(filtered)
  await page.keyboard.press('Escape')
  await page.click(`${section} .row:has-text("Order")`, { modifiers: ['Alt'] })
  await card(page, 'visitors', '7')
  await page.keyboard.press('Escape')
  await card(page, 'visitors', '10')

  await page.focus(`${section} [aria-label="Change Order"]`)
  await page.keyboard.press('Enter')
  expect(await page.inputValue('dialog input[name="value"]')).toBe('/thanks/*')
  await page.fill('dialog input[name="value"]', '/thanks/1')
  await page.keyboard.press('Enter')
  await expect.poll(() => goals(page)).toEqual([['Order', '3 times', '3', '30 %'], hostile])

  await page.focus(`${section} [aria-label="Remove Order"]`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog:has-text("Order is no longer shown")')
  await look(page, 'goal-removal')
  await page.focus('dialog .danger')
  await page.keyboard.press('Enter')
  await expect.poll(() => goals(page)).toEqual([hostile])
  await page.click(`${section} >> text=Add goal`)
  await page.fill('dialog input[name="value"]', '/thanks/2')
  await page.keyboard.press('Enter')
  const second = ['/thanks/2', '3 times', '3', '30 %']
  await expect.poll(() => goals(page)).toEqual([second, hostile])

  // An answer to a form that was closed before it came leaves the next form open.
  const letGo = await holdRequests(page, '**/api/v1/goals')
  await page.click(`${section} >> text=Add goal`)
  await page.fill('dialog input[name="value"]', '/')
  const asked = page.waitForRequest('**/api/v1/goals')
  await page.keyboard.press('Enter')
  await asked
  await page.keyboard.press('Escape')
  await page.click(`${section} [aria-label="Change /thanks/2"]`)
  await page.fill('dialog input[name="value"]', '/half-writ')
  letGo()
  await expect.poll(() => goals(page)).toEqual([['/', '10 times', '10', '100 %'], second, hostile])
  expect(await page.inputValue('dialog input[name="value"]')).toBe('/half-writ')
  await page.unroute('**/api/v1/goals')
  expect(await page.title()).not.toBe('1')
})

test('a note is added, changed and deleted by keyboard, and its text stands in the list and at the pointer, as text', async (context) => {
  await onOneDay()
  const page = await signIn(context, '/dashboard?days=7')
  await page.focus('text=Add a note')
  await page.keyboard.press('Enter')
  await look(page, 'note-form')
  await page.focus('dialog input[name="text"]')
  await page.keyboard.insertText(markup)
  await page.fill('dialog input[name="day"]', dayBefore(3))
  await page.fill('dialog input[name="time"]', '14:30')
  await page.keyboard.press('Enter')
  await page.focus('.notes summary')
  await page.keyboard.press('Enter')
  await expect.poll(() => notes(page)).toEqual([markup])
  await look(page, 'notes')
  await page.setViewportSize({ width: 1280, height: 900 })
  await expect.poll(() => marks(page)).toEqual([10])
  // The middle of seven days.
  await page.hover('.u-over')
  await page.waitForSelector('.note-tip')
  // By the browser's locale, as other times.
  expect((await page.textContent('.note-tip'))?.replace(/\s/g, ' ')).toContain(`2:30 PM: ${markup}`)

  await page.focus('.notes [aria-label^="Change <img"]')
  await page.keyboard.press('Enter')
  expect(await page.inputValue('dialog input[name="time"]')).toBe('14:30')
  await page.fill('dialog input[name="time"]', '')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`.notes li .label:not(:has-text("2:30"))`)

  await page.click('text=Add a note')
  await page.fill('dialog input[name="text"]', 'Long ago')
  await page.fill('dialog input[name="day"]', '2020-01-01')
  await page.keyboard.press('Enter')
  await page.waitForSelector('[role="status"]:has-text("which is outside this range")')
  await page.focus('.notes [aria-label^="Delete <img"]')
  await page.keyboard.press('Enter')
  await page.focus('dialog .danger')
  await page.keyboard.press('Enter')
  await expect.poll(() => marks(page)).toEqual([])
  expect(await page.title()).not.toBe('1')
})

test('filters are saved under a name, put in place of others by a click, changed, and deleted', async (context) => {
  const page = await signIn(context, '/dashboard?days=7&source=!google&source=news*&device=mobile')
  const search = () => decodeURIComponent(new URL(page.url()).search)
  await page.focus('text=Saved views')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog .empty:has-text("A saved view is a name for filters")')
  await page.focus('dialog input[name="name"]')
  await page.keyboard.insertText(markup)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`dialog .row:has-text("source: not google, source: news*, device: mobile")`)
  // The form empties its field once it has heard, which may be after the list has.
  await expect.poll(() => page.inputValue('dialog input[name="name"]')).toBe('')
  await page.fill('dialog input[name="name"]', markup)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [role="alert"]:has-text("has a segment (saved view) with this name")')
  await look(page, 'saved-views')
  await page.click('dialog >> text=Close')

  await goWithin(page, '/dashboard/funnels?days=7&os=Linux')
  await page.click('text=Saved views')
  await page.focus('dialog .row')
  await page.keyboard.press('Enter')
  await expect.poll(search).toBe('?days=7&source=!google&source=news*&device=mobile')
  expect(await page.$('dialog')).toBeNull()

  await goWithin(page, '/dashboard?days=7&os=Linux')
  await page.click('text=Saved views')
  await page.focus('dialog [aria-label^="Change <img"]')
  await page.keyboard.press('Enter')
  await page.fill('dialog input[name="name"]', `${markup}2`)
  await page.click('text=Put the page’s filters in place')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`dialog .row:has-text('1">2os: Linux')`)
  await page.click('dialog [aria-label^="Delete <img"]')
  await page.click('dialog .danger')
  await page.waitForSelector('dialog .empty')
  expect(await page.title()).not.toBe('1')
})

test('an event opens its properties: their values with visitors, share, events and conversions', async (context) => {
  const page = await signIn(context)
  await page.focus(`${list('Events')} [aria-label="Properties of sign*up"]`)
  await page.keyboard.press('Enter')
  const rows = () => cellsOf(page, 'dialog tbody tr')
  await expect.poll(rows).toEqual([
    ['pro', '2', '66.7 %', '3', '0'],
    [markup, '1', '33.3 %', '1', '0'],
  ])
  await look(page, 'properties')
  const { lines } = await savedFile(page, 'dialog >> text=CSV')
  expect(lines.slice(0, 2)).toEqual(['plan,Visitors,Share,Events,Conversions', 'pro,2,66.67,3,0'])
  await page.focus('dialog select')
  await page.keyboard.press('n')
  await expect.poll(rows).toEqual([['1', '2', '66.7 %', '2', '0']])
  await page.focus('dialog tbody button')
  await page.keyboard.press('Enter')
  await card(page, 'visitors', '2')
  const search = () => decodeURIComponent(new URL(page.url()).search)
  expect(search()).toBe('?event=sign\\*up&event_property=n:1')
  await page.click('text=Filter')
  await page.selectOption('dialog select[name="name"]', 'event_property')
  await page.fill('dialog input[name="value"]', 'plan')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [role="alert"]:has-text("a colon and the value: plan:pro")')
  await page.selectOption('dialog select[name="sense"]', 'not')
  await page.fill('dialog input[name="value"]', 'plan:pr*')
  await page.keyboard.press('Enter')
  await card(page, 'visitors', '0')
  expect(search()).toBe('?event=sign\\*up&event_property=n:1&event_property=!plan:pr*')
  await page.waitForSelector('text=event property: not plan:pr*')
  for (const _ of [1, 2, 3]) await page.keyboard.press('Escape')
  await card(page, 'visitors', '10')
  expect(await page.title()).not.toBe('1')
  await page.click(`${list('Events')} [aria-label="Properties of bare"]`)
  await page.waitForSelector('dialog .empty:has-text("no properties")')
  await page.keyboard.press('Escape')

  // A property that is looked at stays, though another is more frequent by now.
  await page.click(`${list('Events')} [aria-label="Properties of ${markup.replaceAll('"', '\\"')}"]`)
  await page.waitForSelector('dialog option:text-is("plan")', { state: 'attached' })
  const more = { kind: 'custom', event_name: markup, visitor: 9, properties: '{"ab":1}' } as const
  const event = { ...more, occurred_at: Date.now() - 60_000 }
  await addEvents(stores, mine.workspaceId, [event, event])
  await askAnew(page)
  await page.waitForSelector('dialog option:text-is("ab")', { state: 'attached' })
  expect(await page.inputValue('dialog select')).toBe('plan')
})

test('ads stand with their cost, clicks, revenue and return, and a click shows whom a campaign brought', async (context) => {
  const { pg } = stores
  const id = mine.workspaceId
  const day = { day: dayBefore(1), clicks: 2, currency: 'USD' }
  const long = 'spring'.repeat(20)
  // By its signs a filter would mean others, and any text.
  const odd = `!${markup}*`
  await replaceAdSpend(pg, id, [
    { ...day, source: 'google', campaign: odd, cost_cents: 23_000, clicks: 40 },
    { ...day, source: 'bing', campaign: '', cost_cents: 0 },
    { ...day, source: 'meta', campaign: long, cost_cents: 900, currency: 'HUF' },
  ])
  await pg.query(
    `WITH payment AS (
       INSERT INTO revenue_payments (workspace_id, provider, payment, refs, occurred_at, import_day, source, campaign)
       VALUES ($1, 'custom', 'p', '{}', now() - interval '1 day', now()::date, 'google', $2) RETURNING id, occurred_at)
     INSERT INTO revenue_entries (workspace_id, payment_id, entry, value_cents, currency, occurred_at)
     SELECT $1, id, entry, cents, 'USD', occurred_at + after
     FROM payment, (VALUES ('payment', 5000, interval '0'), ('refund', -6000, interval '23 hours')) entries (entry, cents, after)`,
    [id, odd],
  )
  const page = await signIn(context, '/dashboard?card=revenue_cents&days=7')
  const ads = 'section[aria-label="Ads"]'
  await page.waitForSelector(`${ads} h2 >> text=$230.00 spent`)
  expect(await cellsOf(page, `${ads} tbody tr`)).toEqual([
    [`${odd} google`, '$230.00', '40', '-$10.00', '-0.04×'],
    ['bing', '$0.00', '2', '$0.00', '–'],
    [`${long} meta`, '$0.00', '2', '$0.00', '–'],
  ])
  expect(await page.textContent(`${ads} .note`)).toContain('HUF')
  await look(page, 'ads', ads)
  const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scrolled'))`
  expect(await page.evaluate(hidden), 'pixels of its columns').toBe(0)
  // A day of refunds is in sight, too.
  await page.locator('.chart').scrollIntoViewIfNeeded()
  const plot = (await page.locator('.chart .u-over').boundingBox())!
  await page.mouse.move(plot.x + plot.width - 2, plot.y + 20)
  // Points beyond the scale are off: today's and that of the period before are not.
  await expect.poll(() => page.locator('.chart .u-cursor-pt:not(.u-off)').count()).toBe(2)
  await page.focus(`${ads} tbody button`)
  await page.keyboard.press('Enter')
  await page.waitForSelector(ads, { state: 'detached' })
  expect([...new URL(page.url()).searchParams.values()]).toEqual(expect.arrayContaining(['google', `\\!${markup}\\*`]))
  expect(await page.title()).not.toBe('1')
})

test('a viewer and a shared link see goals, notes of hours, days and weeks, and saved views, and change none', async (context) => {
  await onOneDay()
  const id = mine.workspaceId
  for (const table of ['goals', 'notes', 'segments'])
    await stores.pg.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [id])
  const add = (into: string, values: string) =>
    stores.pg.query(`INSERT INTO ${into.replace('(', '(workspace_id, ')} VALUES (${id}, ${values})`)
  await add('goals (name, kind, value)', `'Order', 'path', '/thanks/*'`)
  await add('segments (name, filters)', `'Tablets', '{"device": ["tablet"]}'`)
  await add('notes (day, text)', `'${dayBefore(1)}', 'Yesterday'`)
  for (const name of ['Newsletter', 'Release']) await add('notes (day, text)', `'${dayBefore(200)}', '${name}'`)
  await add('members (owner_id, role)', `${guest.ownerId}, 'viewer'`)
  const { apiKey: token } = await makeKey(stores, id, { scopes: [viewScope] })
  const page = await signInGuest(context)
  await page.selectOption('select[aria-label="Workspace"]', String(id))
  await page.waitForSelector('.chart')
  for (const [address, fragment] of [
    ['/dashboard', ''],
    ['/shared', `#${token}`],
  ]) {
    await page.goto(`${api.url}${address}${fragment}`)
    for (const [range, at] of [
      [`start=${dayBefore(1)}&end=${dayBefore(1)}`, [0]],
      ['days=7', [17]],
      ['days=365', [20, 9]],
    ] as const) {
      await goWithin(page, `${address}?${range}${fragment}`)
      await expect.poll(() => marks(page), { message: address + range }).toEqual(at)
    }
    await page.click('.notes summary')
    expect(await notes(page)).toEqual(['Yesterday', 'Release', 'Newsletter'])
    await page.waitForSelector(`${section} .row:has-text("Order")`)
    expect(await page.$$(`.notes button, ${section} button:not(.row)`)).toEqual([])
    await page.click('text=Saved views')
    await page.waitForSelector('dialog .row')
    expect(await page.$$('dialog :is(form, .link)')).toEqual([])
    await page.click('dialog .row')
    await expect.poll(() => new URL(page.url()).searchParams.getAll('device')).toEqual(['tablet'])
  }
  await goWithin(page, `/shared?days=7#${token}`)
  await page.waitForSelector(`${list('Events')} .row`)
  expect(await page.$('[aria-label^="Properties of"]')).toBeNull()
})
