/**
 * An owner's work in the dashboard: people found, links made and followed, posts written and published, a profile
 * generated.
 */
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { setUpApi } from '../support/api.ts'
import { startCompanySites } from '../support/company-sites.ts'
import { list, look, setUpDashboard, violations } from '../support/dashboard.ts'
import { generateNext } from '../support/generate-profile.ts'
import { setUpIngest } from '../support/ingest.ts'
import { film, png } from '../support/media-files.ts'
import { reschedule, runPublisher } from '../support/publisher.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1', allowPrivateTargets: true })
const ingest = setUpIngest(stores)
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)

test('people are found, their journeys shown, and one is erased after one more question', async (context) => {
  await stores.pg.query(
    `INSERT INTO contacts (workspace_id, email, full_name, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     VALUES ($1, 'ada@example.com', '<b>Ada</b>', $3, $2, $2, $2, $2), ($1, 'bob@example.com', 'Bob', $3::bigint + 1, $2, $2, $2, $2)`,
    [mine.workspaceId, Date.now(), 1_000_000 + mine.workspaceId * 2],
  )
  const page = await signIn(context)
  await page.click('nav >> text=People')
  await page.waitForSelector(`${list('People')} >> text=Bob`)
  await page.fill('input[type="search"]', 'ada@')
  await page.waitForSelector(`${list('People')} >> text=Bob`, { state: 'detached' })
  await page.click(`${list('People')} >> text=<b>Ada</b>`)
  await page.waitForURL('**/dashboard/people?contact=*')
  expect(await page.textContent(list('Person'))).toContain('ada@example.com')
  await page.goBack()
  await page.waitForURL('**/dashboard/people?q=ada%40')
  expect(await page.inputValue('input[type="search"]')).toBe('ada@')
  await page.click('nav >> text=People')
  await page.waitForSelector(`${list('People')} >> text=Bob`)
  await page.click(`${list('People')} >> text=<b>Ada</b>`)
  await page.click('main >> text=Erase this person')
  expect(await violations(page)).toEqual([])
  await page.click('dialog >> button:text-is("Erase")')
  await page.waitForURL('**/dashboard/people?erased=1')
  await page.waitForSelector('text=The person is being erased')
  await page.waitForSelector(`${list('People')} >> text=<b>Ada</b>`, { state: 'detached' })
  await page.goto(`${api.url}/dashboard/people?contact=99999`)
  expect(await page.textContent('.failure')).toBe('Person not found. All people')
  await page.click('.failure >> text=All people')
  await page.waitForSelector(`${list('People')} >> text=Bob`)
})

