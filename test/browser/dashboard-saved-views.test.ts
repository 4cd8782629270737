/** Saved views: filters are saved, applied, changed and deleted by keyboard; viewers and shared links apply them alone. */
import { expect, test } from 'vitest'
import { viewScope } from '../../schemas/scopes.ts'
import { makeKey, makeWorkspace, setUpApi } from '../support/api.ts'
import { look, setUpDashboard } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const markup = '<img src=x onerror="document.title=1">'

async function fill(workspaceId: number): Promise<void> {
  await insertEventRows(stores.ch, [makeEventRow({ workspace_id: workspaceId, occurred_at: Date.now() - 60_000 })])
  await foldWhatIsThere(stores)
}

test('filters are saved under a name, put in place of others by a click, changed, and deleted', async (context) => {
  await fill(mine.workspaceId)
  const page = await signIn(context)
  const search = () => decodeURIComponent(new URL(page.url()).search)
  await page.goto(`${api.url}/dashboard?days=7&source=!google&source=news*&device=mobile`)
  await page.focus('text=Saved views')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog .empty:has-text("A saved view is a name for filters")')
  await page.focus('dialog input[name="name"]')
  await page.keyboard.type(markup)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`dialog .row:has-text("source: not google, source: news*, device: mobile")`)
  await page.fill('dialog input[name="name"]', markup)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [role="alert"]:has-text("has a segment (saved view) with this name")')
  await look(page, 'saved-views')
  await page.click('dialog >> text=Close')

  await page.goto(`${api.url}/dashboard/funnels?days=7&os=Linux`)
  await page.click('text=Saved views')
  await page.focus('dialog .row')
  await page.keyboard.press('Enter')
  await expect.poll(search).toBe('?days=7&source=!google&source=news*&device=mobile')
  expect(await page.$('dialog')).toBeNull()

  await page.goto(`${api.url}/dashboard?days=7&os=Linux`)
  await page.click('text=Saved views')
  await page.focus('dialog [aria-label^="Change <img"]')
  await page.keyboard.press('Enter')
  await look(page, 'saved-view-change')
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

test('a viewer and a shared link apply saved views, and change none', async (context) => {
  const other = await makeWorkspace(stores)
  await fill(other.workspaceId)
  await stores.pg.query(`INSERT INTO segments (workspace_id, name, filters) VALUES ($1, 'Tablets', $2)`, [
    ...[other.workspaceId, '{"device": ["tablet"]}'],
  ])
  await stores.pg.query(`INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'viewer')`, [
    ...[other.workspaceId, mine.ownerId],
  ])
  const { apiKey: token } = await makeKey(stores, other.workspaceId, { scopes: [viewScope] })
  const page = await signIn(context)
  await page.selectOption('select[aria-label="Workspace"]', String(other.workspaceId))
  for (const see of [async () => undefined, () => page.goto(`${api.url}/shared#${token}`)]) {
    await see()
    await page.waitForSelector('.chart')
    await page.click('text=Saved views')
    await page.waitForSelector('dialog .row')
    expect(await page.$$('dialog :is(form, .link)')).toEqual([])
    await page.click('dialog .row')
    await expect.poll(() => new URL(page.url()).search).toBe('?device=tablet')
  }
})
