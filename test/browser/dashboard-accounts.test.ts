/** A social account in the dashboard: connected after a wrong token, or by signing in; published to, connected again, and disconnected. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setUpApi, startApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { holdRequests, list, look, setUpDashboard } from '../support/dashboard.ts'
import { linkedinApp, startLinkedin } from '../support/linkedin-server.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
import { testRedirect } from '../support/oauth-pages.ts'
import { endedPost, runPublisher, schedulePost } from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'

const served = setUpApi({
  allowPrivateTargets: true,
  // The platform sends the browser back there.
  get apiHost() {
    return served.api.url
  },
})
const { stores, api, mine } = served
const signIn = setUpDashboard({ stores, api, mine })
const ask = asking(api, () => mine.apiKey)
const section = list('Accounts')

let instance: MastodonServer
beforeAll(async () => {
  instance = await startMastodon()
})
afterAll(() => instance?.close())

test('an account is connected once its token is right, publishes, and is connected again under a hostile name', async (context) => {
  const page = await signIn(context, '/dashboard/settings')
  await page.click(`${section} >> text=Connect an account`)
  const field = (name: string) => page.locator(`dialog [name="${name}"]`)
  const platform = page.getByRole('combobox', { name: 'Platform' })
  await platform.selectOption('tiktok')
  await look(page, 'connect-tiktok')
  await platform.selectOption('telegram')
  await field('channel').fill('@shop')
  await platform.selectOption('mastodon')
  await page.click('dialog >> text=Connect with a token')
  const away = page.locator('dialog a[target="_blank"]')
  expect(await away.first().getAttribute('rel')).toBe('noreferrer')
  await field('url').fill(instance.url)
  await field('secret').fill('another-token')
  await page.keyboard.press('Enter')
  const refusal = "Mastodon didn't take it: The platform answered 401: The access token is invalid"
  await page.waitForSelector(`dialog [role="alert"]:has-text("${refusal}")`)
  await look(page, 'connect-refused')
  await platform.selectOption('discord')
  await page.waitForSelector('dialog [role="alert"]:has-text("Mastodon")', { state: 'detached' })
  await platform.selectOption('mastodon')
  await field('url').fill(instance.url)
  await field('secret').fill(instance.state.token)
  await page.click('dialog [type="submit"]')
  const row = page.locator(`${section} li`)
  await page.waitForSelector(`${section} [role="status"]:has-text("@shop@social.test is connected.")`)
  await row.filter({ hasText: 'works' }).filter({ hasText: 'checked' }).waitFor()
  expect(await page.content()).not.toContain(instance.state.token)

  const [{ id }] = (await ask('GET', '/v1/social-accounts')).body
  const publisher = runPublisher(stores)
  const post = await schedulePost(ask, { caption: 'Hello from the shop', accounts: [id] })
  expect((await endedPost(ask, post)).status).toBe('published')
  await publisher.close()
  expect(instance.statuses.map(({ text }) => text)).toEqual(['Hello from the shop'])

  const hostile = '<img src=x onerror=alert(1)> \u202Eevil'
  await stores.pg.query(
    `UPDATE social_accounts SET status = 'expired', health_status = 'error', health_message = $2, handle = $2 WHERE id = $1`,
    [id, hostile],
  )
  await page.reload()
  await row.filter({ hasText: 'expired: <img src=x' }).waitFor()
  expect(await page.locator('main img[src="x"]').count()).toBe(0)
  await look(page, 'accounts', section)
  // Its name is there, too, however much the platform says.
  await stores.pg.query('UPDATE social_accounts SET health_message = $2 WHERE id = $1', [id, 'It is over. '.repeat(30)])
  await page.reload()
  await row.filter({ hasText: 'expired: It is over' }).waitFor()
  expect(await row.locator('.name').evaluate(({ clientWidth }) => clientWidth)).toBeGreaterThan(150)
  // The network stands behind the name, also where there is little room.
  await page.setViewportSize({ width: 320, height: 900 })
  const isWhole = () => row.locator('.name').evaluate((name) => name.scrollWidth <= name.clientWidth)
  await expect.poll(isWhole).toBe(true)
  await page.setViewportSize({ width: 1280, height: 900 })
  // One press leads to the instance, and one there back.
  await page.click(`${section} >> text=Connect again`)
  await page.click('button:text-is("Authorize")')
  await page.waitForSelector(`[role="status"]:has-text("@shop@social.test on Mastodon is connected again.")`)
  await page.click('text=Go to the settings')
  await row.filter({ hasText: 'works' }).filter({ hasText: '@shop@social.test' }).waitFor()

  await page.click(`${section} li >> text=Disconnect`)
  await page.click('dialog .danger')
  await row.filter({ hasText: 'disconnected' }).waitFor()
  expect(await row.getByText('Disconnect', { exact: true }).count()).toBe(0)
})

test('an account is connected by signing in at its server, publishes, and the address keeps no code', async (context) => {
  const page = await signIn(context, '/dashboard/settings')
  const begin = async () => {
    await page.click(`${section} >> text=Connect an account`)
    await page.getByRole('combobox', { name: 'Platform' }).selectOption('mastodon')
    await page.fill('dialog [name="url"]', instance.url)
  }
  await begin()
  await look(page, 'connect-sign-in')
  await page.keyboard.press('Enter')
  await page.click('button:text-is("Deny")')
  await page.waitForSelector('main [role="alert"]:has-text("The sign-in was declined at Mastodon")')
  await look(page, 'connect-declined')
  await page.click('text=Go to the settings')
  await begin()
  await page.keyboard.press('Enter')
  await page.click('button:text-is("Authorize")')
  await page.waitForSelector('[role="status"]:has-text("@shop@social.test on Mastodon is connected.")')
  expect(page.url()).toBe(`${api.url}/dashboard/connect`)
  await page.reload()
  await page.waitForSelector('main [role="alert"]:has-text("No platform sent you here")')

  const [{ id }] = (await ask('GET', '/v1/social-accounts')).body
  const publisher = runPublisher(stores)
  const post = await schedulePost(ask, { caption: 'Hello after signing in', accounts: [id] })
  expect((await endedPost(ask, post)).status).toBe('published')
  await publisher.close()
  expect(instance.statuses.at(-1)?.text).toBe('Hello after signing in')
})

test('a page is chosen by keyboard after signing in at LinkedIn; the form waits until it is known who signs in where', async (context) => {
  const { client_id: id, client_secret: secret } = linkedinApp
  const scopes = 'openid,profile,w_member_social,w_organization_social,r_organization_social,r_organization_admin'
  await svcOn(stores, 'apps', 'set', '--platform', 'linkedin', '--id', id, '--secret', secret, '--scopes', scopes)
  const server = await startLinkedin()
  const there = await startApi(stores, { allowPrivateTargets: true, apiHost: new URL(testRedirect).origin })
  let letGo = () => {}
  const page = await signIn(context, '/dashboard/settings', {
    at: there.url,
    before: async (page) => {
      letGo = await holdRequests(page, '**/api/v1/social-accounts/sign-in')
      await page.route('https://www.linkedin.com/**', (route) => route.fulfill({ body: 'The sign-in' }))
    },
  })
  await page.click(`${section} >> text=Connect an account`)
  expect(await page.locator('dialog').count()).toBe(0)
  letGo()
  await page.getByRole('combobox', { name: 'Platform' }).selectOption('linkedin')
  await page.click('dialog >> text=Sign in with LinkedIn')
  await page.waitForURL('https://www.linkedin.com/**')
  await page.goto(there.url + server.signIn.agree(page.url()).slice(new URL(testRedirect).origin.length))
  await page.waitForSelector('label:has-text("The Shop")')
  await look(page, 'connect-choice')
  expect(await page.evaluate('document.activeElement.type')).toBe('radio')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForSelector('[role="status"]:has-text("the-shop on LinkedIn is connected.")')
  expect(server.faults).toEqual([])
  await Promise.all([server.close(), there.close()])
})
