import { expect, test } from 'vitest'
import { setPlan } from '../../postgres/tables/workspaces/workspaces.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import {
  askAnew,
  holdRequests,
  list,
  look,
  playwrightWithinMs,
  setUpDashboard,
  violations,
} from '../support/dashboard.ts'
import { memberPassword } from '../support/members.ts'

const { stores, api, mine } = setUpApi({ apiHost: 'http://127.0.0.1', isMailSetUp: true })
const signIn = setUpDashboard({ stores, api, mine })
const section = list('Members')

test('a viewer is invited, joins in another browser, sees no change that is not allowed, gets another role, and is removed', async (context) => {
  const page = await signIn(context, '/dashboard/settings')
  await page.click(`${section} >> text=Invite a member`)
  await page.fill('dialog [name="email"]', 'A.viewer.with.a.long.name@mail.harbour-and-lighthouse.example.com')
  await look(page, 'invite-form')
  await page.click('dialog [type="submit"]')
  await page.waitForSelector(`${section} li:has-text("a.viewer"):has-text("invited as viewer")`)
  const link = new URL((await page.textContent(`${section} pre`))!)
  await page.waitForSelector(`${section} li:has-text("the mail is being sent")`)
  await stores.pg.query(`UPDATE invitations SET mail = 'failed'`)
  await page.waitForSelector(`${section} li:has-text("the mail couldn’t be sent")`)
  await look(page, 'members', section)

  const theirs = await (await page.context().browser()!.newContext()).newPage()
  theirs.setDefaultTimeout(playwrightWithinMs)
  const requested: string[] = []
  theirs.on('request', (request) => requested.push(request.headers()['referer'] ?? ''))
  await theirs.goto(`${api.url}${link.pathname}${link.search}`)
  await look(theirs, 'join')
  await theirs.fill('[name="password"]', memberPassword)
  await theirs.fill('[name="again"]', memberPassword)
  await theirs.keyboard.press('Enter')
  await theirs.waitForURL(`${api.url}/dashboard`)
  await theirs.waitForSelector(list('Install'))
  expect(requested.join()).not.toContain(link.searchParams.get('token'))
  const isShown = (selector: string) => theirs.isVisible(selector)
  expect(await isShown('text=Fill a demo workspace')).toBe(false)
  await theirs.click('nav >> text=Posts')
  await theirs.waitForSelector('text=No post yet.')
  await theirs.click('nav >> text=Links')
  await theirs.waitForSelector(list('Links'))
  expect([await isShown('text=Write a post'), await isShown('text=Make a link')]).toEqual([false, false])
  await theirs.click('nav >> text=Settings')
  await theirs.waitForSelector('text=You are a viewer')
  const hidden = ['Members', 'API keys', 'Shared links', 'Reports by e-mail', 'Webhooks', 'Audit log']
  expect(await Promise.all(hidden.map((name) => isShown(list(name))))).toEqual(hidden.map(() => false))
  expect([await isShown('text=Add a workspace'), await isShown('text=/^Change$/')]).toEqual([false, false])
  expect(await violations(theirs)).toEqual([])

  await page.reload()
  const letGo = await holdRequests(page, '**/api/v1/members/*')
  await page.selectOption(`${section} select`, 'contributor')
  await page.selectOption(`${section} select`, 'editor')
  // The list before the change takes nothing back.
  for (let answers = 0; answers < 2; answers++)
    await Promise.all([page.waitForResponse('**/api/v1/members'), askAnew(page)])
  expect(await page.inputValue(`${section} select`)).toBe('editor')
  letGo()
  await expect
    .poll(() => stores.pg.query('SELECT role FROM members WHERE workspace_id = $1 ORDER BY role', [mine.workspaceId]))
    .toEqual([{ role: 'editor' }, { role: 'owner' }])
  await theirs.goto(`${api.url}/dashboard/posts`)
  await theirs.waitForSelector('text=Write a post')
  await theirs.goto(`${api.url}/dashboard/settings`)
  await theirs.click('text=Change your password')
  await theirs.fill('[name="current"]', memberPassword)
  await theirs.fill('[name="password"]', 'another password')
  await theirs.fill('[name="again"]', 'another password')
  await look(theirs, 'password')
  await theirs.keyboard.press('Enter')
  await theirs.waitForSelector('text=The password was changed')
  await theirs.click('text=Back to the settings')
  await theirs.waitForSelector('text=You are an editor')
  await page.click(`${section} >> text=Remove`)
  await page.click('dialog .danger')
  await page.waitForSelector(`${section} select`, { state: 'detached' })
  await theirs.goto(`${api.url}/dashboard`)
  await theirs.waitForSelector('h1:has-text("Sign in")')
  await theirs.click('text=Forgot your password?')
  // The page before has a field of that name, too.
  await theirs.waitForURL('**/dashboard/forgot')
  await theirs.fill('[name="email"]', 'nobody@example.com')
  await look(theirs, 'forgot')
  await theirs.keyboard.press('Enter')
  await theirs.waitForSelector('text=a mail with a link is on its way')
  await theirs.context().close()
})

test('a workspace whose plan has lapsed or that is suspended can be left, and the choice at the top leads to another one', async (context) => {
  const [lapsed, own] = [await makeWorkspace(stores), mine.workspaceId]
  const join = `INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'viewer')`
  await stores.pg.query(join, [lapsed.workspaceId, mine.ownerId])
  await setPlan(stores.pg, lapsed.workspaceId, null)
  const page = await signIn(context)
  const choice = 'select[aria-label="Workspace"]'
  await page.selectOption(choice, String(lapsed.workspaceId))
  await page.waitForSelector('main :text("has not selected a plan")')
  expect(await page.inputValue(choice)).toBe(String(lapsed.workspaceId))
  await look(page, 'without-plan')
  await page.selectOption(choice, String(own))
  await page.waitForSelector(list('Install'))
  await page.selectOption(choice, String(lapsed.workspaceId))
  const suspend = 'UPDATE workspaces SET suspended_at = CASE WHEN $2 THEN now() END WHERE id = $1'
  await page.waitForSelector('main :text("has not selected a plan")')
  await setPlan(stores.pg, lapsed.workspaceId, 'growth')
  await stores.pg.query(suspend, [lapsed.workspaceId, true])
  await page.reload()
  await page.waitForSelector('main [role="alert"]')
  // The other one is the only one that is left to choose.
  await page.selectOption(choice, String(own))
  await page.waitForSelector(list('Install'))
  await stores.pg.query(suspend, [lapsed.workspaceId, false])
  await setPlan(stores.pg, lapsed.workspaceId, null)
  await page.reload()
  await page.selectOption(choice, String(lapsed.workspaceId))
  await page.click('text=Leave the workspace')
  await page.click('dialog .danger')
  // The session goes on in the other one.
  await page.waitForSelector(list('Install'))
  expect(await stores.pg.query('SELECT workspace_id FROM members WHERE owner_id = $1', [mine.ownerId])).toEqual([
    { workspace_id: own },
  ])
})
