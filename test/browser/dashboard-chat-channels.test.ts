import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { addresses } from '../support/chat-server.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })

test('a chat channel is added, refused a second time, tried, changed, turned on again and removed; its address is not shown', async (context) => {
  const page = await signIn(context)
  await page.goto(`${api.url}/dashboard/settings`)
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
  await look(page, 'channels')
  await page.click(`${row} >> text=Change`)
  for (const report of ['weekly', 'monthly']) await page.uncheck(`dialog [value="${report}"]`)
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector(
    `${row}:has-text("alerts"):has-text("failed posts"):not(:has-text("weekly")):not(:has-text("monthly"))`,
  )
  await stores.pg.query("UPDATE chat_channels SET disabled_at = now(), failure = 'the chat answered 410'")
  await page.reload()
  await page.waitForSelector(`${row} .bad:has-text("turned off: the chat answered 410")`)
  expect(await page.isVisible('text=Send one now')).toBe(false)
  await look(page, 'channels-off')
  expect(await page.content()).not.toContain('SECRET')
  await page.click(`${row} >> text=Turn on`)
  await page.waitForSelector(`${row} >> text=Send one now`)

  await page.click(`${row} >> text=Remove`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${section} li`, { state: 'detached' })
  expect(await stores.pg.query('SELECT 1 FROM report_recipients')).toEqual([])
})
