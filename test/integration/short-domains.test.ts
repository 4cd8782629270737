import { beforeEach, expect, test } from 'vitest'
import type { TxtAnswer } from '../../runtime/outbound/txt-records.ts'
import { shortDomainsMax } from '../../schemas/limits/domain-limits.ts'
import { makeWorkspace, setUpApi, type TestWorkspace, testApiHost } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { asking } from '../support/publishing.ts'

/** The DNS, by name. */
const records = new Map<string, TxtAnswer>()
const { stores, api, mine } = setUpApi({ readTxt: async (name) => records.get(name) ?? [] })
beforeEach(() => records.clear())

interface Domain {
  readonly id: number
  readonly host: string
  readonly status: string
  readonly failure: string | null
  readonly record: { readonly name: string; readonly value: string }
}

const ask = <Body = Domain & { detail?: unknown }>(
  { apiKey }: Pick<TestWorkspace, 'apiKey'>,
  ...asked: [method: string, path: string, body?: object]
) => asking(api, () => apiKey)<Body>(...asked)

const add = async (host: string, who = mine) => (await ask(who, 'POST', '/v1/domains', { host })).body
const verify = async ({ id }: Domain, who = mine) => (await ask(who, 'POST', `/v1/domains/${id}/verify`)).body
const prove = ({ record: { name, value } }: Domain) => records.set(name, [value])

/** Hosts are the installation's: a test takes one that no other has. */
async function addVerified(host: string, who = mine): Promise<Domain> {
  const domain = await add(host, who)
  prove(domain)
  expect(await verify(domain, who)).toMatchObject({ id: domain.id, status: 'verified', failure: null })
  return domain
}

interface Link {
  readonly id: number
  readonly post_url: string
  readonly domain: string | null
}
const link = { label: 'Spring', destination_url: 'https://example.com/spring' }
const makeLink = (more: object, who = mine) => ask<Link>(who, 'POST', '/v1/links', { ...link, ...more })

test('a domain waits for its record: absent, another, a silent and a failing DNS are noted, and then it is verified for good', async () => {
  const domain = await add('Steps.Example.com')
  expect(domain).toMatchObject({ host: 'steps.example.com', status: 'pending', failure: null })
  expect(domain.record).toEqual({
    type: 'TXT',
    name: '_svc.steps.example.com',
    value: expect.stringMatching(/^svc-domain=[\w-]{43}$/),
  })
  const { name, value } = domain.record
  const cases: [answer: TxtAnswer, status: string, failure: string | null][] = [
    [[], 'pending', 'record_missing'],
    [['v=spf1 -all', 'svc-domain=other'], 'pending', 'record_different'],
    ['timeout', 'pending', 'dns_timeout'],
    ['failed', 'pending', 'dns_failed'],
    [['v=spf1 -all', `"${value}"`], 'verified', null],
    [[], 'verified', 'record_missing'],
  ]
  for (const [answer, status, failure] of cases) {
    records.set(name, answer)
    expect(await verify(domain)).toMatchObject({ status, failure, checked_at: expect.any(String) })
  }
  expect((await ask<Domain[]>(mine, 'GET', '/v1/domains')).body).toMatchObject([{ id: domain.id, status: 'verified' }])
})

test('a host that is no public name, the installation’s own, and addresses that lead back to it are refused', async () => {
  const refused = async (body: object) => {
    const { status, body: answer } = await ask(mine, 'POST', '/v1/domains', body)
    return [status, (answer.detail as { loc: string[] }[])[0]!.loc]
  }
  for (const host of [new URL(testApiHost).host, 'go.local', 'a.internal', '192.0.2.1', 'x:80', 'https://x.example']) {
    expect([host, await refused({ host })]).toEqual([host, [422, ['body', 'host']]])
  }
  for (const name of ['root_url', 'not_found_url']) {
    // Browsers send the host with its last dot, and ingest takes it as the same.
    for (const url of ['https://Loops.example.com/x', 'https://loops.example.com./x']) {
      expect(await refused({ host: 'loops.example.com', [name]: url })).toEqual([422, ['body', name]])
    }
  }
})

