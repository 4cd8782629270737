/**
 * Forms with a file (multipart/form-data), read while they arrive: the one place where busboy enters. What is wrong with a
 * form as a form is refused here; of its fields the operation's schema judges.
 */
import { pipeline } from 'node:stream/promises'
import busboy from 'busboy'
import type { FileStorage } from '../../runtime/file-storage.ts'
import type { StreamedRequest } from '../../runtime/http/server.ts'
import { BodyFailed } from '../../runtime/http/streamed-body.ts'
import { formFieldBytesMax, formPartsMax, uploadsAtOnceMax } from '../../schemas/media-limits.ts'
import { invalid, Problem, problem } from '../../schemas/problems.ts'
import { nulCharacter, stringUnicode, type ValidationError, valueError } from '../../schemas/validation-errors.ts'
import { type MediaLimits, type ReceivedFile, receiveFile } from '../media/receive.ts'

export interface Form {
  /** By name: texts, and the file as an `UploadedFile`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** What a retry of the form must be equal in; undefined without a file. */
  readonly fingerprint: unknown
  /** Deletes the file, unless it was kept. */
  discard(): Promise<void>
}

export interface FormReader {
  /** @throws Problem, after which nothing of the form is left */
  read(request: Pick<StreamedRequest, 'headers' | 'body'>): Promise<Form>
}

/** The field of every form that is one. */
const fileField = 'file'
const multipart = /^multipart\/form-data\s*(;|$)/i

export function makeFormReader(storage: FileStorage, limits: MediaLimits): FormReader {
  let underWay = 0
  return {
    async read({ headers, body }) {
      const contentType = headers.get('content-type') ?? ''
      if (!multipart.test(contentType)) return emptyForm
      if (underWay >= uploadsAtOnceMax) throw problem('uploads_full')
      underWay += 1
      try {
        return await readMultipart(body, contentType, (file, declared) => receiveFile(file, declared, storage, limits))
      } finally {
        underWay -= 1
      }
    },
  }
}

const emptyForm: Form = { fields: {}, fingerprint: undefined, discard: async () => {} }

type Receive = (
  file: AsyncIterable<Buffer>,
  declared: { filename: string; contentType: string },
) => Promise<ReceivedFile>

async function readMultipart(body: StreamedRequest['body'], contentType: string, receive: Receive): Promise<Form> {
  const parser = makeParser(contentType)
  const fields: Record<string, unknown> = Object.create(null)
  let hasParts = false
  let declared: { filename: string; contentType: string } | undefined
  let received: Promise<ReceivedFile> | undefined
  let bytes = 0
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  parser.on('field', (name, value) => {
    hasParts = true
    // An input for a file in which none was chosen is sent as an empty text.
    if (name !== fileField || (value !== '' && received === undefined)) fields[name ?? ''] = value
  })
  parser.on('file', (name, file, { filename = '', mimeType }) => {
    hasParts = true
    // It may end in the middle before anybody reads it.
    file.on('error', () => {})
    if (name !== fileField) {
      // Of a field that there isn't it is ignored, as texts are; in the place of a text its schema refuses it.
      fields[name ?? ''] = { filename }
      return void file.resume()
    }
    if (received !== undefined) {
      file.resume()
      return parser.destroy(invalid([secondFile(filename)]))
    }
    declared = { filename, contentType: mimeType }
    received = receive(file as AsyncIterable<Buffer>, declared)
    // Refused before its end: so is the whole form.
    received.catch((error) => parser.destroy(error))
  })
  parser.on('partsLimit', () => parser.destroy(problem('multipart_invalid')))

  try {
    await pipeline(body, parser)
    const file = await received
    if (file !== undefined) fields[fileField] = file
    checkTexts(fields)
    return {
      fields,
      fingerprint: file && fingerprintOf(file, declared!.contentType, fields['alt_text']),
      discard: async () => file?.discard(),
    }
  } catch (error) {
    const cause = (await giveUp(received)) ?? error
    // A form without an end, or without anything, has no file; what has no part at all is no form.
    if (isCut(cause) && (hasParts || bytes === 0)) return emptyForm
    throw problemOf(cause)
  }
}

/** @returns the file's own refusal: it comes before what the end of its form made of it */
async function giveUp(received: Promise<ReceivedFile> | undefined): Promise<Problem | undefined> {
  return received?.then(
    async (file) => {
      await file.discard()
      return undefined
    },
    (own: unknown) => (own instanceof Problem ? own : undefined),
  )
}

function makeParser(contentType: string) {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      defParamCharset: 'utf8',
      limits: { fieldNameSize: 100, fieldSize: formFieldBytesMax, parts: formPartsMax, headerPairs: 20 },
    })
  } catch {
    throw problem('boundary_missing')
  }
}

const isCut = (error: unknown) => error instanceof Error && error.message === 'Unexpected end of form'

function problemOf(error: unknown): unknown {
  if (error instanceof BodyFailed) return problem(error.reason === 'too large' ? 'body_too_large' : 'body_late')
  const isOfParser = error instanceof Error && /^(Malformed|Unexpected end of)/.test(error.message)
  return isOfParser ? problem('multipart_invalid') : error
}

function fingerprintOf({ sha256, originalFilename }: ReceivedFile, contentType: string, altText: unknown): unknown {
  return { sha256: sha256.toString('hex'), filename: originalFilename, contentType, altText: altText ?? '' }
}

/** Texts that can't be stored. */
function checkTexts(fields: Readonly<Record<string, unknown>>): void {
  const errors = Object.entries(fields).flatMap(([name, value]): ValidationError[] => {
    if (typeof value !== 'string') return []
    if (!value.isWellFormed()) return [stringUnicode(['body', name], value)]
    return value.includes('\0') ? [nulCharacter(['body', name], value)] : []
  })
  if (errors.length > 0) throw invalid(errors)
}

function secondFile(filename: string): ValidationError {
  return valueError(['body', fileField], filename, 'One file at a time')
}
