/** Settings with webhooks; lists of the dashboard that have more than a page; what a journey shows. */
import { expect, test } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard, withoutPolls } from '../support/dashboard.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import { makeAccount } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ hasYearlyParts: true, apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })

test('another workspace is added by keyboard, waits for its first event, and the name leads back', async (context) => {
  const page = await signIn(context)
  await page.waitForSelector('.install')
  const key = await page.textContent('.install pre')
  for (const pressed of ['g', 't']) await page.keyboard.press(pressed)
  await page.focus('text=Add a workspace')
  await page.keyboard.press('Enter')
  await look(page, 'new-workspace')
  await page.focus('dialog [name="name"]')
  await page.keyboard.type('Second site')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.install')
  expect(await page.textContent('.install pre')).not.toBe(key)
  expect(await page.textContent('select[aria-label="Workspace"] option:checked')).toBe('Second site')
  // While the browser goes there, nothing is asked about the workspace that is left.
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  let go: (() => Promise<void>) | undefined
  await page.route('**/dashboard/workspace', (route) => {
    go = () => route.continue()
  })
  await page.evaluate(`setTimeout(() => dispatchEvent(new Event('online')), 2_000)`)
  const chosen = page.selectOption('select[aria-label="Workspace"]', String(mine.workspaceId))
  await expect.poll(() => go !== undefined).toBe(true)
  asked.length = 0
  await sleep(3_000)
  expect(asked).toEqual([])
  await go!()
  await chosen
  await page.waitForSelector(`.install pre:has-text("${/svc_pk_\w+/.exec(key!)![0]}")`)
})

