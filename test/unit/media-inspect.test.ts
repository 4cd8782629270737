import { describe, expect, test } from 'vitest'
import { inspect } from '../../api/media/inspect.ts'
import { typeOf } from '../../api/media/types.ts'
import { exif, film, filmHead, jpeg, png, segment } from '../support/media-files.ts'

const notes = Buffer.concat([exif(6), segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0 note')])
const files: [string, Buffer, { width: number; height: number }][] = [
  ['a JPG', jpeg({ width: 40, height: 30 }), { width: 40, height: 30 }],
  ['a JPG that is turned', jpeg({ width: 40, height: 30, segments: exif(6) }), { width: 30, height: 40 }],
  ['a turned JPG with other notes', jpeg({ width: 40, height: 30, segments: notes }), { width: 30, height: 40 }],
  ['a film that is turned', film({ width: 320, height: 240, isTurned: true }), { width: 240, height: 320 }],
  ['a PNG', png({ width: 7, height: 5, padTo: 500 }), { width: 7, height: 5 }],
  ['an MP4', film({ width: 320, height: 240 }), { width: 320, height: 240 }],
  ['a MOV', film({ brand: 'qt  ' }), { width: 640, height: 360 }],
]

function findingIn(bytes: Buffer, pieceBytes: number) {
  const inspection = inspect(typeOf(bytes)!)
  for (let at = 0; at < bytes.length; at += pieceBytes) inspection.push(bytes.subarray(at, at + pieceBytes))
  return inspection.end()
}

describe.each(files)('%s', (_, bytes, size) => {
  test('is read the same in pieces of any size', () => {
    for (let pieceBytes = 1; pieceBytes <= bytes.length; pieceBytes++) {
      expect([pieceBytes, findingIn(bytes, pieceBytes)]).toEqual([pieceBytes, { isWhole: true, size }])
    }
  })

  test('is not whole when it is cut at any byte, save where one box ends and another would begin', () => {
    const whole: number[] = []
    for (let length = 16; length < bytes.length; length++) {
      if (findingIn(bytes.subarray(0, length), 50).isWhole) whole.push(length)
    }
    expect(whole.length).toBeLessThanOrEqual(2)
  })

  test('changed at any byte, it is judged and nothing is thrown', () => {
    for (let at = 12; at < bytes.length; at++) {
      for (const value of [0, 1, 0xff]) {
        const changed = Buffer.from(bytes)
        changed[at] = value
        expect(typeof findingIn(changed, 64).isWhole).toBe('boolean')
      }
    }
  })
})

const begun = film().subarray(0, 28)
const data = Buffer.from('\0\0\0\0mdat and more')

test.each<[string, Buffer[], boolean]>([
  ['a film up to the end of the file', [filmHead().subarray(0, -16), data], true],
  ['a film whose moov was cut off', [begun, box('mdat', 100)], false],
  ['a film that is all data', [begun, data], false],
  ['a box smaller than its own head', [begun, Buffer.from('\0\0\0\x04mdat')], false],
  ['a box of 2^64 bytes', [begun, Buffer.from('0000000166726565ffffffffffffffff', 'hex')], false],
])('%s', (_, parts, isWhole) => {
  expect(findingIn(Buffer.concat(parts), 1000).isWhole).toBe(isWhole)
})

test('boxes in boxes, however deep, are judged as any others', () => {
  const depth = 50_000
  const nested = Buffer.alloc(8 * depth)
  for (let at = 0; at < depth; at++) {
    nested.writeUInt32BE(8 * (depth - at), 8 * at)
    nested.write(at === 0 ? 'moov' : 'trak', 8 * at + 4, 'latin1')
  }
  expect(findingIn(Buffer.concat([begun, nested]), 65_536)).toEqual({ isWhole: true, size: undefined })
})

function box(type: string, bytes: number): Buffer {
  const made = Buffer.alloc(8 + bytes)
  made.writeUInt32BE(8 + bytes, 0)
  made.write(type, 4, 'latin1')
  return made
}
