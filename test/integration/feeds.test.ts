/** Feeds: what becomes of entries as real sites send them, and that each makes one post, whoever looks and however it ends. */
import { gzipSync } from 'node:zlib'
import { beforeEach, expect, test, vi } from 'vitest'
import type { z } from 'zod'
import { removeMember } from '../../postgres/tables/members/members.ts'
import { lockPost } from '../../postgres/tables/posts/posts.ts'
import { lockWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import {
  feedAskedPauseMs,
  feedDepthMax,
  feedEveryMs,
  feedFailingMaxMs,
  feedLeaseMs,
  feedPageLengthMax,
  feedPostsADay,
  feedPostsEach,
  feedsMax,
} from '../../schemas/limits/feed-limits.ts'
import { day } from '../../schemas/limits/units.ts'
import type { FeedPreview } from '../../schemas/resources/feed.ts'
import { makeKey, setUpApi } from '../support/api.ts'
import { makeFeedReader, rssOf, serve, shortUrlHost } from '../support/feeds.ts'
import { setUpMembers } from '../support/members.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'
import { setUpReceiver } from '../support/receiver.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const { stores, api, mine } = setUpApi({ allowPrivateTargets: true })
const ask = asking(api, () => mine.apiKey)
const receiver = setUpReceiver()
const { makeMember, signInOwner } = setUpMembers({ stores, api })
let reader: ReturnType<typeof makeFeedReader>
beforeEach(async () => {
  await stores.pg.query("UPDATE feeds SET status = 'paused'")
  reader = makeFeedReader(stores)
})

const later = 2 * feedEveryMs
type Preview = z.output<typeof FeedPreview>
interface Refusal {
  readonly detail: readonly { readonly msg: string }[]
}
const posts = async () => (await ask<ShownPost[]>('GET', '/v1/posts?limit=100')).body
const captions = async () => (await posts()).map(({ base_caption }) => base_caption)
const feedOf = async (id: number) => (await ask('GET', '/v1/feeds')).body.find((feed: { id: number }) => feed.id === id)

async function addFeed(more: object = {}, path = '/feed'): Promise<number> {
  const { status, body } = await ask('POST', '/v1/feeds', { url: receiver.url + path, ...more })
  expect([status, body.detail]).toEqual([200, undefined])
  return body.id
}

const wordPress = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>The blog</title>
<atom:link href="https://blog.example.com/feed/" rel="self" type="application/rss+xml"/><link>https://blog.example.com</link>
<image><url>https://blog.example.com/i.png</url><title>An image</title><link>https://blog.example.com</link></image>
<item><title>Ann &#038; Bob&#8217;s day</title><link>https://blog.example.com/day/</link>
<dc:creator><![CDATA[Ann Example]]></dc:creator><pubDate>Tue, 10 Jun 2025 04:00:00 +0000</pubDate>
<guid isPermaLink="false">https://blog.example.com/?p=7</guid>
<description><![CDATA[<p>It was <b>fine</b>&nbsp;&amp; long [&#8230;]</p>
<p>The post <a href="https://blog.example.com/day/">Ann &#038; Bob&#8217;s day</a> appeared first on <a href="https://blog.example.com">The blog</a>.</p>
]]></description><content:encoded><![CDATA[<p>The whole text.</p>]]></content:encoded></item></channel></rss>`
const atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://atom.example.com/blog/">
<title type="html">A &amp;amp; B</title><author><name>Cleo</name></author><link rel="self" href="feed.atom"/>
<entry xml:base="2025/"><id>tag:atom.example.com,2025:1</id><title>1 &lt; 2</title><link rel="edit" href="edit"/>
<link rel="alternate" type="application/json" href="one.json"/><link type="text/html" href="one.html"/><updated>2025-06-10T04:00:00Z</updated>
<source><id>other</id><title>Elsewhere</title><author><name>Dan</name></author></source>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Hello <em>there</em></p></div></content></entry></feed>`
const bombed = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>
<rss><channel><item><guid>1</guid><title>A &b; &x; {link}</title><link>https://blog.example.com/1</link></item></channel></rss>`
const withoutGuid = `<rss><channel><item><title>Ölpreis</title><link>/öl?a=1&amp;b=2</link><author>a@example.com (Eva)</author></item></channel></rss>`
const jsonFeed = JSON.stringify({
  version: 'https://jsonfeed.org/version/1.1',
  title: 'J',
  authors: [{ name: 'Fay' }],
  items: [
    { id: 1, url: 'one', title: 'A\u0000\u202ename', content_html: '<p>Two</p><script>no()</script><p>lines</p>' },
  ],
})

test.each<[shape: string, body: string | Buffer, headers: Record<string, string>, post: string[]]>([
  [
    'WordPress',
    wordPress,
    {},
    ['Ann & Bob’s day', 'https://blog.example.com/day/', 'It was fine & long…', 'Ann Example'],
  ],
  ['Atom', atom, {}, ['1 < 2', 'https://atom.example.com/blog/2025/one.html', 'Hello there', 'Cleo']],
  [
    'RSS without a guid, in windows-1252 by its declaration',
    Buffer.from(`<?xml version="1.0" encoding="windows-1252"?>${withoutGuid}`, 'latin1'),
    { 'Content-Type': 'text/xml; charset=utf-8' },
    ['Ölpreis', 'HOST/%C3%B6l?a=1&b=2', '', 'Eva'],
  ],
  [
    'windows-1252 by the header, packed',
    gzipSync(Buffer.from(withoutGuid, 'latin1')),
    { 'Content-Type': 'text/xml; charset=windows-1252', 'Content-Encoding': 'gzip' },
    ['Ölpreis', 'HOST/%C3%B6l?a=1&b=2', '', 'Eva'],
  ],
  ['entities of its own', bombed, {}, ['A &b; &x; {link}', 'https://blog.example.com/1', '', '']],
  ['JSON', jsonFeed, { 'Content-Type': 'application/json' }, ['Aname', 'HOST/one', 'Two\nlines', 'Fay']],
])('an entry of %s becomes a post', async (_, body, headers, [title, link, summary, author]) => {
  serve(receiver, { '/feed': { body, headers } })
  const template = '{title}|{link}|{summary}|{author}'
  const id = await addFeed({ template, posts_newest: true })
  await reader.look()
  const address = link!.replace('HOST', receiver.url)
  expect(await feedOf(id)).toMatchObject({ last_error: null, last_news: { posts: 1, skipped: 0, note: null } })
  expect(await posts()).toMatchObject([
    { title, base_caption: [title, address, summary, author].join('|'), status: 'draft', feed_id: id },
  ])
})

test('the first look makes nothing; each new entry makes one post, and a change of it or its return none', async () => {
  const feeds = { '/feed': { body: rssOf([{ id: 'b' }, { id: 'a' }]) } }
  serve(receiver, feeds)
  const id = await addFeed()
  await reader.look()
  expect(await feedOf(id)).toMatchObject({ title: 'A blog', last_news: null, last_error: null })
  await reader.look(later)
  expect(receiver.received.at(-1)!.headers['if-none-match']).toMatch(/^"\d+"$/)
  feeds['/feed'].body = rssOf([{ id: 'd' }, { id: 'c' }, { id: 'b', title: 'Changed' }])
  await reader.look(later)
  expect(await captions()).toEqual(['d', 'c'].map((name) => `Title ${name}\n\nhttps://blog.example.com/${name}`))
  feeds['/feed'].body = rssOf([{ id: 'd', title: 'Changed too' }, { id: 'a' }])
  await reader.look(later)
  const [newest, ...others] = await posts()
  expect(others).toHaveLength(1)
  // Nor does it make one again where the post is deleted.
  await ask('DELETE', `/v1/posts/${newest!.id}`)
  feeds['/feed'].body = rssOf([{ id: 'd', title: 'Changed again' }])
  await reader.look(later)
  expect(await posts()).toHaveLength(1)
  const audit = (await ask('GET', '/v1/audit-log?action=post.create')).body
  expect(audit).toMatchObject([2, 1].map(() => ({ actor_type: 'system', metadata: { feed_id: id } })))
})

test('of very many new entries the newest make posts, oldest first, and the rest is passed over', async () => {
  const feeds = { '/feed': { body: rssOf([]) } }
  serve(receiver, feeds)
  const id = await addFeed()
  await reader.look()
  const items = Array.from({ length: 500 }, (_, minute) => ({ id: `${minute}`, minute }))
  feeds['/feed'].body = rssOf(items)
  await reader.look(later)
  expect(await feedOf(id)).toMatchObject({ last_news: { posts: feedPostsEach, skipped: 500 - feedPostsEach } })
  const wanted = items.slice(-feedPostsEach).map(({ id: name }) => `Title ${name}`)
  expect((await posts()).map(({ title }) => title).reverse()).toEqual(wanted)
  feeds['/feed'].body = rssOf([{ id: 'x' }, ...items])
  await reader.look(later)
  expect(await posts()).toHaveLength(feedPostsEach + 1)
})

test('within a day a feed makes so many posts, and passes over what else is new', async () => {
  const feeds = { '/feed': { body: rssOf([]) } }
  serve(receiver, feeds)
  const id = await addFeed()
  await reader.look()
  const looks = feedPostsADay / feedPostsEach + 1
  for (let at = 0; at < looks; at++) {
    feeds['/feed'].body = rssOf(
      Array.from({ length: feedPostsEach }, (_, entry) => ({ id: `${'-'.repeat(at)}${entry}` })),
    )
    await reader.look(later)
  }
  const note = `A feed makes at most ${feedPostsADay} posts a day`
  expect(await feedOf(id)).toMatchObject({ last_news: { posts: 0, skipped: feedPostsEach, note } })
  feeds['/feed'].body = rssOf([{ id: 'x' }])
  await reader.look(2 * day)
  expect(await feedOf(id)).toMatchObject({ last_news: { posts: 1, skipped: 0, note: null } })
})

test.each([
  [
    'suspended',
    'UPDATE workspaces SET suspended_at = now() WHERE id = $1',
    'UPDATE workspaces SET suspended_at = NULL WHERE id = $1',
  ],
  [
    'without a plan',
    'UPDATE owners SET plan_key = NULL WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1)',
    `UPDATE owners SET plan_key = 'scale' WHERE id = (SELECT owner_id FROM workspaces WHERE id = $1)`,
  ],
])('a workspace that is %s while its feed is read gets the posts once it is not', async (_, end, begin) => {
  const feeds = { '/feed': { body: rssOf([]) } }
  serve(receiver, feeds)
  await addFeed()
  await reader.look()
  feeds['/feed'].body = rssOf([{ id: 'a' }])
  const { behaviour } = receiver
  receiver.behaviour = (request, response) =>
    void stores.pg.query(end, [mine.workspaceId]).then(() => behaviour!(request, response))
  await reader.look(later)
  expect(await stores.pg.query('SELECT id FROM posts WHERE workspace_id = $1', [mine.workspaceId])).toEqual([])
  await stores.pg.query(begin, [mine.workspaceId])
  serve(receiver, feeds)
  await reader.look(later)
  expect(await captions()).toHaveLength(1)
})

test('several processes that look at once, and one that dies before its commit, make each post once', async () => {
  const feeds = { '/feed': { body: rssOf([]) } }
  serve(receiver, feeds)
  await addFeed()
  await reader.look()
  feeds['/feed'].body = rssOf([{ id: 'b' }, { id: 'a' }])
  const dying = makeFeedReader(stores, {
    ...stores.pg,
    transaction: (work) =>
      stores.pg.transaction(async (tx) => {
        await work(tx)
        throw new Error('died before the commit')
      }),
  })
  await expect(dying.look(later)).rejects.toThrow('died')
  expect(await posts()).toEqual([])
  // To each the leases of those before have ended.
  const others = [reader, makeFeedReader(stores), makeFeedReader(stores)]
  await Promise.all(others.map((one, at) => one.look(later + 2 * (at + 1) * feedLeaseMs)))
  expect((await captions()).length).toBe(2)
})

test('a process that stops in the middle of a look leaves the feed to the next one at once', async () => {
  const id = await addFeed()
  receiver.behaviour = () => reader.stop()
  await reader.look(later)
  serve(receiver, { '/feed': { body: rssOf([]) } })
  await makeFeedReader(stores).look(later)
  expect(await feedOf(id)).toMatchObject({ looked_at: expect.any(String), last_error: null })
})

test('why posts stay drafts is said in words for people', async () => {
  const feeds = { '/feed': { body: rssOf([]) } }
  serve(receiver, feeds)
  const account = await makeAccount(stores, mine.workspaceId, 'youtube')
  const id = await addFeed({ mode: 'queue', social_account_ids: [account] })
  await reader.look()
  feeds['/feed'].body = rssOf([{ id: 'a' }, { id: 'b' }])
  await reader.look(later)
  expect(await feedOf(id)).toMatchObject({ last_news: { posts: 2, note: 'YouTube needs a video' } })
})

test('a queueing feed takes posting times while its maker may schedule; else it is turned off, and it says why', async () => {
  const feeds = { '/feed': { body: rssOf([]) } }
  serve(receiver, feeds)
  const account = await makeAccount(stores, mine.workspaceId, 'bluesky')
  const editor = await makeMember(mine, 'editor')
  const sent = { url: `${receiver.url}/feed`, mode: 'queue', social_account_ids: [account], shortens_links: true }
  const contributor = await makeMember(mine, 'contributor')
  const refused = await contributor.ask('POST', '/feeds', sent)
  expect([refused.status, refused.body.detail]).toEqual([403, expect.any(String)])
  const { status, body } = await editor.ask('POST', '/feeds', sent)
  expect(status).toBe(200)
  expect((await contributor.ask('PATCH', `/feeds/${body.id}`, { mode: 'draft' })).status).toBe(403)
  await reader.look()

  const long = 'Word '.repeat(50).trim()
  feeds['/feed'].body = rssOf([{ id: 'a', title: long }])
  await reader.look(later)
  expect(await feedOf(body.id)).toMatchObject({ last_news: { note: 'The workspace has no posting times' } })
  const times = [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, time: '09:00' }))
  await ask('PATCH', '/v1/posting-times', { times })
  feeds['/feed'].body = rssOf([{ id: 'b' }])
  await reader.look(later)
  await editor.ask('PATCH', `/feeds/${body.id}`, { template: '{title} {title} {link}' })
  feeds['/feed'].body = rssOf([{ id: 'c', title: long }])
  await reader.look(later)
  const [third, second, first] = await posts()
  expect([third, second, first].map((post) => post?.status)).toEqual(['scheduled', 'scheduled', 'draft'])
  expect(new Date(third!.scheduled_at!).getTime()).toBeGreaterThan(new Date(second!.scheduled_at!).getTime())
  // Bluesky takes 300 characters: the title is cut, the short link isn't.
  const [link] = (await ask('GET', '/v1/links?limit=1')).body
  expect(link).toMatchObject({ destination_url: 'https://blog.example.com/c', post_id: third!.id })
  const [made] = (await ask('GET', '/v1/audit-log?action=link.create')).body
  expect(made).toMatchObject({ actor_name: 'pipeline', resource_id: link.id, metadata: { feed_id: body.id } })
  expect(third!.base_caption).toBe(`${long} ${long} ${shortUrlHost}/${link.attribution_key}`)
  const caption = third!.targets[0]!.caption_override!
  expect(caption).toMatch(new RegExp(`^(Word )+Wo?r?d?… (Word )+Wo?r?d?… ${shortUrlHost}/${link.attribution_key}$`))
  expect(caption.length).toBeLessThanOrEqual(300)
  // No link leads to a short one.
  feeds['/feed'].body = rssOf([{ id: 'short' }]).replace('https://blog.example.com', shortUrlHost)
  await reader.look(later)
  expect((await posts())[0]!.base_caption).toBe(`Title short Title short ${shortUrlHost}/short`)

  // After a restore, the first look finds entries whose posts may have been published.
  const restored = makeFeedReader(stores, stores.pg, new Date(reader.clock.now() + 1))
  for (const [id, inMs, status, note] of [
    [
      'held back',
      reader.clock.now() - restored.clock.now() + later,
      'draft',
      'It may have been published before the restore',
    ],
    ['queued', later, 'scheduled', null],
  ] as const) {
    feeds['/feed'].body = rssOf([{ id }])
    await restored.look(inMs)
    expect((await posts())[0]).toMatchObject({ title: `Title ${id}`, status })
    expect(await feedOf(body.id)).toMatchObject({ last_news: { note } })
  }
  reader.clock.advance(2 * later)

  // While the feed is read, and then before.
  feeds['/feed'].body = rssOf([{ id: 'd' }])
  const { behaviour } = receiver
  const lower = "UPDATE members SET role = 'contributor' WHERE owner_id = $1"
  receiver.behaviour = (request, response) =>
    void stores.pg.query(lower, [editor.id]).then(() => behaviour!(request, response))
  await reader.look(later)
  const shown = async () => [(await feedOf(body.id)).status, (await feedOf(body.id)).last_error]
  expect(await shown()).toEqual(['failed', 'Whoever set the feed up may not do any more what it does'])
  expect((await contributor.ask('PATCH', `/feeds/${body.id}`, { status: 'active' })).status).toBe(403)
  const admin = await makeMember(mine, 'admin')
  await admin.ask('PATCH', `/feeds/${body.id}`, { status: 'active' })
  await stores.pg.query('DELETE FROM members WHERE owner_id = $1', [admin.id])
  const requests = receiver.received.length
  await reader.look(feedAskedPauseMs)
  expect(await shown()).toEqual(['failed', 'Whoever set the feed up is no member any more'])
  expect(receiver.received.length).toBe(requests)
  expect(await posts()).toHaveLength(6)
  await ask('PATCH', `/v1/feeds/${body.id}`, { status: 'active' })
  await reader.look(feedAskedPauseMs)
  expect((await posts())[0]).toMatchObject({ title: 'Title d', status: 'scheduled' })
})