test('a host may be claimed by anybody, is one workspace’s once that has proven it, and is free when that removes it', async () => {
  const other = await makeWorkspace(stores)
  const claimed = await add('shared.example.com', other)
  const domain = await addVerified('shared.example.com')
  const late = await makeWorkspace(stores)
  const taken = await ask(late, 'POST', '/v1/domains', { host: 'shared.example.com' })
  expect(taken).toMatchObject({
    status: 409,
    body: { detail: 'Another workspace has proven that this host is its own' },
  })
  expect(await ask(mine, 'POST', '/v1/domains', { host: 'SHARED.example.com' })).toMatchObject({ status: 409 })
  // The record of the one is none of the other, and its own comes late.
  expect(await verify(claimed, other)).toMatchObject({ status: 'pending', failure: 'record_different' })
  prove(claimed)
  expect(await verify(claimed, other)).toMatchObject({ status: 'pending', failure: 'host_taken' })
  expect((await ask(mine, 'DELETE', `/v1/domains/${domain.id}`)).status).toBe(200)
  expect(await verify(claimed, other)).toMatchObject({ status: 'verified', failure: null })
})

test('links stand under verified domains of their workspace alone, and a key may stand once under each', async () => {
  const other = await makeWorkspace(stores)
  await addVerified('one.example.com')
  await addVerified('two.example.com')
  await addVerified('theirs.example.com', other)
  await add('pending.example.com')
  const made = await makeLink({ domain: 'One.example.com', key: 'spring' })
  expect(made.body).toMatchObject({ domain: 'one.example.com', post_url: 'https://one.example.com/spring' })
  expect((await makeLink({ domain: 'two.example.com', key: 'spring' })).status).toBe(200)
  expect((await makeLink({ key: 'spring' })).body).toMatchObject({ domain: null, post_url: `${testApiHost}/l/spring` })
  expect((await makeLink({ domain: 'two.example.com' })).body.post_url).toMatch(/^https:\/\/two\.example\.com\/\w{8}$/)
  for (const domain of ['one.example.com', null]) {
    const again = await makeLink({ domain, key: 'spring' })
    expect(again).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'key'] }] } })
  }
  for (const domain of ['theirs.example.com', 'pending.example.com', 'none.example.com']) {
    const refused = await makeLink({ domain })
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'domain'] }] } })
  }
  const listed = (await ask<Link[]>(mine, 'GET', '/v1/links')).body
  expect(listed.map(({ domain }) => domain)).toEqual(['two.example.com', null, 'two.example.com', 'one.example.com'])
  for (const [domain, count] of [
    ['Two.example.com', 2],
    ['theirs.example.com', 0],
  ] as const) {
    expect((await ask<Link[]>(mine, 'GET', `/v1/links?domain=${domain}`)).body).toHaveLength(count)
  }
  expect((await ask(mine, 'GET', '/v1/links?domain=https://two.example.com')).status).toBe(422)
})

test('an import takes a domain of the workspace from its column or the short URL, and leaves out those of other products', async () => {
  await addVerified('imports.example.com')
  const csv = [
    'title,long_url,link,domain',
    'A,https://example.com/a,https://imports.example.com/Poster,',
    'B,https://example.com/b,https://bit.ly/Poster,',
    'C,https://example.com/c,,Imports.example.com',
    'D,https://example.com/d,https://imports.example.com/Poster,',
  ].join('\n')
  const outcomes = async (path: string) => {
    const { body } = await ask<{ rows: { outcome: string; key: string | null; domain: string | null }[] }>(
      mine,
      'POST',
      path,
      { csv },
    )
    return body.rows.map(({ outcome, key, domain }) => [outcome, key, domain])
  }
  const places = [
    ['Poster', 'imports.example.com'],
    ['Poster', null],
    [null, 'imports.example.com'],
    ['Poster', 'imports.example.com'],
  ]
  const expected = (...named: string[]) => named.map((outcome, at) => [outcome, ...places[at]!])
  const first = expected('created', 'created', 'created', 'refused')
  expect(await outcomes('/v1/links/import/preview')).toEqual(first)
  expect(await outcomes('/v1/links/import')).toEqual(first)
  expect(await outcomes('/v1/links/import')).toEqual(expected('present', 'present', 'present', 'refused'))
})

