/** Posts on the days of the dashboard's calendar: put there by mouse and by keyboard, refused, taken back. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { monthAfter } from '../../web/dashboard/parts/calendar-days.ts'
import { setUpApi } from '../support/api.ts'
import {
  askAnew,
  goBy,
  goWithin,
  holdRequests,
  look,
  setUpDashboard,
  violations,
  withClockAhead,
} from '../support/dashboard.ts'
import { asking, makeAccount } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })

/** Days of a month that is to come, whatever today is. */
const month = monthAfter(new Date().toISOString().slice(0, 10), 2).slice(0, 7)
const day = (date: number) => `${month}-${String(date).padStart(2, '0')}`
const cell = (on: string) => `.calendar [data-day="${on}"]`

const asked = asking(api, () => mine.apiKey)
async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const answer = await asked<Answer>(body === undefined ? 'GET' : 'POST', `/v1${path}`, body)
  expect([path, answer.status]).toEqual([path, 200])
  return answer.body
}

async function makePost(title: string, scheduled_at?: string): Promise<number> {
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  const post = { title, base_caption: title, social_account_ids: [account] }
  const { id } = await ask<{ id: number }>('/posts', post)
  if (scheduled_at !== undefined) await ask(`/posts/${id}/schedule`, { scheduled_at })
  return id
}

const stateOf = async (id: number) => {
  const { status, scheduled_at } = await ask<{ status: string; scheduled_at: string | null }>(`/posts/${id}`)
  return [status, scheduled_at]
}
const drag = (page: Page, title: string, on: string) =>
  page.locator(`.chip:has-text("${title}")`).dragTo(page.locator(cell(on)))

test('the month and its today are those of the service, where the browser’s clock is months ahead', async (context) => {
  const page = await signIn(context, '/dashboard/posts?view=month', {
    before: (page) => withClockAhead(page, 100 * 86_400_000),
  })
  const today = await page.getAttribute('.calendar [aria-current="date"]', 'data-day')
  expect(Math.abs(Date.parse(today!) - Date.now())).toBeLessThan(2 * 86_400_000)
})

test('a post is dragged to another day, taken back, and refused where it isn’t ready or the day is over', async (context) => {
  const scheduled = await makePost('Launch', `${day(10)}T09:30:00Z`)
  const draft = await makePost('Idea')
  const page = await signIn(context, `/dashboard/posts?view=month&day=${day(1)}`)
  await page.waitForSelector(`${cell(day(10))} .chip:has-text("Launch")`)
  await drag(page, 'Launch', day(17))
  await page.waitForSelector(`${cell(day(17))} .chip:has-text("9:30 AM Launch")`)
  await expect.poll(() => stateOf(scheduled)).toEqual(['scheduled', `${day(17)}T09:30:00.000Z`])
  await page.click('text=Undo')
  await page.waitForSelector(`${cell(day(10))} .chip:has-text("Launch")`)
  await expect.poll(() => stateOf(scheduled)).toEqual(['scheduled', `${day(10)}T09:30:00.000Z`])

  // Undo takes back no move that somebody else made since.
  await drag(page, 'Launch', day(17))
  await expect.poll(() => stateOf(scheduled)).toEqual(['scheduled', `${day(17)}T09:30:00.000Z`])
  await page.waitForSelector('text=Undo')
  await ask(`/posts/${scheduled}/reschedule`, { scheduled_at: `${day(18)}T09:30:00Z` })
  await page.click('text=Undo')
  await page.waitForSelector('[role="alert"]:has-text("The post was changed by ")')
  expect(await stateOf(scheduled)).toEqual(['scheduled', `${day(18)}T09:30:00.000Z`])

  await drag(page, 'Idea', day(12))
  await page.waitForSelector(`${cell(day(12))} .chip.scheduled:has-text("9:00 AM Idea")`)
  await page.click('text=Undo')
  await expect.poll(async () => (await stateOf(draft))[0]).toBe('draft')

  // The answer about one post says nothing about another, whose own is still awaited.
  const letGo = await holdRequests(page, `**/posts/${scheduled}/reschedule`)
  await drag(page, 'Launch', day(20))
  await drag(page, 'Idea', day(12))
  await page.waitForSelector('text=It goes out on')
  await drag(page, 'Launch', day(21))
  letGo()
  await expect.poll(() => stateOf(scheduled)).toEqual(['scheduled', `${day(21)}T09:30:00.000Z`])
  expect(await page.locator('[role="alert"]').count()).toBe(0)

  await ask(`/posts/${scheduled}/unschedule`, {})
  await stores.pg.query("UPDATE social_accounts SET status = 'expired' WHERE workspace_id = $1", [mine.workspaceId])
  await page.reload()
  await drag(page, 'Launch', day(20))
  await page.waitForSelector('[role="alert"]:has-text("connected account")')
  await page.waitForSelector('.drafts .chip:has-text("Launch")')
  expect((await stateOf(scheduled))[0]).toBe('draft')

  const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10)
  await goWithin(page, `/dashboard/posts?view=week&day=${yesterday}`)
  await page.waitForSelector(`${cell(yesterday)}.over`)
  expect(await page.$(`${cell(yesterday)} [aria-label^="Write a post"]`)).toBeNull()
})

