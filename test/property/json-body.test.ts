import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJsonBody } from '../../schemas/json-body.ts'

/** Texts that look like JSON's own structure, so that brackets and quotes stand in strings. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '1', ' ', 'e') }),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 6 },
    fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('any'), { maxLength: 8 }),
  object: fc.dictionary(text, tie('any'), { maxKeys: 8 }),
})).any

function depthOf(item: unknown): number {
  if (typeof item !== 'object' || item === null) return 0
  return 1 + Math.max(0, ...Object.values(item).map(depthOf))
}

test('reads every JSON value that is within the limits as JSON.parse does', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (sent, indent) => {
      const json = JSON.stringify(sent, null, indent)
      const body = parseJsonBody(Buffer.from(json))
      expect(body).toMatchObject({ ok: true, value: JSON.parse(json) })
    }),
  )
})

test('takes 64 levels and refuses 65, whatever stands in the strings around them', () => {
  const level = fc.record({ isList: fc.boolean(), before: fc.array(value, { maxLength: 3 }), key: text })
  fc.assert(
    fc.property(fc.array(level, { minLength: 55, maxLength: 75 }), (levels) => {
      const nested = levels.reduceRight<unknown>(
        (inner, { isList, before, key }) => (isList ? [...before, inner, ...before] : { before, [key]: inner }),
        'core',
      )
      const json = JSON.stringify(nested)
      expect(parseJsonBody(Buffer.from(json)).ok).toBe(depthOf(nested) <= 64)
    }),
  )
})

test('never throws, whatever bytes come', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        text.map((sent) => Buffer.from(sent)),
      ),
      (bytes) => {
        const body = parseJsonBody(Buffer.from(bytes))
        if (!body.ok) expect([400, 422]).toContain(body.status)
      },
    ),
  )
})
