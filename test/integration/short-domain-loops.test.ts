/** Nothing that a workspace makes is a loop: links lead to no short address, and domains never back to themselves. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { asking, type Fault } from '../support/publishing.ts'
import { setUpFolder } from '../support/test-folder.ts'

const { stores, api, mine } = setUpApi()
const folder = setUpFolder()

const ask = asking(api, () => mine.apiKey)

/** A pending domain counts as a verified one: it may be that before anybody follows the link. */
const addDomain = (host: string, more: object = {}) => ask('POST', '/v1/domains', { host, ...more })
const valid = { label: 'Round', destination_url: 'https://example.com/' }
const locs = ({ body }: { body: { detail: Fault[] } }) => body.detail.map(({ loc }) => loc.slice(1).join('.'))

test('a link leads to no short address, however it is made or changed', async () => {
  await addDomain('links.example.com')
  const made = await ask('POST', '/v1/links', valid)
  const short = [
    `${testApiHost}/l/around`,
    `${testApiHost.toUpperCase()}/l/around/?a=b`,
    'https://links.example.com/around',
    'http://links.example.com.:8080/',
  ]
  for (const url of short) {
    const sent = { ...valid, key: 'around', destination_url: url }
    expect([url, locs(await ask('POST', '/v1/links', sent))]).toEqual([url, ['destination_url']])
    const changed = await ask('PATCH', `/v1/links/${made.body.id}`, { destination_url: url })
    expect([url, locs(changed)]).toEqual([url, ['destination_url']])
  }
  const [url] = short
  const everywhere = {
    ...valid,
    expires_at: '2099-01-01',
    expired_url: url,
    targets: [
      { share: 50, destination_url: url },
      { countries: ['DE'], device: 'ios', destination_url: url },
    ],
  }
  const places = ['expired_url', 'targets.0.destination_url', 'targets.1.destination_url']
  expect(locs(await ask('POST', '/v1/links', everywhere))).toEqual(places)
  expect(locs(await ask('POST', '/v1/links/bulk', { links: [valid, everywhere] }))).toEqual(
    places.map((place) => `links.1.${place}`),
  )
  const csv = `label,url,key\nA,${url},around\nB,https://example.com/b,other`
  for (const path of ['/v1/links/import/preview', '/v1/links/import']) {
    expect((await ask('POST', path, { csv })).body.rows).toMatchObject([
      { outcome: 'refused', reason: expect.stringMatching(/^destination_url: a link leads to no short link/) },
      { outcome: 'created' },
    ])
  }
  const file = join(folder, 'links.csv')
  writeFileSync(file, csv)
  const words = ['links', 'import', file, '--workspace', String(mine.workspaceId)]
  const imported = await svcOn(stores, ...words)
  expect(imported.json).toMatchObject({ created: 0, present: 1, refused: 1 })
  // Pages of the same host are none, nor are domains of others.
  for (const destination_url of [`${testApiHost}/docs`, `${testApiHost}/l/`, 'https://links.example.org/x']) {
    expect((await ask('POST', '/v1/links', { ...valid, destination_url })).status).toBe(200)
  }
  const other = await makeWorkspace(stores)
  const theirs = { ...valid, destination_url: 'https://links.example.com/around' }
  expect((await asking(api, () => other.apiKey)('POST', '/v1/links', theirs)).status).toBe(200)
})

test('the addresses of domains never lead back: to another domain that leads here, or to a link that does', async () => {
  const a = (await addDomain('a.example.com', { root_url: 'https://www.example.com/' })).body
  const before = (await ask('POST', '/v1/links', { ...valid, key: 'early', destination_url: 'https://d.example.com/' }))
    .body
  const back = {
    status: 422,
    body: { detail: [{ msg: expect.stringContaining('It leads back to the domain itself') }] },
  }
  const b = (await addDomain('b.example.com', { not_found_url: 'https://a.example.com/x', root_url: null })).body
  expect(await ask('PATCH', `/v1/domains/${a.id}`, { not_found_url: 'https://b.example.com/y/z' })).toMatchObject(back)
  // There the way ends.
  expect((await ask('PATCH', `/v1/domains/${a.id}`, { not_found_url: 'https://b.example.com/' })).status).toBe(200)
  expect(await ask('PATCH', `/v1/domains/${b.id}`, { root_url: 'https://a.example.com/x' })).toMatchObject(back)
  expect(await addDomain('c.example.com', { root_url: 'https://a.example.com/' })).toMatchObject({ status: 200 })
  // The link was made when the host was nobody's.
  expect(await addDomain('d.example.com', { root_url: before.post_url })).toMatchObject(back)
  expect((await addDomain('d.example.com')).status).toBe(200)
  const long = []
  for (let at = 0; at < 12; at++) {
    const next = at === 0 ? null : `https://way${at - 1}.example.com/`
    long.push((await addDomain(`way${at}.example.com`, { root_url: next })).status)
  }
  expect(long).toEqual([...Array(11).fill(200), 422])
})
