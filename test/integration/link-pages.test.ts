/** Links with a password or a preview of their own, as ingest answers them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type NewLink, type TrackedLink, updateLink } from '../../postgres/tables/links/links.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { linkFormBytesMax, linkPasswordTriesOfNetworkMax } from '../../schemas/limits/ingest-limits.ts'
import { setUpIngest } from '../support/ingest.ts'
import { iPhone, clicksOf as storedClicksOf, visit } from '../support/link-visits.ts'
import { makeLink } from '../support/publishing.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const ingest = setUpIngest(stores)
const password = 'Ünlocked & "easy"'

const makeClosed = async (more: Partial<NewLink> = {}) =>
  makeLink(stores, ingest.workspaceId, null, { passwordHash: await hashPassword(password), ...more })

const ask = (key: string, { method = 'GET', ...headers }: Record<string, string> = {}) =>
  visit(ingest.port, `/l/${key}`, { method, headers })

/** As a browser sends the form that it was given. */
function submit(key: string, fields: Record<string, string>, more: Record<string, string> = {}) {
  const body = new URLSearchParams(fields).toString()
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...more }
  return visit(ingest.port, `/l/${key}`, { method: 'POST', headers, body })
}

const clicksOf = (link: TrackedLink) => storedClicksOf(stores, ingest, link)
const requests = () => ingest.counted('ingest_link_requests_total', 'outcome')

