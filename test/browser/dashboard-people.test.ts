/** People in the dashboard: found, page by page, erased, and what their journeys show. */
import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { goWithin, holdRequests, list, look, setUpDashboard, violations } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const section = list('People')

/** So many, the last one first; the first one's name is markup. */
async function fill(people: number): Promise<void> {
  await stores.pg.query(
    `INSERT INTO contacts (workspace_id, email, full_name, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     SELECT $1, 'n' || n || '@example.com', CASE n WHEN 1 THEN '<b>Ada</b>' ELSE 'Person ' || n || ' of the Harbour and Lighthouse Company' END,
       $3::bigint + n, $2::bigint - n, $2::bigint - n, $2::bigint - n, $2::bigint - n
     FROM generate_series(1, $4::int) n`,
    [mine.workspaceId, Date.now(), 20_000_000 + mine.workspaceId * 1_000, people],
  )
}

test('people are found, their journeys shown, and one is erased after one more question', async (context) => {
  await fill(2)
  const page = await signIn(context, '/dashboard/people')
  await page.waitForSelector(`${section} >> text=Person 2`)
  await page.fill('input[type="search"]', 'n1@')
  await page.waitForSelector(`${section} >> text=Person 2`, { state: 'detached' })
  await page.click(`${section} >> text=<b>Ada</b>`)
  await page.waitForURL('**/dashboard/people?contact=*')
  expect(await page.textContent(list('Person'))).toContain('n1@example.com')
  await page.goBack()
  await page.waitForURL('**/dashboard/people?q=n1%40')
  expect(await page.inputValue('input[type="search"]')).toBe('n1@')
  await page.click('nav >> text=People')
  await page.waitForSelector(`${section} >> text=Person 2`)
  await page.click(`${section} >> text=<b>Ada</b>`)
  await page.click('main >> text=Erase this person')
  expect(await violations(page)).toEqual([])
  const [other] = await stores.pg.query<{ id: number }>(`SELECT id FROM contacts WHERE email = 'n2@example.com'`)
  await goWithin(page, `/dashboard/people?contact=${other!.id}`)
  await page.waitForSelector(`${list('Person')} >> text=n2@example.com`)
  // The question was about somebody else.
  expect(await page.locator('dialog').count()).toBe(0)
  await page.goBack()
  await page.waitForSelector(`${list('Person')} >> text=n1@example.com`)
  await page.click('main >> text=Erase this person')
  // A refusal that comes once the question was closed isn't lost.
  let refuse: (() => Promise<void>) | undefined
  const refused = { status: 503, contentType: 'application/json', body: '{"detail":"A store is away"}' }
  const holdOnce = (route: Route) => {
    refuse = () => route.fulfill(refused)
  }
  await page.route('**/api/v1/people/erase', holdOnce, { times: 1 })
  await page.click('dialog >> button:text-is("Erase")')
  await expect.poll(() => refuse !== undefined).toBe(true)
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog', { state: 'detached' })
  await refuse!()
  await page.waitForSelector('.late [role="alert"]:has-text("Erase this person: A store is away")')
  await page.click('.late >> text=Close')
  await page.click('main >> text=Erase this person')
  const visited = await page.evaluate<number>('history.length')
  const letGo = await holdRequests(page, '**/api/v1/people/erase')
  await page.dblclick('dialog >> button:text-is("Erase")')
  letGo()
  await page.waitForURL('**/dashboard/people?erased=1')
  await page.waitForSelector('text=The person is being erased')
  expect(await page.evaluate('history.length')).toBe(visited)
  await page.waitForSelector(`${section} >> text=<b>Ada</b>`, { state: 'detached' })
  await goWithin(page, '/dashboard/people?contact=99999')
  expect(await page.textContent('.failure')).toBe('Person not found. All people')
  await page.click('.failure >> text=All people')
  await page.waitForSelector(`${section} >> text=Person 2`)
})