test('a feed that fails is looked at later and later, says why, and is turned off after a week', async () => {
  const feeds: Record<string, { body: string } | undefined> = {}
  serve(receiver, feeds)
  const id = await addFeed()
  await stores.pg.query(
    `INSERT INTO report_recipients (workspace_id, email, every, failures) VALUES ($1, 'a@example.com', 'weekly', true)`,
    [mine.workspaceId],
  )
  await reader.look()
  const failing = await feedOf(id)
  expect(failing).toMatchObject({ status: 'active', last_error: 'The feed answered with status 404' })
  for (let day = 0; day < 8; day++) await reader.look(feedFailingMaxMs / 7)
  const failed = await feedOf(id)
  expect(failed).toMatchObject({ status: 'failed', failing_since: failing.failing_since, next_look_at: null })
  expect(await stores.pg.query('SELECT kind, subject_id FROM alert_mails')).toEqual([{ kind: 'feed', subject_id: id }])
  const requests = receiver.received.length
  await reader.look(feedFailingMaxMs)
  expect(receiver.received.length).toBe(requests)
  feeds['/feed'] = { body: rssOf([]) }
  await ask('PATCH', `/v1/feeds/${id}`, { status: 'active' })
  await reader.look(feedAskedPauseMs)
  expect(await feedOf(id)).toMatchObject({ status: 'active', last_error: null, failing_since: null, title: 'A blog' })
})

