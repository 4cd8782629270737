/** Links with a preview of their own, as ingest answers them. */
import { expect, test } from 'vitest'
import { type NewLink, updateLink } from '../../postgres/tables/links.ts'
import { setUpIngest } from '../support/ingest.ts'
import { makeLink } from '../support/publishing.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const ingest = setUpIngest(stores)
const person = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const maker = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'
const preview = {
  title: `Half "price" </title><script>`,
  description: 'Only <today> & tomorrow',
  image_url: 'https://cdn.example/bild ä.png?a="&b=1',
}

const makePreviewed = (more: Partial<NewLink> = {}) => makeLink(stores, ingest.workspaceId, null, { preview, ...more })

async function ask(key: string, agent: string, method = 'GET') {
  const init = { method, headers: { 'User-Agent': agent }, redirect: 'manual' } as const
  const response = await fetch(`http://127.0.0.1:${ingest.port}/l/${key}`, init)
  const { status, headers } = response
  return {
    status,
    location: headers.get('Location'),
    policy: headers.get('Content-Security-Policy'),
    text: await response.text(),
  }
}

test('programs that make previews get the link’s own, escaped and without a script; all others are led on as ever', async () => {
  const link = await makePreviewed()
  const { attribution_key: key, tracking_url: url } = link
  const { status, location, policy, text } = await ask(key, maker)
  expect([status, location]).toEqual([200, null])
  expect(policy).toBe("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
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
  expect((await ask(key, 'svc-card')).text).toBe(text)
  const head = await ask(key, maker, 'HEAD')
  expect([head.status, head.text]).toEqual([200, ''])
  for (const agent of [person, 'curl/8.5.0', 'Googlebot/2.1 (+http://www.google.com/bot.html)']) {
    const led = await ask(key, agent)
    expect([led.status, led.location]).toEqual([302, url])
  }
  await ingest.shipped()
  const rows = await stores.ch.query<{ kind: string }>(
    'SELECT kind FROM link_clicks WHERE link_id = {id:UInt32} ORDER BY id',
    {
      id: link.id,
    },
  )
  expect(rows.map(({ kind }) => kind)).toEqual([...Array(3).fill('preview'), 'click', 'bot', 'bot'])
})

test('a link with a password shows its preview and not where it leads; one that is over shows none', async () => {
  const targets = [{ countries: ['DE'], destination_url: 'https://example.com/de' }]
  const { attribution_key: closed } = await makePreviewed({ passwordHash: 'x', targets })
  const shown = await ask(closed, maker)
  expect([shown.status, shown.text.includes('og:title')]).toEqual([200, true])
  expect(shown.text).not.toMatch(/example\.com|<form|href/)
  expect((await ask(closed, person)).text).toContain('This link has a password.')
  const { attribution_key: over } = await makePreviewed({ expiresAt: new Date(0) })
  expect((await ask(over, maker)).status).toBe(410)
})

test('a preview without text and image has tags for neither, and a link without a preview redirects whoever asks', async () => {
  const link = await makePreviewed({ preview: { title: 'Sale', description: '', image_url: null } })
  const { attribution_key: key } = link
  const { text } = await ask(key, maker)
  expect(text).toContain('<meta name="twitter:card" content="summary">')
  expect(text).not.toMatch(/description"|:image/)
  await updateLink(stores.pg, link, { ...link, preview: null })
  await expect.poll(async () => (await ask(key, maker)).status).toBe(302)
})
