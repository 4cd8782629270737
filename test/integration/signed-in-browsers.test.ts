/** The list of browsers that are signed in to the own account, and signing them out. */
import { expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import { sessionUseMs } from '../../schemas/limits/api-limits.ts'
import { setUpApi } from '../support/api.ts'
import { fromOwnPage, memberPassword, setUpMembers } from '../support/members.ts'

const clock = fixedClock(Date.parse('2030-01-01T12:00:00Z'))
const { stores, api, mine } = setUpApi({ clock })
const { post, makeMember, cookieOf, askAs } = setUpMembers({ stores, api, now: clock.now })

const agents = {
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  edge: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
  safari:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  own: '"><script>',
}
async function signIn(email: string, agent: string) {
  const fields = { email, password: memberPassword }
  return cookieOf(await post('/dashboard/sign-in', fields, { ...fromOwnPage, 'User-Agent': agent }))
}
const show = async (cookie: string) => (await api.ask('/dashboard/browsers', { headers: { cookie } })).text()
const shownIn = (text: string) => [...text.matchAll(/<strong>(.*?)<\/strong><p>(.*?)\.<\/p>/g)].map(([, ...is]) => is)
const signOut = (cookie: string, browser: string, headers: object = fromOwnPage) =>
  post('/dashboard/browsers', { browser }, { ...headers, cookie })
const statusOf = async (cookie: string) => (await askAs(cookie)('GET', '/workspaces')).status

test('each browser is listed with its name, when it signed in and was last used, and is signed out alone or with the others', async () => {
  const { email, cookie } = await makeMember(mine, 'viewer')
  await signOut(cookie, 'others')
  const firefox = await signIn(email, agents.firefox)
  const edge = await signIn(email, agents.edge)
  clock.advance(sessionUseMs)
  expect(await statusOf(edge)).toBe(200)
  const safari = await signIn(email, agents.safari)
  await signIn(email, agents.own)
  const text = await show(edge)
  const names = shownIn(text)
  expect(
    names
      .slice(0, 3)
      .map(([name]) => name)
      .sort(),
  ).toEqual(['Edge on Windows', 'Safari on iPhone', 'Unknown browser'])
  expect(names.filter(([name]) => name!.startsWith('Edge') || name!.startsWith('Firefox'))).toEqual([
    ['Edge on Windows', 'Signed in 2030-01-01 12:00, last used 2030-01-01 12:10'],
    ['Firefox on Linux', 'Signed in 2030-01-01 12:00, last used 2030-01-01 12:00'],
  ])
  expect(text).not.toContain('<script>')
  const [, id] = /value="(\d+)" aria-label="Sign out Firefox on Linux/.exec(text)!
  expect((await signOut(edge, id!, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  const out = await signOut(edge, id!)
  expect([out.status, out.headers.get('location')]).toEqual([303, '/dashboard/browsers'])
  expect([await statusOf(firefox), await statusOf(safari), await statusOf(edge)]).toEqual([401, 200, 200])
  await signOut(edge, 'others')
  expect([await statusOf(safari), await statusOf(cookie), await statusOf(edge)]).toEqual([401, 401, 200])
  expect((await signOut(safari, 'others')).headers.get('location')).toContain('/dashboard/sign-in')
})

test('nobody sees or ends a browser of another account', async () => {
  const [one, other] = [await makeMember(mine, 'admin'), await makeMember(mine, 'viewer')]
  await signIn(other.email, agents.edge)
  const [, id] = /value="(\d+)"/.exec(await show(other.cookie))!
  expect(shownIn(await show(one.cookie)).length).toBe(1)
  for (const wish of [id!, 'others', '', 'x', '9'.repeat(15)]) {
    expect([wish, (await signOut(one.cookie, wish)).status]).toEqual([wish, 303])
  }
  expect(shownIn(await show(other.cookie)).length).toBe(2)
  expect(await statusOf(one.cookie)).toBe(200)
})