test('a feed whose server names a time, in seconds or as a date, is left alone until then', async () => {
  const minute = 60_000
  const date = () => new Date(Date.now() + 600 * minute).toUTCString()
  for (const [after, minutes] of [
    ['36000', 600],
    [date(), 590],
    [new Date(0).toUTCString(), 0],
    ['9'.repeat(20), 1440],
  ] as const) {
    receiver.behaviour = (_, response) => response.writeHead(503, { 'Retry-After': after }).end()
    const id = await addFeed({}, `/${minutes}`)
    await reader.look()
    const { looked_at, next_look_at, last_error } = await feedOf(id)
    expect(last_error).toBe('The feed answered with status 503')
    const waited = (Date.parse(next_look_at) - Date.parse(looked_at)) / minute
    expect([after, waited >= minutes, waited <= Math.max(minutes + 10, 15)]).toEqual([after, true, true])
  }
})

test('a clock that ran three days ahead, and is right again, keeps no feed from being looked at', async () => {
  const feeds = { '/feed': { body: rssOf([]) } }
  serve(receiver, feeds)
  await addFeed()
  await reader.look(3 * day)
  feeds['/feed'].body = rssOf([{ id: 'new' }])
  await reader.look(-3 * day)
  expect(await captions()).toHaveLength(1)
})

