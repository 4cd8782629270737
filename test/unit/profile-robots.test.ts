/** Which pages of a host are asked for a company profile: robots.txt, also where it is redirected to (RFC 9309). */
import type { Agent } from 'undici'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fetchPage } from '../../pipeline/profile/fetch-page.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { type CompanySites, startCompanySites } from '../support/company-sites.ts'

let sites: CompanySites
let agent: Agent
beforeAll(async () => {
  sites = await startCompanySites()
  agent = makeGuardedAgent({ allowPrivate: true, connectMs: 5_000 })
})
afterEach(() => {
  delete sites.robotsAt
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
