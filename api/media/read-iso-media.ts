/**
 * MP4 and MOV: boxes of size u32 | type | data. Size 1 means that a u64 behind the type has the real size. Size 0
 * reaches to the end of the file. Each `trak` in `moov` has a `tkhd` that ends with a matrix, width and height, of
 * sound 0, as 16.16. Phones turn a film by the matrix. A file is whole where it has a `moov`, which many have behind
 * everything else, and ends with its last box.
 */
import type { FormatReader, ReaderState, ReadRequest, Size } from './inspect.ts'
import { rotatedSize } from './rotated-size.ts'

interface Box {
  readonly type: string
  /** Bytes of the data; infinite: up to the end of the file. */
  readonly bytes: number
  readonly all: number
}

const typePattern = /^[\w ©-]{4}$/
const trackHeaderBytes = { 0: 84, 1: 96 } as Record<number, number>
/** Bytes of one track header that are held; longer ones are invalid. */
const trackHeaderBytesMax = 4096

export function* readIsoMedia(state: ReaderState): FormatReader {
  let hasMovie = false
  for (;;) {
    const box = yield* readBox(state)
    if (box === undefined) return null
    if (box.bytes === Number.POSITIVE_INFINITY) return hasMovie ? state.size : null
    if (box.type === 'moov') {
      if (!(yield* readParts('trak', box.bytes, state))) return null
      hasMovie = true
    } else {
      yield { skip: box.bytes }
    }
    state.mayEnd = hasMovie
  }
}

/**
 * The boxes of `moov` or, where `wanted` is what a track has, of a `trak`. No deeper: boxes of any depth fit in a small file.
 * @returns false where they are none
 */
function* readParts(
  wanted: 'trak' | 'tkhd',
  bytes: number,
  state: ReaderState,
): Generator<ReadRequest, boolean, Buffer> {
  for (let left = bytes; left > 0; ) {
    const box = yield* readBox(state)
    if (box === undefined || box.all > left) return false
    left -= box.all
    if (box.type !== wanted || (wanted === 'tkhd' && box.bytes > trackHeaderBytesMax)) {
      yield { skip: box.bytes }
    } else if (wanted === 'trak') {
      if (!(yield* readParts('tkhd', box.bytes, state))) return false
    } else {
      const data = yield { take: box.bytes }
      state.size ??= sizeOf(data)
    }
  }
  return true
}

function* readBox(state: ReaderState): Generator<ReadRequest, Box | undefined, Buffer> {
  const head = yield { take: 8 }
  state.mayEnd = false
  const type = head.toString('latin1', 4, 8)
  const size = head.readUInt32BE(0)
  // Padding of zeros is a box up to the end, too.
  if (size === 0) return { type, bytes: Number.POSITIVE_INFINITY, all: Number.POSITIVE_INFINITY }
  if (!typePattern.test(type)) return undefined
  if (size === 1) {
    const large = Number((yield { take: 8 }).readBigUInt64BE(0))
    return large < 16 ? undefined : { type, bytes: large - 16, all: large }
  }
  return size < 8 ? undefined : { type, bytes: size - 8, all: size }
}

function sizeOf(trackHeader: Buffer): Size | undefined {
  const bytes = trackHeaderBytes[trackHeader[0] ?? -1]
  if (bytes === undefined || trackHeader.length < bytes) return undefined
  const width = trackHeader.readUInt16BE(bytes - 8)
  const height = trackHeader.readUInt16BE(bytes - 4)
  if (width === 0 || height === 0) return undefined
  return rotatedSize({ width, height }, isQuarterTurn(trackHeader.subarray(bytes - 44)))
}

/** a b u c d v x y w: by 90 or 270 degrees x comes of y alone, and y of x. */
function isQuarterTurn(matrix: Buffer): boolean {
  const [a, b, c, d] = [0, 4, 12, 16].map((at) => matrix.readInt32BE(at))
  return a === 0 && d === 0 && b !== 0 && c !== 0
}
