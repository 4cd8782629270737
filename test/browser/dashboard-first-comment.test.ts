/** A first comment in the dashboard: written, previewed, copied, published, and why one wasn't. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, setUpDashboard } from '../support/dashboard.ts'
import { endedPost, reschedule, runPublisher } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)

test('a first comment is written and previewed for networks that have one, and a refused one is told of', async (context) => {
  for (const platform of ['linkedin', 'x'] as const) await makeAccount(stores, mine.workspaceId, platform)
  const page = await signIn(context, '/dashboard/posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Sale')
  await page.getByLabel('Caption', { exact: true }).fill('One')
  const account = (platform: string) => page.locator(`label.choice:has(.label:text-is("${platform}")) input`)
  await account('x').check()
  const field = page.getByLabel('First comment, under the post')
  expect(await field.count()).toBe(0)
  await account('linkedin').check()
  await field.fill('<b>All of it</b> [simulate:fail]')
  const preview = list('Preview')
  await page.waitForSelector(`${preview} li:has-text("First comment 32 of 1250"):has-text("<b>All of it</b>")`)
  await page.waitForSelector(`${preview} li:has-text("warning: No first comment is published on X")`)
  await account('x').uncheck()
  await page.click('button:text-is("Save the draft")')
  await page.click('summary:has-text("Sale")')
  await page.click('button:text-is("Duplicate")')
  await page.waitForSelector('text=A draft was made of it.')
  const posts = (await ask<ShownPost[]>('GET', '/v1/posts')).body
  expect(posts.map(({ first_comment }) => first_comment)).toEqual(Array(2).fill('<b>All of it</b> [simulate:fail]'))

  const publisher = runPublisher(stores)
  const id = posts[1]!.id
  await reschedule(ask, id, 'schedule')
  expect((await endedPost(ask, id)).status).toBe('published')
  await page.reload()
  await page.click('summary:has-text("Sale"):has-text("published")')
  await page.waitForSelector(
    '.target:has-text("published"):has-text("The first comment failed: The caption asks for a failure")',
  )
  await publisher.close()
})
