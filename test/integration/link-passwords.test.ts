/** Links with a password, as ingest answers them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type NewLink, type TrackedLink, updateLink } from '../../postgres/tables/links.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { linkFormBytesMax, linkPasswordTriesOfNetworkMax } from '../../schemas/limits/ingest-limits.ts'
import { setUpIngest, startIngest } from '../support/ingest.ts'
import { makeLink } from '../support/publishing.ts'
import { exchange } from '../support/raw-http.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const ingest = setUpIngest(stores)
const person = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const iPhone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Safari/604.1'
const password = 'Ünlocked & "easy"'

const makeClosed = async (more: Partial<NewLink> = {}) =>
  makeLink(stores, ingest.workspaceId, null, { passwordHash: await hashPassword(password), ...more })

/** Not by `fetch`, which sets headers of its own. */
async function ask(
  key: string,
  { method = 'GET', body = '', ...headers }: Record<string, string> = {},
  port = ingest.port,
) {
  const all = { Host: 'a', 'User-Agent': person, ...(body && { 'Content-Length': String(body.length) }), ...headers }
  const lines = Object.entries(all).map((header) => header.join(': '))
  const sent = [[`${method} /l/${key} HTTP/1.1`, ...lines, '', ''].join('\r\n'), body]
  const { text } = await exchange(port, sent, { until: /\r\n\r\n/ })
  const header = (name: string) => new RegExp(`\r\n${name}: (.*)\r\n`, 'i').exec(text)?.[1]
  return { status: Number(text.slice(9, 12)), header, text }
}

/** As a browser sends the form that it was given. */
function submit(key: string, fields: Record<string, string>, headers: Record<string, string> = {}, port?: number) {
  const body = new URLSearchParams(fields).toString()
  return ask(key, { method: 'POST', body, 'Content-Type': 'application/x-www-form-urlencoded', ...headers }, port)
}

async function clicksOf({ id }: TrackedLink): Promise<Record<string, unknown>[]> {
  await ingest.shipped()
  return stores.ch.query('SELECT * FROM link_clicks WHERE link_id = {id:UInt32} ORDER BY id', { id })
}

async function requests(): Promise<Record<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${ingest.port}/metrics`)).text()
  const found = text.matchAll(/^ingest_link_requests_total\{.*outcome="(\w+)".*\} (\d+)/gm)
  return Object.fromEntries([...found].map(([, outcome, count]) => [outcome!, Number(count)]))
}

test('a link with a password asks for it, and leads on and counts its click once it is right', async () => {
  const before = await requests()
  const link = await makeClosed({ targets: [{ device: 'ios', destination_url: 'https://example.com/app' }] })
  const { attribution_key: key } = link
  const from = `https://news.example/?q="><b>`
  const page = await ask(key, { Referer: from })
  expect([page.status, page.header('Location'), page.header('Cache-Control')]).toEqual([200, undefined, 'no-store'])
  // Scripts, styles and frames stay forbidden. Redirects of the form lead anywhere, which Chromium holds to the policy.
  const policy = "default-src 'none'; base-uri 'none'; form-action http: https:; frame-ancestors 'none'"
  expect(page.header('Content-Security-Policy')).toBe(policy)
  expect(page.text).toContain('<meta name="robots" content="noindex">')
  expect(page.text).toContain('name="from" value="https://news.example/?q=&quot;&gt;&lt;b&gt;"')
  expect(page.text).not.toMatch(/example\.com|<script|<b>/)

  const wrong = await submit(key, { password: 'easy', from })
  expect([wrong.status, wrong.header('Location'), wrong.header('Cache-Control')]).toEqual([403, undefined, 'no-store'])
  expect(wrong.text).toContain('The password is wrong.')
  expect(wrong.text).toContain('value="https://news.example/?q=&quot;')
  const right = await submit(key, { password, from })
  expect([right.status, right.header('Location')]).toEqual([303, link.tracking_url])
  expect(right.header('Cache-Control')).toBe('private, no-store')
  const elsewhere = await submit(`${key}?ref=bio`, { password }, { 'User-Agent': iPhone })
  expect(elsewhere.header('Location')).toBe(
    `https://example.com/app?utm_source=svc&utm_medium=social&svc_link_id=${link.id}&ref=bio`,
  )
  const rows = await clicksOf(link)
  expect(rows.map(({ kind, referrer, os }) => [kind, referrer, os])).toEqual([
    ['click', from, 'Linux'],
    ['click', '', 'iOS'],
  ])
  const { asked, wrong_password, stored } = await requests()
  expect([asked, wrong_password, stored]).toEqual([(before['asked'] ?? 0) + 1, 1, (before['stored'] ?? 0) + 2])
})