test('a link with a password asks for it, and leads on and counts its click once it is right', async () => {
  const before = await requests()
  const link = await makeClosed({ targets: [{ device: 'ios', destination_url: 'https://example.com/app' }] })
  const { attribution_key: key } = link
  const from = `https://news.example/?q="><b>`
  const page = await ask(key, { Referer: from })
  expect([page.status, page.location, page.header('Cache-Control')]).toEqual([200, undefined, 'no-store'])
  // Scripts, styles and frames stay forbidden. Redirects of the form lead anywhere, which Chromium holds to the policy.
  const policy = "default-src 'none'; base-uri 'none'; form-action http: https:; frame-ancestors 'none'"
  expect(page.header('Content-Security-Policy')).toBe(policy)
  expect(page.text).toContain('<meta name="robots" content="noindex">')
  expect(page.text).toContain('name="from" value="https://news.example/?q=&quot;&gt;&lt;b&gt;"')
  expect(page.text).not.toMatch(/example\.com|<script|<b>/)

  const wrong = await submit(key, { password: 'easy', from })
  expect([wrong.status, wrong.location, wrong.header('Cache-Control')]).toEqual([403, undefined, 'no-store'])
  expect(wrong.text).toContain('The password is wrong.')
  expect(wrong.text).toContain('value="https://news.example/?q=&quot;')
  const right = await submit(key, { password, from })
  expect([right.status, right.location]).toEqual([303, link.tracking_url])
  expect(right.header('Cache-Control')).toBe('private, no-store')
  const elsewhere = await submit(`${key}?ref=bio`, { password }, { 'User-Agent': iPhone })
  expect(elsewhere.location).toBe(
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
  expect((await submit(key, { password: 'another' })).location).toBe(link.tracking_url)
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
  const open = await makeLink(stores, ingest.workspaceId, null)
  expect((await ask(open.attribution_key)).status).toBe(302)
  let link: TrackedLink
  let isAnsweredFirst: boolean
  // Where the machine stood still, all were compared by then: another link's then.
  do {
    link = await makeClosed()
    const { attribution_key: key } = link
    let isCompared = false
    const tries = Array.from({ length: linkPasswordTriesOfNetworkMax }, (_, at) => submit(key, { password: `${at}` }))
    const comparing = Promise.all(tries).finally(() => {
      isCompared = true
    })
    expect((await ask(open.attribution_key)).status).toBe(302)
    isAnsweredFirst = !isCompared
    expect(new Set((await comparing).map(({ status }) => status))).toEqual(new Set([403]))
  } while (!isAnsweredFirst)
  const { status, header, text } = await submit(link.attribution_key, { password })
  expect([status, text.includes('Too many wrong passwords')]).toEqual([429, true])
  expect(Number(header('Retry-After'))).toBeGreaterThan(800)
  expect((await submit((await makeClosed()).attribution_key, { password })).status).toBe(303)
})

const maker = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'
const preview = {
  title: `Half "price" </title><script>`,
  description: 'Only <today> & tomorrow',
  image_url: 'https://cdn.example/bild ä.png?a="&b=1',
}
const makePreviewed = (more: Partial<NewLink> = {}) => makeLink(stores, ingest.workspaceId, null, { preview, ...more })
const pageOf = ({ text }: { text: string }) => text.slice(text.indexOf('\r\n\r\n') + 4)

test('programs that make previews get the link’s own, escaped and without a script; all others are led on as ever', async () => {
  const link = await makePreviewed()
  const { attribution_key: key, tracking_url: url } = link
  const { status, location, header, text } = await ask(key, { 'User-Agent': maker })
  expect([status, location]).toEqual([200, undefined])
  expect(header('Content-Security-Policy')).toBe(
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  const title = 'Half &quot;price&quot; &lt;/title&gt;&lt;script&gt;'
  expect(text).toContain(`<title>${title}</title>`)
  const tags = [...text.matchAll(/<meta (?:property|name)="((?:og|twitter):\w+)" content="([^"<>]*)">/g)]
  expect(Object.fromEntries(tags.map(([, name, content]) => [name, content]))).toEqual({
    'og:type': 'website',
    'twitter:card': 'summary_large_image',
    'og:title': title,
    'twitter:title': title,
    'og:description': 'Only &lt;today&gt; &amp; tomorrow',
    'twitter:description': 'Only &lt;today&gt; &amp; tomorrow',
    'og:image': 'https://cdn.example/bild%20%C3%A4.png?a=&quot;&amp;b=1',
    'twitter:image': 'https://cdn.example/bild%20%C3%A4.png?a=&quot;&amp;b=1',
  })
  expect(text).toContain('<meta name="robots" content="noindex">')
  expect(text).toContain(`<a href="${url.replaceAll('&', '&amp;')}">`)
  expect(text).not.toMatch(/<script|canonical|http-equiv|og:url/)
  expect(pageOf(await ask(key, { 'User-Agent': 'svc-card' }))).toBe(pageOf({ text }))
  const head = await ask(key, { 'User-Agent': maker, method: 'HEAD' })
  expect([head.status, pageOf(head)]).toEqual([200, ''])
  for (const agent of ['curl/8.5.0', 'Googlebot/2.1 (+http://www.google.com/bot.html)', null]) {
    const led = await ask(key, agent === null ? {} : { 'User-Agent': agent })
    expect([led.status, led.location]).toEqual([302, url])
  }
  expect((await clicksOf(link)).map(({ kind }) => kind)).toEqual([...Array(3).fill('preview'), 'bot', 'bot', 'click'])
})

test('a link with a password shows its preview and not where it leads; one that is over shows none', async () => {
  const targets = [{ countries: ['DE'], destination_url: 'https://example.com/de' }]
  const { attribution_key: closed } = await makePreviewed({ passwordHash: 'x', targets })
  const shown = await ask(closed, { 'User-Agent': maker })
  expect([shown.status, shown.text.includes('og:title')]).toEqual([200, true])
  expect(shown.text).not.toMatch(/example\.com|<form|href/)
  expect((await ask(closed)).text).toContain('This link has a password.')
  const { attribution_key: over } = await makePreviewed({ expiresAt: new Date(0) })
  expect((await ask(over, { 'User-Agent': maker })).status).toBe(410)
})

test('a preview without text and image has tags for neither, and a link without a preview redirects whoever asks', async () => {
  const link = await makePreviewed({ preview: { title: 'Sale', description: '', image_url: null } })
  const { attribution_key: key } = link
  const { text } = await ask(key, { 'User-Agent': maker })
  expect(text).toContain('<meta name="twitter:card" content="summary">')
  expect(text).not.toMatch(/description"|:image/)
  await updateLink(stores.pg, link, { ...link, preview: null })
  await expect.poll(async () => (await ask(key, { 'User-Agent': maker })).status).toBe(302)
})
