/** The page of events over time: the API's figures, a property, chosen rows, by keyboard, in both themes and on a phone. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { EventNames } from '../../schemas/resources/event-names.ts'
import { setUpApi } from '../support/api.ts'
import { cellsOf, goBy, goWithin, list, look, savedFile, setUpDashboard, withClockAhead } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import { onOneDay } from '../support/one-day.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1', sharesWorkspace: true })
const signIn = setUpDashboard({ stores, api, mine })
const dayMs = 86_400_000
const hostile = '"><svg/onload=document.title=1>\u202Egnp'

beforeAll(async () => {
  const at = Date.now() - 1_000
  const events = [
    ...[1, 2, 3].map((visitor) => ({ visitor, event_name: 'signup', days: 1, plan: 'pro' })),
    ...[4, 4].map((visitor) => ({ visitor, event_name: 'signup', days: 3, plan: hostile })),
    ...[1, 5].map((visitor) => ({ visitor, event_name: hostile, days: 2, plan: '' })),
    ...Array.from({ length: 6 }, (_, n) => ({ visitor: 6, event_name: `other ${n}`, days: 2, plan: '' })),
  ]
  await insertEventRows(
    stores.ch,
    events.map(({ days, plan, ...event }) =>
      makeEventRow({
        ...event,
        workspace_id: mine.workspaceId,
        session: 1,
        kind: 'custom' as const,
        occurred_at: at - days * dayMs,
        properties: JSON.stringify(plan === '' ? {} : { plan, n: 1 }),
      }),
    ),
  )
  await foldWhatIsThere(stores)
})

/** The table that stands behind the chart: a list for each bucket, by its head. */
const charted = (page: Page) => cellsOf(page, '.chart .unseen tr')

async function answered(query: string): Promise<EventNames> {
  const response = await api.ask(`/v1/analytics/events?${query}`, { key: mine.apiKey })
  return (await response.json()) as EventNames
}

function expected({ rows, series }: EventNames, figure: 'events' | 'visitors', places: readonly number[]) {
  const names = places.map((at) => rows[at]!.value ?? rows[at]!.event)
  return [
    ['Begin', ...names],
    ...series!.map((bucket) => [bucket.label, ...places.map((at) => String(bucket.rows[at]![figure]))]),
  ]
}

test('the chart has the figures of the API, and the chosen rows stay with a reload', async (context) => {
  // The page and the question beside it have the same days.
  await onOneDay()
  const page = await signIn(context)
  await page.waitForSelector(`${list('Events')} .row`)
  await page.click(`${list('Events')} a:text-is("Over time")`)
  await page.waitForURL('**/dashboard/events')
  expect(await page.textContent('nav [aria-current="page"]')).toBe('Events')
  const byDay = await answered('days=30&interval=day&limit=100')
  expect(byDay.rows.map(({ event, events }) => [event, events]).slice(0, 2)).toEqual([
    ['signup', 5],
    [hostile, 2],
  ])
  await expect.poll(() => charted(page)).toEqual(expected(byDay, 'events', [0, 1, 2, 3, 4]))
  await page.waitForSelector('.chart canvas')
  await look(page, 'events')
  await page.press('input[aria-label="other 0 in the chart"]', 'Space')
  await page.waitForURL('**/dashboard/events?row=*')
  await expect.poll(async () => (await charted(page))[0]).toEqual(['Begin', 'signup', hostile, 'other 1', 'other 2'])
  await page.selectOption('select[aria-label="Length of the buckets"]', 'week')
  await page.selectOption('select[aria-label="Figure of the chart"]', 'visitors')
  const byWeek = expected(await answered('days=30&interval=week&limit=100'), 'visitors', [0, 1, 3, 4])
  await expect.poll(() => charted(page)).toEqual(byWeek)
  await page.reload()
  await expect.poll(() => charted(page)).toEqual(byWeek)
  await goBy(page, 'o')
  await page.waitForURL('**/dashboard')
  await goBy(page, 'v')
  await page.waitForURL('**/dashboard/events')
  // Lines of the question before are dimmed while an answer is awaited.
  await page.waitForSelector('.chart canvas')
  await page.route(/events\?interval=hour/, () => undefined)
  await page.selectOption('select[aria-label="Length of the buckets"]', 'hour')
  await page.waitForSelector('main[aria-busy="true"] .chart')
  // The first day is cut, and is a day nevertheless.
  const [from, to] = [3, 1].map((days) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10))
  await goWithin(page, `/dashboard/events?interval=day&start=${from}T20:00&end=${to}T00:00`)
  // The chart is drawn anew a moment after the table: before that the pointer would be over the one of weeks.
  await page.waitForSelector('main:not([aria-busy="true"])')
  const [, line] = (await charted(page))[0]!
  await page.waitForSelector(`.chart .u-series:nth-child(2) .u-label:text-is(${JSON.stringify(line)})`)
  await page.hover('.chart .u-over', { position: { x: 1, y: 50 } })
  await expect.poll(() => page.textContent('.u-legend .u-value')).toMatch(/^\w+, \w+ \d+$/)
})