test('crawlers, previews, prefetches and HEAD get the page and count as at any link, and a program isn’t a person by its password', async () => {
  const link = await makeClosed()
  const { attribution_key: key } = link
  const cases: [kind: string, headers: Record<string, string>][] = [
    ['bot', { 'User-Agent': 'curl/8.5.0' }],
    ['preview', { 'User-Agent': 'facebookexternalhit/1.1' }],
    ['prefetch', { 'Sec-Purpose': 'prefetch' }],
    ['head', { method: 'HEAD' }],
  ]
  for (const [, headers] of cases) expect((await ask(key, headers)).status).toBe(200)
  expect((await submit(key, { password }, { 'User-Agent': 'curl/8.5.0' })).status).toBe(303)
  expect((await clicksOf(link)).map(({ kind }) => kind)).toEqual([...cases.map(([kind]) => kind), 'bot'])
})

test('its end comes before its password, which no address is sent to that it leads to then', async () => {
  const expired = { expiresAt: new Date(0), expiredUrl: 'https://example.com/over' }
  const { attribution_key: key } = await makeClosed(expired)
  expect((await ask(key)).status).toBe(307)
  const { status, header } = await submit(key, { password })
  expect([status, header('Location')]).toEqual([303, expired.expiredUrl])
  const { attribution_key: nowhere } = await makeClosed({ expiresAt: new Date(0) })
  expect([(await ask(nowhere)).status, (await submit(nowhere, { password })).status]).toEqual([410, 410])
})

test('a password is changed and taken away within seconds, and is in the copy on disk as its hash', async () => {
  const link = await makeClosed()
  const { attribution_key: key } = link
  expect((await submit(key, { password })).status).toBe(303)
  const other = await hashPassword('another')
  const changed = await updateLink(stores.pg, link, link, other)
  expect(changed.has_password).toBe(true)
  await expect.poll(async () => (await submit(key, { password: 'another' })).status).toBe(303)
  const copy = () => readFileSync(join(stores.dataDir, 'ingest', 'links.jsonl'), 'utf8')
  await vi.waitUntil(() => copy().includes(other), { timeout: 60_000 })
  await updateLink(stores.pg, changed, changed, null)
  await expect.poll(async () => (await ask(key)).status).toBe(302)
  // Whoever still has the form is led on. A POST that is no form is refused, as at any link.
  expect((await submit(key, { password: 'another' })).header('Location')).toBe(link.tracking_url)
  const refused = await submit(key, { a: 'b' })
  expect([refused.status, refused.header('Allow')]).toEqual([405, 'GET, HEAD'])
})

test('a form of an unknown link is 404, one that is too long 413, and one without a password 403', async () => {
  expect((await submit('00000000', { password })).status).toBe(404)
  const { attribution_key: key } = await makeClosed()
  expect((await submit(key, { password: 'a'.repeat(linkFormBytesMax) })).status).toBe(413)
  expect((await submit(key, {})).status).toBe(403)
})

test('after too many wrong passwords even the right one waits, and other links wait for none of them', async () => {
  const [link, open] = [await makeClosed(), await makeLink(stores, ingest.workspaceId, null)]
  let isCompared = false
  const tries = Array.from({ length: linkPasswordTriesOfNetworkMax }, (_, at) =>
    submit(link.attribution_key, { password: `${at}` }),
  )
  const comparing = Promise.all(tries).finally(() => {
    isCompared = true
  })
  expect((await ask(open.attribution_key)).status).toBe(302)
  expect(isCompared).toBe(false)
  expect(new Set((await comparing).map(({ status }) => status))).toEqual(new Set([403]))
  const { status, header, text } = await submit(link.attribution_key, { password })
  expect([status, text.includes('Too many wrong passwords')]).toEqual([429, true])
  expect(Number(header('Retry-After'))).toBeGreaterThan(800)
  expect((await submit((await makeClosed()).attribution_key, { password })).status).toBe(303)
})

test('several workers allow a network no more wrong passwords than one', async () => {
  const node = await startIngest({ ...stores, dataDir: join(stores.dataDir, 'workers') }, { INGEST_WORKERS: '2' })
  try {
    const { attribution_key: key } = await makeClosed()
    // Each over a connection of its own, which Linux gives to either worker.
    const tries = (count: number, text: string) =>
      Promise.all(Array.from({ length: count }, () => submit(key, { password: text }, {}, node.port)))
    const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status)
    expect(new Set(statusesOf(await tries(linkPasswordTriesOfNetworkMax, 'wrong')))).toEqual(new Set([403]))
    expect(new Set(statusesOf(await tries(8, password)))).toEqual(new Set([429]))
  } finally {
    await node.stop()
  }
})
