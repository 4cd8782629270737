/** The raw rows of the parts of hours that ranges begin and end with: read once for all figures. */
import { LRUCache } from 'lru-cache'
import type { AggregateSnapshot, LiveGeneration } from '../../../schemas/aggregate-snapshot.ts'
import { crowdedForMs, crowdedWorkspacesMax, edgeRowsAtHandMax, edgesAtRestMs } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { type AlikeRows, alikeRowsOf, type EventRow, readRows, rowsBetween } from '../../aggregates/rows-at-hand.ts'
import { sessionsBegunIn } from '../../aggregates/session-changes.ts'
import { dayOf, hourOf } from './aggregated-cells.ts'
import { composeSpan, type EdgeRows, edgesOf, type PendingRows } from './composition.ts'
import { type EdgeHour, readEdgeHour, readHourRows } from './edge-hours.ts'
import { type HeldRows, heldIn, joinHeld, noneHeld, passingRows } from './held-rows.ts'
import { rowOfSessions, sessionsHeldIn } from './held-sessions.ts'
import { aroundSessions, inAnySpan, type ReadableSpan, type Reader } from './span.ts'

/** Workspaces of which they were many: to find that out takes as long as to read few. */
const crowded = new LRUCache<number, true>({ max: crowdedWorkspacesMax, ttl: crowdedForMs })

/** Of ranges of one workspace, what parts of hours they begin and end with. */
export interface EdgesAsked {
  readonly ranges: readonly ReadableSpan[]
  /** Moments that buckets begin at and that rows may be counted up to: some lie inside an hour. */
  readonly boundaries: readonly number[]
  readonly now: number
}

/**
 * Ranges that end now begin a little later with each question, in an hour that is the same for an hour: where the aggregates
 * have all rows around it and hardly any come, it is read whole, for a reader that remembers.
 * @param waiting of the snapshot, around the ranges
 * @returns without what is left to statements of each figure: many rows of hours that aren't read whole, or too many of one
 *   that is; undefined where a range has no whole hours
 */
export async function readEdges(
  ch: Reader,
  snapshot: AggregateSnapshot,
  asked: EdgesAsked,
  waiting: Promise<PendingRows | undefined>,
): Promise<EdgeRows | undefined> {
  const spans = edgesOfAll(snapshot, asked.ranges)
  if (spans === undefined) return undefined
  const pending = await waiting
  const decided = new Map<string, boolean>()
  const isReadWhole = (hours: Span) => {
    const name = `${hours.start} ${hours.end}`
    const isWhole =
      decided.get(name) ??
      (!liesIn(pending, hours) && (areStill(hours, snapshot, asked) || wasAsked(hours, snapshot, asked)))
    decided.set(name, isWhole)
    return isWhole
  }
  const whole = spans.filter((span) => isReadWhole(around(span)))
  const [range] = asked.ranges as [ReadableSpan]
  const read = await Promise.all([
    readHours(ch, snapshot, range, whole),
    readFewRows(
      ch,
      range,
      spans.filter((span) => !whole.includes(span)),
    ),
    readBoundaries(ch, snapshot, range, boundaryHours(asked, spans).filter(isReadWhole)),
  ])
  return together(read.flat())
}

/** Asks for the hours that `readEdges` will look for, for a reader that remembers. */
export async function warmEdges(ch: Reader, snapshot: AggregateSnapshot, asked: EdgesAsked): Promise<void> {
  const spans = edgesOfAll(snapshot, asked.ranges) ?? []
  const [range] = asked.ranges as [ReadableSpan]
  const isKept = (hours: Span) => areStill(hours, snapshot, asked)
  await readHours(
    ch,
    snapshot,
    range,
    spans.filter((span) => isKept(around(span))),
  )
  await readBoundaries(ch, snapshot, range, boundaryHours(asked, spans).filter(isKept))
}

/** Undefined where a range has no whole hours. */
function edgesOfAll(snapshot: AggregateSnapshot, ranges: readonly ReadableSpan[]): Span[] | undefined {
  const compositions = ranges.map((range) => composeSpan(snapshot, range))
  if (compositions.some(({ hours }) => hours.start >= hours.end)) return undefined
  return compositions.flatMap((composition) => edgesOf(composition, composition.hours).raw)
}

