/** A thread in the dashboard: written, previewed, tracked, published in part and as a whole. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { png } from '../support/media-files.ts'
import { reschedule, runPublisher } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)

test('a thread is written by keyboard with the preview of its networks, and its parts are shown as they are published', async (context) => {
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  await makeAccount(stores, mine.workspaceId, 'linkedin')
  const page = await signIn(context)
  await page.click('nav >> text=Posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Story')
  await page.getByLabel('Caption', { exact: true }).fill('One')
  const account = (platform: string) => page.locator(`label.choice:has(.label:text-is("${platform}")) input`)
  await account('x').check()
  const part = (number: number) => page.getByLabel(`Part ${number}`, { exact: true })
  await page.focus('button:text-is("Add to thread")')
  await page.keyboard.press('Enter')
  await page.keyboard.type('Two <b>https://example.com/two</b>')
  await page.click('button:text-is("Add to thread")')
  await page.keyboard.type('3'.repeat(281))
  await page.waitForSelector('.part:has-text("Part 3"):has-text("281 characters")')
  const preview = list('Preview')
  await page.waitForSelector(`${preview} li:has-text("281 of 280"):has-text("Two <b>https://example.com/two</b>")`)
  await page.waitForSelector(`${preview} >> text=error: X takes captions of at most 280 characters, part 3 has 281`)
  await account('linkedin').check()
  await page.waitForSelector(`${preview} >> text=error: LinkedIn takes no threads, only the caption`)
  await account('linkedin').uncheck()
  await page.click('summary:has-text("Files and other texts of part 3")')
  await page.fill('text=Another text of part 3 for x', 'Three, for X')
  await page.waitForSelector(`${preview} li:has-text("12 of 280"):has-text("Three, for X")`)
  const files = page.getByRole('group', { name: 'Images and videos of part 3' })
  await files.getByLabel('File').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png() })
  await page.click('button:text-is("Save the draft")')
  await page.waitForSelector('[role="alert"]:has-text("Add the chosen file first")')
  await files.getByText('Add the file').click()
  await files.locator('img').waitFor()
  await page.waitForSelector(`${preview} li:has-text("12 of 280, 1 file")`)
  await page.waitForSelector(`${preview} >> text=warning: Part 3: The image has no alternative text`)
  await look(page, 'thread')

  // The focus goes to the part before, and an empty part isn't sent.
  await files.getByLabel('File').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png() })
  await page.click('[aria-label="Remove part 3"]')
  await page.waitForSelector('text=Part 3', { state: 'detached' })
  expect(await page.evaluate('document.activeElement.value')).toBe(await part(2).inputValue())
  await page.click('button:text-is("Add to thread")')
  await page.click('button:text-is("Add to thread")')
  await page.keyboard.type('Four [simulate:fail]')
  await page.click('summary:has-text("Files and other texts of part 4")')
  await page.fill('text=Another text of part 4 for x', 'Four for X https://example.com/four [simulate:fail]')
  const fourth = page.getByRole('group', { name: 'Images and videos of part 4' })
  await fourth.getByLabel('File').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png() })
  await fourth.getByLabel('What it shows').fill('A dot')
  await fourth.getByText('Add the file').click()
  await fourth.locator('img').waitFor()
  await page.click('button:text-is("Track the links")')
  await expect.poll(() => part(2).inputValue()).toMatch(/^Two <b>http\S+\/l\/\w{8}<\/b>$/)
  await page.click('button:text-is("Save the draft")')
  await page.click('summary:has-text("Story")')
  const [post] = (await ask<ShownPost[]>('GET', '/v1/posts')).body
  const own = expect.stringMatching(/^Four for X http\S+\/l\/\w{8} \[simulate:fail\]$/)
  expect(post!.thread).toEqual([
    { text: expect.stringMatching(/\/l\/\w{8}<\/b>$/), media_ids: [], platform_captions: {} },
    { text: 'Four [simulate:fail]', media_ids: [expect.any(Number)], platform_captions: { x: own } },
  ])
  await page.waitForSelector('.part-shown:has-text("Four [simulate:fail]")')

  const publisher = runPublisher(stores)
  const ended = async (status: string) => {
    await expect
      .poll(async () => (await ask<ShownPost>('GET', `/v1/posts/${post!.id}`)).body.status, { timeout: 30_000 })
      .toBe(status)
    await page.reload()
    await page.click(`summary:has-text("Story"):has-text("${status}")`)
  }
  try {
    await reschedule(ask, post!.id, 'schedule')
    await ended('failed')
    await page.waitForSelector(
      'li.event:has-text("2 of 3 parts"):has-text("Part 3 of 3, the 2 before are published: ")',
    )
    const later = { scheduled_at: '2100-03-01T09:30:00Z' }
    await ask('POST', `/v1/posts/${post!.id}/schedule`, later)
    await page.reload()
    await page.click('summary:has-text("Story")')
    await page.click('button:text-is("Edit")')
    await part(3).fill('Four')
    await page.click('summary:has-text("Files and other texts of part 3 (1 file, x)")')
    await page.fill('text=Another text of part 3 for x', '')
    await page.click('button:text-is("Save")')
    await page.waitForSelector('.part-shown:has-text("Four (1 file)")')
    await reschedule(ask, post!.id)
    await ended('published')
    await page.waitForSelector('li.event:has-text("3 of 3 parts")')
  } finally {
    await publisher.close()
  }
  const { targets } = (await ask<ShownPost>('GET', `/v1/posts/${post!.id}`)).body
  const parts = Array(3).fill(expect.objectContaining({ url: expect.stringMatching(/^https:/) }))
  expect(targets).toMatchObject([{ social_account_id: x, publish_result: { parts } }])
})