test('a link is made, refused, followed by a browser, counted where it is shown, archived and put back', async (context) => {
  const page = await signIn(context)
  await page.click('nav >> text=Links')
  await page.fill('input[name="label"]', 'Spring')
  await page.fill('input[name="destination"]', 'ftp://example.com/')
  await page.click('text=Make a link')
  expect(await page.textContent('[role="alert"]')).toContain('Destination: ')
  await page.fill('input[name="destination"]', `${api.url}/docs`)
  await page.click('summary:has-text("Key, campaign, tags")')
  await page.fill('[name="tags"]', '#spring sale,, print')
  // The campaign's fields write into the destination, and read from it.
  const campaign = page.locator('form[aria-label="New link"]')
  const destination = campaign.getByLabel('Destination', { exact: true })
  await campaign.getByLabel('Term').fill('red shoes')
  expect(await destination.inputValue()).toBe(`${api.url}/docs?utm_term=red%20shoes`)
  await destination.fill(`${api.url}/docs?utm_source=news&utm_term=red%20shoes`)
  expect(await campaign.getByLabel('Source').inputValue()).toBe('news')
  await campaign.getByLabel('Term').fill('')
  expect(await destination.inputValue()).toBe(`${api.url}/docs?utm_source=news`)
  await page.fill('[name="preview_description"]', 'Only <today>')
  await page.fill('[name="preview_title"]', 'Half price')
  await page.fill('[name="preview_image"]', 'https://cdn.example/card.png')
  const card = await page.textContent('section[aria-label="Preview card"]')
  expect(card).toBe('Image from cdn.exampleHalf priceOnly <today>')
  await page.click('text=Add a destination')
  await page.selectOption('[aria-label="Device 1"]', 'ios')
  await page.fill('[name="target_url"]', 'https://example.com/app')
  await page.click('text=Make a link')
  await page.waitForSelector('[name="target_url"]', { state: 'detached' })
  expect([await destination.inputValue(), await campaign.getByLabel('Source').inputValue()]).toEqual(['', ''])
  const made = async () =>
    ((await (await api.ask('/v1/links', { key: mine.apiKey })).json()) as Record<string, unknown>[])[0]!
  const preview = { title: 'Half price', description: 'Only <today>', image_url: 'https://cdn.example/card.png' }
  expect(await made()).toMatchObject({ utm_source: 'news', utm_medium: 'social', preview })
  const link = `${list('Links')} summary:has-text("Spring")`
  await page.click(link)
  await page.waitForSelector('dt:has-text("Conversions")')
  await page.waitForSelector('img[alt^="QR code of"]')
  expect(await page.getAttribute('text=Download SVG', 'download')).toMatch(/^[0-9A-Za-z]{8}\.svg$/)
  const saved = page.waitForEvent('download')
  await page.click('text=Download PNG')
  expect((await saved).suggestedFilename()).toMatch(/^[0-9A-Za-z]{8}\.png$/)
  const image = await buffer((await (await saved).createReadStream()) as Readable)
  expect([image.toString('latin1', 1, 4), image.readUInt32BE(16)]).toEqual(['PNG', 1024])
  await page.setViewportSize({ width: 390, height: 900 })
  for (const name of ['label', 'destination'])
    expect((await page.locator(`input[name="${name}"]`).boundingBox())!.width).toBeGreaterThan(190)
  await look(page, 'link')
  expect(await page.$$('[role="alert"]')).toEqual([])
  await page.waitForSelector(`${list('Days')} figcaption:has-text("most in a day: 0")`)
  await page.click('[aria-label="Change Spring"]')
  for (const [name, text] of [
    ['utm_source', 'news'],
    ['preview_title', 'Half price'],
  ])
    expect(await page.inputValue(`dialog [name="${name}"]`)).toBe(text)
  for (const name of ['title', 'description', 'image']) await page.fill(`dialog [name="preview_${name}"]`, '')
  await page.fill('dialog [name="expired_url"]', 'https://example.com/over')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(
    'dialog [role="alert"]:has-text("Then leads to: It needs a time at which the link expires")',
  )
  await page.fill('dialog [name="expires_at"]', '2020-01-01T09:30')
  await look(page, 'link-form')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(`${link}:has-text("expired")`)
  expect((await made())['preview']).toBeNull()
  await page.click('[aria-label="Change Spring"]')
  expect(await page.inputValue('dialog [name="expired_url"]')).toBe('https://example.com/over')
  await page.fill('dialog [name="expires_at"]', '')
  await page.fill('dialog [name="tags"]', 'spring sale')
  await page.click('dialog >> text=Add a destination')
  await page.fill('dialog [aria-label^="Countries 2"]', 'germany, Narnia')
  await page.fill('dialog [aria-label="Destination 2"]', 'https://example.com/de')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector('dialog [role="alert"]:has-text("Targets 2 countries 2: a country is")')
  await page.fill('dialog [aria-label^="Countries 2"]', 'germany, at')
  await page.click('dialog [aria-label="Move destination 2 up"]')
  await look(page, 'link-targets')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(`${link}:has-text("expired")`, { state: 'detached' })
  const targets = async () =>
    ((await (await api.ask('/v1/links', { key: mine.apiKey })).json()) as { targets: unknown }[])[0]!.targets
  expect(await targets()).toEqual([
    { countries: ['DE', 'AT'], destination_url: 'https://example.com/de' },
    { device: 'ios', destination_url: 'https://example.com/app' },
  ])
  await page.click('[aria-label="Change Spring"]')
  expect(await page.inputValue('dialog [aria-label^="Countries 1"]')).toBe('Germany, Austria')
  for (let row = 0; row < 2; row++) await page.click('dialog [aria-label="Remove destination 1"]')
  await page.click('dialog [type="submit"]')
  await expect.poll(targets).toEqual([])

  expect(await page.textContent('ul[aria-label="Tags"]')).toBe('#spring sale')
  await page.click('ul[aria-label="Tags"] >> text=#spring sale')
  await page.waitForURL('**?tag=spring+sale')
  await look(page, 'link-tag')
  await page.click('[title="Links with any tags"]')
  await page.waitForURL((url) => url.search === '')
  await page.click(link)

  const shortUrl = (await page.textContent('p.label:has-text("/l/")'))!
  const visitor = await page.context().newPage()
  // The product has one address for all services; here ingest has one of its own.
  await visitor.goto(`http://127.0.0.1:${ingest.port}${new URL(shortUrl).pathname}`)
  expect(visitor.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/docs\?.*utm_/)
  await ingest.shipped()
  await page.reload()
  await page.click(`${link}:has-text("1 click")`)
  await page.waitForSelector(`${list('Days')} figcaption:has-text("most in a day: 1")`)

  await page.click('[aria-label="Change Spring"]')
  await page.fill('dialog [name="password"]', 'sesame')
  await look(page, 'link-password')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(`${link}:has-text("password")`)
  const shown = `http://127.0.0.1:${ingest.port}${new URL(shortUrl).pathname}`
  await expect.poll(async () => (await visitor.goto(shown))!.url()).toBe(shown)
  await visitor.fill('[name="password"]', 'sesam')
  await visitor.click('button')
  await visitor.waitForSelector('text=The password is wrong.')
  await visitor.fill('[name="password"]', 'sesame')
  await visitor.click('button')
  await visitor.waitForURL(/\/docs\?.*utm_/)
  await page.click('[aria-label="Change Spring"]')
  await page.check('dialog [name="has_no_password"]')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(`${link}:has-text("password")`, { state: 'detached' })

  await page.click('button:text-is("Archive")')
  await page.waitForSelector('text=No link yet')
  await page.click(`${list('Links')} >> button:text-is("Archived")`)
  await page.click(link)
  await page.click('button:text-is("Put back")')
  await page.waitForSelector('text=None is archived')
  await page.click(`${list('Links')} >> button:text-is("Links")`)
  await page.waitForSelector(link)
})

