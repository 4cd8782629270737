/** Short domains in the dashboard: added, proven, changed, chosen for a link, and removed. */
import { expect, test } from 'vitest'
import type { TxtAnswer } from '../../runtime/outbound/txt-records.ts'
import { setUpApi } from '../support/api.ts'
import { goBy, list, look, setUpDashboard } from '../support/dashboard.ts'
import { asking } from '../support/publishing.ts'

const records = new Map<string, TxtAnswer>()
const { stores, api, mine } = setUpApi({
  apiHost: 'http://127.0.0.1',
  readTxt: async (name) => records.get(name) ?? [],
})
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)
const section = list('Short domains')

test('a domain shows its record and why a check failed; once it is verified, a new link may name it, which keeps it', async (context) => {
  const page = await signIn(context, '/dashboard/links')
  await page.waitForSelector('form[aria-label="New link"]')
  await page.click('summary:has-text("Key, campaign, tags")')
  expect(await page.locator('[name="domain"]').count()).toBe(0)
  await goBy(page, 't')
  await page.click(`${section} >> text=Add a domain`)
  await page.fill('dialog [name="host"]', 'localhost')
  await page.click('dialog button[type="submit"]')
  expect(await page.textContent('dialog [role="alert"]')).toContain('Host: ')
  await page.fill('dialog [name="host"]', 'Go.Example.com')
  await look(page, 'short-domain-form')
  await page.click('dialog button[type="submit"]')
  await page.waitForSelector(`${section} dd:has-text("_svc.go.example.com")`)
  await page.click('[aria-label="Verify go.example.com"]')
  await page.waitForSelector(`${section} b:has-text("There is no TXT record")`)
  await look(page, 'short-domain-pending')
  records.set('_svc.go.example.com', [(await page.locator(`${section} dd`).nth(2).textContent())!])
  await page.click('[aria-label="Verify go.example.com"]')
  await page.waitForSelector(`${section} .good:has-text("verified")`)
  expect(await page.locator(`${section} dd`).count()).toBe(0)
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
  await page.click(`${list('Links')} summary:has-text("Spring")`)
  await page.waitForSelector('text=https://go.example.com/spring')
  await ask('POST', '/v1/links', { label: 'Elsewhere', destination_url: 'https://example.com/' })
  await page.reload()
  await page.waitForSelector(`${list('Links')} summary:has-text("Elsewhere")`)
  await page.selectOption('[aria-label="Links under a domain"]', 'go.example.com')
  await page.waitForSelector(`${list('Links')} summary:has-text("Elsewhere")`, { state: 'detached' })
  expect(new URL(page.url()).searchParams.get('domain')).toBe('go.example.com')
  await page.waitForSelector(`${list('Links')} summary:has-text("Spring")`)
  await goBy(page, 't')
  await page.click('[aria-label="Remove go.example.com"]')
  await page.click('dialog .danger')
  await page.waitForSelector(`${section} [role="alert"]:has-text("archive them first")`)
})