/** The hours that boundaries lie inside of, but for those of edges. */
function boundaryHours({ boundaries }: EdgesAsked, edges: readonly Span[]): Span[] {
  const ofEdges = new Set(edges.map(({ start }) => hourOf(start)))
  const hours = new Set(boundaries.filter((at) => at % hourMs !== 0).map(hourOf))
  return [...hours]
    .filter((hour) => !ofEdges.has(hour))
    .map((hour) => hourAround({ start: hour * hourMs, end: hour * hourMs + 1 }))
}

/** Whether the rows of a span of hours hardly change: all are readable, and over, or nothing was committed for a while. */
function areStill(hours: Span, snapshot: AggregateSnapshot, { ranges, now }: EdgesAsked): boolean {
  if (hours.start < ranges[0]!.readableFrom) return false
  const isAtRest = Math.abs(now - snapshot.committedAt) >= edgesAtRestMs
  return isAtRest || generationsOf(snapshot, hours).every(({ isWhole }) => isWhole)
}

/** What hours had in them when a question was last about a part of them. */
const askedLast = new LRUCache<string, string>({ max: crowdedWorkspacesMax })

/** Whether it is asked for the second time since something came to a span of hours: then all of it is worth reading. */
function wasAsked(hours: Span, snapshot: AggregateSnapshot, { ranges }: EdgesAsked): boolean {
  const { workspaceId, readableFrom } = ranges[0]!
  const name = `${workspaceId} ${hours.start} ${hours.end}`
  const contents = JSON.stringify(contentsOf(generationsOf(snapshot, hours)))
  const isKnown = askedLast.get(name) === contents
  askedLast.set(name, contents)
  return isKnown && hours.start >= readableFrom
}

/** Without those of too many rows. */
async function readHours(
  ch: Reader,
  snapshot: AggregateSnapshot,
  range: ReadableSpan,
  edges: readonly Span[],
): Promise<EdgeRows[]> {
  // Ranges that follow each other have an hour in common.
  const hours = new Map(edges.map((edge) => [hourOf(edge.start), edge]))
  const read = await Promise.all(
    [...hours].map(async ([hour, edge]) => {
      const contents = contentsOf(generationsOf(snapshot, around(edge)))
      const rows = await readEdgeHour(ch, range, hourAround(edge), contents)
      const spans = edges.filter(({ start }) => hourOf(start) === hour)
      return rows && edgeRowsOfHour(hour, spans, rows)
    }),
  )
  return read.filter((one) => one !== undefined)
}

function edgeRowsOfHour(hour: number, spans: readonly Span[], { alike, starts }: EdgeHour): EdgeRows {
  return {
    spans,
    sessionSpans: spans,
    rowsIn: (part) => heldIn(hour * hourMs, alike, part),
    sessionsBegunIn: (parts, isWanted) =>
      joinHeld(parts.map((part) => sessionsHeldIn(hour * hourMs, starts, part, isWanted))),
  }
}

/** Rows only: the sessions of these hours are counted with others. */
async function readBoundaries(
  ch: Reader,
  snapshot: AggregateSnapshot,
  range: ReadableSpan,
  hours: readonly Span[],
): Promise<EdgeRows[]> {
  const read = await Promise.all(
    hours.map(async (hour) => {
      const alike = await readHourRows(ch, range, hour, contentsOf(generationsOf(snapshot, hour)))
      return alike && rowsAlone(hour, alike)
    }),
  )
  return read.filter((one) => one !== undefined)
}

function rowsAlone(hour: Span, alike: readonly AlikeRows[]): EdgeRows {
  return {
    spans: [hour],
    sessionSpans: [],
    rowsIn: (part) => heldIn(hour.start, alike, part),
    sessionsBegunIn: () => noneHeld,
  }
}

