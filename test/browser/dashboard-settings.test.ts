/** The settings in the dashboard: the workspace, keys, connected apps, webhooks, chats, reports, alerts, and the company's profile. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertReportRecipient } from '../../postgres/tables/messages/report-recipients.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { sleep } from '../../runtime/retry.ts'
import { setUpApi, startApi, type TestApi } from '../support/api.ts'
import { addresses } from '../support/chat-server.ts'
import { startCompanySites } from '../support/company-sites.ts'
import {
  askAnew,
  goBy,
  goWithin,
  holdRequests,
  list,
  look,
  setUpDashboard,
  withoutPolls,
} from '../support/dashboard.ts'
import { generateNext } from '../support/generate-profile.ts'
import { setUpApps } from '../support/oauth.ts'
import { onOneDay } from '../support/one-day.ts'
import { makeAccount } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
/** The same where mail is set up, and pages of this machine are read. */
let withMail: TestApi
beforeAll(async () => {
  withMail = await startApi(stores, { apiHost: 'http://127.0.0.1', isMailSetUp: true, allowPrivateTargets: true })
})
afterAll(() => withMail?.close())

test('another workspace is added by keyboard, waits for its first event, and the name leads back', async (context) => {
  const page = await signIn(context)
  await page.waitForSelector('.install')
  const key = await page.textContent('.install pre')
  await goBy(page, 't')
  await page.focus('text=Add a workspace')
  await page.keyboard.press('Enter')
  await page.focus('dialog [name="name"]')
  await page.keyboard.type('Second site')
  await look(page, 'new-workspace-form')
  await page.focus('dialog [name="name"]')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.install')
  expect(await page.textContent('.install pre')).not.toBe(key)
  expect(await page.textContent('select[aria-label="Workspace"] option:checked')).toBe('Second site')
  // While the browser goes there, nothing is asked about the workspace that is left.
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  let go: (() => Promise<void>) | undefined
  await page.route('**/dashboard?workspace=*', (route) => {
    go = () => route.continue()
  })
  await page.evaluate(`document.querySelector('select[aria-label="Workspace"]').addEventListener('change', () =>
    setTimeout(() => dispatchEvent(new Event('online')), 300))`)
  const chosen = page.selectOption('select[aria-label="Workspace"]', String(mine.workspaceId))
  await expect.poll(() => go !== undefined).toBe(true)
  asked.length = 0
  await sleep(1_000)
  expect(asked).toEqual([])
  await go!()
  await chosen
  await page.waitForSelector(`.install pre:has-text("${/svc_pk_\w+/.exec(key!)![0]}")`)
})

