/** An hour's rows that are counted by portions come to what they come to when they are counted at once. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AggregateRow, MergedRows } from '../../clickhouse/aggregates/aggregate-rows.ts'
import { DistinctSet } from '../../clickhouse/aggregates/distinct-set.ts'
import { Distribution } from '../../clickhouse/aggregates/distribution.ts'
import { type AlikeRows, rowsBetween, rowsCounted } from '../../clickhouse/aggregates/rows-at-hand.ts'
import { aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import { countHeld, heldIn } from '../../clickhouse/queries/overview/held-rows.ts'
import { seed } from '../support/short-form.ts'

const hour = 3_600_000
const start = 480_000 * hour

const hourOfRows: fc.Arbitrary<AlikeRows[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('pageview', 'conversion', 'web_vital', 'custom'),
      path: fc.constantFrom('/', '/a', '/b'),
      title: fc.constantFrom('', 'A'),
      metric: fc.constantFrom('LCP', 'CLS', 'none'),
      hasVisitor: fc.boolean(),
      rows: fc.array(
        fc.record({
          // Where portions and buckets begin, too.
          offset: fc.oneof(
            fc.integer({ min: 0, max: hour - 1 }),
            fc.constantFrom(0, 299_999, 300_000, 1_800_000, hour - 1),
          ),
          visitor: fc.integer({ min: 1, max: 5 }),
          value: fc.integer({ min: 0, max: 9 }),
        }),
        { minLength: 1, maxLength: 12 },
      ),
    }),
    { maxLength: 6 },
  )
  .map((groups) =>
    groups.map(({ rows, ...texts }, group) => ({
      ...texts,
      ids: Float64Array.from(rows, (_, at) => 100 * group + at + 1),
      ats: Float64Array.from(rows, ({ offset }) => start + offset),
      visitors: Float64Array.from(rows, ({ visitor }) => visitor),
      sessions: Float64Array.from(rows, ({ visitor }) => visitor + 100),
      values: Float64Array.from(rows, ({ value }) => value),
    })),
  )

/** As a text for each combination of keys. */
function shown(rows: readonly AggregateRow[]): string[] {
  const texts = new MergedRows(rows).rows.map(({ group, values }) => {
    const shownValues = Object.entries(values).map(([name, value]) => {
      if (value instanceof DistinctSet) return [name, value.count()]
      return [name, value instanceof Distribution ? value.pairs : value]
    })
    return JSON.stringify([group, shownValues])
  })
  return texts.sort()
}

test.each(['agg_traffic', 'agg_pages', 'agg_vitals', 'agg_page_vitals'] as const)(
  '%s: of any part of an hour, asked one after the other',
  (name) => {
    const table = aggregateTables[name]
    const columns = Object.keys(table.columns)
    // Near where portions begin, too.
    const moment = fc.oneof(fc.integer({ min: 0, max: hour }), fc.constantFrom(0, 299_999, 300_001, 600_000, hour))
    const paths: fc.Arbitrary<string[] | undefined> = table.keys.includes('path')
      ? fc.constantFrom(undefined, ['/'], ['/a', '/c'])
      : fc.constant(undefined)
    const options = fc.record({
      part: fc.tuple(moment, moment),
      buckets: fc.constantFrom(undefined, [start], [start, start + hour / 2], [start, start + 1_000_001]),
      paths,
    })
    fc.assert(
      fc.property(hourOfRows, fc.array(options, { minLength: 1, maxLength: 4 }), (alike, questions) => {
        for (const { part, buckets, paths } of questions) {
          const span = { start: start + Math.min(...part), end: start + Math.max(...part) }
          const wanted = rowsBetween(alike, span.start, span.end).filter(
            ({ rows }) => paths?.includes(rows.path) ?? true,
          )
          const bucketOf = buckets && ((at: number) => buckets.findLast((one) => one <= at)!)
          const held = countHeld(table, heldIn(start, alike, span), { columns, buckets, paths })
          expect(shown([...held.lasting, ...held.passing])).toEqual(
            shown(rowsCounted(table, wanted, columns, bucketOf)),
          )
        }
      }),
      { seed, numRuns: 200 },
    )
  },
)
