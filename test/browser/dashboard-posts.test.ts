/** Posts in the dashboard: written, refused, scheduled, queued, published, corrected, duplicated, archived and deleted. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import {
  askAnew,
  goBy,
  goWithin,
  holdRequests,
  list,
  look,
  setUpDashboard,
  violations,
  withoutPolls,
} from '../support/dashboard.ts'
import { film, formOf, formType, png } from '../support/media-files.ts'
import { endedPost, reschedule, runPublisher, schedulePost } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)
const section = list('Posts')
const postOf = async (id: number) => (await ask<ShownPost>('GET', `/v1/posts/${id}`)).body
const posts = async () => (await ask<ShownPost[]>('GET', '/v1/posts')).body
const dot = { name: 'dot.png', mimeType: 'image/png', buffer: png() }

test('a post is written with the preview of its networks, refused, scheduled, changed, taken back, archived and deleted', async (context) => {
  await makeAccount(stores, mine.workspaceId, 'threads')
  const page = await signIn(context, '/dashboard/posts')
  await page.click('text=Write a post')
  await page.waitForSelector('label:has-text("Title") input:focus')
  await page.fill('text=Title', 'Launch')
  await page.getByLabel('Caption', { exact: true }).fill('y'.repeat(501))
  await page.waitForSelector(`${list('Preview')} >> text=At least one connected account`)
  await page.check('input[type="checkbox"]')
  await page.waitForSelector(`${list('Preview')} >> text=501 of 500`)
  expect(await violations(page)).toEqual([])
  // The form stays, so nobody is asked: a question would be answered with no.
  await page.click(`${section} >> button:text-is("Archived")`)
  await page.waitForSelector('text=None is archived')
  await page.click(`${section} >> button:text-is("Posts")`)
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('[role="alert"]:has-text("Choose the time first")')
  await page.fill('input[type="datetime-local"]', '2100-03-01T09:30')
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('[role="alert"]:has-text("at most 500 characters")')
  await page.getByLabel('Caption', { exact: true }).fill('y'.repeat(2_201))
  await page.waitForSelector('[role="alert"]:has-text("at most 2200 characters")')
  await page.getByLabel('Caption', { exact: true }).fill('y'.repeat(501))
  await page.fill('text=Another caption for threads', 'Short for threads')
  await page.waitForSelector(`${list('Preview')} >> text=17 of 500`)
  await page.setInputFiles('input[type="file"]', dot)
  await page.fill('text=What it shows', 'A dot')
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('[role="alert"]:has-text("Add the chosen file first")')
  // A file whose upload breaks is still there, with its text.
  await page.route('**/api/v1/media', (route) => route.abort(), { times: 1 })
  await page.click('text=Add the file')
  await page.waitForSelector('[role="alert"]:has-text("can’t be reached")')
  expect(await page.inputValue('text=What it shows')).toBe('A dot')
  await page.click('text=Add the file')
  // The second is chosen before the first has come.
  await page.setInputFiles('input[type="file"]', { name: 'a.mp4', mimeType: 'video/mp4', buffer: film() })
  // By key: the first one's picture may come while a pointer is down, and move the button from under it.
  await page.press('text=Add the file', 'Enter')
  await page.waitForSelector('.media img')
  await page.waitForSelector('.media video')
  await page.waitForSelector('[role="status"]:has-text(" was added.")')
  await page.click('button:text-is("Schedule")')
  await page.click(`${section} summary:has-text("Launch"):has-text("scheduled")`)

  await page.click('text=Edit')
  expect(await page.inputValue('input[type="datetime-local"]')).toBe('2100-03-01T09:30')
  await page.fill('text=Title', 'Launch day')
  await page.fill('text=Tags', '#spring, sale,')
  // A video is an image until its file has come.
  await page.waitForSelector('.media video')
  const altText = '.media li:has(img) input'
  const warning = `${list('Preview')} >> text=/alternative text/i`
  for (const text of ['', 'The dot']) {
    await page.fill(altText, text)
    await page.press(altText, 'Tab')
    await page.waitForSelector('.media li:has(img) label:has-text("(saved)")')
    await page.waitForSelector(warning, { state: text === '' ? 'visible' : 'detached' })
  }
  // Who stays goes on as before.
  const leaving = [
    () => page.click('form button:text-is("Close")'),
    () => page.click('header >> text=Sign out'),
    () => page.evaluate('history.back()'),
  ]
  for (const leave of leaving) {
    const asked = page.waitForEvent('dialog')
    const left = leave()
    await (await asked).dismiss()
    await left
  }
  await page.waitForURL((url) => url.search === '')
  // A post that is closed keeps its editor.
  for (let i = 0; i < 2; i++) await page.click(`${section} summary:has-text("Launch")`)
  expect(await page.inputValue('text=Title')).toBe('Launch day')
  // A click that leaves the field saves its text and then the post, or neither.
  await page.fill(altText, 'y'.repeat(1_001))
  for (let i = 0; i < 2; i++) {
    await page.click('button:text-is("Save")')
    await page.waitForSelector('[role="alert"]:has-text("at most 1000 characters")')
    await page.waitForSelector('button[aria-disabled="false"]:text-is("Save")')
  }
  expect(await posts()).toMatchObject([{ title: 'Launch' }])
  await page.fill(altText, 'A black dot')
  await page.click('button:text-is("Save")')
  // The list may be read anew long before the opened post is.
  let readIt = () => {}
  const isRead = new Promise<void>((resolve) => {
    readIt = resolve
  })
  await page.route(/\/api\/v1\/posts\/\d+$/, async (route) => {
    if (route.request().method() === 'GET') await isRead
    await route.continue()
  })
  await page.click('text=Unschedule')
  await page.waitForSelector('summary:has-text("Launch day"):has-text("draft")')
  const targets = [{ platform: 'threads', caption_override: 'Short for threads' }]
  const media_ids = [expect.any(Number), expect.any(Number)]
  const tags = ['spring', 'sale']
  expect(await posts()).toMatchObject([{ title: 'Launch day', media_ids, targets, tags, status: 'draft' }])
  const media = await ask<{ alt_text: string }[]>('GET', '/v1/media')
  expect(media.body.map(({ alt_text }) => alt_text).sort()).toEqual(['', 'A black dot'])
  await page.click('text=Edit')
  const pressedAt = Date.now()
  await page.click('button:text-is("Publish now")')
  await page.waitForSelector('summary:has-text("Launch day"):has-text("scheduled")')
  readIt()
  const [post] = await posts()
  expect(Date.parse(post!.scheduled_at!)).toBeGreaterThan(pressedAt - 60_000)
  expect(Date.parse(post!.scheduled_at!)).toBeLessThan(Date.now() + 60_000)
  await page.click('text=Unschedule')
  await page.waitForSelector('summary:has-text("Launch day"):has-text("draft")')
  await page.click('text=Edit')
  await page.uncheck('input[type="checkbox"]')
  page.once('dialog', (dialog) => dialog.accept())
  await page.click('nav >> text=Links')
  await page.click('nav >> text=Posts')
  await page.click('summary:has-text("Launch day")')
  await page.click('text=Edit')
  await page.uncheck('input[type="checkbox"]')
  await page.click('button:text-is("Save the draft")')
  await expect.poll(posts).toMatchObject([{ title: 'Launch day', media_ids, targets: [] }])
  const letGo = await holdRequests(page, '**/api/v1/posts?*')
  await page.click('button:text-is("Archive")')
  await page.waitForSelector('summary:has-text("Launch day")', { state: 'detached' })
  letGo()
  await page.waitForSelector('text=No post yet')
  await goWithin(page, '/dashboard/posts?view=list&status=archived')
  await page.click('summary:has-text("Launch day"):has-text("archived")')
  await page.click('button:text-is("Delete")')
  await page.click('dialog button:text-is("Delete")')
  await page.waitForSelector('text=None is archived')
  await page.click(`${section} >> button:text-is("Posts")`)
  await page.waitForURL('**/dashboard/posts?view=list')
})

