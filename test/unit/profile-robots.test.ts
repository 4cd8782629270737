/** Which pages of a host are asked for a company profile: robots.txt, also where it is redirected to (RFC 9309). */
import type { Agent } from 'undici'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fetchPage } from '../../pipeline/profile/fetch-page.ts'
import { isAllowed } from '../../pipeline/profile/robots-rules.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { robotsBytesMax, robotsStepsMax } from '../../schemas/limits/profile-limits.ts'
import { type CompanySites, startCompanySites } from '../support/company-sites.ts'

let sites: CompanySites
let agent: Agent
beforeAll(async () => {
  sites = await startCompanySites()
  agent = makeGuardedAgent({ allowPrivate: true, connectMs: 5_000 })
})
afterEach(() => {
  delete sites.robotsAt
  delete sites.robots
})
afterAll(async () => {
  await agent.close()
  await sites.close()
})

const fetched = (path: string) =>
  fetchPage(`${sites.url}/${path}`, { agent, allowPrivate: true, signal: new AbortController().signal }).then(
    ({ url }) => url,
    ({ message }: Error) => message,
  )

test('it is obeyed where it is redirected to', async () => {
  expect(await fetched('secret')).toBe('robots.txt of the host forbids it')
  sites.robotsAt = '/moved-robots'
  expect(await fetched('secret')).toBe('robots.txt of the host forbids it')
  expect(await fetched('shop')).toBe(`${sites.url}/shop`)
})

test.each(['/robots.txt', 'http://', 'file:///etc/passwd'])('a redirect of it to %s forbids all', async (target) => {
  sites.robotsAt = target
  const count = sites.asked.length
  expect(await fetched('shop')).toMatch(/^robots.txt of the host can not be read$|^The page redirects to no web page$/)
  expect(sites.asked).toHaveLength(count)
})

test('a page that redirects to a URL longer than a source may be is refused, and not asked for', async () => {
  const count = sites.asked.length
  expect(await fetched('far')).toBe('The page redirects to a URL of more than 2048 characters')
  expect(sites.asked).toHaveLength(count + 1)
})

test('one with more rules than are tried for so long an address forbids it', async () => {
  sites.robots = `User-agent: *\n${'Allow: /*a\n'.repeat(20_000)}`
  expect(await fetched(`gone?${'a'.repeat(1_500)}`)).toBe('robots.txt of the host has too many rules')
  expect(await fetched('shop')).toBe(`${sites.url}/shop`)
})

test('one over its bound counts up to the last whole line within it', async () => {
  sites.robots = `User-agent: *\nDisallow: /secret\n${'# padding\n'.repeat(robotsBytesMax / 10)}Disallow: /shop\n`
  expect(await fetched('secret')).toBe('robots.txt of the host forbids it')
  expect(await fetched('shop')).toBe(`${sites.url}/shop`)
})

const verdict = (text: string, path: string) =>
  isAllowed(`https://example.com${path}`, { url: 'https://example.com/robots.txt', text }, 'svc-profile')

test.each([
  ['as many letters as are tried', 'Allow: *', robotsStepsMax / 1_000 - 2, true],
  ['more letters', 'Allow: *', robotsStepsMax / 1_000, undefined],
  ['more letters without a wildcard', 'Allow: /', robotsStepsMax / 1_000, true],
])('a rule of %s', (_, rule, letters, expected) => {
  expect(verdict(`User-agent: *\n${rule}${'b'.repeat(letters)}`, `/${'a'.repeat(999)}`)).toBe(expected)
})

test('rules for others are not counted, however many they are, nor are names', () => {
  const others = 'User-agent: other\n'.repeat(10_000) + 'Disallow: /*a*a\n'.repeat(20_000)
  const ours = `${'User-agent: *\n'.repeat(1_000)}Disallow: /secret\n`
  expect([verdict(others + ours, `/${'a'.repeat(1_000)}`), verdict(others + ours, '/secret')]).toEqual([true, false])
})

test.each([
  ['User-agent: svc-profile/2.0\nUser-agent: x\nDisallow: /a # all\n\nUser-agent: *\nDisallow: /b', false, true],
  ['user-agent: *\rdisallow : /\rallow: /b$\r', false, true],
  ['User-agent: x\nCrawl-delay: 1\nUser-agent: *\nDisallow: /b', true, false],
  ['User-agent: *\nDisallow: /\nUser-agent: SVC-Profile\nDisallow:', true, true],
  ['User-agent: *\nDisallow: /\nUser-agent: svc-profile', false, false],
  ['User-agent: *\nSitemap: /c\nDisallow: /a\nDisallow: *b\nallow', false, false],
  ['User-agent: svc-profile\nSitemap: /c\n\nUser-agent: x\nDisallow: /a', false, true],
  ['Disallow: /\n# User-agent: *\nDisallow: /', true, true],
])('%j is read by the standard', (text, a, b) => {
  expect([verdict(text, '/a'), verdict(text, '/b')]).toEqual([a, b])
})
