/** The page of retention: the API's figures as shares, by keyboard, as a file, in both themes and on a phone. */
import { beforeAll, expect, test } from 'vitest'
import type { Retention } from '../../schemas/resources/retention.ts'
import { setUpApi } from '../support/api.ts'
import { goBy, goWithin, list, look, savedFile, setUpDashboard } from '../support/dashboard.ts'
import { addEvents } from '../support/fold.ts'
import { onOneDay } from '../support/one-day.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1', sharesWorkspace: true })
const signIn = setUpDashboard({ stores, api, mine })
const weekMs = 7 * 86_400_000

/** Four come first five weeks ago, of whom two come back a week later and one today. Two more come two weeks ago, and one today. */
beforeAll(async () => {
  // Nor does a week end meanwhile.
  await onOneDay()
  const visits = [
    ...[1, 2, 3, 4].map((visitor) => ({ visitor, weeks: 5 })),
    ...[1, 2].map((visitor) => ({ visitor, weeks: 4 })),
    ...[5, 6].map((visitor) => ({ visitor, weeks: 2 })),
    { visitor: 7, weeks: 0 },
    { visitor: 1, weeks: 0 },
    { visitor: 5, weeks: 1 },
  ]
  const at = Date.now()
  const events = visits.map(({ visitor, weeks }) => ({ visitor, occurred_at: at - weeks * weekMs }))
  await addEvents(stores, mine.workspaceId, events)
})

const titles = 'tbody tr:not(:first-child)'
const first = '.retention tbody tr:first-child'

/** Colours of the cells with shares, of their text, and of the panel, as Chromium computes them. */
const colours = `[...document.querySelectorAll('td.returned')].map(getComputedStyle).map((cell) =>
  [cell.color, cell.backgroundColor, getComputedStyle(document.querySelector('.panel')).backgroundColor])`

/** By WCAG 2, of two opaque colours: `rgb(1, 2, 3)` or `color(srgb 0.1 0.2 0.3)`. */
function contrastOf(one: string, other: string): number {
  const [dark, light] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

function luminanceOf(colour: string): number {
  const scale = colour.startsWith('color(srgb ') ? 1 : 255
  const parts = colour.match(/\d[\d.e-]*/g)!.map((part) => Number(part) / scale)
  expect(parts, colour).toHaveLength(3)
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

test('each share on the page is the API’s figure; the average leaves out what still runs', async (context) => {
  const page = await signIn(context)
  await page.waitForSelector('nav')
  await goBy(page, 'e')
  await page.waitForURL('**/dashboard/retention')
  expect(await page.textContent('nav [aria-current="page"]')).toBe('Retention')

  await page.waitForSelector('.retention')
  const response = await api.ask('/v1/analytics/retention', { key: mine.apiKey })
  const { cohorts } = (await response.json()) as Retention
  expect(cohorts.map(({ visitors }) => visitors)).toEqual([0, 0, 0, 0, 0, 0, 4, 0, 0, 2, 0, 1])
  expect(cohorts[6]!.returned).toEqual([2, 0, 0, 0, 1])
  const shown = await page.$$eval(`.retention ${titles}`, (rows) =>
    rows.map((row) => ({
      visitors: Number(row.querySelector('td')!.textContent),
      returned: [...row.querySelectorAll('td.returned')].map((cell) => [cell.textContent, cell.getAttribute('title')]),
    })),
  )
  const cellOf = (came: number, all: number, isLast: boolean) => [
    `${Math.round((1000 * came) / all) / 10} %`,
    `${came} of ${all} visitors${isLast ? ', so far' : ''}`,
  ]
  expect(shown).toEqual(
    cohorts.map(({ visitors, returned }) => ({
      visitors,
      returned: visitors === 0 ? [] : returned.map((came, at) => cellOf(came, visitors, at === returned.length - 1)),
    })),
  )
  const average = await page.$$eval(`${first} td`, (all) => all.map((one) => one.textContent))
  // Three of six in the first week after; in the fifth one nobody's week is over.
  expect(average.slice(0, 6)).toEqual(['6', '50 %', '0 %', '0 %', '0 %', ''])
  const [title, note] = [await page.getAttribute(`${first} td`, 'title'), await page.textContent('.panel > .note')]
  expect([await page.textContent(`${first} th`), title]).toEqual([
    'Average of complete weeks',
    'Visitors whose Week 1 is over',
  ])
  expect(note).toContain('it counts those whose Week 1 is over')
  await look(page, 'retention')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const cells = await page.evaluate<[string, string, string][]>(colours)
    const ofText = cells.map(([text, cell]) => contrastOf(text, cell))
    const ofCells = cells.map(([, cell, panel]) => contrastOf(cell, panel))
    expect(Math.min(...ofText), colorScheme).toBeGreaterThan(4.5)
    expect([Math.min(...ofCells), Math.max(...ofCells)], colorScheme).toEqual([
      expect.closeTo(1, 1),
      expect.closeTo(2.65, 1),
    ])
  }

  const { lines } = await savedFile(page, `${list('Retention')} >> text=CSV`)
  // Its columns: test/unit/retention-view.test.ts.
  expect(lines[7]).toMatch(/",4,2,0,0,0,1,+50,0,0,0,25,+$/)
})

test('interval and range stand in the address; a range with too many cohorts, or nobody, says so', async (context) => {
  const [start, end] = [80, 60].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10))
  const page = await signIn(context, `/dashboard/retention?start=${start}&end=${end}`)
  await page.waitForSelector(`${list('Retention')} .empty:has-text("Nobody came for the first time")`)
  await goWithin(page, '/dashboard/retention')
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
  await goWithin(page, '/dashboard/retention?path=/a')
  await page.waitForSelector('.note:has-text("Filters change nothing here")')
})

test('paper has all columns: none is scrolled away, and browsers shrink a page by no more than half', async (context) => {
  const page = await signIn(context, '/dashboard/retention?interval=day&days=30')
  await page.waitForSelector('.retention thead th >> nth=30')
  await page.emulateMedia({ media: 'print' })
  // A4 in upright format, with margins of a centimetre.
  const width = 718
  await page.setViewportSize({ width, height: 1000 })
  const end = () =>
    page
      .locator('.retention thead th')
      .last()
      .evaluate((cell) => cell.getBoundingClientRect().right)
  await expect.poll(end).toBeLessThanOrEqual(2 * width)
  expect(await page.evaluate(`getComputedStyle(document.querySelector('.scrolled')).overflow`)).toBe('visible')
  await page.emulateMedia({ media: 'screen' })
})