test('a thread is written by keyboard with the preview of its networks, its links are tracked, and its parts are shown as they are published', async (context) => {
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  await makeAccount(stores, mine.workspaceId, 'linkedin')
  const page = await signIn(context, '/dashboard/posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Story')
  const caption = page.getByLabel('Caption', { exact: true })
  const opening = 'We are <i>open</i> (https://example.com/open?utm_source=mail), come: https://example.com/Way_(Sun).'
  await caption.fill(opening)
  const account = (platform: string) => page.locator(`label.choice:has(.label:text-is("${platform}")) input`)
  await account('x').check()
  const part = (number: number) => page.getByLabel(`Part ${number}`, { exact: true })
  await page.focus('button:text-is("Add to thread")')
  await page.keyboard.press('Enter')
  await page.keyboard.insertText('Two <b>https://example.com/two</b>')
  await page.click('button:text-is("Add to thread")')
  await page.keyboard.insertText('3'.repeat(281))
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
  await files.getByLabel('Files, chosen, dropped or pasted').setInputFiles(dot)
  await files.getByText('Add the file').click()
  await files.locator('img').waitFor()
  await page.waitForSelector(`${preview} li:has-text("12 of 280, 1 file")`)
  await page.waitForSelector(`${preview} >> text=warning: Part 3: The image has no alternative text`)
  await look(page, 'thread')

  // The focus goes to the part before, and an empty part isn't sent.
  await files.getByLabel('Files, chosen, dropped or pasted').setInputFiles(dot)
  await page.click('[aria-label="Remove part 3"]')
  await page.waitForSelector('text=Part 3', { state: 'detached' })
  expect(await page.evaluate('document.activeElement.value')).toBe(await part(2).inputValue())
  await page.click('button:text-is("Add to thread")')
  await page.click('button:text-is("Add to thread")')
  await page.keyboard.insertText('Four [simulate:fail]')
  await page.click('summary:has-text("Files and other texts of part 4")')
  await page.fill('text=Another text of part 4 for x', 'Four for X https://example.com/four [simulate:fail]')
  const fourth = page.getByRole('group', { name: 'Images and videos of part 4' })
  await fourth.getByLabel('Files, chosen, dropped or pasted').setInputFiles(dot)
  await fourth.getByLabel('What it shows').fill('A dot')
  await fourth.getByText('Add the file').click()
  await fourth.locator('img').waitFor()
  await page.click('button:text-is("Track the links")')
  await expect.poll(() => part(2).inputValue()).toMatch(/^Two <b>http\S+\/l\/\w{8}<\/b>$/)
  expect(await caption.inputValue()).toMatch(/^We are <i>open<\/i> \(http\S+\/l\/\w{8}\), come: http\S+\/l\/\w{8}\.$/)
  // Links that are archived are tracked, too.
  for (const { id } of (await ask<{ id: number }[]>('GET', '/v1/links')).body)
    await ask('POST', `/v1/links/${id}/archive`)
  await page.click('button:text-is("Track the links")')
  await page.waitForSelector('[role="alert"]:has-text("no address that isn’t tracked")')
  type Tracked = { destination_url: string; post_id: number; utm_source: string }
  const tracked = (await ask<Tracked[]>('GET', '/v1/links?status=archived')).body
  expect(tracked.map(({ destination_url: to, post_id, utm_source }) => [to, typeof post_id, utm_source])).toEqual(
    expect.arrayContaining([
      ['https://example.com/Way_(Sun)', 'number', 'svc'],
      ['https://example.com/open?utm_source=mail', 'number', 'mail'],
    ]),
  )
  await page.click('button:text-is("Save the draft")')
  await page.click('summary:has-text("Story")')
  await page.waitForSelector('.caption:has-text("We are <i>open</i> (http")')
  const [post] = await posts()
  const own = expect.stringMatching(/^Four for X http\S+\/l\/\w{8} \[simulate:fail\]$/)
  expect(post!.thread).toEqual([
    { text: expect.stringMatching(/\/l\/\w{8}<\/b>$/), media_ids: [], platform_captions: {} },
    { text: 'Four [simulate:fail]', media_ids: [expect.any(Number)], platform_captions: { x: own } },
  ])
  await page.waitForSelector('.part-shown:has-text("Four [simulate:fail]")')

  const publisher = runPublisher(stores)
  const ended = async (status: string) => {
    await expect.poll(async () => (await postOf(post!.id)).status).toBe(status)
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
  const { targets } = await postOf(post!.id)
  const parts = Array(3).fill(expect.objectContaining({ url: expect.stringMatching(/^https:/) }))
  expect(targets).toMatchObject([{ social_account_id: x, publish_result: { parts } }])

  // As if its network had told.
  await stores.pg.query(
    `INSERT INTO post_engagement (target_id, social_account_id, published_at, likes, shares, read_at)
     SELECT id, social_account_id, now(), 1200, 1, now() FROM post_targets WHERE post_id = $1`,
    [post!.id],
  )
  await page.reload()
  await page.click('summary:has-text("Story"):has-text("1,200 likes, 1 share"):has-text("published")')
  await page.waitForSelector(`${section} li.event:has-text("x"):has-text("1,200 likes, 1 share")`)
  await page.waitForSelector('.facts div:has-text("On its networks"):has-text("1,200 likes, 1 share")')
})

test('a post that its networks refused is corrected, one that a network shows is duplicated, and both name their accounts', async (context) => {
  const accounts = [
    await makeAccount(stores, mine.workspaceId, 'x'),
    await makeAccount(stores, mine.workspaceId, 'x'),
    await makeAccount(stores, mine.workspaceId, 'mastodon'),
  ]
  const form = formOf({ name: 'file', filename: 'a.png', value: png() })
  const sent = await api.ask('/v1/media', {
    method: 'POST',
    key: mine.apiKey,
    headers: { 'Content-Type': formType },
    body: form,
  })
  const media = [((await sent.json()) as { id: number }).id]
  const publisher = runPublisher(stores)
  const [refused, shown] = await Promise.all([
    schedulePost(ask, { title: 'Refused', caption: 'Worng [simulate:fail]', accounts: accounts.slice(0, 2) }),
    schedulePost(ask, {
      title: 'Shown',
      caption: 'Right',
      accounts,
      media,
      thread: ['And on'],
      captions: { mastodon: 'Own [simulate:fail]' },
    }),
  ])
  const ended = await Promise.all([endedPost(ask, refused!), endedPost(ask, shown!)]).finally(() => publisher.close())
  expect(ended.map(({ status }) => status)).toEqual(['failed', 'failed'])

  const page = await signIn(context, '/dashboard/posts')
  const known = (await ask<{ id: number; handle: string }[]>('GET', '/v1/social-accounts')).body
  const handles = ended[0]!.targets.map(({ social_account_id }) => {
    return `x ${known.find(({ id }) => id === social_account_id)!.handle}`
  })
  const post = (title: string) => page.locator(`${section} li.item:has(summary:has-text("${title}"))`)
  await post('Refused')
    .locator(`summary:has-text("${handles.join(', ')}")`)
    .click()
  for (const handle of handles) await post('Refused').locator(`li.target:has-text("${handle}")`).waitFor()
  await post('Refused').getByText('Edit', { exact: true }).click()
  await page.getByLabel('Caption', { exact: true }).fill('Right now')
  await page.click('button:text-is("Save the draft")')
  await page.waitForSelector(`${section} summary:has-text("Refused"):has-text("draft")`)
  const draft = { status: 'draft', base_caption: 'Right now', scheduled_at: null }
  // It is a draft before its text is saved, and the page may show it then.
  await expect.poll(() => postOf(refused!)).toMatchObject(draft)

  await post('Shown').locator('summary').click()
  const duplicate = post('Shown').getByText('Duplicate', { exact: true })
  await duplicate.waitFor()
  expect(await post('Shown').locator('button').allTextContents()).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/Edit|Delete/)]),
  )
  await duplicate.click()
  await page.getByText('Edit the draft').click()
  await page.fill('text=Title', 'Shown again')
  await page.evaluate(`(() => {
    const files = new DataTransfer()
    for (const name of ['one.png', 'other.png', 'two.png']) {
      files.items.add(new File([Uint8Array.from(${JSON.stringify([...png()])})], name, { type: 'image/png' }))
    }
    const place = [...document.querySelectorAll('fieldset')].find(({ innerText }) => innerText.startsWith('Images'))
    place.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true }))
  })()`)
  for (const file of ['one', 'two']) await page.fill(`text=What ${file}.png shows`, file)
  await page.press('text=Leave out other.png', 'Enter')
  await page.click('text=Add the files')
  await expect.poll(() => page.locator('.media img').count()).toBe(3)
  await page.click('button:text-is("Save the draft")')
  await page.waitForSelector(`${section} summary:has-text("Shown again"):has-text("draft")`)
  await look(page, 'duplicated', section)
  const [copy] = (await ask<ShownPost[]>('GET', '/v1/posts?limit=1')).body
  const { base_caption, thread, tags, media_ids, targets } = await postOf(shown!)
  expect(copy).toMatchObject({ title: 'Shown again', status: 'draft', base_caption, thread, tags })
  expect(copy!.media_ids.slice(0, 1)).toEqual(media_ids)
  const added = (await ask('GET', '/v1/media?limit=2')).body as { id: number; alt_text: string }[]
  expect(added.map(({ id, alt_text }) => [id, alt_text])).toEqual([
    [copy!.media_ids[2], 'two'],
    [copy!.media_ids[1], 'one'],
  ])

  expect(copy!.targets.map(({ social_account_id: id, caption_override: own, status }) => [id, own, status])).toEqual(
    targets.map(({ social_account_id: id, caption_override: own }) => [id, own, 'draft']),
  )
  // A second press, while the answer to the first one is awaited, is none.
  const pressed: string[] = []
  page.on('request', (request) => request.url().endsWith('/schedule') && pressed.push(request.url()))
  const letGo = await holdRequests(page, '**/schedule')
  const again = page.getByRole('button', { name: 'Try again: Shown' })
  await again.click()
  await page.waitForSelector('[aria-label="Try again: Shown"][aria-disabled="true"]')
  await again.dispatchEvent('click')
  letGo()
  await page.waitForSelector(`${section} summary:has-text("Shown"):has-text("scheduled")`)
  expect(pressed).toHaveLength(1)
})

