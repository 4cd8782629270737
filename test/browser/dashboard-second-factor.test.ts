import type { Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { setUpApi } from '../support/api.ts'
import { appWith } from '../support/authenticator-app.ts'
import { list, look, setUpDashboard } from '../support/dashboard.ts'
import { memberPassword } from '../support/members.ts'

const stepMs = 30_000
/** Moves on, so that each code is another one. */
let now = Date.now()
const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1', clock: { now: () => now } })
const signIn = setUpDashboard({ stores, api, mine })

test('a second factor is turned on, asked for at the sign-in, passed by a recovery code, and turned off, all by keyboard', async (context) => {
  const email = 'owner@example.com'
  await stores.pg.query('UPDATE owners SET email = $2, password_hash = $3 WHERE id = $1', [
    mine.ownerId,
    email,
    await hashPassword(memberPassword),
  ])
  const page = await signIn(context, '/dashboard/settings')
  const { keyboard } = page
  const alert = () => page.textContent('[role="alert"]')
  await page.click(`${list('Members')} >> text=Require a second factor`)
  await page.waitForSelector('dialog >> text=You have no second factor yourself')
  await keyboard.press('Escape')
  // As it goes, the focus goes back to its button.
  await page.waitForSelector('dialog', { state: 'detached' })
  await page.focus(`${list('Signing in')} >> text=Second factor`)
  await keyboard.press('Enter')
  await page.waitForSelector('text=Set it up')
  await look(page, 'second-factor-off')
  await page.focus('[name="current"]')
  await keyboard.insertText(memberPassword)
  await keyboard.press('Enter')
  await page.waitForSelector('img.qr')
  await look(page, 'second-factor-key')
  const app = appWith((await page.textContent('pre'))!)
  const nextCode = () => {
    now += stepMs
    return app.codeAt(now)
  }
  // The field has the focus.
  await keyboard.type(nextCode())
  await keyboard.press('Enter')
  await page.waitForSelector('h1:has-text("Recovery codes")')
  await look(page, 'recovery-codes')
  const [recovery] = (await page.textContent('pre'))!.split('\n')
  await page.click('text=Back to the settings')
  await page.click('text=Sign out of this browser')
  await page.waitForURL('**/dashboard/sign-in*')

  const passPassword = async () => {
    await page.goto(`${api.url}/dashboard/people`)
    await page.fill('[name="email"]', email)
    await page.fill('[name="password"]', memberPassword)
    await keyboard.press('Enter')
    await page.waitForSelector('h1:has-text("Enter a code")')
    await page.waitForSelector('[name="code"]:focus')
  }
  await passPassword()
  await look(page, 'sign-in-code')
  await keyboard.type('000000')
  await keyboard.press('Enter')
  expect(await alert()).toContain('The code is wrong')
  // The focus passes it by: it is read with the field.
  await page.waitForSelector('[name="code"][aria-describedby="fault"]:focus')
  await page.goto(`${api.url}/dashboard`)
  await page.waitForSelector('h1:has-text("Sign in")')
  await passPassword()
  await keyboard.type(nextCode())
  await keyboard.press('Enter')
  await page.waitForURL(`${api.url}/dashboard/people`)

  // The page itself goes to the sign-in once an answer says that nobody is signed in.
  await page.goto('about:blank')
  await page.context().clearCookies()
  await passPassword()
  await page.focus('summary')
  await keyboard.press('Enter')
  await keyboard.press('Tab')
  await keyboard.insertText(recovery!)
  await look(page, 'sign-in-recovery-code')
  await page.focus('details [name="code"]')
  await keyboard.press('Enter')
  await page.waitForURL(`${api.url}/dashboard/people`)

  await page.goto(`${api.url}/dashboard/browsers`)
  await page.waitForSelector('text=Sign out all others')
  await look(page, 'signed-in-browsers')
  await page.goto(`${api.url}/dashboard/second-factor`)
  await page.waitForSelector('text=9 of 10 recovery codes are left')
  await look(page, 'second-factor-on')
  const lost = 'lost.phone@example.com'
  await stores.pg.query(
    `WITH made AS (INSERT INTO owners (email) VALUES ($2) RETURNING id),
       joined AS (INSERT INTO members (workspace_id, owner_id, role) SELECT $1, id, 'viewer' FROM made)
     INSERT INTO second_factors (owner_id, sealed, created_at, enabled_at) SELECT id, '\\x00', now(), now() FROM made`,
    [mine.workspaceId, lost],
  )
  await page.goto(`${api.url}/dashboard/settings`)
  await page.click(`${list('Members')} >> text=Lost the phone?`)
  await page.waitForSelector(`strong:has-text("${lost}")`)
  await look(page, 'member-second-factor')
  await page.fill('[name="current"]', memberPassword)
  await page.fill('[name="code"]', nextCode())
  await keyboard.press('Enter')
  await page.waitForSelector('text=The second factor was removed')
  await page.click('text=Back to the settings')
  await page.click(`${list('Members')} >> text=Require a second factor`)
  await page.waitForSelector(`dialog p:has-text("Without one"):has-text("${lost}")`)
  await look(page, 'require-second-factor')
  // The answer about a question that was closed meanwhile doesn't close the next one.
  let answer: (() => Promise<void>) | undefined
  const away = { status: 503, contentType: 'application/json', body: '{"detail":"It is away"}' }
  const hold = (route: Route) => {
    answer = () => route.fulfill(away)
  }
  await page.route('**/api/v1/workspace/second-factor', hold, { times: 1 })
  await page.click('dialog >> button:text-is("Require it")')
  await expect.poll(() => answer !== undefined).toBe(true)
  await keyboard.press('Escape')
  await page.click(`${list('Members')} >> text=Require a second factor`)
  await answer!()
  await page.waitForSelector(`${list('Members')} [role="alert"]:has-text("It is away")`)
  expect(await page.isVisible('dialog')).toBe(true)
  await page.click('dialog >> button:text-is("Require it")')
  await page.waitForSelector('text=Members need a second factor.')
  await page.goto(`${api.url}/dashboard/second-factor`)
  await page.waitForSelector('text=It can’t be turned off while a workspace requires it')
  await stores.pg.query('UPDATE second_factors SET enabled_at = NULL, created_at = $1', [new Date(now)])
  await page.goto(`${api.url}/dashboard/people`)
  await page.waitForSelector('text=requires a second factor of its members')
  await look(page, 'second-factor-missing')
  await stores.pg.query('UPDATE second_factors SET enabled_at = created_at')
  await page.goto(`${api.url}/dashboard/settings`)
  await page.click(`${list('Members')} >> text=Require it no longer`)
  await page.waitForSelector('text=Members may do without a second factor.')
  await page.goto(`${api.url}/dashboard/second-factor`)
  await page.fill('[name="current"]', memberPassword)
  await page.fill('[name="code"]', nextCode())
  // Enter in the field chooses neither button: the code is unused still.
  await keyboard.press('Enter')
  await page.focus('text=Turn it off')
  await keyboard.press('Enter')
  await page.waitForSelector('text=The second factor is off')
})
