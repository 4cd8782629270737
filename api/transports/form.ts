/** Forms with a file (multipart/form-data). Refuses malformed forms; the schema judges their fields. */
import { isUtf8 } from 'node:buffer'
import type { FileStorage } from '../../runtime/files/file-storage.ts'
import type { StreamedRequest } from '../../runtime/http/server.ts'
import { BodyFailed } from '../../runtime/http/streamed-body.ts'
import { invalid, problem } from '../../schemas/errors/problems.ts'
import { type ValidationError, valueError } from '../../schemas/errors/validation-errors.ts'
import { formFieldBytesMax, uploadsAtOnceMax, workspaceUploadsAtOnceMax } from '../../schemas/limits/media-limits.ts'
import { type MediaLimits, type ReceivedFile, receiveFile } from '../media/receive.ts'
import { boundaryOf, FormFault, type Part, readParts } from './multipart.ts'

export interface Form {
  /** By name: texts, and the file as an `UploadedFile`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** A retry of the form must equal this; undefined without a file. */
  readonly fingerprint: unknown
  /** Deletes the file, unless it was kept. */
  discard(): Promise<void>
}

export interface FormReader {
  /** @throws Problem, after which nothing of the form is left */
  read(request: Pick<StreamedRequest, 'headers' | 'body'>, workspaceId: number): Promise<Form>
}

/** The field of every form that is one. */
const fileField = 'file'
const multipart = /^multipart\/form-data\s*(;|$)/i

export function makeFormReader(storage: FileStorage, limits: MediaLimits): FormReader {
  let underWay = 0
  const underWayOf = new Map<number, number>()
  return {
    async read({ headers, body }, workspaceId) {
      const contentType = headers.get('content-type') ?? ''
      if (!multipart.test(contentType)) return emptyForm
      const own = underWayOf.get(workspaceId) ?? 0
      if (underWay >= uploadsAtOnceMax || own >= workspaceUploadsAtOnceMax) throw problem('uploads_full')
      underWay += 1
      underWayOf.set(workspaceId, own + 1)
      try {
        return await readMultipart(body, contentType, (file, declared) => receiveFile(file, declared, storage, limits))
      } finally {
        underWay -= 1
        const left = underWayOf.get(workspaceId)! - 1
        if (left > 0) underWayOf.set(workspaceId, left)
        else underWayOf.delete(workspaceId)
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
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) throw problem('boundary_missing')
  const fields: Record<string, unknown> = Object.create(null)
  let received: { file: ReceivedFile; contentType: string } | undefined
  try {
    for await (const part of readParts(body, boundary)) {
      const { name, filename = '', contentType, content } = part
      if (isText(part)) {
        const text = await readText(content)
        // An input for a file in which none was chosen is sent as an empty text.
        if (name !== fileField || (text !== '' && received === undefined)) fields[name] = text
      } else if (name !== fileField) {
        // A file in an unknown field is ignored, as texts are; in a text's field the schema refuses it.
        fields[name] = { filename }
      } else {
        if (received !== undefined) throw invalid([secondFile(filename)])
        received = { file: await receive(content, { filename, contentType }), contentType }
      }
    }
  } catch (error) {
    await received?.file.discard()
    // A form without an end, or without anything, has no file.
    if (error instanceof FormFault && error.reason === 'cut') return emptyForm
    throw problemOf(error)
  }
  if (received === undefined) return { ...emptyForm, fields }
  const { file } = received
  return {
    fields: { ...fields, [fileField]: file },
    fingerprint: fingerprintOf(file, received.contentType, fields['alt_text']),
    discard: () => file.discard(),
  }
}

function isText({ filename, contentType }: Part): boolean {
  return filename === undefined && contentType !== 'application/octet-stream'
}

/** Cuts texts that are longer than any field may be. */
async function readText(content: Part['content']): Promise<string> {
  let bytes = Buffer.alloc(0)
  let isCut = false
  for await (const chunk of content) {
    const room = formFieldBytesMax - bytes.length
    isCut ||= chunk.length > room
    bytes = Buffer.concat([bytes, chunk.subarray(0, room)])
  }
  if (!isCut && !isUtf8(bytes)) throw problem('body_unparsable')
  return bytes.toString('utf8')
}

function problemOf(error: unknown): unknown {
  if (error instanceof BodyFailed) return problem(error.reason === 'too large' ? 'body_too_large' : 'body_late')
  return error instanceof FormFault ? problem('multipart_invalid') : error
}

function fingerprintOf({ sha256, originalFilename }: ReceivedFile, contentType: string, altText: unknown): unknown {
  return { sha256: sha256.toString('hex'), filename: originalFilename, contentType, altText: altText ?? '' }
}

function secondFile(filename: string): ValidationError {
  return valueError(['body', fileField], filename, 'One file at a time')
}
