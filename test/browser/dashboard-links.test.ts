/** Tracked links in the dashboard: made, refused, found, shown as they are set, changed, archived, imported from a file, and under domains of one's own. */
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { renderSVG } from 'uqr'
import { expect, test } from 'vitest'
import type { TxtAnswer } from '../../runtime/outbound/txt-records.ts'
import { setUpApi } from '../support/api.ts'
import { askAnew, goBy, holdRequests, list, look, setUpDashboard } from '../support/dashboard.ts'
import { startIngest } from '../support/ingest.ts'
import { asking } from '../support/publishing.ts'

const records = new Map<string, TxtAnswer>()
const { stores, api, mine } = setUpApi({
  apiHost: 'http://127.0.0.1',
  readTxt: async (name) => records.get(name) ?? [],
})
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)
const section = list('Links')
const link = `${section} summary:has-text("Spring")`
/** A part of an open link. */
const part = (title: string) => `section:has(> h3:text-is("${title}"))`
const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile/15E148 Safari/604.1'
const spring = async () => (await ask<Record<string, unknown>[]>('GET', '/v1/links?q=spring')).body[0]!

test('a link is made with a key, a campaign, tags, a preview and targets, and refused in words; it is found, and shown as it is set', async (context) => {
  await ask('POST', '/v1/links', { label: 'Other', destination_url: 'https://example.com/other' })
  const page = await signIn(context, '/dashboard/links')
  await page.fill('input[name="label"]', 'Spring')
  await page.fill('input[name="destination"]', 'ftp://example.com/')
  await page.click('text=Make a link')
  expect(await page.textContent('[role="alert"]')).toContain('Destination: ')
  await page.click('summary:has-text("Key, campaign, tags")')
  await page.fill('[name="tags"]', '#spring sale,, print')
  // The campaign's fields write into the destination, and read from it.
  const campaign = page.locator('form[aria-label="New link"]')
  const destination = campaign.getByLabel('Destination', { exact: true })
  await destination.fill('https://example.com/')
  await campaign.getByLabel('Term').fill('red shoes')
  expect(await destination.inputValue()).toBe('https://example.com/?utm_term=red%20shoes')
  await destination.fill('https://example.com/?utm_source=news&utm_term=red%20shoes')
  expect(await campaign.getByLabel('Source').inputValue()).toBe('news')
  await campaign.getByLabel('Term').fill('')
  expect(await destination.inputValue()).toBe('https://example.com/?utm_source=news')
  await page.fill('[name="preview_description"]', 'Only <today>')
  await page.fill('[name="preview_title"]', 'Half price')
  await page.fill('[name="preview_image"]', 'https://cdn.example/card.png')
  const card = 'Image from cdn.exampleHalf priceOnly <today>'
  expect(await page.textContent('[aria-label="Preview card"]')).toBe(card)
  await page.click('text=Add a destination')
  await page.selectOption('[aria-label="Device 1"]', 'ios')
  await page.getByLabel('Share of visitors 1, %').fill('30')
  await page.fill('[name="target_url"]', 'https://example.com/app')
  await page.fill('input[name="key"]', 'docs')
  await page.click('text=Make a link')
  await page.waitForSelector('[role="alert"]:has-text("Key: The key is reserved")')
  await page.fill('input[name="key"]', 'Spring-26')
  await page.click('text=Make a link')
  await page.waitForSelector('[name="target_url"]', { state: 'detached' })
  expect([await destination.inputValue(), await campaign.getByLabel('Source').inputValue()]).toEqual(['', ''])
  const preview = { title: 'Half price', description: 'Only <today>', image_url: 'https://cdn.example/card.png' }
  const targets = [{ device: 'ios', share: 30, destination_url: 'https://example.com/app' }]
  expect(await spring()).toMatchObject({ utm_source: 'news', utm_medium: 'social', preview, targets })

  await page.waitForSelector(link)
  await page.fill('[aria-label="Search links"]', 'spring-26')
  await page.waitForURL('**/dashboard/links?q=spring-26')
  await page.waitForSelector(`${section} summary:has-text("Other")`, { state: 'detached' })
  await expect.poll(() => page.locator(`${section} summary`).count()).toBe(1)
  await page.fill('[aria-label="Search links"]', 'nowhere')
  await page.waitForSelector('text=No link here matches.')
  await page.fill('[aria-label="Search links"]', '')
  await page.waitForURL('**/dashboard/links')
  await ask('PATCH', `/v1/links/${(await spring())['id']}`, {
    password: 'sesame',
    expires_at: '2100-01-01T09:00:00Z',
    expired_url: 'https://example.com/over',
    targets: [
      { device: 'ios', countries: ['DE'], destination_url: 'https://example.com/app' },
      { countries: ['DE'], share: 30, destination_url: 'https://example.com/de' },
    ],
  })
  await page.reload()
  await page.click(link)
  await page.waitForSelector(`${section} ${part('Settings')} li`)
  const settings = await page.locator(`${section} ${part('Settings')} li`).allTextContents()
  expect(settings.map((text) => text.replace(/January.*|Jan.*|1\/1\/.*/, ''))).toEqual([
    'iPhone, iPad in Germanyhttps://example.com/app',
    expect.stringMatching(/^30\s?% of visitors: Germanyhttps:\/\/example\.com\/de$/),
    'All othershttps://example.com/?utm_source=news',
    'PasswordVisitors are asked for one',
    expect.stringContaining('End'),
    'Then leads tohttps://example.com/over',
  ])
  expect(await page.textContent('details [aria-label="Preview card"]')).toBe(card)
  await page.waitForSelector('dt:has-text("Conversions")')
  await page.waitForSelector('img[alt^="QR code of"]')
  expect(await page.getAttribute('text=Download SVG', 'download')).toBe('Spring-26.svg')
  const saved = page.waitForEvent('download')
  await page.click('text=Download PNG')
  expect((await saved).suggestedFilename()).toBe('Spring-26.png')
  const image = await buffer((await (await saved).createReadStream()) as Readable)
  expect([image.toString('latin1', 1, 4), image.readUInt32BE(16)]).toEqual(['PNG', 1024])
  // Firefox draws nothing of an image without a size of its own; Chrome does.
  const drawn = decodeURIComponent((await page.getAttribute('img[alt^="QR code of"]', 'src'))!)
  expect(drawn).toContain('<svg width="1024" height="1024" ')
  await page.setViewportSize({ width: 390, height: 900 })
  for (const name of ['label', 'destination'])
    expect((await page.locator(`input[name="${name}"]`).boundingBox())!.width).toBeGreaterThan(190)
  await page.click(`${section} summary:has-text("Other")`)
  await page.waitForSelector('text=Download PNG of Other')
  const names = await page.$$eval('.item :is(button, a)', (all) => all.map((one) => one.ariaLabel ?? one.textContent))
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  await look(page, 'link')
  expect(await page.$$('[role="alert"]')).toEqual([])
})

