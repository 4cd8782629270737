/** Uploads through the front door: what is taken, what is refused, and that nothing is left of what wasn't taken. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sweepMedia } from '../../api/media/sweep.ts'
import { listMedia } from '../../api/operations/media/list-media.ts'
import { readMediaFile } from '../../api/operations/media/read-media-file.ts'
import { updateMedia } from '../../api/operations/media/update-media.ts'
import { uploadMedia } from '../../api/operations/media/upload-media.ts'
import { lockPost, markPostScheduled } from '../../postgres/tables/posts/posts.ts'
import { makeFileStorage } from '../../runtime/files/file-storage.ts'
import { processSpace } from '../../runtime/files/process-identity.ts'
import { uploadsAtOnceMax, workspaceUploadsAtOnceMax } from '../../schemas/limits/media-limits.ts'
import { makeKey, makeWorkspace, setUpApi, startApi, testApiHost } from '../support/api.ts'
import { boundary, type FormPart, film, formOf, formType, jpeg, partHead, png } from '../support/media-files.ts'
import { makeAccount, makePost } from '../support/publishing.ts'
import { freshStores } from '../support/stores.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const imageBytesMax = 100_000
const videoBytesMax = 300_000

const operations = [uploadMedia, listMedia, readMediaFile, updateMedia]
const { stores, api, mine } = setUpApi({ operations, mediaLimits: { imageBytesMax, videoBytesMax } })

interface Sent {
  type?: string
  key?: string | undefined
  idempotencyKey?: string
}

async function send(body: Buffer | string | undefined, { type = formType, idempotencyKey, ...sent }: Sent = {}) {
  const key = 'key' in sent ? sent.key : mine.apiKey
  const headers: Record<string, string> = { ...(type && { 'Content-Type': type }) }
  if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
  const response = await api.ask('/v1/media', {
    method: 'POST',
    headers,
    key,
    ...(body !== undefined && { body: new Blob([body]) }),
  })
  const answer = (await response.json()) as Record<string, unknown> & { id: number; detail?: unknown }
  return { status: response.status, answer, replayed: response.headers.get('idempotent-replayed') }
}

const filePart = (value: Buffer | string, filename?: string, type?: string): FormPart => ({
  name: 'file',
  value,
  filename: filename ?? 'a.png',
  ...(type !== undefined && { type }),
})
const upload = (value: Buffer | string, filename?: string, type?: string) =>
  send(formOf(filePart(value, filename, type)))

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile())

/** Files below the media folder of the workspace, and drafts of everybody. */
function stored(): string[] {
  const root = join(stores.dataDir, 'media')
  const folders = ['drafts', String(mine.workspaceId)].map((name) => join(root, name))
  return folders.filter((path) => existsSync(path)).flatMap(filesBelow)
}
const rows = () =>
  stores.pg.query<object>('SELECT width, height FROM media WHERE workspace_id = $1 ORDER BY id', [mine.workspaceId])

async function expectNothing(): Promise<void> {
  await expect.poll(stored).toEqual([])
  expect(await rows()).toEqual([])
}

