import { expect, test } from 'vitest'
import { setPlan } from '../../postgres/tables/workspaces/workspaces.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { askAnew, goBy, list, look, setUpDashboard } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi()
const signIn = setUpDashboard({ stores, api, mine })

test('the choice at the top leads to all workspaces with their figures, which are searched, and a click opens one', async (context) => {
  // The last one has a name that is wider than a phone.
  const clients = [...Array.from({ length: 7 }, (_, at) => `Client ${at}`), 'w'.repeat(120)]
  const names = ['Bakery <b>', 'Harbour', 'Lighthouse', ...clients]
  const made = await Promise.all(names.map((name) => makeWorkspace(stores, { name })))
  const [bakery, harbour, lapsed] = made.map(({ workspaceId }) => workspaceId) as [number, number, number]
  await stores.pg.query(`INSERT INTO members (workspace_id, owner_id, role) SELECT unnest($1::int[]), $2, 'viewer'`, [
    made.map(({ workspaceId }) => workspaceId),
    mine.ownerId,
  ])
  await setPlan(stores.pg, lapsed, null)
  const day = 86_400_000
  const visits = (workspace_id: number, count: number, occurred_at: number) =>
    Array.from({ length: count }, (_, at) => makeEventRow({ workspace_id, visitor: at + 1, occurred_at }))
  const now = Date.now()
  await insertEventRows(stores.ch, [
    ...visits(harbour, 30, now - 8 * day),
    ...visits(harbour, 45, now - 1_000),
    ...visits(bakery, 2, now - 1_000),
  ])
  await foldWhatIsThere(stores)

  const page = await signIn(context)
  // Beside the longest name the links stand in lines, not in a column.
  expect((await page.locator('header').boundingBox())!.height).toBeLessThan(100)
  // Keys go through the open list: nothing on the way is opened.
  await page.focus('select[aria-label="Workspace"]')
  for (const key of ['ArrowDown', 'End', 'Enter']) await page.keyboard.press(key)
  await page.waitForURL('**/dashboard/workspaces?workspace=*')
  await page.focus('nav a')
  const cards = page.locator(`${list('All workspaces')} li`)
  await expect.poll(() => cards.count()).toBe(12)
  expect(await cards.locator('h3 bdi').allTextContents()).toEqual(
    expect.arrayContaining(['Harbour', 'Bakery <b>', 'Lighthouse']),
  )
  const [first, second] = [cards.nth(0), cards.nth(1)]
  expect(await first.textContent()).toMatch(/^Harbour\s*● 45 nowVisitors45 ▲ 50 %Page views45 ▲ 50 %/)
  expect(await second.textContent()).toMatch(/^Bakery <b>\s*● 2 nowVisitors2 –/)
  // The day may have ended since.
  expect(await first.locator('svg').getAttribute('aria-label')).toMatch(
    /^Visitors by day\. .*: 0, .*: 45(, [^:]*: 0)?$/,
  )
  await cards.filter({ hasText: 'Lighthouse' }).getByText('its plan has lapsed').waitFor()
  await cards.filter({ hasText: 'open now' }).getByText('Waiting for the first event').waitFor()
  await look(page, 'workspaces')

  await page.route('**/api/v1/workspaces/glance', (route) => route.fulfill({ status: 502, body: 'x' }))
  // It asks once a minute, and once the network is back.
  await askAnew(page)
  await page.waitForSelector('.failure:has-text("The service answered 502")')
  expect(await cards.count()).toBe(12)
  await page.unroute('**/api/v1/workspaces/glance')
  await page.waitForSelector('.failure', { state: 'detached' })

  await page.keyboard.press('/')
  await page.keyboard.type('HARB')
  await expect.poll(() => cards.count()).toBe(1)
  await page.fill('[type="search"]', 'nothing of the kind')
  await page.waitForSelector('text=No workspace has that in its name.')
  await page.fill('[type="search"]', 'harb')
  await first.click({ position: { x: 60, y: 90 } })
  await page.waitForURL(`**/dashboard?workspace=${harbour}`)
  await page.waitForSelector('[data-card="visitors"] strong:text-is("45")')
  expect(await page.inputValue('select[aria-label="Workspace"]')).toBe(String(harbour))

  await page.evaluate(`addEventListener('pagehide', () => {
    sessionStorage.setItem('isInert', document.getElementById('app').inert)
  })`)
  await page.selectOption('select[aria-label="Workspace"]', String(lapsed))
  await page.waitForSelector('main :text("has not selected a plan")')
  // The name above was the other one's, and the figures were still of the one before.
  expect(await page.evaluate(`sessionStorage.getItem('isInert')`)).toBe('true')
  await goBy(page, 'w')
  await page.getByRole('button', { name: 'Bakery <b>' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForSelector('[data-card="visitors"] strong:text-is("2")')
})

test('two tabs show two workspaces, also when they are loaded again, and links between pages keep each in its own', async (context) => {
  const others = await makeWorkspace(stores, { name: 'Orchard' })
  await stores.pg.query("INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'admin')", [
    others.workspaceId,
    mine.ownerId,
  ])
  const first = await signIn(context)
  const shown = (page: typeof first) => page.inputValue('select[aria-label="Workspace"]')
  await first.waitForURL(`**/dashboard?workspace=${mine.workspaceId}`)
  const second = await first.context().newPage()
  await second.goto(new URL(`/dashboard/links?q=a&workspace=${others.workspaceId}`, first.url()).href)
  await second.waitForSelector('select[aria-label="Workspace"]')
  expect(await shown(second)).toBe(String(others.workspaceId))

  await goBy(first, 'l')
  await first.fill('[name="label"]', 'Of the first')
  await first.fill('[name="destination"]', 'https://example.com/')
  await first.keyboard.press('Enter')
  await first.waitForSelector('text=Of the first')
  const made = await stores.pg.query<{ workspace_id: number }>('SELECT workspace_id FROM links')
  expect(made).toEqual([{ workspace_id: mine.workspaceId }])

  await first.reload()
  await first.waitForSelector('text=Of the first')
  expect([await shown(first), new URL(first.url()).search]).toEqual([
    String(mine.workspaceId),
    `?workspace=${mine.workspaceId}`,
  ])
  await second.reload()
  await second.waitForSelector('select[aria-label="Workspace"]')
  expect([await shown(second), new URL(second.url()).search]).toEqual([
    String(others.workspaceId),
    `?q=a&workspace=${others.workspaceId}`,
  ])
  const next = await second.getAttribute('nav a:has-text("People")', 'href')
  expect(next).toBe(`/dashboard/people?workspace=${others.workspaceId}`)
  await goBy(second, 'p')
  await second.fill('[aria-label="Search people"]', 'ann')
  await second.waitForURL(`**/dashboard/people?q=ann&workspace=${others.workspaceId}`)
})

test('a browser that is stopped on its way to another workspace stays in this one, which goes on', async (context) => {
  const others = await makeWorkspace(stores, { name: 'Mill' })
  await stores.pg.query("INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'admin')", [
    others.workspaceId,
    mine.ownerId,
  ])
  const page = await signIn(context, '/dashboard/links')
  const choice = page.locator('select[aria-label="Workspace"]')
  await page.waitForSelector('[name="label"]')
  const devtools = await page.context().newCDPSession(page)
  let isOnItsWay = false
  await page.route(`**/dashboard?workspace=${others.workspaceId}`, () => {
    isOnItsWay = true
  })
  const chosen = choice.selectOption(String(others.workspaceId)).catch(() => undefined)
  await expect.poll(() => isOnItsWay).toBe(true)
  await devtools.send('Page.stopLoading')
  await chosen
  await expect.poll(() => choice.inputValue()).toBe(String(mine.workspaceId))
  await page.fill('[name="label"]', 'After all')
  await page.fill('[name="destination"]', 'https://example.com/')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('Links')} >> text=After all`)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