test('people have pages, with heads', async (context) => {
  await fill(103)
  const page = await signIn(context, '/dashboard/people')
  await page.waitForSelector(`${section} th:has-text("Last seen")`)
  expect(await page.$$(`${section} tbody tr`)).toHaveLength(100)
  await page.setViewportSize({ width: 390, height: 900 })
  const isWhole = () => page.$eval('.scrolled', (part) => part.scrollWidth <= part.clientWidth)
  await expect.poll(isWhole).toBe(true)
  await page.waitForSelector(`${section} th:has-text("Source")`)
  await page.emulateMedia({ media: 'print' })
  expect(await page.isVisible(`${section} >> text=Person 90`)).toBe(true)
  await page.emulateMedia({ media: 'screen' })
  await page.focus(`${section} >> text=Older`)
  const letGo = await holdRequests(page, '**/api/v1/people?*before_id*')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${section}[aria-busy="true"]`)
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Older')
  letGo()
  await page.waitForSelector(`${section} >> text=Person 103`)
  expect(await page.$$(`${section} tbody tr`)).toHaveLength(3)
  // Three rows tell axe what a hundred would.
  await look(page, 'people-pages')
  // At the end of the list a press does nothing, and the focus stays.
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Older')
  // Back from a journey leads to the page of the list, and to the row.
  await page.click(`${section} >> text=Person 103`)
  await page.waitForSelector(list('Person'))
  await page.goBack()
  await page.waitForSelector(`${section} >> text=Person 103`)
  expect(await page.$$(`${section} tbody tr`)).toHaveLength(3)
  await page.click('text=Newer')
  await page.waitForSelector(`${section} tbody tr:nth-child(100)`)
  await page.click(`${section} >> text=Person 90`)
  await page.waitForSelector(list('Person'))
  await page.goBack()
  const topOfRow = async () => (await page.locator('tbody tr:nth-child(90)').boundingBox())?.y
  await expect.poll(topOfRow).toBeLessThan(900)
  await page.click('nav >> text=Overview')
  await page.click('nav >> text=People')
  await page.waitForSelector(`${section} tbody tr:nth-child(100)`)
  expect(await page.evaluate('scrollY')).toBe(0)
})

test('a journey has what was measured of a page beside its view, and all events on demand', async (context) => {
  const hash = BigInt(stores.hashes.visitorOf(mine.workspaceId, 'b-1'))
  const visitor = { hi: Number(hash >> 32n), lo: Number(hash & 0xffff_ffffn) }
  // All in one hour, so that no midnight comes between.
  const begin = (Math.floor(Date.now() / 3_600_000) - 1) * 3_600_000
  const at = (minutes: number) => ({
    workspace_id: mine.workspaceId,
    visitor,
    anonymous_id: 'b-1',
    session: 1,
    occurred_at: begin + minutes * 60_000,
  })
  const measured = (name: string, properties: object) =>
    ({ path: '/prices', kind: 'custom', event_name: name, properties: JSON.stringify(properties) }) as const
  await insertEventRows(stores.ch, [
    makeEventRow({ ...at(0), path: '/prices', source: 's'.repeat(200) }),
    makeEventRow({ ...at(1), ...measured('web_vital', { metric: 'LCP', value: 1234.4 }) }),
    makeEventRow({ ...at(2), ...measured('page_leave', { engagement_ms: 63_000, scroll_depth: 80 }) }),
    makeEventRow({ ...at(3), ...measured('button_click', { text: '<i>Buy</i>' }), path: '/docs', kind: 'autocapture' }),
  ])
  await foldWhatIsThere(stores)
  const page = await signIn(context)
  await page.waitForSelector(`${list('Recent events')} >> text=button_click`)
  expect(await page.textContent(list('Recent events'))).not.toContain('page_leave')
  await goWithin(page, '/dashboard/people?browser=b-1')
  await page.waitForSelector(`${list('Journey')} li:has-text("1m 3s in sight · 80 % seen · LCP 1,234 ms")`)
  await page.waitForSelector(`${list('Journey')} li:has-text("button_click <i>Buy</i>")`)
  expect(await page.$$('.timeline li')).toHaveLength(2)
  await page.setViewportSize({ width: 360, height: 740 })
  const isCut = `[...document.querySelectorAll('.timeline .name')].some((name) => name.scrollWidth > name.clientWidth)`
  expect(await page.evaluate(isCut)).toBe(false)
  await page.click('text=Technical events')
  await page.waitForSelector('.timeline li:nth-child(4)')
  await look(page, 'journey-all')
})