test('a look comes up to a tenth of the interval earlier or later', async () => {
  serve(receiver, { '/feed': { body: rssOf([]) } })
  const id = await addFeed()
  const drawn = vi.spyOn(Math, 'random')
  const waits: number[] = []
  for (const value of [0, 0.5, 0.999_999]) {
    drawn.mockReturnValue(value)
    await reader.look(later)
    const { looked_at, next_look_at } = await feedOf(id)
    waits.push(Math.round((Date.parse(next_look_at) - Date.parse(looked_at)) / 1000))
  }
  drawn.mockRestore()
  expect(waits).toEqual([0.9, 1, 1.1].map((share) => Math.round((share * feedEveryMs) / 1000)))
})

const nested = `<rss><channel>${'<a>'.repeat(200)}`
test.each([
  ['/page', 'The address leads to a web page, not to a feed'],
  ['/text', 'The address leads to no feed'],
  ['/deep', 'The feed has more than 100 levels'],
  ['/bomb', 'The feed is larger than 5 MB'],
  ['/broken', 'The feed can not be unpacked'],
  ['/loop', 'The feed redirects more than 5 times'],
  ['/away', 'The feed redirects to no web address, or to one with credentials'],
])('a preview of %s says why it is no feed', async (path, why) => {
  const packed = { 'Content-Encoding': 'gzip' }
  const served = {
    '/page': { body: '<!doctype html><html><body>Hello</body></html>' },
    '/text': { body: 'Hello' },
    '/deep': { body: nested },
    '/bomb': { body: gzipSync(Buffer.alloc(6 * 2 ** 20, ' ')), headers: packed },
    '/broken': { body: 'no gzip at all', headers: packed },
  }
  serve(receiver, served)
  const { behaviour } = receiver
  receiver.behaviour = (request, response) => {
    const location = { '/loop': '/loop', '/away': 'file:///etc/passwd' }[request.url!]
    if (location === undefined) behaviour!(request, response)
    else response.writeHead(302, { Location: location }).end()
  }
  const owner = await signInOwner(mine)
  const { status, body } = await owner<Refusal>('POST', '/feeds/preview', { url: receiver.url + path })
  expect([status, body.detail[0]?.msg]).toEqual([422, `Value error, ${why}`])
})