test('a link is changed, refused in words, chosen by its tag, archived and put back', async (context) => {
  await ask('POST', '/v1/links', {
    label: 'Spring',
    destination_url: 'https://example.com/',
    utm_source: 'news',
    tags: ['spring sale', 'print'],
    preview: { title: 'Half price' },
    targets: [{ device: 'ios', destination_url: 'https://example.com/app' }],
  })
  const page = await signIn(context, '/dashboard/links')
  await page.click(link)
  await page.click('[aria-label="Change Spring"]')
  expect(await page.inputValue('dialog [name="utm_source"]')).toBe('news')
  expect(await page.inputValue('dialog [name="preview_title"]')).toBe('Half price')
  await page.fill('dialog [name="preview_title"]', '')
  await page.fill('dialog [name="expired_url"]', 'https://example.com/over')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(
    'dialog [role="alert"]:has-text("Then leads to: It needs a time at which the link expires")',
  )
  const endless = page.locator('dialog >> text=it doesn’t expire')
  expect(await endless.count()).toBe(1)
  await page.fill('dialog [name="expires_at"]', '2020-01-01T09:30')
  expect(await endless.count()).toBe(0)
  await page.fill('dialog [name="password"]', 'sesame')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(`${link}:has-text("expired"):has-text("password")`)
  expect(await spring()).toMatchObject({ preview: null, has_password: true })

  await page.click('[aria-label="Change Spring"]')
  expect(await page.inputValue('dialog [name="expired_url"]')).toBe('https://example.com/over')
  await page.fill('dialog [name="expires_at"]', '')
  await page.check('dialog [name="has_no_password"]')
  await page.fill('dialog [name="tags"]', 'spring sale')
  await page.click('dialog >> text=Add a destination')
  await page.fill('dialog [aria-label^="Countries 2"]', 'germany, Narnia')
  await page.fill('dialog [aria-label="Destination 2"]', 'https://example.com/de')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector('dialog [role="alert"]:has-text("Targets 2 countries 2: a country is")')
  await page.fill('dialog [aria-label^="Countries 2"]', 'germany, at')
  await page.click('dialog [aria-label="Move destination 2 up"]')
  await look(page, 'link-form')
  await page.click('dialog [type="submit"]')
  for (const gone of ['expired', 'password'])
    await page.waitForSelector(`${link}:has-text("${gone}")`, { state: 'detached' })
  expect((await spring())['targets']).toEqual([
    { countries: ['DE', 'AT'], destination_url: 'https://example.com/de' },
    { device: 'ios', destination_url: 'https://example.com/app' },
  ])
  await page.click('[aria-label="Change Spring"]')
  expect(await page.inputValue('dialog [aria-label^="Countries 1"]')).toBe('Germany, Austria')
  for (let row = 0; row < 2; row++) await page.click('dialog [aria-label="Remove destination 1"]')
  await page.click('dialog [type="submit"]')
  await expect.poll(async () => (await spring())['targets']).toEqual([])
  // The list loses a link that somebody archives, and its form stays.
  await page.click('[aria-label="Change Spring"]')
  await page.fill('dialog [name="label"]', 'Spring sale')
  const { id } = await spring()
  await ask('POST', `/v1/links/${id}/archive`)
  await askAnew(page)
  await page.waitForSelector('text=No link yet')
  await page.fill('dialog [name="label"]', 'Spring')
  await page.keyboard.press('Escape')
  await ask('POST', `/v1/links/${id}/unarchive`)
  await askAnew(page)
  await page.waitForSelector(link)

  expect(await page.textContent('ul[aria-label="Tags"]')).toBe('#spring sale')
  await page.click('ul[aria-label="Tags"] >> text=#spring sale')
  await page.waitForURL('**?tag=spring+sale')
  await look(page, 'link-tag', section)
  await page.click('[title="Links with any tags"]')
  await page.waitForURL((url) => url.search === '')
  await page.click(link)
  const letGo = await holdRequests(page, '**/api/v1/links?*')
  await page.click('button:text-is("Archive")')
  // At once, before the list is read anew.
  await page.waitForSelector(link, { state: 'detached' })
  letGo()
  await page.waitForSelector('text=No link yet')
  // The button went with its link. Its neighbour has the focus.
  expect(await page.evaluate('document.activeElement.closest("section")?.ariaLabel')).toBe('Links')
  await page.click(`${section} >> button:text-is("Archived")`)
  await page.click(link)
  await page.click('button:text-is("Put back")')
  await page.waitForSelector('text=None is archived')
  await page.click(`${section} >> button:text-is("Links")`)
  await page.waitForSelector(link)
})

