/** Files as bodies of requests: read while they are sent, so that a film takes no memory. */
import { randomBytes } from 'node:crypto'
import { withoutMetadata } from '../../runtime/files/jpeg-metadata.ts'
import type { PublishedMedia } from './adapter.ts'

export interface SentBody {
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/** The bytes alone. */
function rawBody(media: PublishedMedia): SentBody {
  return partBody(media, 0, media.bytes - 1, media.contentType)
}

/** The bytes from the first to the last one, both included. */
export function partBody(
  media: PublishedMedia,
  first: number,
  last: number,
  contentType = 'application/octet-stream',
): SentBody {
  return {
    headers: { 'content-type': contentType, 'content-length': String(last - first + 1) },
    body: readMedia(media, { start: first, end: last }),
  }
}

/** The bytes, those of a JPEG without its metadata. It is held in memory, since the platforms that get it take small ones. */
export async function pictureBody(media: PublishedMedia): Promise<SentBody> {
  if (media.contentType !== 'image/jpeg') return rawBody(media)
  const file = await media.open()
  return bufferBody(media.contentType, withoutMetadata(await file.readFile().finally(() => file.close())))
}

export function bufferBody(contentType: string, bytes: Buffer): SentBody {
  return {
    headers: { 'content-type': contentType, 'content-length': String(bytes.length) },
    body: (async function* () {
      yield bytes
    })(),
  }
}

/**
 * A form with the file and fields beside it.
 * @param sent the field that the file is, and which of its bytes are sent: from `start` up to, but not with, `end`
 */
export function formBody(
  media: PublishedMedia,
  fields: Readonly<Record<string, string>>,
  { name = 'file', start = 0, end = media.bytes } = {},
): SentBody {
  const { contentType } = media
  return multipartBody(fields, [
    { name, contentType, bytes: end - start, read: () => readMedia(media, { start, end: end - 1 }) },
  ])
}

/** A file of a form. */
export interface FormFile {
  /** Name of its field. */
  readonly name: string
  readonly contentType: string
  readonly bytes: number
  read(): AsyncIterable<Uint8Array>
}

/** The file as it is. */
export function formFile(name: string, media: PublishedMedia): FormFile {
  const { contentType, bytes } = media
  return { name, contentType, bytes, read: () => readMedia(media) }
}

/** The file, a JPEG without its metadata. It is read twice, so that few are held in memory at a time. */
export async function formPicture(name: string, media: PublishedMedia): Promise<FormFile> {
  const lengthOf = async () => Number((await pictureBody(media)).headers['content-length'])
  return {
    name,
    contentType: media.contentType,
    bytes: await lengthOf(),
    read: async function* () {
      yield* (await pictureBody(media)).body
    },
  }
}

/** A form with fields, and files behind them. */
export function multipartBody(fields: Readonly<Record<string, string>>, files: readonly FormFile[]): SentBody {
  const boundary = `svc-${randomBytes(16).toString('hex')}`
  const part = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`
  const said = Object.entries(fields).map(([field, value]) => `${part(`name="${field}"`)}\r\n${value}\r\n`)
  const heads = files.map(({ name, contentType }, at) => {
    const filename = fileNameOf(contentType, at)
    const head = `${part(`name="${name}"; filename="${filename}"`)}Content-Type: ${contentType}\r\n\r\n`
    return Buffer.from(at === 0 ? head : `\r\n${head}`)
  })
  const before = Buffer.from(said.join(''))
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)
  const ownBytes = heads.reduce((sum, { length }) => sum + length, before.length + after.length)
  const bytes = files.reduce((sum, file) => sum + file.bytes, ownBytes)
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': String(bytes) },
    body: (async function* () {
      yield before
      for (const [at, file] of files.entries()) {
        yield heads[at]!
        yield* file.read()
      }
      yield after
    })(),
  }
}

/** How a form calls its file, by its place. */
export function fileNameOf(contentType: string, at: number): string {
  const [, ending] = contentType.split('/') as [string, string]
  // By its ending Discord knows what can be played.
  return `media${at === 0 ? '' : at + 1}.${ending === 'quicktime' ? 'mov' : ending}`
}

/** JSON in which files stand as base64: as strings, wherever `json` has one of `files`. */
export function base64Body(json: object, files: readonly PublishedMedia[]): SentBody {
  const mark = randomBytes(16).toString('hex')
  const found: PublishedMedia[] = []
  const text = JSON.stringify(json, (_, value) => {
    const file = files.find((one) => one === value)
    if (file === undefined) return value
    found.push(file)
    return mark
  })
  const texts = text.split(mark).map((part) => Buffer.from(part))
  const encodedBytes = found.reduce((sum, { bytes }) => sum + 4 * Math.ceil(bytes / 3), 0)
  const bytes = texts.reduce((sum, { length }) => sum + length, encodedBytes)
  return {
    headers: { 'content-type': 'application/json', 'content-length': String(bytes) },
    body: (async function* () {
      for (const [at, part] of texts.entries()) {
        yield part
        if (found[at] !== undefined) yield* encode(readMedia(found[at]))
      }
    })(),
  }
}

/** Three bytes are four characters; up to two bytes wait for the next part. */
async function* encode(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Uint8Array = Buffer.alloc(0)
  for await (const part of parts) {
    const bytes = Buffer.concat([rest, part])
    const whole = bytes.length - (bytes.length % 3)
    yield Buffer.from(bytes.toString('base64', 0, whole))
    rest = bytes.subarray(whole)
  }
  yield Buffer.from(Buffer.from(rest).toString('base64'))
}

/** @param range its last byte is `end` */
async function* readMedia(media: PublishedMedia, range = {}): AsyncGenerator<Uint8Array> {
  const file = await media.open()
  // Closes the file when it ends, or is left.
  yield* file.createReadStream(range)
}
