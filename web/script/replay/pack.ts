/** Packs a chunk: base64 of gzip. A page that goes can't wait for the browser's own compression, and packs without. */

export async function pack(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return toBase64(new Uint8Array(await new Response(stream).arrayBuffer()))
}

/** RFC 1952 around blocks of RFC 1951 that aren't compressed. */
export function packAtOnce(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const blockBytesMax = 65_535
  const blocks = Math.ceil(bytes.length / blockBytesMax)
  const packed = new Uint8Array(10 + blocks * 5 + bytes.length + 8)
  const view = new DataView(packed.buffer)
  packed.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
  let at = 10
  for (let block = 0; block < blocks; block++) {
    const part = bytes.subarray(block * blockBytesMax, (block + 1) * blockBytesMax)
    packed[at] = block === blocks - 1 ? 1 : 0
    view.setUint16(at + 1, part.length, true)
    view.setUint16(at + 3, ~part.length & 0xffff, true)
    packed.set(part, at + 5)
    at += 5 + part.length
  }
  view.setUint32(at, crc32(bytes), true)
  view.setUint32(at + 4, bytes.length, true)
  return toBase64(packed)
}

function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 && 0xedb88320)
  }
  return ~crc >>> 0
}

function toBase64(bytes: Uint8Array): string {
  let text = ''
  // A call has room for so many arguments.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}
