/** Media as they are listed and downloaded: ranges, conditions, what browsers are told, and whose they are. */
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { film, formOf, formType, png } from '../support/media-files.ts'
import { exchange } from '../support/raw-http.ts'

const { stores, api, mine } = setUpApi({ sharesWorkspace: true })
let id = 0
let etag = ''
const bytes = film({ data: 1_000_000 })
beforeAll(async () => {
  id = await upload(bytes, 'my "film" ü.mp4')
  etag = (await get()).headers.get('etag')!
})

async function upload(file: Buffer, filename: string, owner: TestWorkspace = mine): Promise<number> {
  const response = await api.ask('/v1/media', {
    method: 'POST',
    headers: { 'Content-Type': formType },
    key: owner.apiKey,
    body: new Blob([formOf({ name: 'file', filename: filename.replaceAll('"', '\\"'), value: file })]),
  })
  const answer = (await response.json()) as { id: number }
  expect([response.status, answer]).toEqual([200, expect.objectContaining({ id: expect.any(Number) })])
  return answer.id
}

const get = (
  headers: Record<string, string> = {},
  { method = 'GET', key = mine.apiKey, asset = id as number | string } = {},
) => api.ask(`/v1/media/${asset}/file`, { method, headers, key })
const bodyOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe('the bytes', () => {
  test('come whole, as what they are, and never as a page', async () => {
    const response = await get()
    expect(response.status).toBe(200)
    expect((await bodyOf(response)).equals(bytes)).toBe(true)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(bytes.length),
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      'content-disposition': `attachment; filename="my -film- _.mp4"; filename*=UTF-8''my%20-film-%20%C3%BC.mp4`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-ratelimit-limit': expect.any(String),
    })
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
  })

  test('HEAD has the headers of GET alone, whatever range it names', async () => {
    const head = await get({ Range: 'bytes=0-1' }, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
    expect(head.headers.get('etag')).toBe(etag)
    expect((await bodyOf(head)).length).toBe(0)
  })

  const last = bytes.length - 1
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=5-9', 5, 9],
    ['bytes=1000-', 1000, last],
    ['bytes=-7', last - 6, last],
    [`bytes=0-${last}`, 0, last],
    ['bytes=10-99999999999', 10, last],
    ['bytes=-99999999999', 0, last],
    ['BYTES= 1-2 ', 1, 2],
  ])('%s is 206', async (range, from, to) => {
    const response = await get({ Range: range })
    expect([response.status, response.headers.get('content-range')]).toEqual([
      206,
      `bytes ${from}-${to}/${bytes.length}`,
    ])
    expect((await bodyOf(response)).equals(bytes.subarray(from, to + 1))).toBe(true)
  })

  test.each([`bytes=${bytes.length}-`, 'bytes=9999999999-99999999999', 'bytes=-0'])('%s is 416', async (range) => {
    const response = await get({ Range: range })
    expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`])
    expect(await response.json()).toEqual({ detail: 'Range Not Satisfiable' })
  })

  const none = ['bytes=0-1,5-9', 'bytes=9-5', 'bytes=-', 'lines=1-2', 'bytes', 'bytes=a-b', `bytes=${'9'.repeat(30)}-`]
  test.each(none)('%s is no range that is answered: the whole file comes', async (range) => {
    const response = await get({ Range: range })
    expect([response.status, response.headers.get('content-range')]).toEqual([200, null])
    expect((await bodyOf(response)).length).toBe(bytes.length)
  })

  test('are not sent again to who has them', async () => {
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await get({ 'If-None-Match': known, Range: 'bytes=0-1' })
      expect([known, response.status]).toEqual([known, 304])
      expect(response.headers.get('etag')).toBe(etag)
      expect((await bodyOf(response)).length).toBe(0)
    }
    expect((await get({ 'If-None-Match': '"x"' })).status).toBe(200)
    const head = `GET /v1/media/${id}/file HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${mine.apiKey}\r\n`
    const next = 'GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n'
    const sent = [`${head}If-None-Match: ${etag}\r\n\r\n`, 100, next]
    expect((await exchange(api.port, sent, { until: 'Not Found"}' })).statuses).toEqual([304, 404])
  })

  test('a range that goes on with other bytes is answered with the whole file', async () => {
    expect((await get({ Range: 'bytes=0-1', 'If-Range': etag })).status).toBe(206)
    for (const other of ['"x"', `W/${etag}`, 'Sat, 21 Nov 2026 00:00:00 GMT']) {
      expect((await get({ Range: 'bytes=0-1', 'If-Range': other })).status).toBe(200)
    }
  })

  test('that are lost are 404, not a failure in the middle', async () => {
    const other = await makeWorkspace(stores)
    const lost = await upload(png(), 'lost.png', other)
    rmSync(join(stores.dataDir, 'media', String(other.workspaceId)), { recursive: true })
    expect((await get({}, { asset: lost, key: other.apiKey })).status).toBe(404)
    const again = await upload(png(), 'again.png', other)
    expect((await get({}, { asset: again, key: other.apiKey })).status).toBe(200)
    expect((await get({}, { asset: lost, key: other.apiKey })).status).toBe(200)
  })

  test('are 503 while their disk can not be read: they may be there', async () => {
    const other = await makeWorkspace(stores)
    const unread = await upload(png(), 'unread.png', other)
    const folder = join(stores.dataDir, 'media', String(other.workspaceId))
    renameSync(folder, `${folder}-away`)
    // Whoever follows it gets an error of the file system, which isn't that nothing is there.
    symlinkSync(folder, folder)
    const refused = await get({}, { asset: unread, key: other.apiKey })
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
    rmSync(folder)
    renameSync(`${folder}-away`, folder)
    expect((await get({}, { asset: unread, key: other.apiKey })).status).toBe(200)
  })
})

describe('the list', () => {
  test('says which posts show an asset, leaving out archived ones', async () => {
    const owner = await makeWorkspace(stores)
    const used = await upload(png(), 'a.png', owner)
    const unused = await upload(png(), 'b.png', owner)
    const posts = await stores.pg.query<{ id: number }>(
      `INSERT INTO posts (workspace_id, title, base_caption, status, updated_at) VALUES
       ($1, 'first', 'x', 'draft', '2026-11-01T00:00:00Z'), ($1, 'second', 'x', 'published', '2026-11-03T10:00:00Z'),
       ($1, 'gone', 'x', 'archived', '2026-11-05T00:00:00Z') RETURNING id`,
      [owner.workspaceId],
    )
    for (const { id: post } of posts) {
      await stores.pg.query('INSERT INTO post_media VALUES ($1, 0, $2), ($1, 1, $2)', [post, used])
    }
    const response = await api.ask('/v1/media', { key: owner.apiKey })
    expect(await response.json()).toMatchObject([
      { id: unused, usage_count: 0, used_post_titles: [], last_used_at: null },
      { id: used, usage_count: 2, used_post_titles: ['second', 'first'], last_used_at: '2026-11-03T10:00:00.000Z' },
    ])
  })
})