test('what is sent again after its answer was lost is made once, and what is written meanwhile stays', async (context) => {
  const page = await signIn(context, '/dashboard/links')
  let isLost = false
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/api/v1/links', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    if (isLost) return held.then(() => route.continue())
    isLost = true
    await route.fetch()
    await route.abort()
  })
  await page.fill('input[name="label"]', 'Twice')
  await page.fill('input[name="destination"]', 'https://example.com/twice')
  await page.click('text=Make a link')
  await page.waitForSelector('[role="alert"]:has-text("The service can’t be reached")')
  await page.click('text=Make a link')
  await page.fill('input[name="label"]', 'Next')
  letGo()
  await page.waitForSelector('[role="alert"]', { state: 'detached' })
  expect(await page.inputValue('input[name="label"]')).toBe('Next')
  expect((await ask<{ label: string }[]>('GET', '/v1/links')).body.map(({ label }) => label)).toEqual(['Twice'])
})

test('links have pages, with clicks and where they led, and the archived ones an address', async (context) => {
  const made = await stores.pg.query<{ id: number }>(
    `INSERT INTO links (workspace_id, attribution_key, label, destination_url, tracking_url, tracking_params,
       utm_source, utm_medium, utm_campaign, utm_content)
     SELECT $1::bigint, 'k' || $1::bigint || 'n' || n, 'Link ' || n, 'https://example.com/', 'https://example.com/', '{}', '', '', '', ''
     FROM generate_series(1, 101) n RETURNING id`,
    [mine.workspaceId],
  )
  await stores.ch.command(
    `INSERT INTO link_clicks (workspace_id, link_id, kind, visitor, occurred_at, target_url)
     VALUES (${mine.workspaceId}, ${made.at(-1)!.id}, 'click', 7, now(), 'https://example.com/app')`,
  )
  const targets = [{ share: 40, destination_url: 'https://example.com/app' }]
  await ask('PATCH', `/v1/links/${made.at(-1)!.id}`, { targets })
  const page = await signIn(context, '/dashboard/links')
  await page.waitForSelector(`${section} summary:has-text("Link 100"):has-text("0 clicks")`)
  await page.click(`${section} summary:has-text("Link 101"):has-text("1 click")`)
  const where = `${part('Where they led')} li:has-text("https://example.com/app")`
  expect(await page.textContent(where)).toMatch(/app40\s?% of visitors1$/)
  await page.waitForSelector(`figcaption:has-text("most in a day: 1")`)
  await page.click('text=Older')
  await expect.poll(() => page.locator(`${section} summary`).count()).toBe(1)
  await stores.pg.query('DELETE FROM links WHERE id = $1', [made[0]!.id])
  await askAnew(page)
  await page.waitForSelector(`${section} >> text=Nothing is older`)
  expect(await page.$('text=No link yet')).toBeNull()
  await page.click(`${section} >> text=Archived`)
  await page.waitForURL('**/dashboard/links?status=archived')
  await page.reload()
  await page.waitForSelector(`${section} .empty:has-text("None is archived")`)
  await page.goBack()
  await page.waitForSelector(`${section} >> text=Nothing is older`)
  await page.click('text=Newer')
  await page.waitForSelector(`${section} summary:has-text("Link 101")`)
})

