/** The reader of forms against forms that were put together from known parts, in whatever pieces they arrive. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundaryOf, FormFault, readParts } from '../../api/transports/multipart.ts'
import { formPartsMax } from '../../schemas/limits/media-limits.ts'
import { boundary, type FormPart, formOf, formType } from '../support/media-files.ts'

interface Read {
  readonly name: string
  readonly filename: string | undefined
  readonly value: string
}

/** Skips the parts whose places are in `skipped`. */
async function read(form: Buffer, sizes: readonly number[], skipped: readonly number[] = []): Promise<Read[]> {
  async function* pieces() {
    for (let at = 0, turn = 0; at < form.length; turn++) {
      const size = sizes[turn % sizes.length]!
      yield form.subarray(at, at + size)
      at += size
    }
  }
  const parts: Read[] = []
  for await (const { name, filename, content } of readParts(pieces(), boundary)) {
    const chunks: Buffer[] = []
    if (!skipped.includes(parts.length)) for await (const chunk of content) chunks.push(chunk)
    parts.push({ name, filename, value: Buffer.concat(chunks).toString('latin1') })
  }
  return parts
}

/** Content that looks like delimiters, of this form and of others. */
const value = fc
  .array(fc.constantFrom('\r\n', '--', boundary.slice(0, 5), `\r\n--${boundary.slice(0, -1)}`, '\r', '\n', 'a', '\0'))
  .map((pieces) => pieces.join(''))
  .filter((text) => !`\r\n${text}\r\n`.includes(`\r\n--${boundary}`))
const name = fc.string({ unit: fc.constantFrom('a', 'é', '東', ' ', ';', '=', '\x01', "'") })
const part: fc.Arbitrary<FormPart> = fc.record({ name, filename: name, value }, { requiredKeys: ['name', 'value'] })
const sizes = fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 5 })

const run = { numRuns: 300 }

test('gives back the parts of a form, however it arrives and whichever are skipped', async () => {
  const property = fc.asyncProperty(fc.array(part), sizes, fc.array(fc.nat(3)), async (parts, pieces, skipped) => {
    const expected = parts.map(({ name, filename, value }, at) => ({
      name,
      filename,
      value: skipped.includes(at) ? '' : value,
    }))
    const preamble = Buffer.from('a preamble\r\n')
    const epilogue = Buffer.from('\r\nan epilogue')
    for (const form of [formOf(...parts), Buffer.concat([preamble, formOf(...parts), epilogue])]) {
      expect(await read(form, pieces, skipped)).toEqual(expected)
    }
  })
  await fc.assert(property, run)
})

test('parts that are no fields are counted, too', async () => {
  const parts = `--${boundary}\r\n\r\n\r\n`.repeat(formPartsMax + 1)
  await expect(read(Buffer.from(`${parts}--${boundary}--`), [1000])).rejects.toBeInstanceOf(FormFault)
})

test('a form that is cut anywhere is never taken for a whole one', async () => {
  const form = formOf({ name: 'a', value: 'b' }, { name: 'file', filename: 'a.png', value: '\r\n--x' })
  for (let end = 0; end < form.length - '--\r\n'.length; end++) {
    const cut = read(form.subarray(0, end), [7])
    await expect(cut, `at ${end}`).rejects.toBeInstanceOf(FormFault)
  }
})

describe('a head', () => {
  const withHead = (head: string) => Buffer.from(`--${boundary}\r\n${head}\r\n\r\nv\r\n--${boundary}--\r\n`)
  const named = async (head: string) => (await read(withHead(head), [1000]))[0]

  test.each([
    ['Content-Disposition: form-data; name=a', 'a', undefined],
    ['content-disposition:form-data ;NAME="a\\"b\\\\c\\d"; filename=""', 'a"b\\c\\d', ''],
    ['Content-Disposition: form-data; name=""; filename="plain"; filename*=UTF-8\'en\'%e6%9d%b1.png', '', '東.png'],
    ["Content-Disposition: form-data; filename*=iso-8859-1''caf%E9", '', 'café'],
    ["Content-Disposition: form-data; filename=a; filename*=koi8-r''b", '', 'a'],
  ])('%s', async (head, name, filename) => {
    expect(await named(head)).toEqual({ name, filename, value: 'v' })
  })

  test.each(['', 'Content-Type: text/plain', 'Content-Disposition: attachment; name="a"'])(
    '%j is of no field',
    async (head) => expect(await named(head)).toBeUndefined(),
  )

  test.each([
    'Content-Disposition: form-data; name="a',
    'Content-Disposition: form-data; name',
    'no header',
    ': no name',
    `X: ${'x'.repeat(20_000)}`,
    `Content-Disposition: form-data; name="${'\\'.repeat(10_001)}`,
  ])('%j is malformed', async (head) => {
    await expect(named(head)).rejects.toMatchObject({ reason: 'malformed' })
  })
})

test('the boundary of a type is found, quoted or not', () => {
  const types = [formType, 'multipart/form-data; charset=utf-8; Boundary="a b"', 'multipart/form-data', 'a; boundary=']
  expect(types.map(boundaryOf)).toEqual([boundary, 'a b', undefined, undefined])
})
