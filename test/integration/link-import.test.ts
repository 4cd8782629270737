/** Links of other products' exports: by the API and by `svc links import`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { linksImportedMax } from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { asking } from '../support/publishing.ts'
import { setUpFolder } from '../support/test-folder.ts'

const { stores, api } = setUpApi()
const folder = setUpFolder()

interface Row {
  readonly outcome: string
  readonly key: string | null
  readonly label: string
  readonly reason: string | null
  readonly link_id: number | null
}
interface Imported {
  readonly created: number
  readonly present: number
  readonly refused: number
  readonly rows: Row[]
  readonly link_ids?: number[]
  readonly detail?: { loc: unknown; msg: string }[]
}

const ask = (path: string, body: object, key: string) => asking(api, () => key)<Imported>('POST', path, body)
const countsOf = ({ created, present, refused }: Imported) => [created, present, refused]
const list = async (key: string, query = '') =>
  (await asking(api, () => key)<Record<string, unknown>[]>('GET', `/v1/links${query}`)).body

/** A header, and a line of it with the key and the destination, as each product exports them. */
const exported: [product: string, header: string, lineOf: (key: string) => string][] = [
  [
    'Bitly',
    'title,long_url,link,created_at,tags',
    (key) => `Sale,https://example.com/a,https://bit.ly/${key},2026-01-01,"a,b"`,
  ],
  [
    'Dub',
    '\ufeffShort link,Destination URL,Clicks,Created at',
    (key) => `dub.sh/${key},https://example.com/a,3,2026-01-01`,
  ],
  [
    'Rebrandly',
    'id,title,slashtag,destination,shortUrl',
    (key) => `x1,Sale,${key},https://example.com/a,rebrand.ly/${key}`,
  ],
  ['Short.io', 'Original URL;Path;Title;Short URL', (key) => `https://example.com/a;${key};Sale;https://s.io/${key}`],
]

test.each(exported)('an export of %s makes links with their keys, once', async (product, header, lineOf) => {
  const { apiKey } = await makeWorkspace(stores)
  const key = `Sale-${product.replace('.', '')}`
  const csv = [header, lineOf(key), lineOf('no key!'), lineOf('Docs')].join('\r\n')
  const seen = await ask('/v1/links/import/preview', { csv }, apiKey)
  expect(countsOf(seen.body)).toEqual([1, 0, 2])
  expect(await list(apiKey)).toEqual([])
  const made = await ask('/v1/links/import', { csv }, apiKey)
  expect([made.status, countsOf(made.body), made.body.rows[2]!.reason]).toEqual([
    200,
    [1, 0, 2],
    'key: The key is reserved',
  ])
  const [link, ...more] = await list(apiKey, '?q=sale-')
  expect(more).toEqual([])
  expect(link).toMatchObject({
    attribution_key: key,
    destination_url: 'https://example.com/a',
    post_url: `${testApiHost}/l/${key}`,
  })
  expect(made.body.link_ids).toEqual([link!['id']])
  expect(countsOf((await ask('/v1/links/import', { csv }, apiKey)).body)).toEqual([0, 1, 2])
})

test('keys of others are refused, rows without one are the same by label and destination, and columns may be named', async () => {
  const [mine, other] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  const columns = { destination_url: 'Ziel', key: 'Kürzel', label: 'Was' }
  const csv =
    'Ziel,Kürzel,Was\nhttps://example.com/,theirs,a\nhttps://example.com/,,b\nhttps://example.com/,,b\nftp://x.example,,c'
  await ask('/v1/links/import', { csv: 'url,slug\nhttps://example.com/,theirs', columns: {} }, other.apiKey)
  const { body } = await ask('/v1/links/import', { csv, columns }, mine.apiKey)
  expect(body.rows.map(({ outcome, reason }) => [outcome, reason?.split(':')[0] ?? null])).toEqual([
    ['refused', 'key'],
    ['created', null],
    ['present', null],
    ['refused', 'destination_url'],
  ])
  expect(body.rows[2]!.link_id).toBe(body.rows[1]!.link_id)
  for (const [wrong, msg] of [
    [{ csv: 'a,b\nc,d' }, 'no column of destinations'],
    [{ csv, columns: { label: 'nothing' } }, 'no column `nothing`'],
    [{ csv: 'url\0\nx' }, ''],
    [{ csv: `url\n${'https://example.com/\n'.repeat(linksImportedMax + 1)}` }, 'more than 500 rows'],
  ] as const) {
    const refused = await ask('/v1/links/import', wrong, mine.apiKey)
    expect([refused.status, refused.body.detail![0]!.msg]).toEqual([422, expect.stringContaining(msg)])
  }
})