const times = async () => (await ask('GET', '/v1/posting-times')).body
const stateOf = async (title: string) => {
  const { status, scheduled_at } = (await posts()).find((post) => post.title === title)!
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
  // Hours from now: no free time passes meanwhile.
  const [time, half] = new Date().getUTCHours() < 12 ? ['17:30', 'PM'] : ['05:30', 'AM']
  const removal = (day: string) => `dialog [aria-label^="Remove 5:30"][aria-label$="${half} on ${day}"]`
  const page = await signIn(context, '/dashboard/posts', { before: withoutPolls })
  await page.click('summary:has-text("Idea")')
  await page.click('text=Set posting times')
  await page.selectOption('dialog select', { label: 'Monday to Friday' })
  await page.fill('dialog input', time)
  await page.press('dialog input', 'Enter')
  await page.waitForSelector(removal('Friday'))
  await page.selectOption('dialog select', { label: 'Sunday' })
  await page.click('dialog button:text-is("Add")')
  await page.press(removal('Monday'), 'Enter')
  await page.waitForSelector(removal('Monday'), { state: 'detached' })
  await look(page, 'posting-times')
  await page.keyboard.press('Escape')
  const { times: set, free } = await times()
  expect(set).toEqual([2, 3, 4, 5, 7].map((weekday) => ({ weekday, time })))

  await page.click(`${section} >> text=Add to queue`)
  await page.waitForSelector('[role="status"]:has-text("It goes out")')
  expect(await stateOf('Idea')).toEqual(['scheduled', free[0]])
  const target = (status: string) => page.waitForSelector(`${section} li.event:has-text("${status}")`)
  await target('scheduled')
  await page.click('text=Undo')
  await target('draft')
  await expect.poll(() => stateOf('Idea')).toEqual(['draft', idea.scheduled_at])

  await page.click('text=Write a post')
  await page.fill('text=Title', 'News')
  await page.fill('form >> text=Caption', 'b')
  await page.check('form fieldset input[type="checkbox"]')
  await page.click('form >> text=Add to queue')
  await page.waitForSelector('summary:has-text("News"):has-text("scheduled")')
  expect(await stateOf('News')).toEqual(['scheduled', free[0]])

  // The sixth free time is of another week, to which the calendar turns.
  for (const at of free.slice(1, 5)) {
    const { body } = await ask<ShownPost>('POST', '/v1/posts', { ...idea, title: 'Other' })
    await ask('POST', `/v1/posts/${body.id}/schedule`, { scheduled_at: at })
  }
  const [day, next] = [free[5].slice(0, 10), free[6].slice(0, 10)]
  await goWithin(page, '/dashboard/posts?view=week&day=2040-01-01')
  await page.click('.chip:has-text("Idea")')
  await page.click('dialog >> text=Add to queue')
  await page.waitForURL(`**/dashboard/posts?view=week&day=${day}`)
  await page.waitForSelector(`[data-day="${day}"] .chip.scheduled:has-text("Idea")`)
  expect(await stateOf('Idea')).toEqual(['scheduled', free[5]])
  await page.keyboard.press('Escape')
  await goWithin(page, `/dashboard/posts?view=week&day=${next}`)
  await look(page, 'free-times')
  await page.click(`[data-day="${next}"] .chip.free`)
  expect(await page.inputValue('input[type="datetime-local"]')).toBe(`${next}T${time}`)
})

