/**
 * How many events each workspace gets, and how the whole time is cut into inserts. Pure: the same numbers give the same
 * plan, and so the same events.
 */
import { seedInsertDaysMax, seedInsertRowsMax, seedSegmentRows } from '../../schemas/limits/seed-limits.ts'
import { dayMs, hourMs } from '../../schemas/time/time-zone.ts'
import { blockEvents } from './vocabulary.ts'

export interface SeedShape {
  readonly events: number
  readonly workspaces: number
  readonly days: number
  /** Share of all events that the first workspace has. */
  readonly largestShare: number
  /** Milliseconds since 1970: no event is later. */
  readonly until: number
}

/** A stretch of time of an hour at most, and how much of all that happens begins up to its start and its end. */
interface Piece {
  readonly start: number
  readonly end: number
  /** In parts of `wholeWeight`. */
  readonly weightBefore: number
  readonly weightAfter: number
}

/** One insert: the events received in [from, to), of visits that begin in its pieces. */
export interface Portion {
  readonly from: number
  readonly to: number
  readonly pieces: readonly Piece[]
  /** The blocks that have visits beginning in `pieces`, and perhaps others. */
  readonly blocks: readonly BlockRange[]
  /** Where its segment numbers begin, counted from the lease's first, and how many it may use. */
  readonly firstSegment: number
  readonly segments: number
}

/** Blocks of one workspace, by its place in the list of workspaces. */
interface BlockRange {
  readonly workspace: number
  readonly first: number
  readonly count: number
}

/** Weights are whole numbers, so that ClickHouse looks them up exactly; an hour's milliseconds times this fit 64 bits. */
export const wholeWeight = 2 ** 40
/** No visit lasts longer: eleven pauses of eight minutes at most. */
const visitMsMax = 2 * hourMs

/** The first has its share; the k-th of the others has 1/k of the second's. */
export function eventsByWorkspace({ events, workspaces, largestShare }: SeedShape): number[] {
  const largest = workspaces === 1 ? events : Math.round(events * largestShare)
  const shares = Array.from({ length: workspaces - 1 }, (_, at) => 1 / (at + 1))
  const whole = shares.reduce((sum, share) => sum + share, 0)
  let given = 0
  let sum = 0
  const others = shares.map((share) => {
    sum += share
    const upTo = Math.round(((events - largest) * sum) / whole)
    const own = upTo - given
    given = upTo
    return own
  })
  return [largest, ...others]
}

/** In order of time; together they hold every event once. An insert has about `seedInsertRowsMax` rows at most. */
export function planPortions(shape: SeedShape): Portion[] {
  const pieces = cutTime(shape)
  const counts = eventsByWorkspace(shape)
  let firstSegment = 0
  return gatherPieces(pieces, shape.events).map(([first, end]) => {
    const portion = makePortion(pieces, first, end, counts, firstSegment)
    firstSegment += portion.segments
    return portion
  })
}

/** Whole UTC hours, but for the first and the last piece. */
function cutTime({ days, until }: SeedShape): Piece[] {
  const start = until - days * dayMs
  const spans: { start: number; end: number; weight: number }[] = []
  for (let from = start; from < until; ) {
    const end = Math.min(until, Math.floor(from / hourMs + 1) * hourMs)
    spans.push({ start: from, end, weight: (end - from) * busyness(from) })
    from = end
  }
  const whole = spans.reduce((sum, { weight }) => sum + weight, 0)
  let before = 0
  return spans.map((span) => {
    const weightBefore = Math.round((before / whole) * wholeWeight)
    before += span.weight
    return { start: span.start, end: span.end, weightBefore, weightAfter: Math.round((before / whole) * wholeWeight) }
  })
}

/** More in the UTC afternoon than at night, less on Saturdays and Sundays. */
function busyness(time: number): number {
  const date = new Date(time)
  const byHour = 1 + 0.7 * Math.sin(((date.getUTCHours() - 8.5) / 12) * Math.PI)
  const isWeekend = date.getUTCDay() % 6 === 0
  return byHour * (isWeekend ? 0.65 : 1)
}

/** Indexes [first, end) of the pieces of each insert: whole days where they fit, so that an insert meets few partitions. */
function gatherPieces(pieces: readonly Piece[], events: number): [first: number, end: number][] {
  const dayOf = (at: number) => Math.floor(pieces[at]!.start / dayMs)
  const isEndOfDay = (end: number) => end === pieces.length || dayOf(end) !== dayOf(end - 1)
  const fits = (first: number, end: number) => {
    const share = (pieces[end - 1]!.weightAfter - pieces[first]!.weightBefore) / wholeWeight
    return share * events <= seedInsertRowsMax && dayOf(end - 1) - dayOf(first) < seedInsertDaysMax
  }
  const gathered: [number, number][] = []
  for (let first = 0; first < pieces.length; ) {
    let endOfDays = first
    let endOfHours = first + 1
    for (let end = first + 1; end <= pieces.length && fits(first, end); end++) {
      endOfHours = end
      if (isEndOfDay(end)) endOfDays = end
    }
    // A day that is too much for one insert is cut within.
    const end = endOfDays > first ? endOfDays : endOfHours
    gathered.push([first, end])
    first = end
  }
  return gathered
}

function makePortion(
  pieces: readonly Piece[],
  first: number,
  end: number,
  counts: readonly number[],
  firstSegment: number,
): Portion {
  const from = pieces[first]!.start
  const to = pieces[end - 1]!.end
  const isLast = end === pieces.length
  // Events of a visit may be received after the portion in which it begins. Visits that would go on after the end are
  // moved to end there: the portions just before it need those that begin later, too.
  let firstBegun = first
  while (firstBegun > 0 && pieces[firstBegun]!.start > from - visitMsMax) firstBegun--
  const isNearEnd = to > pieces.at(-1)!.end - visitMsMax
  const begun = pieces.slice(firstBegun, isNearEnd ? pieces.length : end)
  const blocks = counts.flatMap((events, workspace) => {
    const all = Math.ceil(events / blockEvents)
    const firstBlock = Math.floor((begun[0]!.weightBefore / wholeWeight) * all)
    const endBlock = Math.min(all, Math.ceil((begun.at(-1)!.weightAfter / wholeWeight) * all))
    return endBlock > firstBlock ? [{ workspace, first: firstBlock, count: endBlock - firstBlock }] : []
  })
  const rowsMax = blocks.reduce((sum, { count }) => sum + count, 0) * blockEvents
  return {
    // Events received at the very ends belong to a portion too.
    from: first === 0 ? 0 : from,
    to: isLast ? Number.MAX_SAFE_INTEGER : to,
    pieces: begun,
    blocks,
    firstSegment,
    segments: Math.ceil(rowsMax / seedSegmentRows),
  }
}
