/** Values of events' properties on the overview: by keyboard, with the filters, as a file, and on no shared link. */
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { viewScope } from '../../schemas/scopes.ts'
import { makeKey, setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })

test('an event opens its properties: their values with visitors, share, events and conversions', async (context) => {
  const at = { workspace_id: mine.workspaceId, occurred_at: Date.now() - 60_000, kind: 'custom' } as const
  const markup = '<img src=x onerror="document.title=1">'
  const event = (visitor: number, properties: object, event_name = 'sign*up') =>
    makeEventRow({ ...at, visitor, event_name, properties: JSON.stringify(properties) })
  await insertEventRows(stores.ch, [
    ...[1, 2].map((visitor) => event(visitor, { plan: 'pro', n: 1 })),
    event(2, { plan: 'pro' }),
    event(3, { plan: markup }),
    event(4, {}, 'bare'),
  ])
  await foldWhatIsThere(stores)
  const page = await signIn(context)
  await page.focus(`${list('Events')} [aria-label="Properties of sign*up"]`)
  await page.keyboard.press('Enter')
  const rows = () =>
    page.$$eval('dialog tbody tr', (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)))
  const pro = ['pro', '2', '66.7 %', '3', '0']
  await expect.poll(rows).toEqual([pro, [markup, '1', '33.3 %', '1', '0']])
  await look(page, 'properties')
  const saved = page.waitForEvent('download')
  await page.click('dialog >> text=CSV')
  const lines = (await text((await (await saved).createReadStream()) as Readable)).split('\r\n')
  expect(lines.slice(0, 2)).toEqual(['plan,Visitors,Share,Events,Conversions', 'pro,2,66.67,3,0'])
  await page.focus('dialog select')
  await page.keyboard.press('n')
  await expect.poll(rows).toEqual([['1', '2', '66.7 %', '2', '0']])
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog', { state: 'detached' })
  expect(await page.title()).not.toBe('1')
  await page.click(`${list('Events')} [aria-label="Properties of bare"]`)
  await page.waitForSelector('dialog .empty:has-text("no properties")')

  const { apiKey: token } = await makeKey(stores, mine.workspaceId, { scopes: [viewScope] })
  await page.goto(`${api.url}/shared#${token}`)
  await page.waitForSelector(`${list('Events')} .row`)
  expect(await page.$('[aria-label^="Properties of"]')).toBeNull()
})
