/** Files that are made to be taken for something else: what is stored, under which name, and how browsers are told to treat it. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { boundary, filmHead, formOf, formType, jpeg, png } from '../support/media-files.ts'

const { stores, api, mine } = setUpApi()

interface Asset {
  readonly id: number
  readonly filename: string
  readonly content_type: string
}

async function send(form: Buffer): Promise<{ status: number; asset: Asset }> {
  const headers = { 'Content-Type': formType }
  const response = await api.ask('/v1/media', { method: 'POST', headers, key: mine.apiKey, body: new Blob([form]) })
  return { status: response.status, asset: (await response.json()) as Asset }
}
const upload = (value: Buffer, filename: string, type?: string) =>
  send(formOf({ name: 'file', filename, value, ...(type !== undefined && { type }) }))

/** The name as RFC 5987 has it, in which any character can stand. */
function formNamed(name: string, value: Buffer): Buffer {
  const encoded = encodeURIComponent(name).replaceAll("'", '%27')
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename*=utf-8''${encoded}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), value, Buffer.from(`\r\n--${boundary}--\r\n`)])
}

const download = (id: number) => api.ask(`/v1/media/${id}/file`, { key: mine.apiKey })

/** All files below the data folder. */
function allFiles(): string[] {
  return readdirSync(stores.dataDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(stores.dataDir, name)).isFile())
    .sort()
}

/** An answer that no browser shows in the place of a page, whatever it thinks the bytes are. */
async function expectHarmless(asset: Asset, contentType: string, bytes: Buffer): Promise<void> {
  const response = await download(asset.id)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    ...{ 'content-type': contentType, 'x-content-type-options': 'nosniff' },
    'content-security-policy': "default-src 'none'; sandbox",
    'content-disposition': expect.stringMatching(/^attachment; /),
  })
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
}

const script = Buffer.from('<svg onload=alert(1)><script>alert(1)</script></svg>')

describe('a file whose bytes hold a script is served as what it is, and never as a page', () => {
  test.each([
    ['a JPG with one behind its end', jpeg({ behind: script }), 'a.jpg', 'image/jpeg'],
    ['a film with one in its data', Buffer.concat([filmHead({ data: script.length }), script]), 'a.mp4', 'video/mp4'],
  ])('%s', async (_, bytes, name, type) => {
    const { status, asset } = await upload(bytes, name)
    expect([status, asset.content_type]).toEqual([200, type])
    expect(bytes.includes('<script>')).toBe(true)
    await expectHarmless(asset, type, bytes)
  })
})

const names = [
  ...['../../x.png', '..\\..\\x.png', '/etc/cron.d/x.png', 'C:\\x.png', '....//x.png', '%2e%2e%2fx.png', '~/x.png'],
  ...['a"; filename="evil.html.png', 'a\r\nSet-Cookie: x=1\r\n.png', "a'b;c=d,e.png", 'a\\".png', '-rf.png'],
  ...['.htaccess.png', '\u202egnp.exe.png', 'a\u2028b.png', '\ufeff.png', 'con.png', `${'é'.repeat(500)}.png`],
  '<img src=x onerror=1>.png',
]

test('no name names a file of ours, and each stays within its header', async () => {
  for (const name of names) {
    const before = allFiles()
    const { status, asset } = await send(formNamed(name, png({ width: 3 + names.indexOf(name) })))
    expect([name, status]).toEqual([name, 200])
    const [made, ...more] = allFiles().filter((file) => !before.includes(file))
    const stored = new RegExp(`^media/${mine.workspaceId}/[0-9a-f]{2}/[0-9a-f]{64}$`)
    expect([name, made, more]).toEqual([name, expect.stringMatching(stored), []])
    expect(asset.filename).toMatch(/^[^\p{C}/\\"<>:|?*]+\.png$/u)
    const { headers } = await download(asset.id)
    expect(headers.get('content-disposition'), name).toMatch(
      /^attachment; filename="[\x20-\x21\x23-\x5b\x5d-\x7e]+\.png"; filename\*=UTF-8''[A-Za-z0-9%._~!-]+\.png$/,
    )
    expect([name, headers.get('set-cookie'), headers.get('content-type')]).toEqual([name, null, 'image/png'])
  }
})
