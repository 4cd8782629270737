/** Real images and films, small or of any size, and forms that carry them. */
import { deflateSync } from 'node:zlib'

/** As small as pictures come. */
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A grey PNG. A PNG with many pixels has only the first rows. */
export function png({ width = 3, height = 2, padTo = 0 } = {}): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0, 0, 0, 0], 8)
  const rows = Buffer.alloc(Math.min((width + 1) * height, 1000))
  const parts = [
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]
  const bytes = parts.reduce((sum, part) => sum + part.length, 0)
  if (padTo > bytes) parts.splice(2, 0, chunk('teSt', Buffer.alloc(padTo - bytes - 12)))
  return Buffer.concat(parts)
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const framed = Buffer.alloc(8 + named.length)
  framed.writeUInt32BE(data.length, 0)
  named.copy(framed, 4)
  framed.writeUInt32BE(crc(named), 4 + named.length)
  return framed
}

/** That of PNG, which zlib has only in newer releases of Node. */
function crc(data: Buffer): number {
  let value = 0xffffffff
  for (const byte of data) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
  }
  return (value ^ 0xffffffff) >>> 0
}

const nothing: Buffer = Buffer.alloc(0)

/** A baseline JPEG of 1 × 1 up to any size that is claimed; what is coded is grey. */
export function jpeg({ width = 1, height = 1, segments = nothing, behind = nothing, fill = 0 } = {}): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt16BE(height, 0)
  size.writeUInt16BE(width, 2)
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    Buffer.from('ffe000104a46494600010100000100010000', 'hex'),
    segments,
    Buffer.from(`ffdb004300${'01'.repeat(64)}`, 'hex'),
    Buffer.from('ffc0000b08', 'hex'),
    size,
    Buffer.from('01011100', 'hex'),
    Buffer.from('ffc40014000100000000000000000000000000000003', 'hex'),
    Buffer.from('ffc40014100100000000000000000000000000000000', 'hex'),
    Buffer.from('ffda0008010100003f00', 'hex'),
    Buffer.from('37ff00ffd03f', 'hex'),
    Buffer.alloc(fill, 0xff),
    Buffer.from('ffd9', 'hex'),
    behind,
  ])
}

/** A marker with its data. */
export function segment(code: number, data: string | Buffer): Buffer {
  const bytes = Buffer.from(data as string, 'latin1')
  return Buffer.concat([Buffer.from([0xff, code, (bytes.length + 2) >> 8, (bytes.length + 2) & 255]), bytes])
}

/** A camera's notes: its name, how the picture is turned, and where it was. */
export function exif(orientation: number, order: 'II' | 'MM' = 'II'): Buffer {
  const tiff = Buffer.alloc(8 + 2 + 24)
  const write = (value: number, at: number, bytes: number) =>
    order === 'II' ? tiff.writeUIntLE(value, at, bytes) : tiff.writeUIntBE(value, at, bytes)
  tiff.write(order, 0, 'latin1')
  for (const [value, at, bytes] of [
    [42, 2, 2],
    [8, 4, 4],
    [2, 8, 2],
    [0x010f, 10, 2],
    [2, 12, 2],
    [4, 14, 4],
    [0x0112, 22, 2],
    [3, 24, 2],
    [1, 26, 4],
    [orientation, 30, 2],
  ] as const) {
    write(value!, at!, bytes!)
  }
  return segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff, Buffer.from('GPS 48.2 16.4')]))
}

export interface Film {
  readonly brand?: string
  readonly width?: number
  readonly height?: number
  /** By 90 degrees, as phones that are held upright. */
  readonly isTurned?: boolean
  /** Bytes of `mdat`. */
  readonly data?: number
}

/** The bytes before the data of a film, whose `mdat` is its last box. */
export function filmHead({ brand = 'isom', width = 640, height = 360, isTurned, data = 100 }: Film = {}): Buffer {
  const tkhd = Buffer.alloc(84)
  const matrix = isTurned
    ? [0, 65_536, 0, -65_536, 0, 0, 0, 0, 0x40000000]
    : [65_536, 0, 0, 0, 65_536, 0, 0, 0, 0x40000000]
  for (const [at, value] of matrix.entries()) tkhd.writeInt32BE(value, 40 + 4 * at)
  tkhd.writeUInt16BE(width, 76)
  tkhd.writeUInt16BE(height, 80)
  const sound = box('trak', box('tkhd', Buffer.alloc(84)))
  const movie = box('moov', Buffer.concat([box('mvhd', Buffer.alloc(100)), sound, box('trak', box('tkhd', tkhd))]))
  const head = Buffer.alloc(16)
  head.writeUInt32BE(1, 0)
  head.write('mdat', 4, 'latin1')
  head.writeBigUInt64BE(BigInt(data + 16), 8)
  return Buffer.concat([box('ftyp', Buffer.from(`${brand}\0\0\x02\0isomiso2mp41`, 'latin1')), movie, head])
}

export function film(made: Film = {}): Buffer {
  return Buffer.concat([filmHead(made), Buffer.alloc(made.data ?? 100, 'f')])
}

function box(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + data.length, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, data])
}

export const boundary = 'x-boundary-of-a-test-x'

export interface FormPart {
  readonly name: string
  readonly filename?: string
  readonly type?: string
  readonly value: string | Buffer
}

/** A form, byte by byte. */
export function formOf(...parts: FormPart[]): Buffer {
  const pieces = parts.flatMap((part) => [partHead(part), Buffer.from(part.value as string), Buffer.from('\r\n')])
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])
}

export function partHead({ name, filename, type }: Omit<FormPart, 'value'>): Buffer {
  const named = filename === undefined ? '' : `; filename="${filename}"`
  const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`
  return Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${named}\r\n${typed}\r\n`)
}

export const formType = `multipart/form-data; boundary=${boundary}`
