/** Feeds in the dashboard: previewed, added, paused and deleted; a post of one names it. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { holdRequests, setUpDashboard } from '../support/dashboard.ts'
import { makeFeedReader, rssOf, serve } from '../support/feeds.ts'
import { asking, makeAccount } from '../support/publishing.ts'
import { setUpReceiver } from '../support/receiver.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1', allowPrivateTargets: true })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)
const receiver = setUpReceiver()

test('a feed is previewed and added, its post names it, and it is paused, changed and deleted', async (context) => {
  const account = await makeAccount(stores, mine.workspaceId, 'bluesky')
  serve(receiver, {
    '/feed': { body: rssOf([{ id: 'a', title: 'Hello &lt;b>' }]) },
    '/site': { body: '<link rel="alternate" type="application/rss+xml" href="/feed">' },
  })
  const page = await signIn(context, '/dashboard/posts')
  await page.click('button:text-is("Feeds")')
  await page.waitForSelector('text=No feed yet.')
  await page.click('button:text-is("Add a feed")')
  const form = page.locator('dialog[aria-label="Add a feed"]')
  await form.getByLabel('Address of the feed').fill(`${receiver.url}/none`)
  await form.locator('button:text-is("Preview")').click()
  await form.locator('.failure:has-text("The feed answered with status 404")').waitFor()
  // A site's address gives way to its feed's, unless another one was written meanwhile.
  const address = form.getByLabel('Address of the feed')
  const letGo = await holdRequests(page, '**/feeds/preview')
  await address.fill(`${receiver.url}/site`)
  await form.locator('button:text-is("Preview")').click()
  await address.fill(`${receiver.url}/site#`)
  letGo()
  await form.locator('.caption').waitFor()
  expect(await address.inputValue()).toBe(`${receiver.url}/site#`)
  await form.locator('textarea').fill('New: {title}')
  await form.locator('button:text-is("Preview")').click()
  await form.locator('.caption:has-text("New: Hello")').waitFor()
  expect(await address.inputValue()).toBe(`${receiver.url}/feed`)
  await form.locator('input[name="accounts"]').check()
  await form.getByLabel('The newest entry becomes a post now').check()
  await form.locator('button:text-is("Save")').click()
  const line = page.locator('dialog[aria-label="Feeds"] li')
  await line.locator('text=makes drafts, not read yet').waitFor()
  const [added] = (await ask('GET', '/v1/feeds')).body
  expect(added).toMatchObject({ social_account_ids: [account], template: 'New: {title}', mode: 'draft' })

  await makeFeedReader(stores).look()
  await line.locator('text=A blog').waitFor()
  await line.locator('text=/, 1 post /').waitFor()
  await line.locator('button:text-is("Pause")').click()
  await line.locator('text=/paused, read/').waitFor()
  // The list of accounts is slower than whoever saves: those that were chosen stay.
  await page.route('**/api/v1/social-accounts', () => {})
  await line.locator('button:text-is("Change")').click()
  const change = page.locator('dialog[aria-label="Change a feed"]')
  await change.locator('select[name="mode"]').selectOption('queue')
  await change.locator('button:text-is("Save")').click()
  await expect.poll(async () => (await ask('GET', '/v1/feeds')).body[0].mode).toBe('queue')
  expect((await ask('GET', '/v1/feeds')).body[0].social_account_ids).toEqual([account])
  await page.unroute('**/api/v1/social-accounts')
  // Else Escape would close this dialog, and not the list's.
  await change.waitFor({ state: 'hidden' })
  await page.keyboard.press('Escape')
  await page.click('summary:has-text("Hello")')
  await page.waitForSelector('text=From the feed A blog')
  await page.click('button:text-is("Feeds")')
  await line.locator('button:text-is("Delete")').click()
  await page.click('dialog[aria-label="Delete this feed"] button.danger')
  await page.waitForSelector('text=No feed yet.')
})