test('a site’s address finds the first feed that its page names, and one that the workspace has is turned off', async () => {
  const link = (type: string, href: string) => `<LINK type="${type}" rel='home ALTERNATE' title="a > b" href="${href}">`
  const links = [
    link('text/html', '/de'),
    link('application/rss+xml', 'feed?a=1&amp;b=2#top'),
    link('application/atom+xml', '/c'),
  ]
  const named = link('application/rss+xml', '/blog/feed?a=1&amp;b=2')
  const credentials = link('application/rss+xml', 'http://a:b@example.com/')
  const html = { 'Content-Type': 'text/html' }
  serve(receiver, {
    '/': { body: `<!doctype html><base href="/blog/"><title>A</title>${links.join('')}<body>Hello`, headers: html },
    '/blog/feed?a=1&b=2': { body: rssOf([{ id: 'a' }]) },
    '/circle': { body: link('application/feed+json', '/circle'), headers: html },
    '/body': { body: `<html><body>${link('application/rss+xml', '/blog/feed?a=1&b=2')}`, headers: html },
    '/secret': { body: credentials + named, headers: html },
    '/closed': { body: `<head></head><p>${named}`, headers: html },
    '/late': { body: `${' '.repeat(feedPageLengthMax)}<title>A</title>${named}`, headers: html },
    '/deep': { body: '<b>'.repeat(feedDepthMax) + named, headers: html },
  })
  const url = `${receiver.url}/blog/feed?a=1&b=2`
  const owner = await signInOwner(mine)
  const preview = async (path: string) => (await owner('POST', '/feeds/preview', { url: receiver.url + path })).body
  expect(await preview('/')).toMatchObject({ url, title: 'A blog', entries: [{ title: 'Title a' }] })
  expect(await preview('/circle')).toMatchObject({ detail: [{ msg: 'Value error, The address leads to no feed' }] })
  expect(await preview('/secret')).toMatchObject({ url })
  for (const path of ['/body', '/closed', '/late', '/deep']) expect(await preview(path)).toHaveProperty('detail')
  const id = await addFeed({ posts_newest: true }, '/')
  await reader.look()
  expect(await feedOf(id)).toMatchObject({ url, title: 'A blog', last_error: null, last_news: { posts: 1 } })
  const again = await addFeed({}, '/')
  await reader.look()
  expect(await feedOf(again)).toMatchObject({
    status: 'failed',
    last_error: expect.stringContaining('already has the feed'),
  })
})

