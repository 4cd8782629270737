/** The buckets of a series: those that nothing changes any more apart from the others. */
import type { Bucket } from '../../../schemas/time-range.ts'
import { hourMs } from '../../aggregates/row-scope.ts'
import { type Composition, dayOf, hourOf } from './composition.ts'

/** Some neighbouring buckets, with the part of the range that they divide. */
export interface BucketPart {
  readonly composition: Composition
  readonly buckets: readonly Bucket[]
  /** Nothing that comes changes them, as long as the aggregates of their days stay what they are. */
  readonly isClosed: boolean
}

/** The buckets that lie where the aggregates are and no pending row is, apart from those before and after. */
export function divideAtOpen(composition: Composition, buckets: readonly Bucket[]): BucketPart[] {
  const { hours, pending } = composition
  if (hours.start >= hours.end) return [{ composition, buckets, isClosed: false }]
  const closedUntil = Math.min(hours.end, pending?.hours.start ?? hours.end) * hourMs
  const isBefore = ({ start }: Bucket) => start < hours.start * hourMs
  const isClosed = (bucket: Bucket) => !isBefore(bucket) && bucket.end <= closedUntil
  const part = (some: readonly Bucket[], isClosed: boolean): BucketPart[] => {
    if (some.length === 0) return []
    const from = Math.max(composition.from, some[0]!.start)
    const to = some.at(-1) === buckets.at(-1) ? composition.to : some.at(-1)!.end
    const start = Math.max(hours.start, Math.ceil(from / hourMs))
    const end = Math.min(hours.end, some.at(-1) === buckets.at(-1) ? hours.end : Math.floor(to / hourMs))
    const { pending, edges } = isClosed ? { pending: undefined, edges: undefined } : composition
    return [
      {
        composition: { ...composition, from, to, hours: { start, end: Math.max(start, end) }, pending, edges },
        buckets: some,
        isClosed,
      },
    ]
  }
  return [
    ...part(buckets.filter(isBefore), false),
    ...part(buckets.filter(isClosed), true),
    ...part(
      buckets.filter((bucket) => !isBefore(bucket) && !isClosed(bucket)),
      false,
    ),
  ]
}

/** The generations of the days of a range: as long as they are the same, and no row is pending, its raw rows are the same. */
export function generationsIn({ snapshot, from, to }: Composition): number[] {
  const first = dayOf(hourOf(from))
  const last = dayOf(hourOf(to - 1))
  return snapshot.generations.filter(({ day }) => day >= first && day <= last).map(({ generation }) => generation)
}
