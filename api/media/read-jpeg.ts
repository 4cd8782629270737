/**
 * JPEG: markers FF xx, most with a length u16 and data. A frame (SOF) has height and width. After each start of scan
 * (SOS) comes coded data up to the next marker; there FF is followed by 00 or a restart. It ends with EOI; cameras
 * append more behind it. The size is the one that is shown: Exif in an APP1 may turn the picture.
 */
import {
  app1,
  endOfImage,
  exifBytesMax,
  isQuarterTurned,
  isRestart,
  orientationIn,
  startOfScan,
} from '../../runtime/files/jpeg-metadata.ts'
import type { FormatReader, ReaderState, ReadRequest } from './inspect.ts'
import { rotatedSize } from './rotated-size.ts'

const marker = 0xff
/** SOF0 to SOF15, without those of their numbers that are tables. */
const isFrame = (code: number) => code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc

export function* readJpeg(state: ReaderState): FormatReader {
  yield { skip: 2 }
  let hasScan = false
  let orientation: number | undefined
  for (;;) {
    const code: number | undefined = hasScan ? yield* nextAfterScan() : yield* nextMarker()
    if (code === undefined) return null
    if (code === endOfImage) return hasScan && state.size ? rotatedSize(state.size, isQuarterTurned(orientation)) : null
    const length = (yield { take: 2 }).readUInt16BE(0)
    if (length < 2) return null
    if (code === app1) {
      const taken = Math.min(length - 2, exifBytesMax)
      // Read for every APP1: inside `??=` a second one (XMP) would stay unread, and be parsed as markers.
      const data = yield { take: taken }
      orientation ??= orientationIn(data)
      yield { skip: length - 2 - taken }
      continue
    }
    if (!isFrame(code)) {
      if (code === startOfScan && state.size === undefined) return null
      hasScan ||= code === startOfScan
      yield { skip: length - 2 }
      continue
    }
    if (length < 8) return null
    const frame = yield { take: 6 }
    const size = { height: frame.readUInt16BE(1), width: frame.readUInt16BE(3) }
    if (size.width === 0 || size.height === 0) return null
    state.size ??= size
    yield { skip: length - 8 }
  }
}

/** The code behind FF, which may be repeated; undefined where something else stands. */
function* nextMarker(): Generator<ReadRequest, number | undefined, Buffer> {
  let code = (yield { take: 1 })[0]!
  if (code !== marker) return undefined
  while (code === marker) code = (yield { take: 1 })[0]!
  return code === 0 ? undefined : code
}

/** The next code that isn't part of coded data. */
function* nextAfterScan(): Generator<ReadRequest, number, Buffer> {
  for (;;) {
    yield { find: marker }
    let code = (yield { take: 1 })[0]!
    while (code === marker) code = (yield { take: 1 })[0]!
    if (code !== 0 && !isRestart(code)) return code
  }
}