test('a feed that is "not modified" before it was ever read is one that fails', async () => {
  receiver.behaviour = (_, response) => response.writeHead(304).end()
  const id = await addFeed()
  await reader.look()
  expect(await feedOf(id)).toMatchObject({ last_error: 'The feed answered with status 304' })
})

test('a workspace has two previews at once, so that a slow server keeps no other workspace from one', async () => {
  const owner = await signInOwner(mine)
  const waiting: (() => void)[] = []
  receiver.behaviour = (_, response) => void waiting.push(() => response.end(rssOf([])))
  const preview = () => owner('POST', '/feeds/preview', { url: `${receiver.url}/feed` })
  const first = [preview(), preview()]
  await expect.poll(() => waiting.length).toBe(2)
  expect((await preview()).status).toBe(503)
  for (const answer of waiting) answer()
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
})

test('a preview shows the newest entries as posts would read, and writes nothing', async () => {
  const items = Array.from({ length: 7 }, (_, at) => ({ id: `${at}` }))
  serve(receiver, { '/feed': { body: rssOf(items) } })
  const sent = { url: `${receiver.url}/feed`, template: 'New: {title}' }
  const { body } = await (await signInOwner(mine))<Preview>('POST', '/feeds/preview', sent)
  expect(body.title).toBe('A blog')
  expect(body.entries.map(({ caption }) => caption)).toEqual(items.slice(0, 5).map(({ id }) => `New: Title ${id}`))
  expect((await ask('GET', '/v1/feeds')).body).toEqual([])
})

