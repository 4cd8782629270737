/** The page of retention: the API's figures as shares, by keyboard, as a file, in both themes and on a phone. */
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { Retention } from '../../schemas/resources/retention.ts'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const weekMs = 7 * 86_400_000

/** Four come first five weeks ago, of whom two come back a week later and one today. Two more come two weeks ago. */
async function fill(): Promise<void> {
  const visits = [
    ...[1, 2, 3, 4].map((visitor) => ({ visitor, weeks: 5 })),
    ...[1, 2].map((visitor) => ({ visitor, weeks: 4 })),
    ...[5, 6].map((visitor) => ({ visitor, weeks: 2 })),
    ...[
      { visitor: 1, weeks: 0 },
      { visitor: 5, weeks: 1 },
    ],
  ]
  const at = Date.now()
  const rows = visits.map(({ visitor, weeks }) =>
    makeEventRow({ workspace_id: mine.workspaceId, visitor, occurred_at: at - weeks * weekMs }),
  )
  await insertEventRows(stores.ch, rows)
  await foldWhatIsThere(stores)
}

const titles = 'tbody tr:not(:first-child)'

test('each share on the page is the API’s figure; the average leaves out what still runs', async (context) => {
  const page = await signIn(context)
  await page.waitForSelector('nav')
  for (const key of ['g', 'e']) await page.keyboard.press(key)
  await page.waitForURL('**/dashboard/retention')
  await page.waitForSelector(`${list('Retention')} .empty:has-text("Nobody came for the first time")`)
  expect(await page.textContent('nav [aria-current="page"]')).toBe('Retention')
  await look(page, 'retention-empty')

  await fill()
  await page.reload()
  await page.waitForSelector('.retention')
  const response = await api.ask('/v1/analytics/retention', { key: mine.apiKey })
  const { cohorts } = (await response.json()) as Retention
  expect(cohorts.map(({ visitors }) => visitors)).toEqual([0, 0, 0, 0, 0, 0, 4, 0, 0, 2, 0, 0])
  expect(cohorts[6]!.returned).toEqual([2, 0, 0, 0, 1])
  const shown = await page.$$eval(`.retention ${titles}`, (rows) =>
    rows.map((row) => ({
      visitors: Number(row.querySelector('td')!.textContent),
      returned: [...row.querySelectorAll('td.returned')].map((cell) => [cell.textContent, cell.getAttribute('title')]),
    })),
  )
  const cellOf = (came: number, of: number, isLast: boolean) => [
    `${Math.round((1000 * came) / of) / 10} %`,
    `${came} of ${of} visitors${isLast ? ', so far' : ''}`,
  ]
  expect(shown).toEqual(
    cohorts.map(({ visitors, returned }) => ({
      visitors,
      returned: visitors === 0 ? [] : returned.map((came, at) => cellOf(came, visitors, at === returned.length - 1)),
    })),
  )
  const average = await page.$$eval('.retention tbody tr:first-child td', (all) => all.map((one) => one.textContent))
  // Three of six in the first week after; in the fifth one nobody's week is over.
  expect(average.slice(0, 6)).toEqual(['6', '50 %', '0 %', '0 %', '0 %', ''])
  await look(page, 'retention')

  const saved = page.waitForEvent('download')
  await page.click(`${list('Retention')} >> text=CSV`)
  const lines = (await text((await (await saved).createReadStream()) as Readable)).split('\r\n')
  expect([lines[0], lines[7]]).toEqual([
    `First seen,Visitors,${Array.from({ length: 11 }, (_, at) => `Week ${at + 1}`).join(',')}`,
    `${cohorts[6]!.label},4,2,0,0,0,1`,
  ])
})

test('interval and range stand in the address; a range with too many cohorts says so', async (context) => {
  await fill()
  const page = await signIn(context)
  await page.goto(`${api.url}/dashboard/retention`)
  await page.waitForSelector('.retention th:text-is("Week 1")')
  expect(await page.textContent('select[aria-label^="Range"] option:checked')).toBe('Last 12 weeks')
  await page.selectOption('select[aria-label="Length of the buckets"]', 'day')
  await page.waitForURL('**/dashboard/retention?interval=day')
  await page.waitForSelector('.retention th:text-is("Day 1")')
  await page.keyboard.press('q')
  await page.waitForURL('**/dashboard/retention?days=90&interval=day')
  await page.waitForSelector('[role="alert"]:has-text("a range has at most 60 cohorts")')
  await page.keyboard.press('m')
  await page.waitForURL('**/dashboard/retention?days=30&interval=day')
  await page.waitForSelector('[role="alert"]', { state: 'detached' })
  await page.goBack()
  await page.waitForURL('**/dashboard/retention?days=90&interval=day')
  await page.goto(`${api.url}/dashboard/retention?path=/a`)
  await page.waitForSelector('.note:has-text("Filters change nothing here")')
})