test('an answer about the queue leads nobody back who went to another page meanwhile', async (context) => {
  await ask('PATCH', '/v1/posting-times', { times: [{ weekday: 1, time: '09:00' }] })
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  await ask('POST', '/v1/posts', { title: 'Quiet', base_caption: 'c', social_account_ids: [account] })
  const page = await signIn(context, '/dashboard/posts?view=week&day=2040-01-01')
  await page.click('.chip:has-text("Quiet")')
  const letGo = await holdRequests(page, '**/queue')
  await page.click('dialog >> text=Add to queue')
  await page.keyboard.press('Escape')
  await goBy(page, 'l')
  await page.waitForSelector(list('Links'))
  const answered = page.waitForResponse('**/queue')
  letGo()
  await (await answered).finished()
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))')
  expect(new URL(page.url()).pathname).toBe('/dashboard/links')
})

async function writeForLater(page: Page, title: string, platform: string): Promise<void> {
  await page.click('text=Write a post')
  await page.fill('text=Title', title)
  await page.fill('form >> text=Caption', 'c')
  await page.check(`form label:has-text("${platform}") input`)
  await page.fill('form input[type="datetime-local"]', '2100-03-01T09:30')
}

test('a post that can’t go out is kept as a draft, and the form says so once, in its own words', async (context) => {
  const account = await makeAccount(stores, mine.workspaceId, 'instagram')
  // Longer than a phone is wide.
  await stores.pg.query(`UPDATE social_accounts SET handle = repeat('h', 60) WHERE id = $1`, [account])
  const page = await signIn(context, '/dashboard/posts')
  await writeForLater(page, 'No image', 'instagram')
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
  await page.setViewportSize({ width: 320, height: 900 })
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(320)
})