test('a feed can be paused, checked at once, and deleted without its posts', async () => {
  serve(receiver, { '/feed': { body: rssOf([{ id: 'a' }]) } })
  const id = await addFeed({ posts_newest: true })
  await ask('PATCH', `/v1/feeds/${id}`, { status: 'paused' })
  await reader.look()
  expect(receiver.received).toEqual([])
  expect((await ask('POST', `/v1/feeds/${id}/check`)).status).toBe(409)
  await ask('PATCH', `/v1/feeds/${id}`, { status: 'active' })
  await reader.look()
  const before = await feedOf(id)
  const soonest = new Date(before.looked_at).getTime() + feedAskedPauseMs
  const { body } = await ask('POST', `/v1/feeds/${id}/check`)
  expect(new Date(body.next_look_at).getTime()).toBe(soonest)
  await ask('PATCH', `/v1/feeds/${id}`, { status: 'paused' })
  const { body: resumed } = await ask('PATCH', `/v1/feeds/${id}`, { status: 'active' })
  expect(new Date(resumed.next_look_at).getTime()).toBe(soonest)
  const [made] = (await posts()).map(({ updated_at }) => updated_at)
  expect((await ask('DELETE', `/v1/feeds/${id}`)).status).toBe(200)
  expect(await posts()).toMatchObject([{ title: 'Title a', feed_id: null }])
  // Whoever reads changed posts by it sees that.
  expect((await posts()).map(({ updated_at }) => updated_at > made!)).toEqual([true])
})

test('a look that is asked for after a clock ran hours ahead follows at once', async () => {
  const id = await addFeed()
  const ahead = new Date(Date.now() + 5 * 3_600_000)
  await stores.pg.query('UPDATE feeds SET looked_at = $2, next_look_at = $2 WHERE id = $1', [id, ahead])
  const { body } = await ask('POST', `/v1/feeds/${id}/check`)
  expect(Date.parse(body.next_look_at)).toBeLessThan(Date.now() + 60_000)
})