test('a scan of the drawn code counts as one, with its device, and goes on without the mark', async (context) => {
  const made = { label: 'Spring', destination_url: 'https://example.com/' }
  const { post_url, tracking_url } = (await ask<Record<string, string>>('POST', '/v1/links', made)).body
  const page = await signIn(context, '/dashboard/links')
  await page.click(link)
  const sized = decodeURIComponent((await page.getAttribute('img.qr', 'src'))!)
  const drawn = sized.replace(/<svg width="\d+" height="\d+" /, '<svg ')
  const scanned = `${post_url}?svc_qr=1`
  expect(drawn).toBe(`data:image/svg+xml,${renderSVG(scanned, { border: 4 })}`)
  const ingest = await startIngest(stores)
  try {
    const { pathname, search } = new URL(scanned)
    const headers = { 'User-Agent': iPhone }
    const url = `http://127.0.0.1:${ingest.port}${pathname}${search}`
    expect((await fetch(url, { redirect: 'manual', headers })).headers.get('Location')).toBe(tracking_url)
    await ingest.shipped()
  } finally {
    await ingest.stop()
  }
  await page.setViewportSize({ width: 390, height: 900 })
  await page.reload()
  await page.click(link)
  await page.waitForSelector(part('Came by'))
  const shown = ['Came by', 'Devices', 'Browsers', 'Systems'].map((title) => page.locator(part(title)))
  const texts = await Promise.all(shown.map((one) => one.textContent()))
  expect(texts).toEqual(['Came byQR code1', 'DevicesMobile1', 'BrowsersSafari1', 'SystemsiOS1'])
  const boxes = await Promise.all(shown.map(async (one) => (await one.boundingBox())!))
  for (const [at, { y, height }] of boxes.slice(0, -1).entries())
    expect(boxes[at + 1]!.y).toBeGreaterThanOrEqual(y + height)
  await look(page, 'link-clicks', section)
})

test('an import that is closed asks first, and ends with the part that is under way', async (context) => {
  const page = await signIn(context, '/dashboard/links')
  await page.click('text=Import links')
  const rows = Array.from({ length: 501 }, (_, at) => `https://example.com/${at},Part ${at}`)
  const csv = ['destination_url,label', ...rows].join('\n')
  const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  await page.setInputFiles('dialog input[type="file"]', file)
  let parts = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/links/import')) parts += 1
  })
  const letGo = await holdRequests(page, '**/api/v1/links/import')
  await page.click('dialog >> text=Make 501 links')
  await expect.poll(() => parts).toBe(1)
  const asked: string[] = []
  page.on('dialog', (question) => {
    asked.push(question.message())
    void question.accept()
  })
  await page.click('dialog >> text=Close')
  await page.waitForSelector('dialog', { state: 'detached' })
  expect(asked).toEqual([expect.stringMatching(/^Stop the import\? /)])
  letGo()
  await page.waitForSelector(`${section} summary:has-text("Part 499")`)
  expect(parts).toBe(1)
})

