import { expect, test } from 'vitest'
import { type BinaryColumns, decodeRowBinary } from '../../clickhouse/row-binary.ts'

const columns: BinaryColumns = { name: 'text', isOpen: 'flag', sizes: 'numbers' }

function bytesOf(name: string, isOpen: boolean, sizes: readonly number[]): Buffer {
  const lengthOf = (count: number) => (count < 0x80 ? [count] : [0x80 | (count & 0x7f), count >> 7])
  const text = Buffer.from(name)
  return Buffer.concat([
    Buffer.from([...lengthOf(text.length)]),
    text,
    Buffer.from([isOpen ? 1 : 0, ...lengthOf(sizes.length)]),
    Buffer.from(Float64Array.from(sizes).buffer),
  ])
}

const long = Array.from({ length: 300 }, (_, at) => at / 4)
const bytes = Buffer.concat([
  bytesOf('ü'.repeat(100), true, long),
  bytesOf('', false, []),
  bytesOf('/', true, [2 ** 53 - 1]),
])

test('rows have their columns, wherever in the answer they begin', () => {
  expect(decodeRowBinary(bytes, columns)).toEqual([
    { name: 'ü'.repeat(100), isOpen: true, sizes: Float64Array.from(long) },
    { name: '', isOpen: false, sizes: new Float64Array() },
    { name: '/', isOpen: true, sizes: Float64Array.of(2 ** 53 - 1) },
  ])
  expect(decodeRowBinary(Buffer.alloc(0), columns)).toEqual([])
})

test('an answer that is cut short is no answer', () => {
  for (const length of [bytes.length - 1, bytes.length - 8, 201, 1]) {
    expect(() => decodeRowBinary(bytes.subarray(0, length), columns)).toThrow(RangeError)
  }
})
