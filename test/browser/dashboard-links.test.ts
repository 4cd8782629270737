/** Tracked links in the dashboard: chosen keys, how an open link is set, the search, and the import of a file. */
import { expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard, violations } from '../support/dashboard.ts'
import { asking } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1' })
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)

test('a link gets its chosen key, is found by it, and shows how it is set before it is changed', async (context) => {
  await ask('POST', '/v1/links', { label: 'Other', destination_url: 'https://example.com/other' })
  await ask('POST', '/v1/links', {
    ...{ label: 'Spring', destination_url: 'https://example.com/', password: 'sesame' },
    ...{ expires_at: '2100-01-01T09:00:00Z', expired_url: 'https://example.com/over' },
    targets: [{ device: 'ios', countries: ['DE'], destination_url: 'https://example.com/app' }],
    preview: { title: '<b>Half</b> price', description: 'Today', image_url: 'https://cdn.example/card.png' },
  })
  const page = await signIn(context)
  await page.click('nav >> text=Links')
  await page.fill('input[name="label"]', 'Chosen')
  await page.fill('input[name="destination"]', 'https://example.com/chosen')
  await page.click('summary:has-text("Key, campaign")')
  await page.fill('input[name="key"]', 'docs')
  await page.click('text=Make a link')
  await page.waitForSelector('[role="alert"]:has-text("Key: The key is reserved")')
  await page.fill('input[name="key"]', 'Spring-26')
  await page.click('text=Make a link')
  await page.waitForSelector(`${list('Links')} summary:has-text("Chosen")`)
  await page.fill('[aria-label="Search links"]', 'spring-26')
  await page.waitForURL('**/dashboard/links?q=spring-26')
  await page.waitForSelector(`${list('Links')} summary:has-text("Other")`, { state: 'detached' })
  await expect.poll(() => page.$$eval(`${list('Links')} summary`, (all) => all.length)).toBe(1)
  await page.fill('[aria-label="Search links"]', 'nowhere')
  await page.waitForSelector('text=No link here matches.')
  await page.fill('[aria-label="Search links"]', '')
  await page.click(`${list('Links')} summary:has-text("Spring")`)
  await page.waitForSelector(`${list('Links')} ${list('Settings')} li`)
  const settings = await page.locator(`${list('Links')} ${list('Settings')} li`).allTextContents()
  expect(settings.map((text) => text.replace(/January.*|Jan.*|1\/1\/.*/, ''))).toEqual([
    'iPhone, iPad in Germanyhttps://example.com/app',
    'All othershttps://example.com/',
    'PasswordVisitors are asked for one',
    expect.stringContaining('End'),
    'Then leads tohttps://example.com/over',
  ])
  expect(await page.textContent('details section[aria-label="Preview card"]')).toBe(
    'Image from cdn.example<b>Half</b> priceToday',
  )
  await look(page, 'link-settings')
  expect(await violations(page)).toEqual([])
})

test('a file is looked at before its links are made, with what is there already and what is refused', async (context) => {
  await ask('POST', '/v1/links', { label: 'There', destination_url: 'https://example.com/there', key: 'there' })
  const page = await signIn(context)
  await page.click('nav >> text=Links')
  await page.click('text=Import links')
  const rows = Array.from({ length: 501 }, (_, at) => `https://example.com/${at},row-${at},"Row\n""${at}"""`)
  const csv = [
    'Destination URL,Slashtag,Title',
    ...rows,
    'https://example.com/there,there,There',
    'ftp://a.b,x,<b>',
  ].join('\r\n')
  await page.setInputFiles('dialog input[type="file"]', {
    name: 'a.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(csv),
  })
  await page.waitForSelector('dialog [role="status"]:has-text("Refused: 1 · New: 501 · Already there: 1")')
  expect(await page.textContent('dialog li:first-child')).toMatch(/^503: Refused<b> destination_url: /)
  expect((await ask<unknown[]>('GET', '/v1/links?limit=10')).body).toHaveLength(1)
  await look(page, 'link-import')
  expect(await violations(page)).toEqual([])
  await page.click('dialog >> text=Make 501 links')
  await page.waitForSelector('dialog [role="status"]:has-text("Refused: 1 · Made: 501 · Already there: 1")')
  await page.click('dialog >> text=Close')
  await page.waitForSelector(`${list('Links')} summary:has-text("Row")`)
  const { body } = await ask<{ label: string }[]>('GET', '/v1/links?q=row-500')
  expect(body.map(({ label }) => label)).toEqual(['Row\n"500"'])
})