test('the table is sorted by its columns, and is a file in that order', async (context) => {
  const page = await signIn(context, '/dashboard/events?of=signup&property=plan', {
    before: (page) => withClockAhead(page, dayMs / 24),
  })
  await page.waitForSelector('.note:has-text("The last day isn’t over yet.")')
  const names = () => page.$$eval('table.events tbody .name', (all) => all.map((one) => one.textContent))
  await expect.poll(names).toEqual(['pro', hostile])
  await page.click('table.events th button:text("Visitors")')
  expect(await names()).toEqual([hostile, 'pro'])
  expect(await page.getAttribute('table.events th:has(button:text("Visitors"))', 'aria-sort')).toBe('ascending')
  expect(await page.getAttribute('table.events tbody td:nth-child(3)', 'title')).toBe('Before: 0')
  const { name, lines } = await savedFile(page, 'button:text-is("CSV")')
  expect([name, ...lines]).toEqual([
    'signup.csv',
    'plan,Events,Visitors,Share,Sessions,Conversions,Events before,Visitors before',
    `"${hostile.replaceAll('"', '""')}",2,1,25,1,0,0,0`,
    'pro,3,3,75,3,0,0,0',
    '',
  ])
})

test('an event is shown alone, and by the chosen property with hostile values as text; Back leads there', async (context) => {
  // The page and the question beside it have the same days.
  await onOneDay()
  const page = await signIn(context, '/dashboard/events?days=7')
  await page.press('button[aria-label="signup alone"]', 'Enter')
  await page.waitForURL('**/dashboard/events?of=signup&days=7')
  await expect
    .poll(() => charted(page))
    .toEqual(expected(await answered('days=7&interval=day&name=signup'), 'events', [0]))
  await page.selectOption('select[aria-label="Property"]', 'n')
  await page.waitForURL('**/dashboard/events?of=signup&property=n&days=7')
  await expect.poll(async () => (await charted(page))[0]).toEqual(['Begin', '1'])
  await page.selectOption('select[aria-label="Property"]', 'plan')
  const byPlan = await answered('days=7&interval=day&limit=100&name=signup&property=plan')
  expect(byPlan.rows.map(({ value, events }) => [value, events])).toEqual([
    ['pro', 3],
    [hostile, 2],
  ])
  await expect.poll(() => charted(page)).toEqual(expected(byPlan, 'events', [0, 1]))
  await page.reload()
  await expect.poll(() => charted(page)).toEqual(expected(byPlan, 'events', [0, 1]))
  expect(await page.$$eval('.events td:nth-child(2)', (all) => all.map((one) => one.textContent))).toEqual(['3', '2'])
  await look(page, 'events-divided')
  await page.click('button:text-is("All events")')
  await page.waitForURL('**/dashboard/events?days=7')
  await page.goBack()
  await expect.poll(async () => (await charted(page))[0]).toEqual(['Begin', 'pro', hostile])
  await goWithin(page, '/dashboard/events?of=other+1')
  await page.waitForSelector('.label:has-text("Its newest events have no properties.")')
  await goWithin(page, '/dashboard/events?of=signup&property=plan&event=other*')
  await page.waitForSelector('.empty:has-text("Nothing in this range.")')
  // The API would refuse hours of a year.
  await goWithin(page, '/dashboard/events?interval=hour&days=365')
  await page.waitForSelector('.chart canvas')
  expect(await page.textContent('select[aria-label="Length of the buckets"]')).toBe('By dayBy weekBy month')
})