describe('what is taken', () => {
  test.each([
    ['photo.jpg', 'image/jpeg', 'image/jpeg', jpeg({ width: 40, height: 30 }), 40, 30],
    ['photo.JPEG', 'image/jpg', 'image/jpeg', jpeg({ behind: Buffer.from('what cameras append') }), 1, 1],
    ['drawing.png', 'image/png', 'image/png', png(), 3, 2],
    ['film.mp4', 'video/mp4', 'video/mp4', film(), 640, 360],
    ['film.mov', 'video/quicktime', 'video/quicktime', film({ brand: 'qt  ' }), 640, 360],
    ['of no type.png', undefined, 'image/png', png(), 3, 2],
    ['unknown.png', 'application/octet-stream', 'image/png', png(), 3, 2],
  ])('%s as %s is %s, with its pixels', async (name, type, contentType, bytes, width, height) => {
    const { status, answer } = await upload(bytes, name, type)
    expect([status, answer]).toEqual([
      200,
      {
        id: expect.any(Number),
        object_id: `media_${answer.id}`,
        url: `${testApiHost}/v1/media/${answer.id}/file`,
        filename: name.replace('JPEG', 'jpeg'),
        original_filename: name,
        content_type: contentType,
        size_bytes: bytes.length,
        alt_text: '',
        usage_count: 0,
        used_post_titles: [],
        last_used_at: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ])
    expect(await rows()).toEqual([{ width, height }])
    const told = await stores.pg.query('SELECT type, object FROM outbox WHERE workspace_id = $1', [mine.workspaceId])
    expect(told).toEqual([{ type: 'media.created', object: answer }])
    expect(stored()).toEqual([expect.stringContaining(createHash('sha256').update(bytes).digest('hex'))])
  })

  test('an alt text before the file or behind it, of 1000 characters', async () => {
    const alt = { name: 'alt_text', value: '😀'.repeat(1000) }
    for (const parts of [
      [alt, filePart(png())],
      [filePart(png()), alt],
    ]) {
      expect((await send(formOf(...parts))).answer['alt_text']).toBe(alt.value)
    }
  })

  test.each([
    ['../../etc/passwd.png', 'passwd.png'],
    ['C:\\\\Users\\\\me\\\\photo.png', 'photo.png'],
    ['.png', 'image.png'],
    ['photo', 'photo.png'],
    ['v1.2', 'v1.2.png'],
    ['photo.PNG ', 'photo.png'],
    ['photo.png. .', 'photo.png'],
    ['<b>&"x.png', 'b-&-x.png'],
    ['Grüße aus 東京.png', 'Grüße aus 東京.png'],
    ['... .png', 'image.png'],
    ['\x01a\x07b\x7f\tc.png', 'a-b-c.png'],
    [`${'n'.repeat(900)}.png`, `${'n'.repeat(196)}.png`],
  ])('the name %s becomes %s, and is kept as it was sent', async (name, filename) => {
    const sent = name.replaceAll('"', '\\"')
    const { status, answer } = await upload(png(), sent)
    expect([status, answer['filename']]).toEqual([200, filename])
    expect(answer['original_filename']).toBe(name.replaceAll('\\\\', '\\'))
  })
})

/** Each is made to be taken for something else. */
const names = [
  '../../x.png',
  '..\\..\\x.png',
  '/etc/cron.d/x.png',
  'C:\\x.png',
  '....//x.png',
  '%2e%2e%2fx.png',
  '~/x.png',
  'a"; filename="evil.html.png',
  'a\r\nSet-Cookie: x=1\r\n.png',
  "a'b;c=d,e.png",
  'a\\".png',
  '-rf.png',
  '.htaccess.png',
  '\u202egnp.exe.png',
  'a\u2028b.png',
  '\ufeff.png',
  'con.png',
  `${'é'.repeat(500)}.png`,
  '<img src=x onerror=1>.png',
]

/** The name as RFC 5987 has it, in which any character can stand. */
function formNamed(name: string, value: Buffer): Buffer {
  const encoded = encodeURIComponent(name).replaceAll("'", '%27')
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename*=utf-8''${encoded}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), value, Buffer.from(`\r\n--${boundary}--\r\n`)])
}