test('a post is written, scheduled, published and archived, and each state is shown', async (context) => {
  await makeAccount(stores, mine.workspaceId, 'x')
  const page = await signIn(context)
  await page.click('nav >> text=Posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Launch')
  const caption = page.getByLabel('Caption', { exact: true })
  await caption.fill('We are open (https://example.com/open?utm_source=mail), come: https://example.com/Way_(Sun).')
  await page.click('button:text-is("Track the links")')
  await expect
    .poll(() => caption.inputValue())
    .toMatch(/^We are open \(http\S+\/l\/\w{8}\), come: http\S+\/l\/\w{8}\.$/)
  // Links that are archived are tracked, too.
  for (const { id } of (await ask<{ id: number }[]>('GET', '/v1/links')).body)
    await ask('POST', `/v1/links/${id}/archive`)
  await page.click('button:text-is("Track the links")')
  await page.waitForSelector('[role="alert"]:has-text("no address that isn’t tracked")')
  const [saved] = (await ask<{ base_caption: string }[]>('GET', '/v1/posts')).body
  expect(saved!.base_caption).toBe(await caption.inputValue())
  type Made = { destination_url: string; post_id: number; utm_source: string }
  const made = await ask<Made[]>('GET', '/v1/links?status=archived')
  expect(made.body.map(({ destination_url: to, post_id, utm_source }) => [to, typeof post_id, utm_source])).toEqual([
    ['https://example.com/Way_(Sun)', 'number', 'svc'],
    ['https://example.com/open?utm_source=mail', 'number', 'mail'],
  ])
  await page.check('input[type="checkbox"]')
  await page.fill('input[type="datetime-local"]', '2100-03-01T09:30')
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('summary:has-text("Launch"):has-text("scheduled")')
  const publisher = runPublisher(stores)
  try {
    const [post] = (await ask<ShownPost[]>('GET', '/v1/posts')).body
    // The form's times are minutes, which nobody waits for here.
    await reschedule(ask, post!.id)
    await expect
      .poll(async () => (await ask<ShownPost>('GET', `/v1/posts/${post!.id}`)).body.status, { timeout: 30_000 })
      .toBe('published')
  } finally {
    await publisher.close()
  }
  // As if its network had told.
  await stores.pg.query(
    `INSERT INTO post_engagement (target_id, social_account_id, published_at, likes, shares, read_at)
     SELECT id, social_account_id, now(), 1200, 1, now() FROM post_targets`,
  )
  await page.reload()
  await page.click('summary:has-text("Launch"):has-text("1,200 likes, 1 share"):has-text("published")')
  const target = 'section[aria-label="Posts"] li.event:has-text("x"):has-text("published")'
  await page.waitForSelector(`${target}:has-text("1,200 likes, 1 share")`)
  await page.waitForSelector('.facts div:has-text("On its networks"):has-text("1,200 likes, 1 share")')
  expect(await violations(page)).toEqual([])

  await page.click('text=Write a post')
  await page.fill('text=Title', 'Not yet')
  await page.getByLabel('Caption', { exact: true }).fill('Soon <i>open</i>')
  // The form stays, so nobody is asked: a question would be answered with no.
  await page.click('section[aria-label="Posts"] >> button:text-is("Archived")')
  await page.waitForSelector('text=None is archived')
  await page.click('section[aria-label="Posts"] >> button:text-is("Posts")')
  await page.click('button:text-is("Save the draft")')
  await page.click('summary:has-text("Not yet")')
  await page.waitForSelector('.caption:has-text("Soon <i>open</i>")')
  await page.click('button:text-is("Archive")')
  await page.waitForSelector('summary:has-text("Not yet")', { state: 'detached' })
  await page.click('section[aria-label="Posts"] >> button:text-is("Archived")')
  await page.click('summary:has-text("Not yet"):has-text("archived")')
  await page.waitForSelector('summary:has-text("Launch")', { state: 'detached' })
  await page.click('button:text-is("Delete")')
  await page.click('dialog button:text-is("Delete")')
  await page.waitForSelector('text=None is archived')
})