test('a destination’s own source and medium stay, where no column names others', async () => {
  const { apiKey } = await makeWorkspace(stores)
  const own = 'https://example.com/?utm_source=mail&utm_medium='
  const odd = 'https://example.com/?utm_source=a%00b'
  const csv = `url,slug,utm_source\n${own},own,\n${own},named,poster\n${odd},odd,`
  expect((await ask('/v1/links/import', { csv }, apiKey)).body.created).toBe(3)
  expect(await list(apiKey, '?q=odd')).toMatchObject([{ utm_source: '', tracking_url: expect.stringContaining(odd) }])
  const [kept, named] = [await list(apiKey, '?q=own'), await list(apiKey, '?q=named')]
  expect(kept).toMatchObject([{ utm_source: 'mail', utm_medium: 'social' }])
  expect(named).toMatchObject([{ utm_source: 'poster', utm_medium: 'social' }])
})

test('a row without a key is the oldest link of its label and destination', async () => {
  const { apiKey } = await makeWorkspace(stores)
  const same = { label: 'Poster', destination_url: 'https://example.com/poster' }
  const links = [{ ...same, label: 'Flyer' }, same, same]
  const { link_ids: ids } = (await ask('/v1/links/bulk', { links }, apiKey)).body
  const { body } = await ask('/v1/links/import', { csv: `label,url\n${same.label},${same.destination_url}` }, apiKey)
  expect(body.rows).toMatchObject([{ outcome: 'present', link_id: ids![1] }])
})

test('marks within quoted names divide no cells, and a short URL without a path is no key', async () => {
  const { apiKey } = await makeWorkspace(stores)
  const csv =
    '"Title, if any";Long URL;Link\na;https://example.com/,;https://s.io/Slash-26/\nb;https://example.com/;s.io/'
  const { body } = await ask('/v1/links/import', { csv, columns: { label: 'Title, if any' } }, apiKey)
  expect(body.rows.map(({ outcome, key }) => [outcome, key])).toEqual([
    ['created', 'Slash-26'],
    ['created', null],
  ])
})

test('imports of the same rows at once make each link once, and two workspaces never wait for each other in vain', async () => {
  const [mine, other] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  const rows = Array.from({ length: 40 }, (_, at) => [
    `https://example.com/${at},once-${at}`,
    `https://example.org/${at},`,
  ])
  const csvOf = (all: readonly string[]) => ['url,key', ...all].join('\n')
  const [forth, back] = [csvOf(rows.flat()), csvOf(rows.flat().reverse())]
  const asked = [forth, back, forth].map((csv) => ask('/v1/links/import', { csv }, mine.apiKey))
  const made = await Promise.all(asked)
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200])
  const sum = (count: (one: Imported) => number) => made.reduce((all, { body }) => all + count(body), 0)
  expect([sum(({ created }) => created), sum(({ refused }) => refused)]).toEqual([80, 0])
  expect(await list(mine.apiKey)).toHaveLength(80)
  const keyed = rows.map((_, at) => ({ label: 'x', destination_url: 'https://example.com/', key: `both-${at}` }))
  const sent = [
    ask('/v1/links/bulk', { links: keyed }, mine.apiKey),
    ask('/v1/links/bulk', { links: [...keyed].reverse() }, other.apiKey),
  ]
  const answers = await Promise.all(sent)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
})

test('`svc links import` takes a file in portions, tells what it refused, and makes nothing the second time', async () => {
  const { workspaceId, apiKey } = await makeWorkspace(stores)
  const path = join(folder, 'links.csv')
  const rows = Array.from(
    { length: linksImportedMax + 1 },
    (_, at) => `https://example.com/${at},file-${at},"a, ""b"""`,
  )
  writeFileSync(path, ['Long URL,Back-half,Name', ...rows, 'nowhere,x,y'].join('\n'))
  const svc = (...words: string[]) =>
    svcOn(stores, 'links', 'import', path, '--workspace', String(workspaceId), ...words)
  const counts = { created: rows.length, present: 0, refused: 1 }
  const seen = { ...counts, refusals: [{ row: rows.length + 1, key: 'x' }] }
  expect((await svc('--dry-run')).json).toMatchObject(seen)
  expect(await list(apiKey)).toEqual([])
  expect((await svc()).json).toMatchObject(counts)
  expect((await svc()).json).toMatchObject({ created: 0, present: rows.length, refused: 1 })
  expect(await list(apiKey, '?q=FILE-500')).toMatchObject([{ label: 'a, "b"', attribution_key: 'file-500' }])
  expect(await svc('--columns', 'keys=x')).toMatchObject({ code: 2, err: expect.stringContaining('--columns') })
  writeFileSync(path, 'Long URL,Name\nhttps://example.com/,Gr\u00f6\u00dfe', 'latin1')
  expect(await svc()).toMatchObject({ code: 1, err: expect.stringContaining("isn't text in UTF-8") })
})
