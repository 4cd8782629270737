/** Posting times of the dashboard, and posts that join the queue. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard, withoutPolls } from '../support/dashboard.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)

const times = async () => (await ask('GET', '/v1/posting-times')).body
const postOf = async (title: string) => {
  const { body } = await ask<ShownPost[]>('GET', '/v1/posts')
  const { status, scheduled_at } = body.find((post) => post.title === title)!
  return [status, scheduled_at]
}

test('posting times are set by keys, and posts take the free ones: from the list, the editor and the calendar', async (context) => {
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  const idea = {
    title: 'Idea',
    base_caption: 'a',
    social_account_ids: [account],
    scheduled_at: '2040-01-01T09:00:00.000Z',
  }
  await ask('POST', '/v1/posts', idea)
  const page = await signIn(context)
  await withoutPolls(page)
  await page.goto(`${api.url}/dashboard/posts`)
  await page.click('summary:has-text("Idea")')
  await page.click('text=Set posting times')
  await page.selectOption('dialog select', { label: 'Monday to Friday' })
  await page.fill('dialog input', '17:30')
  await page.press('dialog input', 'Enter')
  await page.waitForSelector('dialog [aria-label^="Remove 5:30"][aria-label$="PM on Friday"]')
  await page.selectOption('dialog select', { label: 'Sunday' })
  await page.click('dialog button:text-is("Add")')
  await page.press('dialog [aria-label^="Remove 5:30"][aria-label$="PM on Monday"]', 'Enter')
  await page.waitForSelector('dialog [aria-label^="Remove 5:30"][aria-label$="PM on Monday"]', { state: 'detached' })
  await look(page, 'posting-times')
  await page.keyboard.press('Escape')
  const { times: set, free } = await times()
  expect(set).toEqual([2, 3, 4, 5, 7].map((weekday) => ({ weekday, time: '17:30' })))

  await page.click(`${list('Posts')} >> text=Add to queue`)
  await page.waitForSelector('[role="status"]:has-text("It goes out")')
  expect(await postOf('Idea')).toEqual(['scheduled', free[0]])
  const target = (status: string) => page.waitForSelector(`${list('Posts')} li.event:has-text("${status}")`)
  await target('scheduled')
  await page.click('text=Undo')
  await target('draft')
  await expect.poll(() => postOf('Idea')).toEqual(['draft', idea.scheduled_at])

  await page.click('text=Write a post')
  await page.fill('text=Title', 'News')
  await page.fill('form >> text=Caption', 'b')
  await page.check('form fieldset input[type="checkbox"]')
  await page.click('form >> text=Add to queue')
  await page.waitForSelector('summary:has-text("News"):has-text("scheduled")')
  expect(await postOf('News')).toEqual(['scheduled', free[0]])

  // The sixth free time is of another week, to which the calendar turns.
  for (const at of free.slice(1, 5)) {
    const { body } = await ask<ShownPost>('POST', '/v1/posts', { ...idea, title: 'Other' })
    await ask('POST', `/v1/posts/${body.id}/schedule`, { scheduled_at: at })
  }
  const [day, next] = [free[5].slice(0, 10), free[6].slice(0, 10)]
  await page.goto(`${api.url}/dashboard/posts?view=week&day=2040-01-01`)
  await page.click('.chip:has-text("Idea")')
  await page.click('dialog >> text=Add to queue')
  await page.waitForURL(`**/dashboard/posts?view=week&day=${day}`)
  await page.waitForSelector(`[data-day="${day}"] .chip.scheduled:has-text("Idea")`)
  expect(await postOf('Idea')).toEqual(['scheduled', free[5]])
  await page.keyboard.press('Escape')
  await page.goto(`${api.url}/dashboard/posts?view=week&day=${next}`)
  await look(page, 'free-times')
  await page.click(`[data-day="${next}"] .chip.free`)
  expect(await page.inputValue('input[type="datetime-local"]')).toBe(`${next}T17:30`)
})

test('a post that can’t go out is kept as a draft, and the form says so once, in its own words', async (context) => {
  await makeAccount(stores, mine.workspaceId, 'instagram')
  const page = await signIn(context)
  await page.goto(`${api.url}/dashboard/posts`)
  await page.click('text=Write a post')
  await page.fill('text=Title', 'No image')
  await page.fill('form >> text=Caption', 'c')
  await page.check('form label:has-text("instagram") input')
  await page.fill('form input[type="datetime-local"]', '2100-03-01T09:30')
  await page.waitForSelector('[aria-label="Preview"] >> text=needs an image')
  await page.click('form button:text-is("Schedule")')
  const refused = page.locator('form [role="alert"]')
  await expect
    .poll(() => refused.allTextContents())
    .toEqual([
      expect.stringMatching(/^Saved as a draft, but not scheduled: Images and videos: Instagram needs an image/),
    ])
  expect(await page.getByText('needs an image').count()).toBe(1)
  await page.waitForSelector('form h2:text-is("Change the post")')
  await page.waitForSelector('summary:has-text("No image"):has-text("draft")')
  await page.fill('form input[type="datetime-local"]', '2020-03-01T09:30')
  await page.click('form button:text-is("Schedule")')
  await page.waitForSelector('form [role="alert"]:has-text("Time: ")')
})
