/** Notes on the overview's chart: marked in every kind of bucket, listed, added, changed and deleted by keyboard; others look alone. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { viewScope } from '../../schemas/scopes.ts'
import { makeKey, makeWorkspace, setUpApi } from '../support/api.ts'
import { look, setUpDashboard } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const markup = '<img src=x onerror="document.title=1">'
const dayMs = 24 * 3_600_000
const dayBefore = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)

async function fill(workspaceId: number): Promise<void> {
  await insertEventRows(stores.ch, [makeEventRow({ workspace_id: workspaceId, occurred_at: Date.now() - 60_000 })])
  await foldWhatIsThere(stores)
}
const note = (workspaceId: number, day: string, text: string) =>
  stores.pg.query('INSERT INTO notes (workspace_id, day, text) VALUES ($1, $2, $3)', [workspaceId, day, text])

/** Where marks stand, in twentieths of the chart's width. */
const marks = (page: Page) =>
  page.$$eval('.note-mark', (all) =>
    all.map((one) => {
      const left = Number.parseFloat(one.getAttribute('style')!.slice('left:'.length))
      return Math.round((left / one.parentElement!.clientWidth) * 20)
    }),
  )
const listed = (page: Page) =>
  page.$$eval('.notes li', (all) => all.map((one) => one.querySelector('bdi')!.textContent))

test('a note is added, changed and deleted by keyboard, and its text stands in the list and at the pointer, as text', async (context) => {
  await fill(mine.workspaceId)
  const page = await signIn(context)
  await page.goto(`${api.url}/dashboard?days=7`)
  await page.focus('text=Add a note')
  await page.keyboard.press('Enter')
  await look(page, 'note-form')
  await page.focus('dialog input[name="text"]')
  await page.keyboard.type(markup)
  await page.fill('dialog input[name="day"]', dayBefore(3))
  await page.fill('dialog input[name="time"]', '14:30')
  await page.keyboard.press('Enter')
  await page.focus('.notes summary')
  await page.keyboard.press('Enter')
  await expect.poll(() => listed(page)).toEqual([markup])
  await look(page, 'notes')
  await page.setViewportSize({ width: 1280, height: 900 })
  await expect.poll(() => marks(page)).toEqual([10])
  // The middle of seven days.
  await page.hover('.u-over')
  await page.waitForSelector('.note-tip')
  expect(await page.textContent('.note-tip')).toContain(`14:30: ${markup}`)

  await page.focus('.notes [aria-label^="Change <img"]')
  await page.keyboard.press('Enter')
  expect(await page.inputValue('dialog input[name="time"]')).toBe('14:30')
  await page.fill('dialog input[name="time"]', '')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`.notes li .label:not(:has-text("14:30"))`)

  await page.click('text=Add a note')
  await page.fill('dialog input[name="text"]', 'Long ago')
  await page.fill('dialog input[name="day"]', '2020-01-01')
  await page.keyboard.press('Enter')
  await page.waitForSelector('[role="status"]:has-text("which this range doesn’t have")')
  await page.focus('.notes [aria-label^="Delete <img"]')
  await page.keyboard.press('Enter')
  await page.focus('dialog .danger')
  await page.keyboard.press('Enter')
  await expect.poll(() => marks(page)).toEqual([])
  expect(await page.title()).not.toBe('1')
})

test('hours, days and weeks are marked; a viewer and a shared link see notes and change none', async (context) => {
  const other = await makeWorkspace(stores)
  await fill(other.workspaceId)
  for (const [days, text] of [
    [1, 'Yesterday'],
    [200, 'Newsletter'],
    [200, 'Release'],
  ] as const) {
    await note(other.workspaceId, dayBefore(days), text)
  }
  await stores.pg.query(`INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'viewer')`, [
    ...[other.workspaceId, mine.ownerId],
  ])
  const { apiKey: token } = await makeKey(stores, other.workspaceId, { scopes: [viewScope] })
  const page = await signIn(context)
  await page.selectOption('select[aria-label="Workspace"]', String(other.workspaceId))
  await page.waitForSelector('.chart')
  for (const address of ['/dashboard?', '/shared?']) {
    for (const [range, at] of [
      [`start=${dayBefore(1)}&end=${dayBefore(1)}`, [0]],
      ['days=7', [17]],
      ['days=365', [20, 9]],
    ] as const) {
      await page.goto(`${api.url}${address}${range}${address === '/shared?' ? `#${token}` : ''}`)
      await expect.poll(() => marks(page), { message: address + range }).toEqual(at)
    }
    await page.click('.notes summary')
    expect(await listed(page)).toEqual(['Yesterday', 'Release', 'Newsletter'])
    expect(await page.$$('.notes button')).toEqual([])
  }
})