test('no name names a file of ours, and each stays within its header', async () => {
  for (const name of names) {
    const before = filesBelow(stores.dataDir)
    const { status, answer } = await send(formNamed(name, png({ width: 3 + names.indexOf(name) })))
    expect([name, status]).toEqual([name, 200])
    const [made, ...more] = filesBelow(stores.dataDir).filter((file) => !before.includes(file))
    const place = new RegExp(`^media/${mine.workspaceId}/[0-9a-f]{2}/[0-9a-f]{64}$`)
    expect([name, made, more]).toEqual([name, expect.stringMatching(place), []])
    expect(answer['filename']).toMatch(/^[^\p{C}/\\"<>:|?*]+\.png$/u)
    const { headers } = await api.ask(`/v1/media/${answer.id}/file`, { key: mine.apiKey })
    expect(headers.get('content-disposition'), name).toMatch(
      /^attachment; filename="[\x20-\x21\x23-\x5b\x5d-\x7e]+\.png"; filename\*=UTF-8''[A-Za-z0-9%._~!-]+\.png$/,
    )
    expect([name, headers.get('set-cookie'), headers.get('content-type')]).toEqual([name, null, 'image/png'])
  }
})

describe('what is refused, leaving nothing', () => {
  const gif = Buffer.concat([Buffer.from('GIF89a/*<html><script>alert(1)</script>*/='), Buffer.alloc(100)])
  test.each([
    ['a GIF', gif, 'a.png', 'image/png'],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'a.svg', 'image/svg+xml'],
    ['HTML called a picture', Buffer.from('<!doctype html><script>alert(1)</script>'), 'a.jpg', 'image/jpeg'],
    ['a PNG called a film', png(), 'a.mp4', 'video/mp4'],
    ['a PNG declared as a JPG', png(), 'a.png', 'image/jpeg'],
    ['a PNG declared as HTML', png(), 'a.png', 'text/html'],
    ['a PNG called HTML', png(), 'a.html', 'image/png'],
    ['a film called MOV', film(), 'a.mov', 'video/quicktime'],
    ['HEIC', film({ brand: 'heic' }), 'a.mp4', 'video/mp4'],
    ['a PNG behind a script', Buffer.concat([Buffer.from('<script>1</script>'), png()]), 'a.png', 'image/png'],
    ['a PNG called .png.html', png(), 'a.png.html', 'image/png'],
    ['a PNG called JPG, with a blank behind it', png(), 'a.jpg ', 'image/png'],
    ['a PNG called HTML, with a dot behind it', png(), 'a.html.', 'image/png'],
  ])('%s: 415', async (_, bytes, name, type) => {
    const { status, answer } = await upload(bytes, name, type)
    expect([status, answer.detail]).toEqual([415, expect.any(String)])
    await expectNothing()
  })

  const damaged = 'The file is damaged or not whole'
  const tooMany = 'The picture has more than 250000000 pixels'
  test.each([
    ['nothing', Buffer.alloc(0), 'a.png', 'The file is empty'],
    ['a PNG without its last byte', png().subarray(0, -1), 'a.png', damaged],
    ['a PNG with more behind it', Buffer.concat([png(), Buffer.from('<html>')]), 'a.png', damaged],
    ['a film and HTML', Buffer.concat([film(), Buffer.from('<html>')]), 'a.mp4', damaged],
    ['30,000 × 30,000 pixels', png({ width: 30_000, height: 30_000 }), 'a.png', tooMany],
    ['2^31 − 1 pixels', png({ width: 2 ** 31 - 1, height: 1 }), 'a.png', tooMany],
    ['no pixels', png({ width: 0 }), 'a.png', damaged],
  ])('%s: 422', async (_, bytes, name, text) => {
    const { status, answer } = await upload(bytes, name)
    const msg = `Value error, ${text}`
    expect([status, answer.detail]).toMatchObject([422, [{ loc: ['body', 'file'], msg, input: name }]])
    await expectNothing()
  })

  test('an image and a film beyond their sizes are 413, one of exactly the size is taken', async () => {
    expect((await upload(png({ padTo: imageBytesMax + 1 }))).status).toBe(413)
    const head = film({ data: 0 }).length
    expect((await upload(film({ data: videoBytesMax + 1 - head }), 'a.mp4')).status).toBe(413)
    await expectNothing()
    expect((await upload(png({ padTo: imageBytesMax }))).status).toBe(200)
    expect((await upload(film({ data: videoBytesMax - head }), 'a.mp4')).status).toBe(200)
  })
})

async function changeMedia(id: number, body: object) {
  const init = { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const response = await api.ask(`/v1/media/${id}`, { key: mine.apiKey, ...init })
  return { status: response.status, text: await response.text() }
}

/** A draft with the file, for an account on Pinterest. */
async function makePin(mediaId: number): Promise<number> {
  const post = await makePost(stores, mine.workspaceId)
  const account = await makeAccount(stores, mine.workspaceId, 'pinterest')
  await stores.pg.query('INSERT INTO post_media (post_id, media_id, place) VALUES ($1, $2, 0)', [post, mediaId])
  await stores.pg.query('INSERT INTO post_targets (post_id, place, social_account_id) VALUES ($1, 0, $2)', [
    post,
    account,
  ])
  return post
}

/** Too long for Pinterest. */
const long = { alt_text: 'x'.repeat(501) }

test('an alternative text is changed alone, unless a post that is to be published shows the file where the text is too long', async () => {
  const { id } = (await upload(png())).answer
  const change = (body: object) => changeMedia(id, body)
  const before = await (await api.ask('/v1/media', { key: mine.apiKey })).json()
  const changed = await change({ alt_text: 'A dot', filename: 'other.png' })
  expect([changed.status, JSON.parse(changed.text)]).toEqual([200, { ...(before as object[])[0], alt_text: 'A dot' }])
  for (const bad of [{}, { alt_text: null }, { alt_text: '😀'.repeat(1001) }]) {
    expect((await change(bad)).status).toBe(422)
  }
  const post = await makePin(id)
  for (const [status, answer] of [
    ['scheduled', 422],
    ['failed', 422],
    ['draft', 200],
    ['published', 200],
  ] as const) {
    await stores.pg.query('UPDATE posts SET status = $2 WHERE id = $1', [post, status])
    expect([status, (await change(long)).status]).toEqual([status, answer])
    expect([status, (await change({ alt_text: '' })).status]).toEqual([status, 200])
  }
})

test('an alternative text that is changed while a post with the file is being scheduled is judged as that of a scheduled post', async () => {
  const { id } = (await upload(png())).answer
  const post = await makePin(id)
  const changing = await stores.pg.transaction(async (tx) => {
    await lockPost(tx, mine.workspaceId, post)
    const changed = changeMedia(id, long)
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    await markPostScheduled(tx, post, new Date(Date.now() + 3_600_000))
    return [changed]
  })
  expect((await changing[0]!).status).toBe(422)
})

describe('forms that are none', () => {
  const missing = [{ type: 'missing', loc: ['body', 'file'], msg: 'Field required', input: null }]
  const alt = { name: 'alt_text', value: 'x' }
  const cut = Buffer.concat([partHead(filePart(png())), png().subarray(0, 20)])
  test.each([
    ['a form without it', formOf(alt), formType],
    ['urlencoded', 'file=abc', 'application/x-www-form-urlencoded'],
    ['JSON', '{"file":"abc"}', 'application/json'],
    ['no body', undefined, ''],
    ['no body of a form', Buffer.alloc(0), formType],
    ['a form that ends in its file', cut, formType],
    ['an input without a choice', formOf({ ...filePart('', ''), type: 'application/octet-stream' }), formType],
  ])('%s: 422', async (name, body, type) => {
    const { status, answer } = await send(body, { type })
    expect(status).toBe(422)
    if (name !== 'an input without a choice') expect(answer.detail).toEqual(missing)
    await expectNothing()
  })

  test('a file as a plain field is 422 in the words of the contract', async () => {
    const { status, answer } = await send(formOf({ name: 'file', value: 'abc' }))
    const msg = "Value error, Expected UploadFile, received: <class 'str'>"
    const error = { type: 'value_error', loc: ['body', 'file'], msg, input: 'abc', ctx: { error: {} } }
    expect([status, answer.detail]).toEqual([422, [error]])
  })

  test('without a boundary, and garbage: 400', async () => {
    for (const [type, detail] of [
      ['multipart/form-data', 'Missing boundary in multipart.'],
      [formType, 'Invalid multipart data.'],
    ] as const)
      expect(await send('garbage', { type })).toMatchObject({ status: 400, answer: { detail } })
  })

  test('two files, too many parts, a file as alt text', async () => {
    expect((await send(formOf(filePart(png()), filePart(png(), 'b.png')))).status).toBe(422)
    const many = Array.from({ length: 30 }, (_, at) => ({ name: `n${at}`, value: 'x' }))
    expect((await send(formOf(...many, filePart(png())))).status).toBe(400)
    expect((await send(formOf(filePart(png()), { name: 'alt_text', filename: 'x.txt', value: 'x' }))).status).toBe(422)
    await expectNothing()
  })

  test('a file in a field that there is not is ignored, as a text is, whichever comes first', async () => {
    const other = { name: 'other', filename: 'x.txt', value: 'x'.repeat(100_000) }
    for (const form of [formOf(other, filePart(png())), formOf(filePart(png()), other)]) {
      expect(await send(form)).toMatchObject({ status: 200, answer: { size_bytes: png().length } })
    }
    expect(stored()).toHaveLength(1)
  })

  test('all that is wrong comes together, in the order of the fields', async () => {
    for (const [value, type] of [
      ['x'.repeat(1001), 'string_too_long'],
      ['a\0b', 'value_error'],
    ] as const) {
      const { status, answer } = await send(formOf(filePart(''), { name: 'alt_text', value }))
      const shown = (answer.detail as { loc: string[]; type: string }[]).map(
        (one) => `${one.loc.join('.')} ${one.type}`,
      )
      expect([status, shown]).toEqual([422, ['body.file value_error', `body.alt_text ${type}`]])
    }
    await expectNothing()
    expect((await send(formOf(filePart(png()), { name: 'note', value: 'a\0b' }))).status).toBe(200)
  })

  test('NUL in a name is refused', async () => {
    const named = `Content-Disposition: form-data; name="file"; filename*=utf-8''a%00b.png`
    const form = Buffer.concat([Buffer.from(`--${boundary}\r\n${named}\r\n\r\n`), png()])
    expect((await send(Buffer.concat([form, Buffer.from(`\r\n--${boundary}--\r\n`)]))).status).toBe(422)
    expect((await upload(png(), 'a\0b.png')).status).toBeGreaterThanOrEqual(400)
    await expectNothing()
  })
})

describe('what other readers of forms take amiss', () => {
  test('bytes that are no UTF-8 in a text are 400, whatever charset it claims', async () => {
    for (const type of [undefined, 'text/plain; charset=utf-8', 'text/plain; charset=iso-8859-1']) {
      const alt = { name: 'alt_text', value: Buffer.from('caf\xe9', 'latin1'), ...(type !== undefined && { type }) }
      const { status, answer } = await send(formOf(filePart(png()), alt))
      expect([status, answer.detail]).toEqual([400, 'There was an error parsing the body'])
    }
    await expectNothing()
    const named = { name: 'alt_text', value: 'café \ufffd', type: 'text/plain; charset=UTF-8' }
    expect((await send(formOf(filePart(png()), named))).answer['alt_text']).toBe('café \ufffd')
  })

  test('a file without a name is a file, and of one that is refused nothing is shown', async () => {
    expect(await upload(png(), '', 'image/png')).toMatchObject({ status: 200, answer: { filename: 'image.png' } })
    for (const type of ['image/png', 'text/plain', undefined]) {
      const { status, answer } = await upload('a secret text in place of a picture', '', type)
      expect([status, JSON.stringify(answer)]).toEqual([415, expect.not.stringContaining('secret')])
    }
  })
})

test('nothing is written for a caller without the scope, whatever is sent', async () => {
  const { apiKey } = await makeKey(stores, mine.workspaceId, { scopes: ['media:read'] })
  expect((await send(formOf(filePart(png())), { key: apiKey })).status).toBe(403)
  expect((await send('garbage', { key: 'svc_sk_x' })).status).toBe(401)
  await expectNothing()
})

test('a retry under its key is the same answer, ten at once make one asset; another file, name, type or text is 409', async () => {
  const idempotencyKey = randomUUID()
  const parts = (bytes = png(), name = 'a.png', type = 'image/png', alt = 'x') =>
    formOf(filePart(bytes, name, type), { name: 'alt_text', value: alt })
  const once = await Promise.all(Array.from({ length: 10 }, () => send(parts(), { idempotencyKey })))
  for (const { status } of once) expect([200, 409]).toContain(status)
  const first = once.find(({ status }) => status === 200)!
  expect(await send(parts(), { idempotencyKey })).toEqual({ ...first, replayed: 'true' })
  for (const other of [
    parts(png({ width: 4 })),
    parts(png(), 'b.png'),
    parts(png(), 'a.png', 'application/octet-stream'),
    parts(png(), 'a.png', 'image/png', 'y'),
  ]) {
    expect((await send(other, { idempotencyKey })).status).toBe(409)
  }
  expect(await rows()).toHaveLength(1)
  await expect.poll(stored).toHaveLength(1)
})

describe('what is left behind', () => {
  const head = (bytes: number, key = mine.apiKey) =>
    `POST /v1/media HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${formType}\r\nContent-Length: ${bytes}\r\n\r\n`

  test('503 for a file beyond those that are taken at a time, and room again once their senders have gone', async () => {
    const form = formOf(filePart(film({ data: 200_000 }), 'a.mp4'))
    const held: Socket[] = []
    const hold = (key: string) => {
      for (let n = 0; n < workspaceUploadsAtOnceMax; n++) {
        const socket = connect(api.port, '127.0.0.1')
        socket.on('error', () => {})
        socket.write(Buffer.concat([Buffer.from(head(form.length, key)), form.subarray(0, 1000)]))
        held.push(socket)
      }
    }
    // They go on until they are told to end: a slow machine takes longer than a silent sender is waited for.
    const dripping = setInterval(() => {
      for (const socket of held) socket.write(form.subarray(1000, 1001))
    }, 1_000)
    onTestFinished(() => clearInterval(dripping))
    const expectRefused = async (key: string) => {
      const { status, answer } = await send(formOf(filePart(png())), { key })
      expect([status, answer.detail]).toEqual([503, 'Too many files are being uploaded'])
    }
    const others: string[] = []
    for (let n = 0; n < uploadsAtOnceMax / workspaceUploadsAtOnceMax; n++) {
      others.push((await makeWorkspace(stores)).apiKey)
    }
    hold(mine.apiKey)
    await expect.poll(stored).toHaveLength(workspaceUploadsAtOnceMax)
    await expectRefused(mine.apiKey)
    expect((await send(formOf(filePart(png())), { key: others[0] })).status).toBe(200)
    for (const key of others.slice(1)) hold(key)
    await expect.poll(stored).toHaveLength(uploadsAtOnceMax)
    await expectRefused(others[0]!)
    clearInterval(dripping)
    for (const socket of held) socket.destroy()
    await expectNothing()
    await expect.poll(async () => (await upload(png())).status).toBe(200)
  })

  test('is nothing, when the disk has too little room: 503', async () => {
    const full = makeFileStorage(join(stores.dataDir, 'media'), 2 ** 60)
    const operations = [uploadMedia]
    const other = await startApi({ ...stores, media: full }, { operations })
    try {
      const headers = { 'Content-Type': formType }
      const body = new Blob([formOf(filePart(png()))])
      const response = await other.ask('/v1/media', { method: 'POST', headers, key: mine.apiKey, body })
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    } finally {
      await other.close()
    }
    await expectNothing()
  })

  test('is swept, but no draft of another machine or container and no file of a row', async () => {
    const { answer } = await upload(png())
    const root = join(stores.dataDir, 'media')
    const [kept] = stored()
    writeFileSync(join(root, 'drafts', `${processSpace()}~999999999~1~abc`), 'left')
    // The second is of a container that shares the network of this machine, and so its name.
    const atWork = ['another-host.1~1~1~abc', `${processSpace()}0~1~1~abc`]
    for (const name of atWork) writeFileSync(join(root, 'drafts', name), '')
    expect(await sweepMedia(stores.media, stores.pg)).toEqual({ drafts: 1, files: 0 })
    await sweepMedia(stores.media, stores.pg, 0)
    expect(stored().sort()).toEqual([...atWork, kept].sort())
    const file = await api.ask(`/v1/media/${answer.id}/file`, { key: mine.apiKey })
    expect(Buffer.from(await file.arrayBuffer()).equals(png())).toBe(true)
  })

  test('is swept by no Postgres that is empty or gave the workspace’s number anew, but by one that says it was deleted', async () => {
    await upload(png())
    const { workspaceId } = mine
    const other = await freshStores()
    try {
      const sweep = async () => (await sweepMedia(stores.media, other.pg, 0)).files
      expect(await sweep()).toBe(0)
      await other.pg.query(`ALTER TABLE workspaces ALTER COLUMN id RESTART WITH ${workspaceId}`)
      expect(await makeWorkspace(other)).toMatchObject({ workspaceId })
      expect(await sweep()).toBe(0)
      await other.pg.query('TRUNCATE workspaces CASCADE')
      await other.pg.query('INSERT INTO workspace_deletions (workspace_id, done_at) VALUES ($1, now())', [workspaceId])
      expect(await sweep()).toBe(1)
    } finally {
      await other.close()
    }
  })
})

describe('how much a workspace may store', () => {
  const picture = (n: number) => formOf(filePart(jpeg({ behind: Buffer.from(`number ${n}`) }), 'a.jpg'))
  const size = jpeg({ behind: Buffer.from('number 0') }).length
  const max = 3 * size

  async function bounded() {
    const small = await startApi(stores, { mediaBytesMax: max })
    const ask = async (method: string, path: string, body?: Buffer) => {
      const headers = body ? { 'Content-Type': formType } : {}
      const init = { method, headers, key: mine.apiKey, ...(body && { body: new Blob([body]) }) }
      const response = await small.ask(path, init)
      return { status: response.status, answer: (await response.json()) as Record<string, unknown> }
    }
    return { ask, close: () => small.close() }
  }

  test('uploads at once get as far as the plan allows; equal files count once, and a deleted one frees its bytes', async () => {
    const { ask, close } = await bounded()
    const usage = async () => (await ask('GET', '/v1/media/usage')).answer
    const sent = await Promise.all(Array.from({ length: 7 }, (_, n) => ask('POST', '/v1/media', picture(n))))
    const refused = { status: 409, answer: { detail: `The plan allows ${max} bytes of media: delete some first` } }
    expect(sent.filter(({ status }) => status === 409)).toEqual(Array(4).fill(refused))
    const taken = sent.flatMap(({ status }, n) => (status === 200 ? [n] : []))
    expect(taken).toHaveLength(3)
    const kept = () => stored().filter((name) => !name.includes('~'))
    expect(kept()).toHaveLength(3)
    expect(await usage()).toEqual({ stored_bytes: max, max_bytes: max })

    const first = sent[taken[0]!]!.answer['id']
    const again = await ask('POST', '/v1/media', picture(taken[0]!))
    expect(again.status).toBe(200)
    expect(await ask('DELETE', `/v1/media/${again.answer['id']}`)).toMatchObject({ status: 200, answer: again.answer })
    expect(await usage()).toMatchObject({ stored_bytes: max })
    expect(kept()).toHaveLength(3)
    expect((await ask('DELETE', `/v1/media/${first}`)).status).toBe(200)
    expect(await usage()).toMatchObject({ stored_bytes: max - size })
    expect(kept()).toHaveLength(2)
    expect((await ask('DELETE', `/v1/media/${first}`)).status).toBe(404)
    expect((await ask('POST', '/v1/media', picture(8))).status).toBe(200)
    await close()
  })

  test('an asset of a post that is to be published stays, and published posts keep the id of one that is deleted', async () => {
    const { ask, close } = await bounded()
    const { id } = (await ask('POST', '/v1/media', picture(0))).answer as { id: number }
    const postId = await makePost(stores, mine.workspaceId)
    await stores.pg.query('INSERT INTO post_media (post_id, place, media_id) VALUES ($1, 0, $2)', [postId, id])
    const detail = 'A post that is to be published, or the company profile, shows this media asset'
    expect(await ask('DELETE', `/v1/media/${id}`)).toEqual({ status: 409, answer: { detail } })
    await stores.pg.query("UPDATE posts SET status = 'published' WHERE id = $1", [postId])
    expect((await ask('DELETE', `/v1/media/${id}`)).status).toBe(200)
    expect(await ask('GET', `/v1/posts/${postId}`)).toMatchObject({ status: 200, answer: { media_ids: [id] } })
    await close()
  })
})
