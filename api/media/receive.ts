/**
 * Streams a file into a draft on our disk, in constant memory, and checks it on the way. The checks: its type by its
 * first bytes, then its size, and at its end whether it is whole. Nothing is left of one that isn't returned. Held by
 * test/integration/media-upload.test.ts and test/integration/media-memory.test.ts.
 */
import type { Draft, FileStorage } from '../../runtime/files/file-storage.ts'
import { problem } from '../../schemas/errors/problems.ts'
import { nulCharacter, stringTooLong, stringUnicode, valueError } from '../../schemas/errors/validation-errors.ts'
import { filenameLengthMax, imagePixelsMax, originalFilenameLengthMax } from '../../schemas/limits/media-limits.ts'
import type { UploadedFile } from '../../schemas/resources/media.ts'
import { type Inspection, inspect, type Size } from './inspect.ts'
import { onDisk } from './on-disk.ts'
import { fitsDeclaration, type MediaType, safeName, signatureBytes, typeOf } from './types.ts'

export interface MediaLimits {
  readonly imageBytesMax: number
  readonly videoBytesMax: number
}

/** The sender's claims about the file. */
export interface Declared {
  readonly filename: string
  readonly contentType: string
}

export interface ReceivedFile extends UploadedFile {
  /** Deletes it, unless it was kept. */
  discard(): Promise<void>
}

/**
 * @throws Problem 413 or 415 as soon as it is known, while more may be coming
 * @throws StoreUnavailable when it can't be written
 * @throws whatever ends the stream
 */
export async function receiveFile(
  stream: AsyncIterable<Buffer>,
  declared: Declared,
  storage: FileStorage,
  limits: MediaLimits,
): Promise<ReceivedFile> {
  const draft = await onDisk(storage.begin())
  try {
    const judge = makeJudge(declared, limits)
    for await (const chunk of stream) {
      judge.push(chunk)
      await onDisk(draft.write(chunk))
    }
    const { type, fault, size } = judge.end()
    const { bytes, sha256 } = await onDisk(draft.finish())
    return makeReceived(draft, { type, fault, size, bytes, sha256, originalFilename: declared.filename })
  } catch (error) {
    await draft.discard()
    throw error
  }
}

type Fault = UploadedFile['fault']

interface Judgement {
  /** Undefined of an empty file. */
  readonly type: MediaType | undefined
  readonly fault: Fault
  readonly size: Size | undefined
}

function makeJudge(declared: Declared, { imageBytesMax, videoBytesMax }: MediaLimits) {
  let head = Buffer.alloc(0)
  let type: MediaType | undefined
  let inspection: Inspection | undefined
  let bytes = 0

  function begin(): void {
    type = typeOf(head)
    if (type === undefined) throw problem('media_type_unsupported')
    if (!fitsDeclaration(type, declared.filename, declared.contentType)) {
      throw problem('media_type_mismatch', type.contentType)
    }
    inspection = inspect(type)
    inspection.push(head)
  }
  return {
    push(chunk: Buffer): void {
      bytes += chunk.length
      if (inspection === undefined) {
        head = Buffer.concat([head, chunk])
        if (head.length >= signatureBytes) begin()
      } else {
        inspection.push(chunk)
      }
      if (type?.kind === 'image' && bytes > imageBytesMax) throw problem('image_too_large', String(imageBytesMax))
      if (type?.kind === 'video' && bytes > videoBytesMax) throw problem('video_too_large', String(videoBytesMax))
    },
    end(): Judgement {
      if (inspection === undefined && head.length > 0) begin()
      const finding = inspection?.end()
      const size = finding?.isWhole ? finding.size : undefined
      const fault = nameFault(declared.filename) ?? contentFault(bytes, finding?.isWhole === true, size)
      return { type, fault: fault === undefined ? undefined : asFault(fault, declared.filename), size }
    },
  }
}

function contentFault(bytes: number, isWhole: boolean, size: Size | undefined): string | undefined {
  if (bytes === 0) return 'The file is empty'
  if (!isWhole) return 'The file is damaged or not whole'
  const pixels = size === undefined ? 0 : size.width * size.height
  return pixels > imagePixelsMax ? `The picture has more than ${imagePixelsMax} pixels` : undefined
}

function nameFault(name: string): typeof nulCharacter | undefined {
  if (!name.isWellFormed()) return stringUnicode
  if (name.includes('\0')) return nulCharacter
  if ([...name].length > originalFilenameLengthMax) {
    return (loc, input) => stringTooLong(loc, input, originalFilenameLengthMax)
  }
  return undefined
}

/** The error shows the name of the refused file. */
function asFault(fault: string | typeof nulCharacter, filename: string): Fault {
  return (loc) => (typeof fault === 'string' ? valueError(loc, filename, fault) : fault(loc, filename))
}

interface Received extends Judgement {
  readonly bytes: number
  readonly sha256: Buffer
  readonly originalFilename: string
}

function makeReceived(draft: Draft, { type, ...received }: Received): ReceivedFile {
  return {
    ...received,
    filename: type === undefined ? '' : safeName(received.originalFilename, type, filenameLengthMax),
    contentType: type?.contentType ?? '',
    keep: (workspaceId) => onDisk(draft.keep(workspaceId)),
    discard: () => draft.discard(),
  }
}
