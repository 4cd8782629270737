/** A social account in the dashboard: connected after a wrong token, or by signing in; published to, connected again, and disconnected. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
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
  await look(page, 'accounts')
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
}, 180_000)

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
}, 180_000)