test('a feed is deleted while somebody changes two of its posts, in whatever order', async () => {
  serve(receiver, { '/feed': { body: rssOf([{ id: 'a' }, { id: 'b' }]) } })
  const id = await addFeed()
  await stores.pg.query('UPDATE feeds SET read_at = created_at WHERE id = $1', [id])
  await reader.look()
  const [second, first] = (await posts()).map((post) => post.id)
  // In the table, and in the index of posts by their feed, it lies behind the other one from now on.
  for (const status of ['archived', 'draft']) {
    await stores.pg.query('UPDATE posts SET status = $2 WHERE id = $1', [first, status])
  }
  const deleted = await stores.pg.transaction(async (tx) => {
    await lockPost(tx, mine.workspaceId, first!)
    const asked = ask('DELETE', `/v1/feeds/${id}`)
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    await lockPost(tx, mine.workspaceId, second!)
    return [asked]
  })
  expect((await deleted[0]!).status).toBe(200)
  expect(await posts()).toMatchObject([{ feed_id: null }, { feed_id: null }])
})

test('an app that is deleted while it adds a feed is told that it is out', async () => {
  const { id, apiKey } = await makeKey(stores, mine.workspaceId)
  const asked = await stores.pg.transaction(async (tx) => {
    // As where a member lets in another app, and has as many as there may be.
    await lockWorkspace(tx, mine.workspaceId)
    await tx.query('DELETE FROM api_keys WHERE id = $1', [id])
    // Its use is noted beside it, and waits as well.
    const added = asking(api, () => apiKey)('POST', '/v1/feeds', { url: receiver.url })
    await expect.poll(() => countWaiting(stores.pg)).toBe(2)
    return [added]
  })
  expect((await asked[0]!).status).toBe(401)
})

test('a feed that a member adds by a key while being removed isn’t made: it would act by the owner’s role', async () => {
  const editor = await makeMember(mine, 'editor')
  const { apiKey } = await makeKey(stores, mine.workspaceId, { ownerId: editor.id })
  const asked = await stores.pg.transaction(async (tx) => {
    await lockWorkspace(tx, mine.workspaceId)
    const added = asking(api, () => apiKey)('POST', '/v1/feeds', { url: receiver.url })
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    await removeMember(tx, mine.workspaceId, editor.id)
    return [added]
  })
  expect((await asked[0]!).status).toBe(401)
})

test.each([
  ['is read', rssOf([])],
  ['fails', 'no feed'],
])('whoever asks for a look during one that %s gets another, a minute later', async (_, before) => {
  const id = await addFeed({ posts_newest: true })
  receiver.behaviour = async (_request, response) => {
    expect((await ask('POST', `/v1/feeds/${id}/check`)).status).toBe(200)
    serve(receiver, { '/feed': { body: rssOf([{ id: 'a' }]) } })
    response.writeHead(200, { 'Content-Type': 'application/rss+xml' }).end(before)
  }
  await reader.look()
  const { looked_at, next_look_at } = await feedOf(id)
  expect(Date.parse(next_look_at) - Date.parse(looked_at)).toBe(feedAskedPauseMs)
  await reader.look(feedAskedPauseMs)
  expect(await captions()).toHaveLength(1)
})

test('what a feed can’t be is refused: a known or unsuitable one, and one too many', async () => {
  const url = `${receiver.url}/feed`
  await addFeed()
  const refusals: [object, number, string][] = [
    [{ url }, 409, 'The workspace has this feed'],
    [{ url: `${url.replace('http:', 'HTTP:')}#top` }, 409, 'The workspace has this feed'],
    [{ url: 'ftp://example.com/' }, 422, 'url'],
    [{ url: `${url}?q=${'ü'.repeat(400)}` }, 422, 'more than 2048 characters once it is percent-encoded'],
    [{ url, template: 'No name' }, 422, 'template'],
    [{ url, template: '{title} {date}' }, 422, 'template'],
    [{ url, mode: 'queue' }, 422, 'social_account_ids'],
    [{ url, social_account_ids: [999_999] }, 422, 'social_account_ids'],
  ]
  for (const [sent, status, said] of refusals) {
    const answer = await ask('POST', '/v1/feeds', sent)
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringContaining(said)])
  }
  for (let at = 1; at < feedsMax; at++) await addFeed({}, `/${at}`)
  expect((await ask('POST', '/v1/feeds', { url: `${url}s` })).status).toBe(409)
})
