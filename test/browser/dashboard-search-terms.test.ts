/** Search terms on the overview, where a site is connected, and how one is connected in the settings. */
import { expect, test } from 'vitest'
import { insertSearchDays } from '../../clickhouse/rollups/search-days.ts'
import { endPull, failPull, leaseSearchSites } from '../../postgres/tables/figures/search-pulls.ts'
import { connectSearchSite } from '../../postgres/tables/figures/search-sites.ts'
import { setUpApi } from '../support/api.ts'
import { holdRequests, list, look, savedFile, setUpDashboard, violations } from '../support/dashboard.ts'
import { addEvents } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const panel = list('Search terms')
const figures = (clicks: number) => ({ clicks, impressions: clicks * 10, position: 2.25 })
const root = 'https://example.com'

test('terms and pages stand beside the sources, a page leads to its terms and back; the settings say what is to be done', async (context) => {
  const { workspaceId } = mine
  await addEvents(stores, workspaceId, [{ occurred_at: Date.now() - 60_000 }])
  const page = await signIn(context)
  await page.waitForSelector(`${list('Sources')} .row`)
  expect(await page.$(panel)).toBeNull()
  await page.goto(`${api.url}/dashboard/settings`)
  await page.waitForSelector(`${panel} code:has-text("svc search connect --workspace ${workspaceId} ")`)

  const now = new Date()
  const day = Math.floor(now.getTime() / 86_400_000) - 3
  const dataThrough = new Date(day * 86_400_000).toISOString().slice(0, 10)
  const site = await connectSearchSite(stores.pg, {
    workspaceId,
    site: 'sc-domain:example.com',
    account: 'reader@example.com',
    sealed: Buffer.of(1),
    now,
  })
  const term = (query: string, path: string, clicks: number) => ({ query, page: path, ...figures(clicks) })
  const lists = {
    total: { terms: [term('', '', 90)], isCut: false },
    query: { terms: [term('<b>shop</b>', '', 40), term('shoes', '', 20)], isCut: false },
    page: { terms: [term('', `${root}/shoes`, 60), term('', `${root}/`, 30)], isCut: false },
    pair: { terms: [term('shoes', `${root}/shoes`, 20), term('<b>shop</b>', `${root}/`, 40)], isCut: false },
  }
  const none = { terms: [], isCut: false }
  const earlier = { total: { terms: [term('', '', 45)], isCut: false }, query: none, page: none, pair: none }
  await insertSearchDays(stores.ch, { workspaceId, site: site.id }, [
    { day, version: 1, lists },
    { day: day - 37, version: 1, lists: earlier },
  ])
  const lease = async () =>
    (await leaseSearchSites(stores.pg, { now, until: new Date(now.getTime() + 60_000), max: 1 }))[0]!
  await endPull(stores.pg, await lease(), { nextAt: now, pulledAt: now, dataThrough, dataFrom: '2020-01-01' })

  await page.goto(`${api.url}/dashboard`)
  await page.waitForSelector(`${panel} .row`)
  const rows = () => page.$$eval(`${panel} .row`, (all) => all.map((row) => row.textContent))
  expect(await rows()).toEqual(['<b>shop</b>402.3', 'shoes202.3'])
  await page.waitForSelector(`${panel} .note:has-text("90 clicks ▲ 100 % of 900 impressions ▲ 100 % on Google")`)
  const { name, lines } = await savedFile(page, `${panel} >> text=CSV`)
  expect([name, ...lines]).toEqual([
    'Search terms.csv',
    'Search term,Clicks,Impressions,Clicked (%),Position',
    '<b>shop</b>,40,400,10,2.25',
    'shoes,20,200,10,2.25',
    '',
  ])
  await look(page, 'search-terms', panel)
  await page.click(`${panel} >> text=Pages on Google`)
  await expect.poll(rows).toEqual(['/shoes602.3', `${root}/302.3`])
  await page.focus(`${panel} .row >> nth=0`)
  const goOn = await holdRequests(page, '**/api/v1/analytics/search?*')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${panel} h2:focus:has-text("Search terms of /shoes")`)
  // Those of all pages don't stand under it meanwhile.
  expect(await rows()).toEqual([])
  goOn()
  await expect.poll(rows).toEqual(['shoes202.3'])
  // Its words stand in one line of text, not apart.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('${panel} h2')).display`)).toBe('block')
  expect(await violations(page)).toEqual([])
  await page.click(`${panel} >> text=All`)
  await expect.poll(rows).toEqual(['/shoes602.3', `${root}/302.3`])

  // Once this browser saw them, their place is kept until they come.
  const letGo = await holdRequests(page, '**/api/v1/analytics/search?*')
  await page.goto(`${api.url}/dashboard`)
  await page.waitForSelector(`${panel}[aria-busy="true"]`)
  const pagesAt = async () => (await page.locator(list('Pages')).boundingBox())!
  const before = await pagesAt()
  letGo()
  await page.waitForSelector(`${panel} .row`)
  const { x, y } = await pagesAt()
  expect(Math.hypot(x - before.x, y - before.y)).toBeLessThan(5)

  await failPull(stores.pg, await lease(), { message: 'Invalid JWT Signature.', nextAt: null })
  await page.goto(`${api.url}/dashboard/settings`)
  await page.waitForSelector(
    `${panel}:has-text("needs reconnecting"):has-text("Invalid JWT Signature."):has-text("svc search")`,
  )
  expect(await violations(page)).toEqual([])
})
