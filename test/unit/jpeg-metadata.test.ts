import { expect, test } from 'vitest'
import { orientationIn, withoutMetadata } from '../../runtime/files/jpeg-metadata.ts'
import { exif, jpeg, segment } from '../support/media-files.ts'

const colours = Buffer.concat([segment(0xe2, 'ICC_PROFILE\0 colours'), segment(0xee, 'Adobe colours')])
const notes = [
  segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0 note'),
  segment(0xe2, 'MPF\0 note'),
  segment(0xed, 'Photoshop note'),
  segment(0xfe, 'note'),
]

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'of a JPEG everything goes but the picture, its colours and that it is turned (%i)',
  (orientation) => {
    for (const order of ['II', 'MM'] as const) {
      const segments = Buffer.concat([exif(orientation, order), ...notes, colours, exif(3)])
      const bare = withoutMetadata(
        jpeg({ width: 40, height: 30, segments, behind: jpeg({ segments }), fill: orientation % 2 }),
      )
      const at = bare.indexOf('Exif\0\0', 0, 'latin1')
      const turning = bare.subarray(at - 4, at + 32)
      expect(orientationIn(turning.subarray(4))).toBe(orientation)
      expect(bare).toEqual(jpeg({ width: 40, height: 30, segments: Buffer.concat([turning, colours]) }))
    }
  },
)

test('a JPEG without metadata stays as it is, and of one that is cut nothing is thrown', () => {
  expect(withoutMetadata(jpeg())).toEqual(jpeg())
  const whole = jpeg({ segments: Buffer.concat([exif(6), ...notes]) })
  for (let length = 2; length < whole.length; length++) withoutMetadata(whole.subarray(0, length))
})