/** Nothing where they are many. */
async function readFewRows(ch: Reader, range: ReadableSpan, spans: readonly Span[]): Promise<EdgeRows[]> {
  if (spans.length === 0 || crowded.has(range.workspaceId)) return []
  const rows = await readAround(ch, range, spans)
  if (rows === undefined) {
    crowded.set(range.workspaceId, true)
    return []
  }
  const alike = alikeRowsOf(rows)
  return [
    {
      spans,
      sessionSpans: spans,
      rowsIn: (part) => [passingRows(rowsBetween(alike, part.start, part.end), part)],
      sessionsBegunIn: (parts, isWanted) => {
        const begun = sessionsBegunIn(rows, parts).filter(({ dimension, key }) => isWanted(dimension, key))
        return { lasting: [], passing: begun.map(rowOfSessions) }
      },
    },
  ]
}

/** Each has what lies in its own spans, and maybe more. Every figure asks for the same parts: they are picked out for the first one. */
function together(some: readonly EdgeRows[]): EdgeRows {
  const isIn = (spans: readonly Span[], part: Span) =>
    spans.some(({ start, end }) => start <= part.start && end >= part.end)
  const picked = new Map<string, readonly HeldRows[]>()
  return {
    spans: some.flatMap(({ spans }) => spans),
    sessionSpans: some.flatMap(({ sessionSpans }) => sessionSpans),
    rowsIn: (part) => {
      const name = `${part.start} ${part.end}`
      const rows = picked.get(name) ?? some.find(({ spans }) => isIn(spans, part))!.rowsIn(part)
      picked.set(name, rows)
      return rows
    },
    sessionsBegunIn: (parts, isWanted) =>
      joinHeld(
        some.map(({ sessionSpans, sessionsBegunIn }) => {
          const own = parts.filter((part) => isIn(sessionSpans, part))
          return sessionsBegunIn(own, isWanted)
        }),
      ),
  }
}

function hourAround({ start, end }: Span): Span {
  return { start: hourOf(start) * hourMs, end: Math.ceil(end / hourMs) * hourMs }
}

/** Where the rows of the sessions lie that begin in an edge's hour. */
function around(edge: Span): Span {
  return aroundSessions([hourAround(edge)], Number.NEGATIVE_INFINITY)[0]!
}

/** Those of the days that a span of hours lies in. */
function generationsOf({ generations }: AggregateSnapshot, { start, end }: Span): LiveGeneration[] {
  return generations.filter(({ day }) => day >= dayOf(hourOf(start)) && day <= dayOf(hourOf(end - 1)))
}

/**
 * Parameters that are the same as long as no row comes to the days of some generations: it would be in another one, or wait.
 * To be merged changes neither what is newest in a generation nor how much it holds.
 */
function contentsOf(generations: readonly LiveGeneration[]): Record<string, unknown> {
  const days = new Map<number, { newest: number; parts: number }>()
  for (const { day, newest, parts } of generations) {
    const known = days.get(day) ?? { newest: 0, parts: 0 }
    days.set(day, { newest: Math.max(known.newest, newest), parts: known.parts + parts })
  }
  const sorted = [...days].sort(([one], [other]) => one - other)
  return { edge_contents: sorted.flatMap(([day, { newest, parts }]) => [day, newest, parts]) }
}

function liesIn(pending: PendingRows | undefined, { start, end }: Span): boolean {
  return pending !== undefined && pending.hours.start * hourMs < end && pending.hours.end * hourMs > start
}

/** The rows of some spans, and the others of their sessions; undefined where they are many. */
function readAround(
  ch: Reader,
  { workspaceId, readableFrom }: ReadableSpan,
  spans: readonly Span[],
): Promise<EventRow[] | undefined> {
  const inEdges = inAnySpan('edge', spans)
  const near = inAnySpan('near', aroundSessions(spans, readableFrom))
  const sessions = `SELECT session FROM events WHERE workspace_id = {workspace:UInt32} AND ${inEdges.sql} AND visitor != 0`
  const condition = `workspace_id = {workspace:UInt32} AND ${near.sql}
    AND (${inEdges.sql} OR visitor != 0 AND session IN (${sessions}))`
  const params = { workspace: workspaceId, ...inEdges.params, ...near.params }
  return readRows(ch, { condition, params, max: edgeRowsAtHandMax })
}
