/**
 * PNG: an 8-byte signature, then chunks: length u32 | type | data | crc u32. IHDR first, with width and height; IEND
 * last. Bytes behind IEND would be hidden data, and no part of a picture.
 */
import type { FormatReader, ReaderState } from './inspect.ts'

const headerBytes = 13
const crcBytes = 4

export function* readPng(state: ReaderState): FormatReader {
  yield { skip: 8 }
  let hasData = false
  for (let isFirst = true; ; isFirst = false) {
    const head = yield { take: 8 }
    const length = head.readUInt32BE(0)
    const type = head.toString('latin1', 4, 8)
    if (!/^[A-Za-z]{4}$/.test(type) || isFirst !== (type === 'IHDR')) return null
    if (isFirst) {
      const header = yield { take: headerBytes }
      if (length !== headerBytes) return null
      state.size = { width: header.readUInt32BE(0), height: header.readUInt32BE(4) }
      if (state.size.width === 0 || state.size.height === 0) return null
      yield { skip: crcBytes }
      continue
    }
    hasData ||= type === 'IDAT'
    yield { skip: length + crcBytes }
    if (type !== 'IEND') continue
    if (!hasData) return null
    state.mayEnd = true
    yield { take: 1 }
    return null
  }
}