test('settings have the snippet at any time; an endpoint is made by keyboard, refused, tried, delivered to again, removed', async (context) => {
  const page = await signIn(context)
  await withoutPolls(page)
  await page.reload()
  await page.waitForSelector('.install')
  for (const key of ['g', 't']) await page.keyboard.press(key)
  await page.waitForSelector(`${list('Tracking')} pre:has-text("svc.js?key=svc_pk_")`)
  expect(await page.textContent(list('Tracking'))).toContain('curl http')
  expect(await page.textContent(list('Workspace'))).toContain(`workspace_${mine.workspaceId}`)
  await page.waitForSelector(`${list('Webhooks')} .empty`)

  await page.focus('text=Make a key')
  await page.keyboard.press('Enter')
  await look(page, 'key-form')
  await page.fill('dialog [name="name"]', '<b>reports</b>')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector('dialog [role="alert"]:has-text("scopes")')
  await page.focus('dialog label:has-text("analytics:read") input')
  await page.keyboard.press('Space')
  await page.focus('dialog button[type="submit"]')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('API keys')} pre:has-text("svc_sk_")`)
  await page.click(`${list('API keys')} li:has-text("<b>reports</b>") >> text=Revoke`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${list('API keys')} li:has-text("<b>reports</b>"):has-text("revoked")`)

  await page.focus(`${list('Workspace')} >> text=Change`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [name="timezone"]')
  await look(page, 'workspace-form')
  await page.fill('dialog [name="timezone"]', 'Nowhere')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector('dialog [role="alert"]:has-text("Timezone: The timezone must be an IANA name")')
  await page.fill('dialog [name="timezone"]', 'Asia/Kolkata')
  await page.fill('dialog [name="name"]', '<i>Harbour</i>')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('Workspace')} dd:has-text("Asia/Kolkata")`)
  await page.waitForSelector(`${list('Workspace')} dd:has-text("<i>Harbour</i>")`)
  await page.waitForSelector('h1:has-text("<i>Harbour</i>")')
  await page.waitForSelector(`${list('Workspace')} dd:has-text("as long as the plan allows")`)
  await page.click(`${list('Workspace')} >> text=Change`)
  await page.fill('dialog [name="retention"]', '7')
  await page.click('dialog button[type="submit"]')
  const firstKept = new Intl.DateTimeFormat('en-US', { timeZone: 'Asia/Kolkata', dateStyle: 'medium' })
  await page.waitForSelector(
    `dialog dialog:has-text("Analytics before ${firstKept.format(Date.now() - 6 * 86_400_000)}")`,
  )
  await page.click('dialog dialog .danger')
  await page.waitForSelector(`${list('Workspace')} dd:has-text("7 days")`)

  await page.focus('text=Add an endpoint')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog label:has-text("post.published")')
  await look(page, 'webhook-form')
  await page.focus('dialog [name="url"]')
  await page.keyboard.type('https://10.0.0.1/hooks')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [role="alert"]:has-text("must be public")')
  await page.fill('dialog [name="url"]', 'https://example.com/hooks')
  await page.focus('dialog label:has-text("post.failed") input')
  await page.keyboard.press('Space')
  await page.focus('dialog button[type="submit"]')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('Webhooks')} pre:has-text("whsec_")`)
  expect(await page.textContent(`${list('Webhooks')} li`)).toContain('1 event')

  await page.click('text=Test')
  await page.waitForSelector(`${list('Deliveries')} summary:has-text("webhook.test"):has-text("pending")`)
  await stores.pg.query(
    `UPDATE webhook_deliveries SET status = 'failed', response_status = 500, error = '<b>away</b>' WHERE workspace_id = $1`,
    [mine.workspaceId],
  )
  await page.waitForSelector(`${list('Accounts')} .empty`)
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  await stores.pg.query(
    `UPDATE social_accounts SET health_status = 'error', health_message = '<b>signed out</b>' WHERE id = $1`,
    [account],
  )
  await page.reload()
  await page.waitForSelector(`${list('Accounts')} .bad:has-text("<b>signed out</b>")`)
  await page.click(`${list('Deliveries')} summary:has-text("failed 500")`)
  await page.waitForSelector(`${list('Deliveries')} pre:has-text("<b>away</b>")`)
  await look(page, 'settings')
  await page.click('text=Deliver again')
  await page.waitForSelector(`${list('Deliveries')} summary:has-text("pending")`)
  await page.click(`${list('Webhooks')} >> text=Delete`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${list('Webhooks')} .empty`)
  await page.reload()
  await page.click(`${list('Audit log')} summary:has-text("api_key.revoke")`)
  await page.waitForSelector(`${list('Audit log')} details[open] dd:has-text("console")`)
})

test('people and links have pages, with heads and with clicks', async (context) => {
  await stores.pg.query(
    `INSERT INTO contacts (workspace_id, email, full_name, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     SELECT $1, n || '@example.com', 'Person ' || n || ' of the Harbour and Lighthouse Company', $3::bigint + n, $2::bigint - n, $2::bigint - n, $2::bigint - n, $2::bigint - n
     FROM generate_series(1, 103) n`,
    [mine.workspaceId, Date.now(), 20_000_000 + mine.workspaceId * 1_000],
  )
  await stores.pg.query(
    `INSERT INTO links (workspace_id, attribution_key, label, destination_url, tracking_url, tracking_params,
       utm_source, utm_medium, utm_campaign, utm_content)
     SELECT $1::bigint, 'k' || $1::bigint || 'n' || n, 'Link ' || n, 'https://example.com/', 'https://example.com/', '{}', '', '', '', '' FROM generate_series(1, 101) n`,
    [mine.workspaceId],
  )
  await stores.ch.command(
    `INSERT INTO link_clicks (workspace_id, link_id, kind, visitor, occurred_at, target_url)
     SELECT ${mine.workspaceId}, id, 'click', 7, now(), 'https://example.com/app'
     FROM (SELECT ${(await stores.pg.query<{ id: number }>("SELECT id FROM links WHERE workspace_id = $1 AND label = 'Link 101'", [mine.workspaceId]))[0]!.id} AS id)`,
  )
  const page = await signIn(context)
  await page.click('nav >> text=People')
  await page.waitForSelector(`${list('People')} th:has-text("Last seen")`)
  expect(await page.$$(`${list('People')} tbody tr`)).toHaveLength(100)
  await look(page, 'people-pages')
  await page.setViewportSize({ width: 390, height: 900 })
  const isWhole = () => page.$eval('.scrolled', (part) => part.scrollWidth <= part.clientWidth)
  await expect.poll(isWhole).toBe(true)
  await page.waitForSelector(`${list('People')} th:has-text("Source")`)
  await page.focus(`${list('People')} >> text=Older`)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('People')} >> text=Person 103`)
  expect(await page.$$(`${list('People')} tbody tr`)).toHaveLength(3)
  await page.click('text=Newer')
  await page.waitForSelector(`${list('People')} tbody tr:nth-child(100)`)

  await page.click('nav >> text=Links')
  expect(await page.textContent(`${list('Links')} summary:has-text("Link 101")`)).toContain('1 click')
  expect(await page.textContent(`${list('Links')} summary:has-text("Link 100")`)).toContain('0 clicks')
  await page.click(`${list('Links')} summary:has-text("Link 101")`)
  await page.waitForSelector(`${list('Where they led')} >> text=https://example.com/app`)
  await page.click('text=Older')
  await expect.poll(() => page.$$eval(`${list('Links')} summary`, (all) => all.length)).toBe(1)
  await stores.pg.query(`DELETE FROM links WHERE workspace_id = $1 AND label = 'Link 1'`, [mine.workspaceId])
  await page.waitForSelector(`${list('Links')} >> text=Nothing is older`)
  expect(await page.$('text=No link yet')).toBeNull()

  await page.click(`${list('Links')} >> text=Archived`)
  await page.waitForURL('**/dashboard/links?status=archived')
  await page.reload()
  await page.waitForSelector(`${list('Links')} .empty:has-text("None is archived")`)
  await page.goBack()
  await page.waitForSelector(`${list('Links')} summary:has-text("Link 101")`)
  await page.goto(`${api.url}/dashboard/posts?view=list&status=archived`)
  await page.waitForSelector(`${list('Posts')} .empty:has-text("None is archived")`)
  await page.click(`${list('Posts')} >> button:text-is("Posts")`)
  await page.waitForURL('**/dashboard/posts?view=list')
})

