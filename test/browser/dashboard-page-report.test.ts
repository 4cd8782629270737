/** The report of pages, what stands before and after one, and lists of sessions whose rows are no filters. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { cellsOf, goWithin, holdRequests, list, look, savedFile, setUpDashboard } from '../support/dashboard.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })

/** All is in the hour before this one: with a midnight between a view and its leave they would count for two days. */
const begin = (Math.floor(Date.now() / 3_600_000) - 1) * 3_600_000

const event = (visitor: number, path: string, more: EventLike = {}) =>
  makeEventRow({
    workspace_id: mine.workspaceId,
    visitor,
    session: 1,
    path,
    occurred_at: begin,
    title: '<b>Page</b>',
    screen_width: 390,
    language: 'de-AT',
    url: 'https://shop.example.com/',
    ...more,
  })

test('the report of pages is sorted by keyboard, saved as it stands, and filters; a screen is no filter', async (context) => {
  const leave = { kind: 'page_leave' as const, occurred_at: begin + 100_000 }
  await insertEventRows(stores.ch, [
    ...[1, 2, 3].map((visitor) => event(visitor, '/often')),
    ...[1, 2].map((visitor) => event(visitor, '/long', { occurred_at: begin + 50_000 })),
    event(1, '/long', { ...leave, engagement_ms: 90_000, scroll_depth: 80 }),
    event(4, '/brief'),
    event(4, '/brief', { ...leave, engagement_ms: 1_000, scroll_depth: 25 }),
  ])
  await foldWhatIsThere(stores)
  const page = await signIn(context)
  await page.waitForSelector(`${list('Pages')} .row`)
  await page.click(`${list('Devices')} >> text=Screens`)
  await page.waitForSelector(`${list('Devices')} .row:has-text("Under 576 px")`)
  expect(await page.$(`${list('Devices')} button.row`)).toBeNull()

  await page.focus(`${list('Pages')} >> text=Page report`)
  await page.keyboard.press('Enter')
  const rows = () => cellsOf(page, 'dialog tbody tr')
  const often = ['/often', '3', '3', '3', '3', '1', '33.3 %', '33.3 %', '–', '–', '0', '$0.00']
  await expect.poll(async () => (await rows())[0]).toEqual(often)
  await page.focus('dialog th button:has-text("Time on page")')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog th[aria-sort="descending"]:has-text("Time on page")')
  const long = ['/long', '2', '2', '2', '0', '2', '100 %', '0 %', '1m 30s', '80 %', '0', '$0.00']
  const brief = ['/brief', '1', '1', '1', '1', '1', '100 %', '100 %', '1s', '25 %', '0', '$0.00']
  await expect.poll(rows).toEqual([long, brief, often])
  // The least first, by the API: what isn't known stays last.
  await page.keyboard.press('Enter')
  await expect.poll(rows).toEqual([brief, long, often])
  // The file is of the order that is chosen.
  const letGo = await holdRequests(page, '**/analytics/pages?*')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog button[aria-disabled="true"]:text-is("CSV")')
  letGo()
  await expect.poll(rows).toEqual([long, brief, often])
  await look(page, 'page-report')
  const { name, lines } = await savedFile(page, 'dialog >> text=CSV')
  expect(name).toBe('Page report.csv')
  await page.keyboard.press('Escape')
  await page.click(`${list('Sources')} >> text=Sessions by source`)
  // One of four visitors viewed a page alone.
  await page.waitForSelector('dialog th:has-text("direct")')
  expect(await page.$$eval('dialog thead th', (all) => all.map((one) => one.textContent!.trim()))).toEqual([
    'Source',
    'Visitors ▼',
    'Sessions',
    'Bounce rate',
    'Session length',
  ])
  expect((await rows()).map((row) => row.slice(0, 4))).toEqual([['direct', '4', '4', '50 %']])
  await page.keyboard.press('Escape')
  // As it goes it gives the focus back.
  await page.waitForSelector('dialog', { state: 'detached' })
  await page.focus(`${list('Pages')} >> text=Page report`)
  await page.keyboard.press('Enter')
  expect(lines[0]).toBe(
    'Page,Page views,Visitors,Sessions,Entries,Exits,Exit rate,Bounce rate,Time on page,Scroll depth,Conversions,Revenue (USD)',
  )
  expect(lines[3]).toBe('/often,3,3,3,3,1,33.33,33.33,,,0,0')
  await page.click('dialog tbody button:has-text("/brief")')
  await page.waitForURL('**/dashboard?path=%2Fbrief&tab=screens')
  await page.click(`${list('Pages')} >> text=Hostnames`)
  await page.click(`${list('Pages')} .row:has-text("shop.example.com")`)
  await page.waitForURL('**/dashboard?path=%2Fbrief&hostname=shop.example.com&tab=hostnames&tab=screens')
})

test('pages before and after the filtered one lead on by keyboard, and a hostile path is text', async (context) => {
  const hostile = '/"><svg/onload=document.title=1>\u202Egnp'
  await insertEventRows(stores.ch, [
    ...[11, 12].flatMap((visitor) => [
      event(visitor, '/start', { occurred_at: begin }),
      event(visitor, '/middle', { occurred_at: begin + 1_000 }),
      event(visitor, '/middle', { occurred_at: begin + 2_000 }),
    ]),
    event(12, hostile, { occurred_at: begin + 3_000 }),
    event(13, '/middle', { occurred_at: begin }),
  ])
  await foldWhatIsThere(stores)
  const page = await signIn(context)
  await page.waitForSelector(`${list('Pages')} .row`)
  expect(await page.$(list('Before and after'))).toBeNull()
  await page.click(`${list('Pages')} .row:has-text("/middle")`)
  const rows = (side: string) =>
    page.$$eval(`${list('Before and after')} ul[aria-label="${side}"] .row`, (all) =>
      all.map((row) => [...row.querySelectorAll('.name, .number, .share')].map((cell) => cell.textContent)),
    )
  const start = ['/start', '2', '66.7 %']
  await expect.poll(() => rows('Before')).toEqual([start, ['The session began here', '1', '33.3 %']])
  expect(await rows('After')).toEqual([
    ['The session ended here', '2', '66.7 %'],
    [hostile, '1', '33.3 %'],
  ])
  await page.waitForSelector('[aria-busy="true"]', { state: 'detached' })
  await look(page, 'page-flow', list('Before and after'))
  await page.focus(`${list('Before and after')} ul[aria-label="After"] button`)
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).searchParams.getAll('path')).toEqual([hostile])
  await expect.poll(() => rows('Before')).toEqual([['/middle', '1', '100 %']])
  expect(await page.evaluate('document.activeElement.textContent')).toContain(`Before and after ${hostile}`)
  await page.goBack()
  await expect.poll(async () => (await rows('Before'))[0]).toEqual(start)
  await goWithin(page, '/dashboard?path=/nobody-was-here')
  await page.waitForSelector(`${list('Before and after')} .empty:has-text("Nothing in this range.")`)
})
