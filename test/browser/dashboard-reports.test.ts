import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })

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
  await page.keyboard.press('Escape')
  await stores.pg.query("UPDATE report_recipients SET state = 'failed'")
  await page.reload()
  await page.waitForSelector(`${section} .bad:has-text("couldn’t be sent")`)
  expect(await page.isVisible(hour)).toBe(true)
  await look(page, 'recipients')
  await page.click(`${section} >> text=Remove`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${section} li`, { state: 'detached' })
  expect(await stores.pg.query('SELECT 1 FROM report_recipients')).toEqual([])
})