test('an edit leaves what others changed of a post meanwhile', async (context) => {
  const { id } = (await ask<{ id: number }>('POST', '/v1/posts', { title: 'Ours', base_caption: 'Old' })).body
  const page = await signIn(context, '/dashboard/posts')
  await page.click(`${section} summary:has-text("Ours")`)
  await page.click('text=Edit')
  await page.fill('text=Title', 'Mine')
  const theirs = { base_caption: 'New', scheduled_at: '2100-03-01T09:30:00.000Z' }
  await ask('PATCH', `/v1/posts/${id}`, theirs)
  await page.click('button:text-is("Save the draft")')
  await expect.poll(() => postOf(id)).toMatchObject({ title: 'Mine', ...theirs })

  // Text that is written until the answer comes stays in the form, which saves it next.
  await page.click('text=Edit')
  const letGo = await holdRequests(page, `**/api/v1/posts/${id}`)
  const save = 'button:text-is("Save the draft")'
  await page.fill('text=Title', 'Mine again')
  await page.click(save)
  await page.waitForSelector(`${save}[aria-disabled="true"]:focus`)
  await page.fill('text=Tags', 'late')
  letGo()
  await page.waitForSelector('[role="alert"]:has-text("what you wrote since then isn’t saved yet")')
  await page.click(save)
  await expect.poll(() => postOf(id)).toMatchObject({ title: 'Mine again', tags: ['late'], ...theirs })

  // The list loses a post that somebody archives, and not what is being written into it.
  await page.click('text=Edit')
  await page.fill('text=Title', 'Too late')
  await ask('POST', `/v1/posts/${id}/archive`)
  const listedWithout = page.waitForResponse(async (response) => {
    return response.url().includes('/v1/posts?limit') && !(await response.text()).includes('"Mine again"')
  })
  await askAnew(page)
  await listedWithout
  await page.click(save)
  await page.waitForSelector(`${list('Changed meanwhile')} >> text=Your text stays here`)
  expect(await page.inputValue('text=Title')).toBe('Too late')
})

