/** Approval in the dashboard: a contributor asks, and whoever may publish sees it, sends it back, and approves. */
import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { askAnew, holdRequests, setUpDashboard } from '../support/dashboard.ts'
import { setUpMembers } from '../support/members.ts'
import { asking, makeAccount } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const { makeMember } = setUpMembers({ stores, api })
const ask = asking(api, () => mine.apiKey)

test('a post whose approval takes it off the calendar isn’t open once all posts are shown', async (context) => {
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  const writer = await makeMember(mine, 'contributor')
  const post = { title: 'Fair', base_caption: 'C', social_account_ids: [account], scheduled_at: '2099-05-04T09:00:00Z' }
  const made = (await writer.ask('POST', '/posts', post)).body as { id: number }
  await writer.ask('POST', `/posts/${made.id}/submit`)
  const page = await signIn(context, '/dashboard/posts?view=month&day=2099-05-01&review=waiting')
  await page.click('.chip:has-text("Fair")')
  await page.click('dialog button:text-is("Approve")')
  await page.waitForSelector('dialog', { state: 'detached' })
  await page.click('button:text-is("Waiting for approval")')
  await page.waitForSelector('.chip.scheduled:has-text("Fair")')
  expect(await page.locator('dialog').count()).toBe(0)
})

test('a contributor writes a draft and asks for approval; the owner sees the count, sends it back, and approves it', async (context) => {
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  const writer = await makeMember(mine, 'contributor')
  const page = await signIn(context, '/dashboard/posts')
  await page.waitForSelector('button:text-is("Posting times")')

  // One browser sees both sides, by the one session and the other.
  const ofOwner = await page.context().cookies()
  const [name, value] = writer.cookie.split('=') as [string, string]
  await page.context().addCookies([{ name, value, url: api.url }])
  await page.reload()
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Sale')
  await page.getByLabel('Caption', { exact: true }).fill('One')
  await page.locator('label.choice input').check()
  await page.fill('text=Time, in', '2099-05-01T09:00')
  for (const name of ['Schedule', 'Add to queue', 'Publish now']) {
    expect(await page.locator(`button:text-is("${name}")`).count()).toBe(0)
  }
  await page.click('form button:text-is("Ask for approval")')
  await page.waitForSelector('summary:has-text("Sale"):has-text("waiting for approval")')
  await page.click('summary:has-text("Sale")')
  await page.waitForSelector('text=Waiting for approval: asked for by')
  await page.waitForSelector('button:text-is("Take the request back")')
  expect(await page.locator('nav >> text=Posts').textContent()).toBe('Posts')
  await ask('POST', '/v1/posts', { title: 'Other', base_caption: 'C', social_account_ids: [account] })

  await page.context().addCookies(ofOwner)
  await page.reload()
  await page.waitForSelector('nav a:has-text("Posts 1")')
  await page.waitForSelector('summary:has-text("Other")')
  await page.click('button:text-is("Waiting for approval")')
  await page.waitForSelector('summary:has-text("Other")', { state: 'detached' })
  await page.click('summary:has-text("Sale")')
  await page.click('button:text-is("Send back")')
  await page.fill('dialog textarea', 'Shorter <b>')
  await page.click('dialog button:text-is("Send back")')
  await page.waitForSelector('text=None waits for approval.')
  // No archived post waits: the choice is off there, and leads back out of the archive.
  await page.click('button:text-is("Archived")')
  await page.waitForSelector('text=None is archived.')
  await page.click('button:text-is("Waiting for approval")[aria-pressed="false"]')
  await page.waitForSelector('text=None waits for approval.')
  await page.click('button:text-is("Waiting for approval")')
  await page.click('summary:has-text("Sale")')
  await page.waitForSelector('.note:has-text("Sent back by"):has-text("Shorter <b>")')

  const [, sale] = (await ask('GET', '/v1/posts')).body
  await writer.ask('POST', `/posts/${sale.id}/submit`)
  await askAnew(page)
  await page.waitForSelector('button:text-is("Approve")')
  // A text that comes as the button is pressed isn't approved unseen.
  const changeFirst = async (route: Route) => {
    await writer.ask('PATCH', `/posts/${sale.id}`, { base_caption: 'Two' })
    await route.continue()
  }
  await page.route('**/schedule', changeFirst, { times: 1 })
  await page.click('button:text-is("Approve")')
  await page.waitForSelector(`text=The post was changed by ${writer.email} since it was read`)
  await page.waitForSelector('p.caption:has-text("Two")')
  // The time is that of the version that is approved, though the list doesn't have it yet.
  const letGo = await holdRequests(page, '**/api/v1/posts?*')
  const later = { base_caption: 'Three', scheduled_at: '2099-06-01T09:00:00Z' }
  await writer.ask('PATCH', `/posts/${sale.id}`, later)
  await askAnew(page)
  await page.waitForSelector('p.caption:has-text("Three")')
  await page.click('button:text-is("Approve")')
  letGo()
  await page.waitForSelector('summary:has-text("Sale"):has-text("scheduled")')
  const approved = (await ask('GET', `/v1/posts/${sale.id}`)).body
  expect([approved.status, approved.scheduled_at.slice(0, 10), approved.review]).toEqual([
    'scheduled',
    '2099-06-01',
    null,
  ])
})

test('a reason that is being written stays as the post is approved by somebody else, and sending it says so', async (context) => {
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  const writer = await makeMember(mine, 'contributor')
  const post = { title: 'Kept', base_caption: 'C', social_account_ids: [account], scheduled_at: '2099-05-04T09:00:00Z' }
  const made = (await writer.ask('POST', '/posts', post)).body as { id: number }
  await writer.ask('POST', `/posts/${made.id}/submit`)
  const page = await signIn(context, '/dashboard/posts?review=waiting')
  await page.click('summary:has-text("Kept")')
  await page.click('button:text-is("Send back")')
  await page.fill('dialog textarea', 'Shorter')
  await ask('POST', `/v1/posts/${made.id}/schedule`, { scheduled_at: post.scheduled_at })
  const read = page.waitForResponse(`**/api/v1/posts/${made.id}`)
  await askAnew(page)
  await read
  expect(await page.inputValue('dialog textarea')).toBe('Shorter')
  await page.click('dialog button:text-is("Send back")')
  await page.waitForSelector('dialog [role="alert"]')
})
