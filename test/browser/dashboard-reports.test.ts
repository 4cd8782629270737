import { expect, test } from 'vitest'
import { insertReportRecipient } from '../../postgres/tables/report-recipients.ts'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const withMail = setUpApi({ apiHost: 'http://127.0.0.1', isMailSetUp: true })
const signIn = setUpDashboard({ stores, api, mine })
const signInWithMail = setUpDashboard(withMail)

test('a recipient of reports is added by keyboard, refused a second time, and removed; that mail is not set up is said', async (context) => {
  const page = await signIn(context)
  await page.goto(`${api.url}/dashboard/settings`)
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
  await add()
  await page.waitForSelector('dialog [role="alert"]:has-text("already")')
  await look(page, 'recipient-form')
  expect(await page.isVisible('text=Send one now')).toBe(false)
  await page.keyboard.press('Escape')
  await stores.pg.query("UPDATE report_recipients SET state = 'failed'")
  await page.reload()
  // An answer that comes before the change is made doesn't turn the switch back.
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/report-recipients/*', (route) => held.then(() => route.continue()))
  const [alerts, failures] = [`${section} [aria-label^="Traffic alerts"]`, `${section} [aria-label^="Failed posts"]`]
  await page.check(alerts)
  const answered = page.waitForResponse((response) => response.url().endsWith('/report-recipients'))
  await page.evaluate("dispatchEvent(new Event('online'))")
  await (await answered).finished()
  expect(await page.isChecked(alerts)).toBe(true)
  letGo()
  const switches = () => stores.pg.query('SELECT alerts, failures FROM report_recipients')
  await expect.poll(switches).toEqual([{ alerts: true, failures: false }])
  await page.check(failures)
  await expect.poll(switches).toEqual([{ alerts: true, failures: true }])
  await page.waitForSelector(`${section} .bad:has-text("couldn’t be sent")`)
  expect(await page.isVisible(hour)).toBe(true)
  await look(page, 'recipients')
  await page.click(`${section} >> text=Remove`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${section} li`, { state: 'detached' })
  expect(await stores.pg.query('SELECT 1 FROM report_recipients')).toEqual([])
})

test('a report is sent on demand, and the page says how that ended', async (context) => {
  const { stores, api, mine } = withMail
  const own = { workspaceId: mine.workspaceId, email: 'reader@example.com', every: 'weekly' } as const
  await insertReportRecipient(stores.pg, { ...own, createdAt: new Date() })
  const page = await signInWithMail(context)
  await page.goto(`${api.url}/dashboard/settings`)
  const row = `${list('Reports by e-mail')} li`
  await page.click(`${row} >> text=Send one now`)
  await page.waitForSelector(`${row}:has-text("is being sent")`)
  expect(await page.isDisabled(`${row} >> text=Send one now`)).toBe(true)
  await stores.pg.query("UPDATE report_recipients SET asked_state = 'failed', asked_failure = 'EAUTH 535'")
  await page.waitForSelector(`${row} .bad:has-text("EAUTH 535")`)
  await look(page, 'recipient-failed')
  await page.click(`${row} >> text=Send one now`)
  await page.waitForSelector(`${list('Reports by e-mail')} [role="alert"]:has-text("less than a minute ago")`)
})

test('alerts are set, refused beyond their bounds, and turned off', async (context) => {
  const page = await signIn(context)
  await page.goto(`${api.url}/dashboard/settings`)
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
  await look(page, 'alerts')
  await stores.pg.query("UPDATE traffic_alerts SET told_at = '2026-11-20T12:00:00Z' WHERE kind = 'spike'")
  await set('spike_visitors', '')
  await page.waitForSelector(`${section}:has-text("off, the last one")`)
})