test('a new post that is scheduled while its editor writes on is changed as a scheduled one', async (context) => {
  await makeAccount(stores, mine.workspaceId, 'x')
  const page = await signIn(context, '/dashboard/posts')
  await writeForLater(page, 'Written on', 'x')
  const letGo = await holdRequests(page, '**/api/v1/posts/*/schedule')
  const schedule = 'form button:text-is("Schedule")'
  await page.click(schedule)
  await page.waitForSelector(`${schedule}[aria-disabled="true"]:focus`)
  await page.fill('text=Tags', 'late')
  letGo()
  await page.click('form button:text-is("Save")')
  await page.waitForSelector('form.editor', { state: 'detached' })
  await page.waitForSelector('summary:has-text("Written on"):has-text("scheduled")')
  const { body } = await ask<{ title: string; tags: string[] }[]>('GET', '/v1/posts')
  expect(body.find(({ title }) => title === 'Written on')).toMatchObject({ status: 'scheduled', tags: ['late'] })
})

test('what is saved as a draft is no part of a post that was scheduled meanwhile, until who writes it saw that', async (context) => {
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  const made = { title: 'Ours', base_caption: 'Ready', social_account_ids: [x] }
  const { id } = (await ask<{ id: number }>('POST', '/v1/posts', made)).body
  const page = await signIn(context, '/dashboard/posts')
  await page.click(`${section} summary:has-text("Ours")`)
  await page.click('text=Edit')
  await page.getByLabel('Caption', { exact: true }).fill('Half a sen')
  await ask('POST', `/v1/posts/${id}/schedule`, { scheduled_at: '2100-03-01T09:30:00Z' })
  await page.click('form.editor button[value="save"]')
  await page.waitForSelector(`${list('Changed meanwhile')} >> text=It is scheduled now`)
  expect(await postOf(id)).toMatchObject({ base_caption: 'Ready', status: 'scheduled' })
  await page.click('text=Keep mine')
  await page.click('form.editor button:text-is("Save")')
  await expect.poll(() => postOf(id)).toMatchObject({ base_caption: 'Half a sen', status: 'scheduled' })
})