test('by keyboard alone: a post is moved by days, weeks and months, let go, and refused a day that is over', async (context) => {
  const id = await makePost('Launch', `${day(10)}T09:30:00Z`)
  const page = await signIn(context)
  await page.waitForSelector('.install')
  await goBy(page, 's')
  await page.waitForURL('**/dashboard/posts')
  await goWithin(page, `/dashboard/posts?view=month&day=${day(1)}`)
  await page.focus('.chip:has-text("Launch")')
  for (const key of ['Space', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key)
  await page.waitForSelector(`${cell(day(18))}.target`)
  await page.keyboard.press('Escape')
  expect(await page.$('.target')).toBeNull()
  for (const key of ['Space', 'ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
  await page.waitForSelector(`${cell(day(18))} .chip:has-text("Launch")`)
  await expect.poll(() => stateOf(id)).toEqual(['scheduled', `${day(18)}T09:30:00.000Z`])
  // It is still held by the focus: the next move begins where it stands.
  for (const key of ['Space', 'PageDown', 'Enter']) await page.keyboard.press(key)
  const later = monthAfter(day(18), 1)
  await page.waitForSelector(`${cell(later)} .chip:has-text("Launch")`)
  await expect.poll(() => stateOf(id)).toEqual(['scheduled', `${later}T09:30:00.000Z`])
  // It says so once the answer is there, which may come after the database has it.
  await page.waitForSelector('[role="status"]:has-text("It goes out on"):has-text("at 9:30 AM")')

  await page.focus('.chip:has-text("Launch")')
  for (const key of ['Space', 'PageUp', 'PageUp', 'PageUp', 'PageUp', 'Enter']) await page.keyboard.press(key)
  await page.waitForSelector('[role="alert"]:has-text("That day is over")')
  expect(await stateOf(id)).toEqual(['scheduled', `${later}T09:30:00.000Z`])
})

test('keys that are typed elsewhere move no post, and what is written in a dialog is lost to nobody', async (context) => {
  const id = await makePost('Launch', `${day(10)}T09:30:00Z`)
  const idea = await makePost('Idea')
  const page = await signIn(context, '/dashboard/posts?view=month')
  await page.focus('.chip:has-text("Idea")')
  await page.keyboard.press('Space')
  await page.waitForSelector('[role="status"]:has-text("Enter puts it there")')
  await page.click('text=Write a post')
  // Nor does the page go elsewhere.
  await page.focus('button:text-is("Today")')
  await page.keyboard.press('g')
  await page.getByLabel('Title').pressSequentially('So b')
  expect([await page.inputValue('text=Title'), new URL(page.url()).search]).toEqual(['So b', '?view=month'])
  expect(await stateOf(idea)).toEqual(['draft', null])
  page.once('dialog', (question) => question.accept())
  await page.click('form >> text=Close')

  await goWithin(page, `/dashboard/posts?view=month&day=${day(1)}`)
  await page.click('.chip:has-text("Launch")')
  await page.click('dialog >> text=Edit')
  await page.fill('dialog >> text=Title', 'Mine')
  await ask(`/posts/${id}/reschedule`, { scheduled_at: `${monthAfter(day(10), 2)}T09:30:00Z` })
  await askAnew(page)
  await page.waitForSelector('.chip:has-text("Launch")', { state: 'detached' })
  // The second Escape in a row closes a dialog, whatever was answered.
  for (let i = 0; i < 2; i++) {
    page.once('dialog', (question) => question.dismiss())
    await page.keyboard.press('Escape')
    expect(await page.inputValue('dialog[open] >> text=Title')).toBe('Mine')
  }
  page.once('dialog', (question) => question.accept())
  await page.click('dialog button:text-is("Close") >> nth=0')
  await page.waitForSelector('dialog', { state: 'detached' })
})

test('a finger holds a post and drags it; a draft that is taken back has its time again; newer posts hide none', async (context) => {
  const draft = await ask<{ id: number }>('/posts', {
    title: 'Idea',
    base_caption: 'a',
    scheduled_at: `${day(10)}T09:30:00Z`,
  })
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  await stores.pg.query('INSERT INTO post_targets (post_id, social_account_id, place) VALUES ($1, $2, 0)', [
    draft.id,
    account,
  ])
  await stores.pg.query(
    `INSERT INTO posts (workspace_id, title, base_caption) SELECT $1, 'Filler ' || n, 'a' FROM generate_series(1, 205) n`,
    [mine.workspaceId],
  )
  const page = await signIn(context, `/dashboard/posts?view=month&day=${day(1)}`)
  const chip = await page.waitForSelector(`${cell(day(10))} .chip:has-text("Idea")`)
  const middle = async (selector: string) => {
    const { x, y, width, height } = (await page.locator(selector).boundingBox())!
    return { x: x + width / 2, y: y + height / 2 }
  }
  const touch = await page.context().newCDPSession(page)
  const point = async (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) => {
    await touch.send('Input.dispatchTouchEvent', { type, touchPoints })
  }
  await chip.scrollIntoViewIfNeeded()
  // A finger that moves at once holds nothing. Both are sent together: a slow machine would hold it meanwhile.
  const from = await middle(`${cell(day(10))} .chip`)
  await Promise.all([point('touchStart', from), point('touchMove', { x: from.x, y: from.y - 60 })])
  await page.waitForTimeout(400)
  await point('touchEnd')
  expect(await page.textContent('section[aria-label="Posts"] [role="status"]')).toContain('Drag a post')
  await chip.scrollIntoViewIfNeeded()
  // One that rests moves nothing, though the days move under it.
  await point('touchStart', await middle(`${cell(day(10))} .chip`))
  await page.waitForSelector('[role="status"]:has-text("Move it to its day")')
  await page.evaluate(`document.querySelector('.weekdays').style.paddingTop = '120px'`)
  await point('touchEnd')
  await page.waitForSelector('[role="status"]:has-text("Drag a post")')
  expect(await stateOf(draft.id)).toEqual(['draft', `${day(10)}T09:30:00.000Z`])
  await page.evaluate(`document.querySelector('.weekdays').style.paddingTop = ''`)
  await point('touchStart', await middle(`${cell(day(10))} .chip`))
  await page.waitForSelector('[role="status"]:has-text("Move it to its day")')
  await point('touchMove', await middle(cell(day(12))))
  await page.waitForSelector(`${cell(day(12))}.target`)
  await point('touchEnd')
  await page.waitForSelector(`${cell(day(12))} .chip.scheduled:has-text("9:30 AM Idea")`)
  await expect.poll(() => stateOf(draft.id)).toEqual(['scheduled', `${day(12)}T09:30:00.000Z`])
  expect(await page.$('dialog')).toBeNull()
  await page.click('text=Undo')
  await page.waitForSelector(`${cell(day(10))} .chip.draft:has-text("Idea")`)
  await expect.poll(() => stateOf(draft.id)).toEqual(['draft', `${day(10)}T09:30:00.000Z`])
})

test('a post in the hour that a night has twice keeps its moment when its title is changed', async (context) => {
  await stores.pg.query(`UPDATE workspaces SET timezone = 'Europe/Berlin' WHERE id = $1`, [mine.workspaceId])
  const second = '2100-10-31T01:30:00.000Z'
  const { id } = await ask<{ id: number }>('/posts', { title: 'Night', base_caption: 'a', scheduled_at: second })
  const page = await signIn(context, '/dashboard/posts')
  await page.click('summary:has-text("Night")')
  await page.click('text=Edit')
  expect(await page.inputValue('input[type="datetime-local"]')).toBe('2100-10-31T02:30')
  await page.fill('text=Title', 'Late night')
  await page.click('text=Save the draft')
  await page.waitForSelector('summary:has-text("Late night")')
  expect(await stateOf(id)).toEqual(['draft', second])
})

test('axe finds nothing in month and week, at any width', async (context) => {
  for (const title of ['One', 'Two', 'Three', 'Four', '<i>Five</i>‮']) await makePost(title, `${day(15)}T10:00:00Z`)
  await makePost('Later')
  const page = await signIn(context)
  for (const view of ['week', 'month']) {
    await goWithin(page, `/dashboard/posts?view=${view}&day=${day(15)}`)
    await page.waitForSelector('.chip:has-text("Three")')
    await look(page, view)
  }
  await page.click(`${cell(day(15))} >> text=2 more`)
  await page.click('.chip:has-text("Five")')
  await page.waitForSelector('dialog .facts')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  // A new post is of the day that was chosen last. The 15th may be the week's first day or its last.
  const week = await page.$$eval('.calendar [data-day]', (all) => all.map((one) => one.getAttribute('data-day')!))
  for (const on of [week[0]!, week[6]!]) {
    await page.click(`${cell(on)} [aria-label^="Write a post"]`)
    await expect.poll(() => page.inputValue('input[type="datetime-local"]')).toBe(`${on}T09:00`)
  }
})
