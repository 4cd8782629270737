/** Texts of posts in the dashboard: tracked links, of their own for each network, and first comments. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { endedPost, reschedule, runPublisher } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)

interface Made {
  readonly destination_url: string
  readonly social_account_id: number | null
  readonly post_id: number
  readonly label: string
  readonly post_url: string
}

test('each network of a post gets links of its own where that is asked for, in texts of its own, and the texts for all stay', async (context) => {
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  const linkedin = await makeAccount(stores, mine.workspaceId, 'linkedin')
  for (const _ of [1, 2]) await makeAccount(stores, mine.workspaceId, 'bluesky')
  const page = await signIn(context, '/dashboard/posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Launch')
  const caption = 'Open: https://example.com/open?utm_source=mail, again https://example.com/open?utm_source=mail'
  await page.getByLabel('Caption', { exact: true }).fill(caption)
  await page.click('button:text-is("Add to thread")')
  await page.keyboard.insertText('More at https://example.com/more.')
  const accounts = (platform: string) => page.locator(`label.choice:has(.label:text-is("${platform}")) input`)
  await accounts('x').check()
  const split = page.getByLabel('with links of their own for each network')
  expect(await split.count()).toBe(0)
  for (const at of [0, 1]) await accounts('bluesky').nth(at).check()
  expect(await split.isChecked()).toBe(false)
  await page.fill(`${list('Preview')} >> text=Another caption for bluesky`, 'Blue: https://example.com/blue')
  await accounts('linkedin').check()
  await page.getByLabel('First comment').fill('First: https://example.com/first')
  await split.check()
  await page.click('button:text-is("Track the links")')
  await expect.poll(() => page.getByLabel('First comment').inputValue()).toContain('/l/')
  // The texts are shown, and saved a moment later.
  await page.waitForSelector('button[aria-disabled="false"]:text-is("Track the links")')
  await look(page, 'track-links')

  const { body: made } = await ask<Made[]>('GET', '/v1/links')
  const [post] = (await ask<ShownPost[]>('GET', '/v1/posts')).body
  const linkOf = (destination: string, account: number | null) =>
    made.find(
      (one) => one.destination_url === `https://example.com/${destination}` && one.social_account_id === account,
    )!
  const [open, more] = [linkOf('open?utm_source=mail', x), linkOf('more', x)]
  const [blue, moreBlue] = [linkOf('blue', null), linkOf('more', null)]
  const [openLinkedin, first] = [linkOf('open?utm_source=mail', linkedin), linkOf('first', null)]
  expect(made).toHaveLength(7)
  expect(new Set(made.map(({ post_id }) => post_id))).toEqual(new Set([post!.id]))
  expect(more.label).toMatch(/^Launch: x handle-\d+: example\.com\/more$/)
  expect(blue.label).toBe('Launch: bluesky: example.com/blue')
  expect(post!.base_caption).toBe(caption)
  const captions = new Map(post!.targets.map(({ platform, caption_override: own }) => [platform, own]))
  expect(Object.fromEntries(captions)).toEqual({
    x: `Open: ${open.post_url}, again ${open.post_url}`,
    linkedin: `Open: ${openLinkedin.post_url}, again ${openLinkedin.post_url}`,
    bluesky: `Blue: ${blue.post_url}`,
  })
  const own = {
    x: `More at ${more.post_url}.`,
    bluesky: `More at ${moreBlue.post_url}.`,
    linkedin: `More at ${linkOf('more', linkedin).post_url}.`,
  }
  expect(post!.first_comment).toBe(`First: ${first.post_url}`)
  expect(post!.thread).toMatchObject([{ text: 'More at https://example.com/more.', platform_captions: own }])

  await page.click('button:text-is("Track the links")')
  await page.waitForSelector('[role="alert"]:has-text("no address that isn’t tracked")')

  // A post to one account has its links, in the text for all.
  for (const at of [0, 1]) await accounts('bluesky').nth(at).uncheck()
  await accounts('linkedin').uncheck()
  expect(await split.count()).toBe(0)
  // It shows a text of its own in the thread, so the address in the text for all gets no link.
  await page.fill(`${list('Preview')} >> text=Another caption for x`, '')
  // No link leads to a short domain, though none stands under it.
  await ask('POST', '/v1/domains', { host: 'go.example.com' })
  await page.getByLabel('Caption', { exact: true }).fill('At https://go.example.com, one: https://example.com/one')
  await page.click('button:text-is("Track the links")')
  await expect
    .poll(() => page.getByLabel('Caption', { exact: true }).inputValue())
    .toMatch(/^At https:\/\/go\.example\.com, one: http\S+\/l\/\w{8}$/)
  const [newest, ...others] = (await ask<Made[]>('GET', '/v1/links')).body
  expect([newest!.social_account_id, newest!.destination_url]).toEqual([x, 'https://example.com/one'])
  expect(others).toHaveLength(7)
})

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
  await page.waitForSelector(`${preview} li:has-text("First comment 32 of 1,250"):has-text("<b>All of it</b>")`)
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