test('of two who edit the same post the later one sees what the other wrote, keeps the own text, and takes either', async (context) => {
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  const write = { title: 'Both', base_caption: 'Old', social_account_ids: [x] }
  const { id } = (await ask<{ id: number }>('POST', '/v1/posts', write)).body
  const page = await signIn(context, '/dashboard/posts')
  await page.click(`${section} summary:has-text("Both")`)
  await page.click('text=Edit')
  const caption = page.getByLabel('Caption', { exact: true })
  const changed = page.locator(list('Changed meanwhile'))
  await caption.fill('Mine')
  await ask('PATCH', `/v1/posts/${id}`, { base_caption: 'Theirs <b>', tags: ['t'] })
  await page.click('button:text-is("Save the draft")')
  await changed.locator('[role="alert"]:has-text("The post was changed by ")').waitFor()
  await changed.locator('li:has-text("Caption as you did"):has-text("Theirs <b>")').waitFor()
  await changed.locator('li:has-text("Tags"):has-text("t")').waitFor()
  expect(await violations(page)).toEqual([])
  expect(await caption.inputValue()).toBe('Mine')
  expect(await postOf(id)).toMatchObject({ base_caption: 'Theirs <b>' })
  await page.click('button:text-is("Keep mine")')
  await changed.waitFor({ state: 'detached' })
  expect([await caption.inputValue(), await page.inputValue('text=Tags')]).toEqual(['Mine', 't'])
  await page.click('button:text-is("Save the draft")')
  await expect.poll(() => postOf(id)).toMatchObject({ base_caption: 'Mine', tags: ['t'] })

  // A text that nobody here has read isn't published, though it is no other field that is changed here.
  await page.click('text=Edit')
  await page.fill('text=Title', 'Both of us')
  await page.fill('input[type="datetime-local"]', '2100-03-01T09:30')
  await ask('PATCH', `/v1/posts/${id}`, { base_caption: 'Unread' })
  await page.click('button:text-is("Schedule")')
  await changed.locator('li:has-text("Unread")').waitFor()
  expect(await postOf(id)).toMatchObject({ status: 'draft', title: 'Both' })
  await page.click('button:text-is("Load their version")')
  await expect.poll(() => caption.inputValue()).toBe('Unread')
  expect([await page.inputValue('text=Title'), await page.inputValue('input[type="datetime-local"]')]).toEqual([
    'Both',
    '',
  ])
  await page.fill('input[type="datetime-local"]', '2100-03-01T09:30')
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('summary:has-text("Both"):has-text("scheduled")')
})

test('an archived post whose file is deleted is duplicated without it, and its draft is moved to a day', async (context) => {
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  const files = []
  for (const width of [1, 2]) {
    const body = formOf({ name: 'file', filename: 'a.png', value: png({ width }) })
    const sent = { method: 'POST', key: mine.apiKey, headers: { 'Content-Type': formType }, body }
    files.push(((await (await api.ask('/v1/media', sent)).json()) as { id: number }).id)
  }
  const written = { title: 'Old one', base_caption: 'Again', social_account_ids: [x], first_comment: '#again' }
  const thread = [{ text: 'Part 2', media_ids: files, platform_captions: { x: 'For X' } }]
  const { id } = (await ask<{ id: number }>('POST', '/v1/posts', { ...written, thread, media_ids: files })).body
  expect((await ask('POST', `/v1/posts/${id}/archive`)).status).toBe(200)
  expect((await ask('DELETE', `/v1/media/${files[0]}`)).status).toBe(200)
  const page = await signIn(context, '/dashboard/posts?view=list&status=archived')
  await page.click('summary:has-text("Old one")')
  await page.click('button:text-is("Duplicate")')
  await page.waitForSelector('[role="status"]:has-text("A draft was made of it, without 1 file deleted meanwhile.")')
  const [copy] = (await ask<ShownPost[]>('GET', '/v1/posts?limit=1')).body
  expect(copy).toMatchObject({
    title: 'Old one',
    status: 'draft',
    media_ids: files.slice(1),
    first_comment: '#again',
    scheduled_at: null,
    thread: [{ ...thread[0], media_ids: files.slice(1) }],
  })
  await goWithin(page, '/dashboard/posts?view=month&day=2100-03-10')
  const chip = page.locator(`#post-${copy!.id}`)
  await chip.focus()
  await page.keyboard.press('Space')
  await page.waitForSelector('[role="status"]:has-text("Enter puts it there")')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await expect.poll(() => postOf(copy!.id)).toMatchObject({ status: 'scheduled', base_caption: 'Again' })
})