test('a post is written with the preview of its networks, refused, scheduled, changed, taken back and deleted', async (context) => {
  await makeAccount(stores, mine.workspaceId, 'threads')
  const page = await signIn(context)
  await page.click('nav >> text=Posts')
  await page.click('text=Write a post')
  await page.fill('text=Title', 'Launch')
  await page.getByLabel('Caption', { exact: true }).fill('y'.repeat(501))
  await page.waitForSelector('section[aria-label="Preview"] >> text=At least one connected account')
  await page.check('input[type="checkbox"]')
  await page.waitForSelector('section[aria-label="Preview"] >> text=501 of 500')
  expect(await violations(page)).toEqual([])
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('[role="alert"]:has-text("Choose the time first")')
  await page.fill('input[type="datetime-local"]', '2100-03-01T09:30')
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('[role="alert"]:has-text("at most 500 characters")')
  await page.getByLabel('Caption', { exact: true }).fill('y'.repeat(2_201))
  await page.waitForSelector('[role="alert"]:has-text("at most 2200 characters")')
  await page.getByLabel('Caption', { exact: true }).fill('y'.repeat(501))
  await page.fill('text=Another caption for threads', 'Short for threads')
  await page.waitForSelector('section[aria-label="Preview"] >> text=17 of 500')
  await page.setInputFiles('input[type="file"]', { name: 'dot.png', mimeType: 'image/png', buffer: png() })
  await page.fill('text=What it shows', 'A dot')
  await page.click('button:text-is("Schedule")')
  await page.waitForSelector('[role="alert"]:has-text("Add the chosen file first")')
  await page.click('text=Add the file')
  // The second is chosen before the first has come.
  await page.setInputFiles('input[type="file"]', { name: 'a.mp4', mimeType: 'video/mp4', buffer: film() })
  await page.click('text=Add the file')
  await page.waitForSelector('.media img')
  await page.waitForSelector('.media video')
  await page.click('button:text-is("Schedule")')
  await page.click('section[aria-label="Posts"] summary:has-text("Launch"):has-text("scheduled")')

  await page.click('text=Edit')
  expect(await page.inputValue('input[type="datetime-local"]')).toBe('2100-03-01T09:30')
  await page.fill('text=Title', 'Launch day')
  await page.fill('text=Tags', '#spring, sale,')
  const altText = '.media li:has(img) input'
  const warning = 'section[aria-label="Preview"] >> text=/alternative text/i'
  for (const text of ['', 'The dot']) {
    await page.fill(altText, text)
    await page.press(altText, 'Tab')
    await page.waitForSelector('.media li:has(img) label:has-text("(saved)")')
    await page.waitForSelector(warning, { state: text === '' ? 'visible' : 'detached' })
  }
  page.once('dialog', (dialog) => dialog.dismiss())
  await page.click('form button:text-is("Close")')
  const posts = async () => (await api.ask('/v1/posts', { key: mine.apiKey })).json()
  // A click that leaves the field saves its text and then the post, or neither.
  await page.fill(altText, 'y'.repeat(1_001))
  for (let i = 0; i < 2; i++) {
    await page.click('button:text-is("Save")')
    await page.waitForSelector('[role="alert"]:has-text("at most 1000 characters")')
    await page.waitForSelector('button:text-is("Save"):enabled')
  }
  expect(await posts()).toMatchObject([{ title: 'Launch' }])
  await page.fill(altText, 'A black dot')
  await page.click('button:text-is("Save")')
  await page.click('text=Unschedule')
  await page.waitForSelector('summary:has-text("Launch day"):has-text("draft")')
  const targets = [{ platform: 'threads', caption_override: 'Short for threads' }]
  const media_ids = [expect.any(Number), expect.any(Number)]
  const tags = ['spring', 'sale']
  expect(await posts()).toMatchObject([{ title: 'Launch day', media_ids, targets, tags, status: 'draft' }])
  const media = (await (await api.ask('/v1/media', { key: mine.apiKey })).json()) as { alt_text: string }[]
  expect(media.map(({ alt_text }) => alt_text).sort()).toEqual(['', 'A black dot'])
  await page.click('text=Edit')
  await page.click('button:text-is("Publish now")')
  await page.waitForSelector('summary:has-text("Launch day"):has-text("scheduled")')
  const [post] = (await posts()) as { scheduled_at: string }[]
  expect(Math.abs(Date.parse(post!.scheduled_at) - Date.now())).toBeLessThan(60_000)
  await page.click('text=Unschedule')
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
  await page.click('button:text-is("Delete")')
  await page.click('dialog button:text-is("Delete")')
  await page.waitForSelector('text=No post yet')
})