test('a file is looked at before its links are made, with what is there already and what is refused', async (context) => {
  await ask('POST', '/v1/links', { label: 'There', destination_url: 'https://example.com/there', key: 'there' })
  const page = await signIn(context, '/dashboard/links')
  await page.click('text=Import links')
  await page.setViewportSize({ width: 320, height: 900 })
  expect(
    await page.evaluate(
      `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))`,
    ),
  ).toBe(0)
  await page.setViewportSize({ width: 1280, height: 900 })
  const rows = Array.from({ length: 501 }, (_, at) => `https://example.com/${at},row-${at},"Row\n""${at}"""`)
  const others = ['https://example.com/there,there,There', 'ftp://a.b,x,<b>']
  const csv = ['Destination URL,Slashtag,Title', ...rows, ...others].join('\r\n')
  const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  await page.setInputFiles('dialog input[type="file"]', file)
  await page.waitForSelector('dialog [role="status"]:has-text("Refused: 1 · New: 501 · Already there: 1")')
  expect(await page.textContent('dialog li:first-child')).toMatch(/^503: Refused<b> destination_url: /)
  expect((await ask<unknown[]>('GET', '/v1/links?limit=10')).body).toHaveLength(1)
  await look(page, 'link-import')
  await page.click('dialog >> text=Make 501 links')
  await page.waitForSelector('dialog [role="status"]:has-text("Refused: 1 · Made: 501 · Already there: 1")')
  await page.click('dialog >> text=Close')
  await page.waitForSelector(`${section} summary:has-text("Row")`)
  const { body } = await ask<{ label: string }[]>('GET', '/v1/links?q=row-500')
  expect(body.map(({ label }) => label)).toEqual(['Row\n"500"'])
})

test('a domain shows its record and why a check failed; once it is verified, a new link may name it, which keeps it', async (context) => {
  const domains = list('Short domains')
  const page = await signIn(context, '/dashboard/links')
  await page.waitForSelector('form[aria-label="New link"]')
  await page.click('summary:has-text("Key, campaign, tags")')
  expect(await page.locator('[name="domain"]').count()).toBe(0)
  await goBy(page, 't')
  await page.click(`${domains} >> text=Add a domain`)
  await page.fill('dialog [name="host"]', 'localhost')
  await page.click('dialog button[type="submit"]')
  expect(await page.textContent('dialog [role="alert"]')).toContain('Host: ')
  await page.fill('dialog [name="host"]', 'Go.Example.com')
  await look(page, 'short-domain-form')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector(`${domains} dd:has-text("_svc.go.example.com")`)
  await page.click('[aria-label="Verify go.example.com"]')
  await page.waitForSelector(`${domains} b:has-text("There is no TXT record")`)
  await look(page, 'short-domain-pending', domains)
  records.set('_svc.go.example.com', [(await page.locator(`${domains} dd`).nth(2).textContent())!])
  await page.click('[aria-label="Verify go.example.com"]')
  await page.waitForSelector(`${domains} .good:has-text("verified")`)
  expect(await page.locator(`${domains} dd`).count()).toBe(0)
  await page.click('[aria-label="Change go.example.com"]')
  await page.fill('dialog [name="root_url"]', 'https://www.example.com/')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector('dialog', { state: 'detached' })
  expect((await ask('GET', '/v1/domains')).body).toMatchObject([
    { status: 'verified', root_url: 'https://www.example.com/', not_found_url: null },
  ])

  await page.click('nav >> text=Links')
  await page.click('summary:has-text("Key, campaign, tags")')
  await page.selectOption('[name="domain"]', 'go.example.com')
  await page.fill('input[name="label"]', 'Spring')
  await page.fill('input[name="destination"]', 'https://example.com/')
  await page.fill('input[name="key"]', 'spring')
  await page.click('text=Make a link')
  await page.click(`${section} summary:has-text("Spring")`)
  await page.waitForSelector('text=https://go.example.com/spring')
  await ask('POST', '/v1/links', { label: 'Elsewhere', destination_url: 'https://example.com/' })
  await page.reload()
  await page.waitForSelector(`${section} summary:has-text("Elsewhere")`)
  await page.selectOption('[aria-label="Links under a domain"]', 'go.example.com')
  await page.waitForSelector(`${section} summary:has-text("Elsewhere")`, { state: 'detached' })
  expect(new URL(page.url()).searchParams.get('domain')).toBe('go.example.com')
  await page.waitForSelector(`${section} summary:has-text("Spring")`)
  await goBy(page, 't')
  await page.click('[aria-label="Remove go.example.com"]')
  await page.click('dialog .danger')
  await page.waitForSelector(`${domains} [role="alert"]:has-text("archive them first")`)
})