test('links lead to the sections, and an address with a section stays there while the cards grow', async (context) => {
  const page = await signIn(context, '/dashboard/links')
  await page.waitForSelector('nav')
  // The card of the snippet has its size before the snippet comes: two lines at most are missing or too many.
  const letGo = await holdRequests(page, '**/api/v1/analytics/overview?include=snippet')
  await goWithin(page, '/dashboard/settings')
  await page.waitForSelector(list('Tracking'))
  expect(await page.isVisible(`${list('Tracking')} pre`)).toBe(false)
  const heightOf = async (title: string) => (await page.locator(list(title)).boundingBox())!.height
  const [before, ofWorkspace] = [await heightOf('Tracking'), await heightOf('Workspace')]
  letGo()
  await page.waitForSelector(`${list('Tracking')} pre`)
  expect(Math.abs((await heightOf('Tracking')) - before)).toBeLessThan(45)
  // The button that copies the key, and the key, come into their own places.
  await page.waitForSelector(`${list('Workspace')} >> text=svc_pk_`)
  expect(await heightOf('Workspace')).toBe(ofWorkspace)
  await page.goto(`${api.url}/dashboard/settings#developers`)
  const titles = ['Site', 'Publishing', 'Access', 'Notifications', 'Developers', 'Audit']
  await page.waitForSelector('#developers')
  const links = 'nav[aria-label="Sections of the settings"] a'
  expect(await page.locator(links).allTextContents()).toEqual(titles)
  await page.waitForSelector(`${list('Tracking')} pre`)
  const topOf = (id: string) => page.locator(`#${id} > h2`).evaluate((heading) => heading.getBoundingClientRect().top)
  const isInSight = async (id: string) => {
    const top = await topOf(id)
    return top >= 0 && top < page.viewportSize()!.height
  }
  await expect.poll(() => isInSight('developers')).toBe(true)
  for (const [id, title] of [
    ['publishing', 'Publishing'],
    ['developers', 'Developers'],
    ['audit', 'Audit'],
  ] as const) {
    await page.focus(`${links}[href="#${id}"]`)
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${links}[aria-current]:text-is("${title}")`)
    await expect.poll(() => isInSight(id)).toBe(true)
  }
  // Each card's heading is below its section's, and no two buttons have one name.
  const levels = await page.$$eval('main :is(h2, h3)', (all) =>
    all.map((one) => one.matches('.section > h2') === (one.tagName === 'H2')),
  )
  expect(levels).not.toContain(false)
  const names = await page.$$eval('main button', (all) => all.map((one) => one.ariaLabel ?? one.textContent))
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  await page.setViewportSize({ width: 390, height: 800 })
  const linksTop = await page
    .locator(links)
    .first()
    .evaluate((link) => link.getBoundingClientRect().top)
  expect(linksTop).toBeLessThan(await topOf('site'))
})

test('nothing in the settings is shown before all lists above it have come', async (context) => {
  const page = await signIn(context, '/dashboard/links', { before: withoutPolls })
  // Slow machines are as long about it as what hangs.
  await page.evaluate("document.styleSheets[0].insertRule('* { animation: none !important }')")
  const lists = [
    ['exclusions', 'Search terms'],
    ['analytics/search?*', 'Accounts'],
    ['social-accounts/checked', 'Short domains'],
    ['domains', 'Members'],
    ['members', 'Signing in'],
    ['shared-links', 'Reports by e-mail'],
    ['report-recipients', 'Chat channels'],
    ['chat-channels', 'Traffic alerts'],
    ['traffic-alerts', 'API keys'],
    ['api-keys', 'Connected apps'],
    ['connected-apps', 'Webhooks'],
    ['webhooks?*', 'Deliveries'],
    ['webhooks/deliveries?*', 'Audit log'],
  ] as const
  const held = await Promise.all(lists.map(([late]) => holdRequests(page, `**/api/v1/${late}`)))
  await goWithin(page, '/dashboard/settings')
  await page.waitForSelector(`${list('Tracking')} pre`)
  for (const [at, [late, next]] of lists.entries()) {
    expect(await page.isVisible(list(next)), late).toBe(false)
    held[at]!()
    await page.waitForSelector(list(next))
  }
})

test('a list of the settings that hangs hides nothing for long, and then moves nothing under the pointer', async (context) => {
  let letGo = () => {}
  const before = async (page: Page) => {
    await withoutPolls(page)
    letGo = await holdRequests(page, '**/api/v1/members')
  }
  const page = await signIn(context, '/dashboard/settings', { before })
  await page.waitForSelector(list('Signing in'))
  await page.locator(list('Members')).evaluate((members) => members.scrollIntoView())
  const link = page.locator('text=Signed-in browsers')
  await link.hover()
  // It comes after all: what somebody points at stays there.
  const { y } = (await link.boundingBox())!
  letGo()
  await page.waitForSelector(`${list('Members')} >> text=since`)
  expect(Math.abs((await link.boundingBox())!.y - y)).toBeLessThan(2)
})

test('a dialog stays until the list has its change, and what is gone already is removed without a refusal', async (context) => {
  const page = await signIn(context, '/dashboard/settings', { before: withoutPolls })
  const section = list('Reports by e-mail')
  const row = `${section} li:has-text("late@example.com")`
  const add = async () => {
    await page.click('text=Add a recipient')
    await page.fill('dialog [name="email"]', 'late@example.com')
    await page.keyboard.press('Enter')
  }
  const remove = async () => {
    await page.click(`${row} >> text=Remove`)
    await page.click('dialog .danger')
  }
  await add()
  await page.waitForSelector(row)
  const letGo = await holdRequests(page, '**/api/v1/report-recipients')
  const asked = page.waitForRequest('**/api/v1/report-recipients')
  await remove()
  await asked
  expect(await page.getAttribute('dialog .danger', 'aria-disabled')).toBe('true')
  letGo()
  await page.waitForSelector('dialog', { state: 'detached' })
  expect(await page.isVisible(row)).toBe(false)
  await add()
  await page.waitForSelector(row)
  await stores.pg.query('DELETE FROM report_recipients')
  await remove()
  await page.waitForSelector('dialog', { state: 'detached' })
  expect([await page.isVisible(row), await page.isVisible(`${section} [role="alert"]`)]).toEqual([false, false])
})

test('a refusal that comes after its form was closed stands over the page until it is closed', async (context) => {
  const page = await signIn(context, '/dashboard/settings')
  const add = async () => {
    await page.click('text=Add a recipient')
    await page.fill('dialog [name="email"]', 'twice@example.com')
    await page.keyboard.press('Enter')
  }
  await add()
  await page.waitForSelector('dialog', { state: 'detached' })
  const letGo = await holdRequests(page, '**/api/v1/report-recipients')
  await add()
  await page.waitForSelector('dialog >> text=Saving …')
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog', { state: 'detached' })
  letGo()
  await page.waitForSelector('.late [role="alert"]:has-text("Add a recipient: ")')
  await look(page, 'late-refusal', '.late')
  await page.click('.late >> text=Close')
  await page.waitForSelector('.late', { state: 'detached' })
  // The same where the page was left that would say it.
  let answer: (() => Promise<void>) | undefined
  await page.route('**/api/v1/report-recipients/*', (route) => {
    answer = () => route.fulfill({ status: 503, contentType: 'application/json', body: '{"detail":"It is away"}' })
  })
  await page.click(`${list('Reports by e-mail')} >> text=Remove`)
  await page.click('dialog .danger')
  await expect.poll(() => answer !== undefined).toBe(true)
  await page.keyboard.press('Escape')
  await goBy(page, 'l')
  await page.waitForSelector(list('Links'))
  await answer!()
  await page.waitForSelector('.late [role="alert"]:has-text("Not done: It is away")')
  await stores.pg.query('DELETE FROM report_recipients')
})

test('traffic is left out by keyboard: the own address, and lists that are refused once and then saved', async (context) => {
  const page = await signIn(context, '/dashboard/settings', {
    before: async (page) => {
      await withoutPolls(page)
      // Its sign-in link works from this machine alone.
      await page.route('**/api/v1/**', (route) =>
        route.continue({ headers: { ...route.request().headers(), 'X-Forwarded-For': '9.9.9.9' } }),
      )
    },
  })
  const section = list('Traffic left out')
  await page.focus(`${section} >> text=Add my address`)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${section} dd:has-text("9.9.9.9")`)
  expect(await page.locator(`${section} >> text=Add my address`).count()).toBe(0)
  await page.focus(`${section} >> text=Change`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [name="paths"]')
  // Meanwhile somebody else adds a country, which stays.
  await stores.pg.query(`UPDATE exclusions SET countries = '{AQ}' WHERE workspace_id = $1`, [mine.workspaceId])
  await page.fill('dialog [name="paths"]', '/admin/*\n\n  /%C3%BCber-uns ')
  await page.fill('dialog [name="hostnames"]', 'www.example.com\nhttps://example.com')
  await look(page, 'exclusions-form')
  await page.focus('dialog button[type="submit"]')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [role="alert"]:has-text("Only these hosts 2: a hostname is like")')
  await page.fill('dialog [name="hostnames"]', `www.example.com\n*.${'long-name.'.repeat(12)}example`)
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector(`${section} dd:has-text("/admin/*, /über-uns")`)
  await page.waitForSelector(`${section} dd:has-text("AQ")`)
  await page.waitForSelector(`${section} dd:has-text("9.9.9.9")`)
  await look(page, 'exclusions', section)
})

test('settings have the snippet at any time; an endpoint is made by keyboard, refused, tried, delivered to again, removed', async (context) => {
  const page = await signIn(context, '/dashboard/settings', { before: withoutPolls })
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
  // The key stands there before the list is read anew, for which the dialog waits: held, it would wait for good.
  await page.waitForSelector('dialog', { state: 'detached' })
  // Answers that come late: fields are held meanwhile, and no secret is lost behind the next.
  const letGo = await holdRequests(page, '**/api/v1/api-keys')
  for (const name of ['second', 'third']) {
    await page.click('text=Make a key')
    await page.fill('dialog [name="name"]', name)
    await page.check('dialog label:has-text("analytics:read") input')
    await page.press('dialog [name="name"]', 'Enter')
    await page.waitForSelector('dialog [role="status"]:has-text("Saving …")')
    expect(await page.evaluate(`document.activeElement.textContent`)).toBe('Create')
    expect(await page.locator('dialog [inert] [name="name"]').count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
  }
  letGo()
  await page.waitForSelector(`${list('API keys')} .copied >> nth=2`)
  // By keys and fingers too, which know no tooltip.
  const scopes = `${list('API keys')} li:has-text("<b>reports</b>") details`
  expect(await page.textContent(`${scopes} summary`)).toBe('1 scope of <b>reports</b>')
  await page.focus(`${scopes} summary`)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${scopes} >> text=analytics:read`)
  await page.click(`${list('API keys')} li:has-text("<b>reports</b>") >> text=Revoke`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${list('API keys')} li:has-text("<b>reports</b>"):has-text("revoked")`)
  // Its secret is of no use any more, and those of the others are.
  const secrets = await page.locator(`${list('API keys')} .copied`).allTextContents()
  expect(secrets.map((text) => /<b>reports<\/b>|second|third/.exec(text)?.[0]).sort()).toEqual(['second', 'third'])

  await page.focus(`${list('Workspace')} >> text=Change`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog [name="timezone"]')
  // Meanwhile somebody else changes the currency, which stays.
  await stores.pg.query(`UPDATE workspaces SET currency = 'CHF' WHERE id = $1`, [mine.workspaceId])
  await page.fill('dialog [name="timezone"]', 'Nowhere')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector('dialog [role="alert"]:has-text("Timezone: The timezone must be an IANA name")')
  await page.fill('dialog [name="timezone"]', 'Asia/Kolkata')
  await page.fill('dialog [name="name"]', '<i>Harbour</i>')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${list('Workspace')} dd:has-text("Asia/Kolkata")`)
  await page.waitForSelector(`${list('Workspace')} dd:has-text("<i>Harbour</i>")`)
  await page.waitForSelector('h1:has-text("<i>Harbour</i>")')
  expect(await stores.pg.query('SELECT currency FROM workspaces WHERE id = $1', [mine.workspaceId])).toEqual([
    { currency: 'CHF' },
  ])
  await page.waitForSelector(`${list('Workspace')} dd:has-text("as long as the plan allows")`)
  // Held until the answer comes, as those of any dialog: a change would be lost as it closes. The plan has 180 days.
  const letGoOfSettings = await holdRequests(page, '**/api/v1/workspace/settings')
  await page.click(`${list('Workspace')} >> text=Change`)
  await page.fill('dialog [name="retention"]', '200')
  await page.press('dialog [name="retention"]', 'Enter')
  // After a lower plan more than its days are kept for a month: they would go.
  await page.click('dialog:has-text("Analytics before") .danger')
  await page.waitForSelector('dialog [inert] [name="retention"]')
  letGoOfSettings()
  await page.waitForSelector('dialog', { state: 'detached' })
  const keptDays = () =>
    stores.pg.query('SELECT retention_days AS days FROM workspaces WHERE id = $1', [mine.workspaceId])
  await expect.poll(keptDays).toEqual([{ days: 200 }])
  // The page and this test name the same first day.
  await onOneDay('Asia/Kolkata')
  await page.reload()
  await page.waitForSelector(`${list('Workspace')} dd:has-text("as long as the plan allows")`)
  await page.click(`${list('Workspace')} >> text=Change`)
  await page.fill('dialog [name="retention"]', '7')
  await look(page, 'workspace-form')
  await page.click('dialog button[type="submit"]')
  const firstKept = new Intl.DateTimeFormat('en-US', { timeZone: 'Asia/Kolkata', dateStyle: 'medium' })
  await page.waitForSelector(`dialog:has-text("Analytics before ${firstKept.format(Date.now() - 6 * 86_400_000)}")`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${list('Workspace')} dd:has-text("7 days")`)
  // It waits for the name at the top, too, and nothing else takes the focus meanwhile.
  await page.waitForSelector('dialog', { state: 'detached' })

  await page.focus('text=Add an endpoint')
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog label:has-text("post.published")')
  await look(page, 'webhook-form')
  await page.focus('dialog [name="url"]')
  await page.keyboard.insertText('https://10.0.0.1/hooks')
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
  // By now its endpoint is on the second page.
  await stores.pg.query(
    `INSERT INTO webhook_endpoints (workspace_id, url, events, secret)
     SELECT $1, 'https://example.com/' || n, '{post.failed}', '' FROM generate_series(1, 20) n`,
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
  await page.click(`${list('Deliveries')} summary:has-text("https://example.com/hooks"):has-text("failed 500")`)
  await stores.pg.query(
    `DELETE FROM webhook_endpoints WHERE url LIKE 'https://example.com/%' AND url <> 'https://example.com/hooks'`,
  )
  await page.reload()
  await page.click(`${list('Deliveries')} summary:has-text("failed 500")`)
  await page.waitForSelector(`${list('Deliveries')} pre:has-text("<b>away</b>")`)
  await look(page, 'settings')
  await page.click('text=Deliver again')
  await page.waitForSelector(`${list('Deliveries')} summary:has-text("pending")`)
  await page.click(`${list('Webhooks')} >> text=Delete`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${list('Webhooks')} .empty`)
  await page.waitForSelector(`${list('Deliveries')} summary:has-text("a deleted endpoint")`)
  await page.reload()
  await page.click(`${list('Audit log')} summary:has-text("api_key.revoke")`)
  await page.waitForSelector(`${list('Audit log')} details[open] dd:has-text("console")`)
})

test('an app is let in by keyboard to read and one thing more, is listed, and is disconnected', async (context) => {
  const host = 'http://127.0.0.1'
  const apps = setUpApps(api, host)
  const listening = createServer((_, response) => void response.end('Back in the app'))
  await once(listening.listen(0, '127.0.0.1'), 'listening')
  const callback = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/callback`
  const name = 'An assistant </strong><script>'
  const described = { client_name: name, redirect_uris: ['http://127.0.0.1/callback'] }
  const app = await apps.makeApp({ redirect_uri: callback }, described)
  const page = await signIn(context, `/dashboard/authorize?${app.asked}`)
  await page.waitForSelector('h1:has-text("Connect an app")')
  expect(await page.textContent('strong')).toBe(name)
  await look(page, 'connect-app')
  expect(await page.locator('fieldset >> nth=1').locator(':checked').count()).toBe(0)
  expect(await page.locator(':checked').count()).toBeGreaterThan(5)
  await page.focus('[value="links:write"]')
  await page.keyboard.press('Space')
  await page.focus('text=Allow')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${callback}?code=**`)
  const code = new URL(page.url()).searchParams.get('code')!
  expect((await apps.exchange(app, code, { redirect_uri: callback })).status).toBe(200)
  listening.close()

  await page.goto(`${api.url}/dashboard/settings`)
  const shown = `${list('Connected apps')} >> `
  await page.waitForSelector(`${shown}text=this machine (127.0.0.1)`)
  await page.focus(`${shown}text=Disconnect`)
  await page.keyboard.press('Enter')
  await page.waitForSelector('dialog >> text=stops working within five seconds')
  await look(page, 'disconnect-app')
  await page.click('dialog >> button:text-is("Disconnect")')
  await page.waitForSelector(`${shown}text=Assistants such as Claude`)
})

test('a chat channel is added, refused a second time, tried, changed, turned on again and removed; its address is not shown', async (context) => {
  const page = await signIn(context, '/dashboard/settings')
  const section = list('Chat channels')
  const add = async (url: string) => {
    await page.click('text=Add a channel')
    await page.fill('dialog [name="name"]', '#marketing-of-harbour-and-lighthouse')
    await page.fill('dialog [name="url"]', url)
    await page.keyboard.press('Enter')
  }
  await add(addresses.teams)
  const row = `${section} li:has-text("#marketing-of-harbour-and-lighthouse")`
  await page.waitForSelector(
    `${row}:has-text("Teams, prod-01.westeurope.logic.azure.com …cccc"):has-text("none sent yet")`,
  )
  await add('https://chat.example.com/hooks/eeee')
  await page.waitForSelector('dialog [role="alert"]:has-text("none of the chats")')
  await look(page, 'channel-form')
  await page.keyboard.press('Escape')

  await page.click(`${row} >> text=Send one now`)
  await page.waitForSelector(`${row}:has-text("is being sent")`)
  await stores.pg.query("UPDATE report_recipients SET asked_state = 'failed', asked_failure = 'the chat answered 403'")
  await page.waitForSelector(`${row} .bad:has-text("the chat answered 403")`)

  await page.click(`${row} >> text=Change`)
  await page.check('dialog [value="alerts"]')
  await page.check('dialog [value="failures"]')
  await page.check('dialog [value="monthly"]')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector(`${row} >> nth=0 >> text=monthly`)
  await page.click(`${row} >> text=Change`)
  for (const report of ['weekly', 'monthly']) await page.uncheck(`dialog [value="${report}"]`)
  await page.check('dialog [value="conversions"]')
  await page.fill('dialog [name="conversion_names"]', ' signup\n\ncall ')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector(
    `${row}:has-text("alerts"):has-text("failed posts"):has-text("conversions: signup, call"):not(:has-text("weekly")):not(:has-text("monthly"))`,
  )
  await stores.pg.query("UPDATE chat_channels SET disabled_at = now(), failure = 'the chat answered 410'")
  await page.reload()
  await page.waitForSelector(`${row} .bad:has-text("turned off: the chat answered 410")`)
  expect(await page.isVisible('text=Send one now')).toBe(false)
  await look(page, 'channels-off', section)
  expect(await page.content()).not.toContain('SECRET')
  await page.click(`${row} >> text=Turn on`)
  await page.waitForSelector(`${row} >> text=Send one now`)

  await page.click(`${row} >> text=Remove`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${section} li`, { state: 'detached' })
  expect(await stores.pg.query('SELECT 1 FROM report_recipients')).toEqual([])
})

test('a recipient of reports is added by keyboard, refused a second time, and removed; that mail is not set up is said', async (context) => {
  const page = await signIn(context, '/dashboard/settings')
  const section = list('Reports by e-mail')
  await page.waitForSelector(`${section} .note:has-text("SMTP_URL")`)
  const hour = `${section} .note:has-text("at 6:00 in the morning")`
  await page.waitForSelector(hour)
  const add = async () => {
    await page.focus('text=Add a recipient')
    await page.keyboard.press('Enter')
    await page.fill('dialog [name="email"]', 'A.reader.with.a.long.name@mail.harbour-and-lighthouse.example.com')
    await page.selectOption('dialog [name="every"]', 'monthly')
    await page.keyboard.press('Enter')
  }
  await add()
  await page.waitForSelector(`${section} li:has-text("a.reader"):has-text("monthly"):has-text("none sent yet")`)
  // The list may show it before the form has heard so.
  await page.waitForSelector('dialog', { state: 'detached' })
  await add()
  await page.waitForSelector('dialog [role="alert"]:has-text("already")')
  await look(page, 'recipient-form')
  expect(await page.isVisible('text=Send one now')).toBe(false)
  await page.keyboard.press('Escape')
  await stores.pg.query("UPDATE report_recipients SET state = 'failed'")
  await page.reload()
  // An answer that comes before the change is made doesn't turn the switch back.
  const letGo = await holdRequests(page, '**/report-recipients/*')
  const [alerts, failures] = [`${section} [aria-label^="Traffic alerts"]`, `${section} [aria-label^="Failed posts"]`]
  await page.check(alerts)
  const answered = page.waitForResponse((response) => response.url().endsWith('/report-recipients'))
  await askAnew(page)
  await (await answered).finished()
  expect(await page.isChecked(alerts)).toBe(true)
  letGo()
  const switches = () => stores.pg.query('SELECT alerts, failures FROM report_recipients')
  await expect.poll(switches).toEqual([{ alerts: true, failures: false }])
  await page.check(failures)
  await expect.poll(switches).toEqual([{ alerts: true, failures: true }])
  // The second change of a quick hand waits for the first.
  const answers: (string | null)[] = []
  page.on('requestfinished', (request) => request.method() === 'PATCH' && answers.push(request.postData()))
  const letFirst = await holdRequests(page, '**/report-recipients/*', 1)
  await page.uncheck(failures)
  await page.check(failures)
  letFirst()
  await expect.poll(() => answers.slice(-2)).toEqual(['{"failures":false}', '{"failures":true}'])
  expect(await page.isChecked(failures)).toBe(true)
  await page.check(`${section} [aria-label^="Conversions"]`)
  await page.click(`${section} >> text=all conversions`)
  await page.fill('dialog [name="conversion_names"]', 'signup')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector(`${section} button:has-text("conversions: signup")`)
  await page.waitForSelector(`${section} .bad:has-text("couldn’t be sent")`)
  expect(await page.isVisible(hour)).toBe(true)
  await look(page, 'recipients', section)
  await page.click(`${section} >> text=Remove`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${section} li`, { state: 'detached' })
  expect(await stores.pg.query('SELECT 1 FROM report_recipients')).toEqual([])
})

test('a report is sent on demand, and the page says how that ended', async (context) => {
  const own = { workspaceId: mine.workspaceId, email: 'reader@example.com', every: 'weekly' } as const
  await insertReportRecipient(stores.pg, { ...own, createdAt: new Date() })
  const page = await signIn(context, '/dashboard/settings', { at: withMail.url })
  const row = `${list('Reports by e-mail')} li`
  await page.click(`${row} >> text=Send one now`)
  await page.waitForSelector(`${row}:has-text("is being sent")`)
  expect(await page.isDisabled(`${row} >> text=Send one now`)).toBe(true)
  await stores.pg.query(
    "UPDATE report_recipients SET asked_at = now(), asked_state = 'failed', asked_failure = 'EAUTH 535'",
  )
  await page.waitForSelector(`${row} .bad:has-text("EAUTH 535")`)
  await page.click(`${row} >> text=Send one now`)
  await page.waitForSelector(`${list('Reports by e-mail')} [role="alert"]:has-text("less than a minute ago")`)
})

test('alerts are set, refused beyond their bounds, and turned off', async (context) => {
  const page = await signIn(context, '/dashboard/settings')
  const section = list('Traffic alerts')
  const set = async (name: string, value: string) => {
    await page.click('text=Set alerts')
    await page.fill(`dialog [name="${name}"]`, value)
    await page.keyboard.press('Enter')
  }
  await set('spike_visitors', '2000000')
  await page.waitForSelector('dialog [role="alert"]')
  await look(page, 'alerts-form')
  await page.fill('dialog [name="spike_visitors"]', '1200')
  await page.fill('dialog [name="drop_hours"]', '1')
  await page.keyboard.press('Enter')
  await page.waitForSelector(`${section}:has-text("from 1,200 visitors within five minutes")`)
  await page.waitForSelector(`${section}:has-text("after 1 hour without a visitor")`)
  await stores.pg.query("UPDATE traffic_alerts SET told_at = '2026-11-20T12:00:00Z' WHERE kind = 'spike'")
  await set('spike_visitors', '')
  await page.waitForSelector(`${section}:has-text("off, the last one")`)
})

test('the company profile is generated from pages that are named here, with a quote for each claim', async (context) => {
  const sites = await startCompanySites()
  const agent = makeGuardedAgent({ allowPrivate: true, connectMs: 5_000 })
  try {
    const page = await signIn(context, '/dashboard/company', { at: withMail.url })
    await page.waitForSelector('h2:text-is("Company profile")')
    expect(await page.locator('text=Generate again').count()).toBe(0)
    await page.fill('textarea', 'ftp://example.com/')
    await page.click('text=Save the pages')
    await page.waitForSelector('[role="alert"]:has-text("Public pages 1: ")')
    const letGo = await holdRequests(page, '**/company-profile/sources')
    await page.fill('textarea', `${sites.url}/shop`)
    await page.click('text=Save the pages')
    await page.fill('textarea', `${sites.url}/shop\nhttps://www.exa`)
    letGo()
    await page.waitForSelector('[role="status"]:text-is("The profile is being generated.")')
    expect(await page.inputValue('textarea')).toBe(`${sites.url}/shop\nhttps://www.exa`)
    const generating = {
      ...stores,
      clock: systemClock,
      log: makeLog('test', 'silent'),
      apiHost: 'http://api.test',
      fetching: { agent, allowPrivate: true },
    }
    await generateNext(generating, new AbortController().signal)
    await page.waitForSelector('section[aria-label="Evidence"] li:has(strong:text-is("Calls to action")) blockquote')
    await page.waitForSelector('button:text-is("Generate again"):not([disabled])')
    await page.waitForSelector('form [role="status"]:has-text("Generated ")')
    await look(page, 'company')
  } finally {
    await agent.close()
    await sites.close()
  }
})
