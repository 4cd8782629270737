/** Goals on the overview: added, changed and removed by keyboard, a filter on click, for viewers and shared links to look at alone. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { viewScope } from '../../schemas/scopes.ts'
import { makeKey, makeWorkspace, setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const section = list('Goals')
const markup = '<img src=x onerror="document.title=1">'

/** Ten come, three of them order twice, and one signs up. */
async function fill(workspaceId: number): Promise<void> {
  const at = Date.now() - 3_600_000
  const visits = Array.from({ length: 10 }, (_, n): EventLike[] => [
    { visitor: n + 1, path: '/', occurred_at: at },
    ...(n < 3 ? [1, 2].map((order) => ({ visitor: n + 1, path: `/thanks/${order}`, occurred_at: at + order })) : []),
  ]).flat()
  const signUp: EventLike = {
    visitor: 9,
    kind: 'custom',
    event_name: markup,
    properties: '{"plan":"pro"}',
    occurred_at: at + 9,
  }
  const rows = [...visits, signUp].map((event) => makeEventRow({ workspace_id: workspaceId, ...event }))
  await insertEventRows(stores.ch, rows)
  await foldWhatIsThere(stores)
}

const goals = (page: Page) =>
  page.$$eval(`section[aria-label="Goals"] .row`, (rows) =>
    rows.map((row) => ['.name', '.count', '.number', '.share'].map((one) => row.querySelector(one)!.textContent)),
  )
const visitors = (page: Page, count: number) =>
  page.waitForSelector(`[data-card="visitors"] strong:text-is("${count}")`)

test('goals are added, filtered by, changed and removed by keyboard; a refusal says why and keeps what was written', async (context) => {
  await fill(mine.workspaceId)
  const page = await signIn(context)
  await page.waitForSelector(`${section} .empty:has-text("A goal is what visitors should do")`)
  await page.focus(`${section} >> text=Add goal`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog datalist#suggested-path option[value="/thanks/1"]', { state: 'attached' })
  await look(page, 'goal-form')
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
  await page.fill('dialog input[name="name"]', markup)
  await page.keyboard.press('Enter')
  await expect.poll(() => goals(page)).toEqual([order, [markup, '1 time', '1', '10 %']])
  expect(await page.getAttribute(`${section} .row:has-text("<img")`, 'title')).toContain(', where plan is p*')
  expect(await page.$(`${section} button.row:has-text("<img")`)).toBeNull()
  await look(page, 'goals')

  await page.focus(`${section} .row:has-text("Order")`)
  await page.keyboard.press('Enter')
  await visitors(page, 3)
  expect(decodeURIComponent(new URL(page.url()).search)).toBe('?path=/thanks/*')
  await expect
    .poll(() => goals(page))
    .toEqual([
      ['Order', '6 times', '3', '100 %'],
      [markup, '0 times', '0', '0 %'],
    ])
  await page.keyboard.press('Escape')
  await page.click(`${section} .row:has-text("Order")`, { modifiers: ['Alt'] })
  await visitors(page, 7)
  await page.keyboard.press('Escape')
  await visitors(page, 10)

  await page.focus(`${section} [aria-label="Change Order"]`)
  await page.keyboard.press('Enter')
  expect(await page.inputValue('dialog input[name="value"]')).toBe('/thanks/*')
  await look(page, 'goal-change')
  await page.fill('dialog input[name="value"]', '/thanks/1')
  await page.keyboard.press('Enter')
  await expect
    .poll(() => goals(page))
    .toEqual([
      ['Order', '3 times', '3', '30 %'],
      [markup, '1 time', '1', '10 %'],
    ])

  await page.focus(`${section} [aria-label="Remove Order"]`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog:has-text("Order is no longer shown")')
  await look(page, 'goal-removal')
  await page.focus('dialog .danger')
  await page.keyboard.press('Enter')
  await expect.poll(() => goals(page)).toEqual([[markup, '1 time', '1', '10 %']])
  await page.click(`${section} >> text=Add goal`)
  await page.fill('dialog input[name="value"]', '/thanks/2')
  await page.keyboard.press('Enter')
  const named = ['/thanks/2', '3 times', '3', '30 %']
  await expect.poll(() => goals(page)).toEqual([named, [markup, '1 time', '1', '10 %']])
  expect(await page.title()).not.toBe('1')
})

test('a viewer and a shared link see goals, and no button that changes them', async (context) => {
  const other = await makeWorkspace(stores)
  await fill(other.workspaceId)
  await stores.pg.query(
    `INSERT INTO goals (workspace_id, name, kind, value) VALUES ($1, 'Order', 'path', '/thanks/*')`,
    [other.workspaceId],
  )
  await stores.pg.query(`INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'viewer')`, [
    ...[other.workspaceId, mine.ownerId],
  ])
  const { apiKey: token } = await makeKey(stores, other.workspaceId, { scopes: [viewScope] })
  const page = await signIn(context)
  await page.selectOption('select[aria-label="Workspace"]', String(other.workspaceId))
  for (const see of [async () => undefined, () => page.goto(`${api.url}/shared#${token}`)]) {
    await see()
    await page.waitForSelector(`${section} .row:has-text("Order")`)
    expect(await page.$$(`${section} button:not(.row)`)).toEqual([])
  }
})
