/** What is begun in the dashboard and ends outside of it: a post that is published, and a link that somebody follows. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { setUpDashboard } from '../support/dashboard.ts'
import { setUpIngest } from '../support/ingest.ts'
import { runPublisher, soon } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const ingest = setUpIngest(stores)
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)

test('a post is written, scheduled, published and archived, and each state is shown', async (context) => {
  await makeAccount(stores, mine.workspaceId, 'x')
  const page = await signIn(context)
  await page.click('nav >> text=Posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Launch')
  const caption = page.getByLabel('Caption', { exact: true })
  await caption.fill('We are open (https://example.com/open?a=b), come: https://example.com/way.')
  await page.click('button:text-is("Track the links")')
  await expect
    .poll(() => caption.inputValue())
    .toMatch(/^We are open \(http\S+\/l\/\w{8}\), come: http\S+\/l\/\w{8}\.$/)
  await page.click('button:text-is("Track the links")')
  await page.waitForSelector('[role="alert"]:has-text("no address that isn’t tracked")')
  const [saved] = (await ask<{ base_caption: string }[]>('GET', '/v1/posts')).body
  expect(saved!.base_caption).toBe(await caption.inputValue())
  const made = await ask<{ destination_url: string; post_id: number }[]>('GET', '/v1/links')
  expect(made.body.map(({ destination_url: to, post_id }) => [to, typeof post_id])).toEqual([
    ['https://example.com/way', 'number'],
    ['https://example.com/open?a=b', 'number'],
  ])
  await page.check('input[type="checkbox"]')
  await page.fill('input[type="datetime-local"]', '2100-03-01T09:30')
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('summary:has-text("Launch"):has-text("scheduled")')
  const publisher = runPublisher(stores)
  try {
    const [post] = (await ask<ShownPost[]>('GET', '/v1/posts')).body
    // The form's times are minutes, which nobody waits for here.
    await ask('POST', `/v1/posts/${post!.id}/reschedule`, { scheduled_at: soon() })
    await expect
      .poll(async () => (await ask<ShownPost>('GET', `/v1/posts/${post!.id}`)).body.status, { timeout: 30_000 })
      .toBe('published')
  } finally {
    await publisher.close()
  }
  await page.reload()
  await page.click('summary:has-text("Launch"):has-text("published")')
  await page.waitForSelector('section[aria-label="Posts"] li.event:has-text("x"):has-text("published")')

  await page.click('text=Write a post')
  await page.fill('text=Title', 'Not yet')
  await page.getByLabel('Caption', { exact: true }).fill('Soon')
  await page.click('button:text-is("Save the draft")')
  await page.click('summary:has-text("Not yet")')
  await page.click('button:text-is("Archive")')
  await page.waitForSelector('summary:has-text("Not yet")', { state: 'detached' })
  await page.click('section[aria-label="Posts"] >> button:text-is("Archived")')
  await page.click('summary:has-text("Not yet"):has-text("archived")')
  await page.waitForSelector('summary:has-text("Launch")', { state: 'detached' })
  await page.click('button:text-is("Delete")')
  await page.click('dialog button:text-is("Delete")')
  await page.waitForSelector('text=None is archived')
})

test('a link is made, followed by a browser, and the click is counted where it is shown', async (context) => {
  const page = await signIn(context)
  await page.click('nav >> text=Links')
  await page.fill('input[name="label"]', 'Spring')
  await page.fill('input[name="destination"]', `${api.url}/docs`)
  await page.click('text=Make a link')
  await page.click('section[aria-label="Links"] summary:has-text("Spring")')
  const shortUrl = (await page.textContent('p.label:has-text("/l/")'))!
  await page.waitForSelector('section[aria-label="Days"] figcaption:has-text("most in a day: 0")')

  const visitor = await page.context().newPage()
  // The product has one address for all services; here ingest has one of its own.
  await visitor.goto(`http://127.0.0.1:${ingest.port}${new URL(shortUrl).pathname}`)
  expect(visitor.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/docs\?.*utm_/)
  await ingest.shipped()
  await page.reload()
  await page.click('section[aria-label="Links"] summary:has-text("Spring"):has-text("1 click")')
  await page.waitForSelector('section[aria-label="Days"] figcaption:has-text("most in a day: 1")')
})