test('a domain with links stays until they are archived, and brings them back when it is added again', async () => {
  const domain = await addVerified('gone.example.com')
  const { body: made } = await makeLink({ domain: 'gone.example.com', key: 'autumn' })
  expect(await ask(mine, 'DELETE', `/v1/domains/${domain.id}`)).toMatchObject({
    status: 409,
    body: { detail: 'Links stand under this domain: archive them first' },
  })
  await ask(mine, 'POST', `/v1/links/${made.id}/archive`)
  expect((await ask(mine, 'DELETE', `/v1/domains/${domain.id}`)).status).toBe(200)
  expect((await ask<Domain[]>(mine, 'GET', '/v1/domains')).body).toEqual([])
  expect((await ask(mine, 'DELETE', `/v1/domains/${domain.id}`)).status).toBe(404)
  expect((await ask<Link>(mine, 'GET', `/v1/links/${made.id}`)).body).toMatchObject({ domain: 'gone.example.com' })
  expect((await makeLink({ domain: 'gone.example.com' })).status).toBe(422)
  const again = await add('gone.example.com')
  expect(again).toMatchObject({ id: domain.id, status: 'pending' })
  expect(again.record.value).not.toBe(domain.record.value)
  prove(again)
  await verify(again)
  expect((await makeLink({ domain: 'gone.example.com', key: 'autumn' })).status).toBe(422)
})

test('an operator frees a proven host, with a row in the audit log: its links lead nowhere, and another may prove it', async () => {
  const domain = await addVerified('moved.example.com')
  const other = await makeWorkspace(stores)
  const claimed = await add('Mine.example.com', other)
  await makeLink({ domain: 'moved.example.com' })
  const listed = await svcOn(stores, 'domains', 'list', '--workspace', String(mine.workspaceId))
  expect(listed.json).toMatchObject([{ id: domain.id, host: 'moved.example.com', active_links: 1 }])
  const released = { host: 'moved.example.com', workspace_id: mine.workspaceId, active_links: 1 }
  expect((await svcOn(stores, 'domains', 'release', 'Moved.example.com')).json).toEqual(released)
  expect((await ask<Domain[]>(mine, 'GET', '/v1/domains')).body).toEqual([])
  expect((await ask<object[]>(mine, 'GET', '/v1/audit-log?limit=1')).body).toMatchObject([
    { action: 'domain.release', resource_id: domain.id, metadata: { host: 'moved.example.com', active_links: 1 } },
  ])
  await addVerified('moved.example.com', other)
  // A host that nobody has proven isn't taken from anybody.
  expect(await svcOn(stores, 'domains', 'release', claimed.host)).toMatchObject({ code: 1 })
  expect(await svcOn(stores, 'domains', 'release', 'https://x.example')).toMatchObject({ code: 2 })
})

test('where the root and unknown keys lead is changed apart, and a workspace has no more domains than it may have', async () => {
  const domain = await add('full0.example.com')
  const path = `/v1/domains/${domain.id}`
  const url = 'https://www.example.com/'
  await ask(mine, 'PATCH', path, { root_url: url })
  expect((await ask(mine, 'PATCH', path, { not_found_url: url })).body).toMatchObject({
    root_url: url,
    not_found_url: url,
  })
  expect((await ask(mine, 'PATCH', path, { root_url: null })).body).toMatchObject({
    root_url: null,
    not_found_url: url,
  })
  expect((await ask(mine, 'PATCH', path, { root_url: 'https://full0.example.com/a' })).status).toBe(422)
  for (let at = 1; at < shortDomainsMax; at++) await add(`full${at}.example.com`)
  const full = await ask(mine, 'POST', '/v1/domains', { host: 'full.example.com' })
  expect(full).toMatchObject({
    status: 409,
    body: { detail: 'The workspace has as many short domains as it may have' },
  })
})
