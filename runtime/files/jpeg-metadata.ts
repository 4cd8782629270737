/**
 * Metadata of a JPEG: how the picture is to be turned, and much that is nobody's business, such as the place. Segments are
 * FF xx, a length u16 and data; APP1 has Exif, which is TIFF: entries of 12 bytes, of which one turns.
 */

/** More of an Exif segment isn't looked at: its first entries turn the picture. */
export const exifBytesMax = 4096
const exifHead = 'Exif\0\0'
const orientationTag = 0x0112

/** @param segment the data of an APP1 @returns 1 to 8, from 5 on a quarter turned; undefined where it doesn't say */
export function orientationIn(segment: Buffer): number | undefined {
  if (segment.toString('latin1', 0, exifHead.length) !== exifHead) return undefined
  const tiff = segment.subarray(exifHead.length, exifBytesMax)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const read = (at: number, bytes: 2 | 4) => {
    if (at + bytes > tiff.length) return 0
    return isLittle ? tiff.readUIntLE(at, bytes) : tiff.readUIntBE(at, bytes)
  }
  const first = read(4, 4)
  const end = first + 2 + 12 * read(first, 2)
  for (let at = first + 2; at < end && at < tiff.length; at += 12) {
    if (read(at, 2) !== orientationTag) continue
    const orientation = read(at + 8, 2)
    return orientation >= 1 && orientation <= 8 ? orientation : undefined
  }
  return undefined
}

export const isQuarterTurned = (orientation: number | undefined): boolean => (orientation ?? 1) >= 5

export const startOfScan = 0xda
export const endOfImage = 0xd9
export const app1 = 0xe1
const comment = 0xfe
/** In coded data. */
export const isRestart = (code: number) => code >= 0xd0 && code <= 0xd7
/** By their codes: without these, colours would be others. */
const kept = new Map([
  [0xe0, 'JFIF\0'],
  [0xe2, 'ICC_PROFILE\0'],
  [0xee, 'Adobe'],
])

/** The picture alone, and how it is to be turned; nothing behind its end. @param jpeg a whole one */
export function withoutMetadata(jpeg: Buffer): Buffer {
  const parts = [jpeg.subarray(0, 2)]
  let isTurned = false
  for (let at = 2; at + 4 <= jpeg.length; ) {
    const code = jpeg[at + 1]!
    // A marker may have more than one FF before it.
    if (jpeg[at] !== 0xff || code === 0xff) {
      at++
      continue
    }
    if (code === endOfImage) break
    const behind = at + 2 + jpeg.readUInt16BE(at + 2)
    const end = code === startOfScan ? endOfScan(jpeg, behind) : behind
    const data = jpeg.subarray(at + 4, end)
    if (isPicture(code, data)) parts.push(jpeg.subarray(at, end))
    const orientation = code === app1 && !isTurned ? orientationIn(data) : undefined
    if (orientation !== undefined) {
      isTurned = true
      parts.push(exifOf(orientation))
    }
    at = end
  }
  return Buffer.concat([...parts, Buffer.from([0xff, endOfImage])])
}

function isPicture(code: number, data: Buffer): boolean {
  if (code < 0xe0 || code > 0xef) return code !== comment
  const head = kept.get(code)
  return head !== undefined && data.toString('latin1', 0, head.length) === head
}

/** Where the next marker is: in coded data FF is followed by 00 or a restart. */
function endOfScan(jpeg: Buffer, from: number): number {
  for (let at = from; ; at += 2) {
    at = jpeg.indexOf(0xff, at)
    if (at < 0 || at + 1 >= jpeg.length) return jpeg.length
    const code = jpeg[at + 1]!
    if (code !== 0 && !isRestart(code)) return at
  }
}

/** An APP1 of one entry. */
function exifOf(orientation: number): Buffer {
  const entry = Buffer.from('011200030000000100000000', 'hex')
  entry.writeUInt16BE(orientation, 8)
  const tiff = Buffer.concat([Buffer.from('4d4d002a000000080001', 'hex'), entry, Buffer.alloc(4)])
  const data = Buffer.concat([Buffer.from(exifHead, 'latin1'), tiff])
  return Buffer.concat([Buffer.from([0xff, app1, 0, data.length + 2]), data])
}