test('a journey has what was measured of a page beside its view, and all events on demand', async (context) => {
  const hash = BigInt(stores.hashes.visitorOf(mine.workspaceId, 'b-1'))
  const visitor = { hi: Number(hash >> 32n), lo: Number(hash & 0xffff_ffffn) }
  const at = (minutes: number) => ({
    ...{ workspace_id: mine.workspaceId, visitor, anonymous_id: 'b-1', session: 1 },
    occurred_at: Date.now() - 3_600_000 + minutes * 60_000,
  })
  const measured = (name: string, properties: object) => ({ event_name: name, properties: JSON.stringify(properties) })
  await insertEventRows(stores.ch, [
    makeEventRow({ ...at(0), path: '/prices' }),
    makeEventRow({
      ...at(1),
      path: '/prices',
      kind: 'custom',
      ...measured('web_vital', { metric: 'LCP', value: 1234.4 }),
    }),
    makeEventRow({
      ...at(2),
      path: '/prices',
      kind: 'custom',
      ...measured('page_leave', { engagement_ms: 63_000, scroll_depth: 80 }),
    }),
    makeEventRow({ ...at(3), path: '/docs', kind: 'autocapture', ...measured('button_click', { text: '<i>Buy</i>' }) }),
  ])
  await foldWhatIsThere(stores)
  const page = await signIn(context)
  await page.waitForSelector(`${list('Recent events')} >> text=button_click`)
  expect(await page.textContent(list('Recent events'))).not.toContain('page_leave')
  await page.goto(`${api.url}/dashboard/people?browser=b-1`)
  await page.waitForSelector(`${list('Journey')} li:has-text("1m 3s in sight · 80 % seen · LCP 1,234 ms")`)
  await page.waitForSelector(`${list('Journey')} li:has-text("button_click <i>Buy</i>")`)
  expect(await page.$$('.timeline li')).toHaveLength(2)
  await page.click('text=Technical events')
  await page.waitForSelector('.timeline li:nth-child(4)')
  await look(page, 'journey-all')
})