test('saved texts are written in the editor and put where the cursor is, by keys alone', async (context) => {
  await ask('POST', '/v1/snippets', { name: 'Bye <b>', text: '\n— 𝒜nn <b>' })
  const page = await signIn(context, '/dashboard/posts')
  await page.click('text=Write a post')
  // A frame after the form it takes the focus, from whatever else has it by then.
  await page.waitForSelector('label:has-text("Title") input:focus')
  const caption = page.getByLabel('Caption', { exact: true })
  await caption.fill('Come soon')
  await caption.press('Home')
  for (let at = 0; at < 5; at++) await page.keyboard.press('ArrowRight')
  const menu = page.getByRole('menu', { name: 'Saved texts' })
  const item = (name: string) => menu.getByRole('menuitem', { name })
  const isFocused = (name: string) =>
    expect.poll(() => page.evaluate("document.activeElement.closest('button')?.textContent ?? ''")).toContain(name)

  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await item('Bye <b>').waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.click('dialog button:text-is("Add a text")')
  await page.fill('dialog >> text=Name', 'Aa tags')
  await page.fill('dialog form textarea', '#one #two ')
  await page.click('dialog form button:text-is("Add")')
  await page.waitForSelector('dialog li:has-text("Aa tags"):has-text("#one #two")')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  // The button has the focus at once, and is given it once more as the dialog goes.
  await page.waitForSelector('dialog', { state: 'detached' })

  await isFocused('Insert a saved text')
  await page.keyboard.press('ArrowDown')
  await isFocused('Aa tags')
  await page.keyboard.press('b')
  await isFocused('Bye <b>')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await expect.poll(() => caption.inputValue()).toBe('Come #one #two soon')
  await page.keyboard.type('very ')
  expect(await caption.inputValue()).toBe('Come #one #two very soon')
  await page.click('button:text-is("Add to thread")')
  await page.keyboard.type('Part')
  await page.focus('button:text-is("Insert a saved text")')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Escape')
  await isFocused('Insert a saved text')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('b')
  await isFocused('Bye <b>')
  await page.keyboard.press('Enter')
  const part = page.getByLabel('Part 2', { exact: true })
  await expect.poll(() => part.inputValue()).toBe('Part\n— 𝒜nn <b>')
  await page.keyboard.press('Control+z')
  await expect.poll(() => part.inputValue()).toBe('Part')
  await page.focus('button:text-is("Insert a saved text")')
  await page.keyboard.press('ArrowDown')
  await look(page, 'saved-texts')
})

test('a title with marks that turn the direction of writing turns nothing beside it', async (context) => {
  const account = await makeAccount(stores, mine.workspaceId, 'mastodon')
  const body = { title: '\u2069\u202Egnp', base_caption: 'Text', social_account_ids: [account] }
  expect((await ask('POST', '/v1/posts', body)).status).toBe(200)
  const page = await signIn(context, '/dashboard/posts')
  await page.waitForSelector(`${section} >> text=gnp`)
  const places = await page.evaluate<number[]>(`(() => {
    const title = [...document.querySelectorAll('li .name bdi')].find(({ textContent }) => textContent.includes('gnp'))
    const beside = document.createTreeWalker(title.parentElement.querySelector('.label'), NodeFilter.SHOW_TEXT).nextNode()
    return [0, 3].map((at) => {
      const letter = document.createRange()
      letter.setStart(beside, at)
      letter.setEnd(beside, at + 1)
      return letter.getBoundingClientRect().left
    })
  })()`)
  expect(places).toEqual(places.toSorted((one, other) => one - other))
})

test('an answer about a form that was closed meanwhile closes no other, and an editor stays as its post leaves the list', async (context) => {
  const page = await signIn(context, '/dashboard/posts')
  const write = async (title: string) => {
    await page.click('text=Write a post')
    await page.fill('text=Title', title)
    await page.getByLabel('Caption', { exact: true }).fill('a')
  }
  await write('First')
  const letGo = await holdRequests(page, '**/api/v1/posts')
  await page.click('button:text-is("Save the draft")')
  page.once('dialog', (question) => question.accept())
  await page.click('form button:text-is("Close")')
  await write('Second')
  letGo()
  await page.click(`${section} summary:has-text("First")`)
  expect(await page.inputValue('text=Title')).toBe('Second')
  await page.click('button:text-is("Save the draft")')
  await page.waitForSelector(`${section} summary:has-text("Second")`)

  const archive = await holdRequests(page, '**/archive')
  await page.click('button:text-is("Archive")')
  await page.click('button:text-is("Edit")')
  await page.fill(`${section} >> text=Title`, 'Mine')
  const answered = page.waitForResponse('**/archive')
  archive()
  await answered
  await expect.poll(async () => (await posts()).map(({ title }) => title)).toEqual(['Second'])
  await askAnew(page)
  expect(await page.inputValue(`${section} >> text=Title`)).toBe('Mine')
})