test('the company profile is generated from pages that are named here, with a quote for each claim', async (context) => {
  const sites = await startCompanySites()
  const agent = makeGuardedAgent({ allowPrivate: true, connectMs: 5_000 })
  try {
    const page = await signIn(context)
    await page.click('nav >> text=Company')
    await page.fill('textarea', 'ftp://example.com/')
    await page.click('text=Save the pages')
    await page.waitForSelector('[role="alert"]:has-text("Public pages 1: ")')
    await page.fill('textarea', `${sites.url}/shop`)
    await page.click('text=Save the pages')
    await page.waitForSelector('text=Being generated')
    const generating = {
      ...stores,
      clock: systemClock,
      log: makeLog('test', 'silent'),
      apiHost: 'http://api.test',
      fetching: { agent, allowPrivate: true },
    }
    await generateNext(generating, new AbortController().signal)
    await page.waitForSelector('section[aria-label="Evidence"] li:has(strong:text-is("Calls to action")) blockquote')
    await page.waitForSelector('button:text-is("Generate again"):not([disabled])')
    expect(await violations(page)).toEqual([])
  } finally {
    await agent.close()
    await sites.close()
  }
})

test('what is sent again after its answer was lost is made once', async (context) => {
  const page = await signIn(context)
  let isLost = false
  await page.route('**/api/v1/links', async (route) => {
    if (isLost || route.request().method() !== 'POST') return route.continue()
    isLost = true
    await route.fetch()
    await route.abort()
  })
  await page.click('nav >> text=Links')
  await page.fill('input[name="label"]', 'Twice')
  await page.fill('input[name="destination"]', 'https://example.com/twice')
  await page.click('text=Make a link')
  await page.waitForSelector('[role="alert"]:has-text("The service can’t be reached")')
  await page.click('text=Make a link')
  await page.waitForSelector('[role="alert"]', { state: 'detached' })
  const links = (await (await api.ask('/v1/links', { key: mine.apiKey })).json()) as { label: string }[]
  expect(links.filter(({ label }) => label === 'Twice')).toHaveLength(1)
})

test('an edit leaves what others changed meanwhile: of a post and of the workspace', async (context) => {
  const headers = { 'Content-Type': 'application/json' }
  const write = async (method: 'POST' | 'PATCH', path: string, body: object) => {
    const response = await api.ask(`/v1${path}`, { method, key: mine.apiKey, headers, body: JSON.stringify(body) })
    return (await response.json()) as { id: number }
  }
  const { id } = await write('POST', '/posts', { title: 'Ours', base_caption: 'Old' })
  const page = await signIn(context)
  await page.click('nav >> text=Posts')
  await page.click('section[aria-label="Posts"] summary:has-text("Ours")')
  await page.click('text=Edit')
  await page.fill('text=Title', 'Mine')
  const theirs = { base_caption: 'New', scheduled_at: '2100-03-01T09:30:00.000Z' }
  await write('PATCH', `/posts/${id}`, theirs)
  await page.click('button:text-is("Save the draft")')
  const post = async () => (await api.ask(`/v1/posts/${id}`, { key: mine.apiKey })).json()
  await expect.poll(post).toMatchObject({ title: 'Mine', ...theirs })

  await page.click('nav >> text=Settings')
  await page.click('button:text-is("Change")')
  await page.fill('dialog input[name="name"]', 'Renamed')
  await stores.pg.query(`UPDATE workspaces SET currency = 'CHF' WHERE id = $1`, [mine.workspaceId])
  await page.click('dialog button:text-is("Save")')
  await page.waitForSelector('dialog', { state: 'detached' })
  const [workspace] = await stores.pg.query('SELECT name, currency FROM workspaces WHERE id = $1', [mine.workspaceId])
  expect(workspace).toEqual({ name: 'Renamed', currency: 'CHF' })
})
