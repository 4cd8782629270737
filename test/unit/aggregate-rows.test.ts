/** The order of texts is ClickHouse's: by their bytes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareTexts } from '../../clickhouse/aggregates/aggregate-rows.ts'
import { seed } from '../support/short-form.ts'

test('texts are in the order of their bytes, also where UTF-16 has another', () => {
  const unit = fc.oneof(
    fc.constantFrom('a', 'b', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}'),
  )
  const text = fc.oneof(
    fc.array(unit, { maxLength: 4 }).map((units) => units.join('')),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(text, text, (one, other) => {
      const byBytes = Buffer.compare(Buffer.from(one), Buffer.from(other))
      expect(Math.sign(compareTexts(one, other))).toBe(byBytes)
    }),
    { seed, numRuns: 2_000 },
  )
})
