/** An hour's sessions that are counted by portions come to what they come to when they are counted one by one. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AggregateRow, MergedRows } from '../../clickhouse/aggregates/aggregate-rows.ts'
import type { DistinctSet } from '../../clickhouse/aggregates/distinct-set.ts'
import { type SessionStarts, sessionsHeldIn } from '../../clickhouse/queries/overview/held-sessions.ts'
import { seed } from '../support/short-form.ts'

const hour = 3_600_000
const start = 480_000 * hour
const keys = [
  { dimension: 'total', key: '', detail: '' },
  { dimension: 'source', key: 'google', detail: 'organic' },
  { dimension: 'source', key: 'google', detail: 'cpc' },
  { dimension: 'entry', key: '/a', detail: '' },
  { dimension: 'entry', key: '/b', detail: '' },
]

interface Session {
  readonly at: number
  readonly visitor: number
  readonly pageviews: number
  readonly events: number
  readonly isBounce: boolean
  readonly duration: number
}

const moment = fc.oneof(fc.integer({ min: 0, max: hour - 1 }), fc.constantFrom(0, 299_999, 300_000, 300_001, hour - 1))
const sessions: fc.Arbitrary<Session[]> = fc.array(
  fc.record({
    at: moment.map((offset) => start + offset),
    visitor: fc.integer({ min: 1, max: 4 }),
    pageviews: fc.integer({ min: 0, max: 3 }),
    events: fc.integer({ min: 1, max: 5 }),
    isBounce: fc.boolean(),
    duration: fc.integer({ min: 0, max: 10_000 }),
  }),
  { maxLength: 20 },
)
const isWanted = (dimension: string, key: string) => dimension !== 'entry' || key === '/a'
const isListed = (dimension: string) => dimension !== 'total' && dimension !== 'entry'

function startsOf(groups: readonly (readonly Session[])[]): SessionStarts[] {
  return groups.map((some, at) => {
    const list = (of: (session: Session) => number) => Float64Array.from(some, of)
    return {
      ...keys[at]!,
      ats: list(({ at }) => at),
      pageviews: list(({ pageviews }) => pageviews),
      events: list(({ events }) => events),
      bounces: list(({ isBounce }) => Number(isBounce)),
      durations: list(({ duration }) => duration),
      visitors: isListed(keys[at]!.dimension) ? list(({ visitor }) => visitor) : new Float64Array(),
    }
  })
}

/** One by one, without lists. */
function counted(groups: readonly (readonly Session[])[], isIn: (session: Session) => boolean): string[] {
  return groups
    .flatMap((all, at) => {
      const some = all.filter(isIn)
      const sum = (of: (session: Session) => number) => some.reduce((total, session) => total + of(session), 0)
      const { dimension, key, detail } = keys[at]!
      const visitors = isListed(dimension) ? new Set(some.map(({ visitor }) => visitor)).size : 0
      const sums = [
        sum(({ pageviews }) => pageviews),
        sum(({ events }) => events),
        sum(({ isBounce }) => Number(isBounce)),
      ]
      const row = [[dimension, key, detail].join('\0'), some.length, ...sums, sum(({ duration }) => duration), visitors]
      return some.length === 0 || !isWanted(dimension, key) ? [] : [JSON.stringify(row)]
    })
    .sort()
}

function shown(rows: readonly AggregateRow[]): string[] {
  return new MergedRows(rows).rows
    .map(({ group, values }) => {
      const { sessions, pageviews, events, bounces, duration_ms, visitors } = values
      const seen = (visitors as DistinctSet).count()
      return JSON.stringify([group, sessions, pageviews, events, bounces, duration_ms, seen])
    })
    .sort()
}

test('of any part of an hour, asked one after the other', () => {
  const ends = fc.tuple(fc.oneof(moment, fc.constant(hour)), fc.oneof(moment, fc.constant(hour)))
  const groups = fc.tuple(...keys.map(() => sessions))
  fc.assert(
    fc.property(groups, fc.array(ends, { minLength: 1, maxLength: 5 }), (some, questions) => {
      const starts = startsOf(some)
      for (const question of questions) {
        const part = { start: start + Math.min(...question), end: start + Math.max(...question) }
        const { lasting, passing } = sessionsHeldIn(start, starts, part, isWanted)
        expect(shown([...lasting, ...passing])).toEqual(counted(some, ({ at }) => at >= part.start && at < part.end))
      }
    }),
    { seed, numRuns: 300 },
  )
})

test('what lies in whole portions is the same object for the next question, for the two ranges that meet in the hour', () => {
  const session = { visitor: 1, pageviews: 1, events: 1, isBounce: true, duration: 0 }
  const starts = startsOf([Array.from({ length: 60 }, (_, minute) => ({ at: start + minute * 60_000, ...session }))])
  const lastingOf = (from: number, to: number) =>
    sessionsHeldIn(start, starts, { start: start + from, end: start + to }, isWanted).lasting
  const minute = 60_000
  const [before, after] = [lastingOf(0, 31 * minute), lastingOf(31 * minute, hour)]
  expect(lastingOf(0, 32 * minute)[0]).toBe(before[0])
  expect(lastingOf(32 * minute, hour)[0]).toBe(after[0])
  expect(before[0]!.values.sessions).toBe(30)
  expect(after[0]!.values.sessions).toBe(25)
})
