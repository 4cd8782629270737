/** GET /v1/analytics/events: the events of a range by name, or by a value of one property, and over time. */
import { z } from 'zod'
import {
  type BucketCount,
  type EventNameGroup,
  type EventNamesRequest,
  readEventNames,
  readPropertyNames,
} from '../../../clickhouse/queries/event-names.ts'
import type { Reader } from '../../../clickhouse/queries/reader.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { eventNameLengthMax } from '../../../schemas/limits/event-limits.ts'
import { eventNamesMax, overviewRowsDefault, propertyNameLengthMax } from '../../../schemas/limits/overview-limits.ts'
import { eventSeriesRowsMax } from '../../../schemas/limits/series-limits.ts'
import { EventNames } from '../../../schemas/resources/event-names.ts'
import { viewScope } from '../../../schemas/scopes.ts'
import { filterParameters, filtersOf } from '../../../schemas/session-filters.ts'
import { type Bucket, bucketsOf, comparisons, type Span } from '../../../schemas/time/time-range.ts'
import { defineOperation } from '../define.ts'
import { readableVisitors } from '../people/readable-visitors.ts'
import { perCent } from './metrics.ts'
import {
  comparedSpan,
  intervalParameter,
  rangeOf,
  rangeParameters,
  readableSpan,
  shownRange,
  timesOf,
} from './range-query.ts'

const EventNamesQuery = z.object({
  ...rangeParameters,
  interval: intervalParameter('none'),
  compare: z
    .enum(comparisons)
    .optional()
    .describe('`rows.previous`: the period before, the same days a year earlier, or none (default).'),
  name: z.string().min(1).max(eventNameLengthMax).optional().describe('Lists events of this name alone.'),
  property: z.string().min(1).max(propertyNameLengthMax).optional().describe('Counts events of `event` by its values.'),
  limit: laxIntOr(overviewRowsDefault, { ge: 1, le: eventNamesMax, description: 'Rows of a list.' }),
  ...filterParameters,
})

export const listEventNames = defineOperation({
  name: 'event_names.list',
  http: { method: 'GET', path: '/v1/analytics/events' },
  tool: 'svc.analytics_events',
  onlyWith: { toolset: 'analytics', members: ['interval', 'compare', 'series'] },
  summary: 'Count the events of a period by name.',
  description: 'Without web vitals and page leaves. Filters choose sessions.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: EventNamesQuery },
  output: EventNames,
  async handle(context) {
    const { query, workspace, stores, clock } = context
    const { name, property, limit, interval } = query
    const filters = filtersOf(query)
    const isSharedLink = context.scopes.includes(viewScope)
    const isNamed = name !== undefined || (filters?.get('event')?.some(({ isNot }) => !isNot) ?? false)
    if (property !== undefined && !isNamed) {
      throw invalid([
        valueError(['query', 'property'], property, 'a property needs a name or the filter event beside it'),
      ])
    }
    return stores.share(JSON.stringify(['event names', query, workspace, isSharedLink]), async () => {
      const rows = await readableVisitors(context)
      const range = rangeOf(query, rows.timezone, clock.now())
      const spanOf = (span: Span) => readableSpan(span, rows, clock.now())
      const asked = { ...rows, ...spanOf(range), filters, name }
      const buckets = interval === undefined ? undefined : bucketsOf(range)
      const bucketStarts = buckets?.map(({ start }) => start)
      const [{ visitors, groups, counts }, properties] = await Promise.all([
        readEventNames(stores.ch, { ...asked, property, limit, bucketStarts }),
        isNamed && !isSharedLink ? readPropertyNames(stores.ch, asked) : [],
      ])
      const previous = query.compare === undefined ? undefined : comparedSpan(range, rows.since)
      const before =
        previous && (await countBefore(stores.ch, { ...asked, ...spanOf(previous), property, limit, only: groups }))
      return {
        range: shownRange(range),
        visitors,
        properties,
        rows: groups.map(({ value, last_ms, ...group }) => ({
          ...group,
          value: property === undefined ? null : value,
          visitor_share: perCent(group.visitors, visitors),
          last_seen_at: new Date(last_ms).toISOString(),
          ...(query.compare !== undefined && { previous: before?.({ event: group.event, value }) ?? null }),
        })),
        ...(buckets && { series: seriesOf(buckets, Math.min(groups.length, eventSeriesRowsMax), counts) }),
      }
    })
  },
})

/** @returns what the rows counted in the other period; a row that it doesn't have counted nothing */
async function countBefore(ch: Reader, request: EventNamesRequest) {
  const { groups } = await readEventNames(ch, request)
  const keyOf = ({ event, value }: Pick<EventNameGroup, 'event' | 'value'>) => JSON.stringify([event, value])
  const counts = new Map(groups.map((group) => [keyOf(group), { events: group.events, visitors: group.visitors }]))
  return (row: Pick<EventNameGroup, 'event' | 'value'>) => counts.get(keyOf(row)) ?? { events: 0, visitors: 0 }
}

/** @param rows how many of the listed ones it counts */
function seriesOf(buckets: readonly Bucket[], rows: number, counts: readonly BucketCount[]): EventNames['series'] {
  const found = new Map(counts.map(([row, start, events, visitors]) => [`${row} ${start}`, { events, visitors }]))
  return buckets.map(({ label, start, end }) => ({
    label,
    ...timesOf({ start, end }),
    rows: Array.from({ length: rows }, (_, row) => found.get(`${row} ${start}`) ?? { events: 0, visitors: 0 }),
  }))
}
