/** The raw rows of the parts of hours that ranges begin and end with: read once for all figures. */
import { LRUCache } from 'lru-cache'
import type { AggregateSnapshot, LiveGeneration } from '../../../schemas/aggregate-snapshot.ts'
import { crowdedForMs, crowdedWorkspacesMax, edgeRowsAtHandMax, edgesAtRestMs } from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { alikeRowsOf, type EventRow, readRows } from '../../aggregates/rows-at-hand.ts'
import { sessionsBegunIn } from '../../aggregates/session-changes.ts'
import { dayOf, hourOf } from './aggregated-cells.ts'
import { composeSpan, type EdgeRows, edgesOf, type PendingRows } from './composition.ts'
import { type EdgeHour, readEdgeHour, startsBetween } from './edge-hours.ts'
import { aroundSessions, inAnySpan, type ReadableSpan, type Reader } from './span.ts'

/** Workspaces of which they were many: to find that out takes as long as to read few. */
const crowded = new LRUCache<number, true>({ max: crowdedWorkspacesMax, ttl: crowdedForMs })

/** Of ranges of one workspace, what parts of hours they begin and end with. */
export interface EdgesAsked {
  readonly ranges: readonly ReadableSpan[]
  readonly now: number
}

/**
 * Ranges that end now begin a little later with each question, in an hour that is the same for an hour: where the aggregates
 * have all rows around it and hardly any come, it is read whole, for a reader that remembers.
 * @param waiting of the snapshot, around the ranges
 * @returns without what is left to statements of each figure: many rows of hours that aren't read whole, or too many of one
 *   that is; undefined where that is all, or where a range has no whole hours
 */
export async function readEdges(
  ch: Reader,
  snapshot: AggregateSnapshot,
  asked: EdgesAsked,
  waiting: Promise<PendingRows | undefined>,
): Promise<EdgeRows | undefined> {
  const spans = edgesOfAll(snapshot, asked.ranges)
  if (spans === undefined) return undefined
  if (spans.length === 0) return edgeRowsOf(spans, [])

  const pending = await waiting
  const still = spans.filter((span) => isStill(span, snapshot, asked) && !liesIn(pending, around(span)))
  const [range] = asked.ranges as [ReadableSpan]
  if (still.length < spans.length && !crowded.has(range.workspaceId)) {
    const rows = await readAround(ch, range, spans)
    if (rows !== undefined) return edgeRowsOf(spans, rows)
    crowded.set(range.workspaceId, true)
  }
  return edgeRowsOfHours(still, await readHours(ch, snapshot, range, still))
}

/** Asks for the hours that `readEdges` will look for, for a reader that remembers. */
export async function warmEdges(ch: Reader, snapshot: AggregateSnapshot, asked: EdgesAsked): Promise<void> {
  const spans = edgesOfAll(snapshot, asked.ranges) ?? []
  const still = spans.filter((span) => isStill(span, snapshot, asked))
  await readHours(ch, snapshot, asked.ranges[0]!, still)
}

/** Undefined where a range has no whole hours. */
function edgesOfAll(snapshot: AggregateSnapshot, ranges: readonly ReadableSpan[]): Span[] | undefined {
  const compositions = ranges.map((range) => composeSpan(snapshot, range))
  if (compositions.some(({ hours }) => hours.start >= hours.end)) return undefined
  return compositions.flatMap((composition) => edgesOf(composition, composition.hours).raw)
}

/** Whether an edge's hour stays what it is: all around is readable, and over, or nothing was committed for a while. */
function isStill(edge: Span, snapshot: AggregateSnapshot, { ranges, now }: EdgesAsked): boolean {
  if (around(edge).start < ranges[0]!.readableFrom) return false
  const isAtRest = Math.abs(now - snapshot.committedAt) >= edgesAtRestMs
  return isAtRest || generationsAround(snapshot, edge).every(({ isWhole }) => isWhole)
}

function readHours(ch: Reader, snapshot: AggregateSnapshot, range: ReadableSpan, edges: readonly Span[]) {
  return Promise.all(
    edges.map((edge) => readEdgeHour(ch, range, hourAround(edge), contentsOf(generationsAround(snapshot, edge)))),
  )
}

function edgeRowsOf(spans: readonly Span[], rows: readonly EventRow[]): EdgeRows {
  return { spans, alike: alikeRowsOf(rows), sessionsBegunIn: (parts) => sessionsBegunIn(rows, parts) }
}

/** @param hours of each of the spans, as far as they were read; ranges that follow each other share one */
function edgeRowsOfHours(spans: readonly Span[], hours: readonly (EdgeHour | undefined)[]): EdgeRows | undefined {
  const byStart = new Map<number, EdgeHour>()
  const read: Span[] = []
  for (const [at, hour] of hours.entries()) {
    if (hour === undefined) continue
    const span = spans[at]!
    read.push(span)
    byStart.set(hourOf(span.start), hour)
  }
  if (read.length === 0) return undefined
  const all = [...byStart.values()]
  const starts = all.flatMap((hour) => hour.starts)
  return {
    spans: read,
    alike: all.flatMap(({ alike }) => alike),
    sessionsBegunIn: (parts) => startsBetween(starts, parts),
  }
}

function hourAround({ start, end }: Span): Span {
  return { start: hourOf(start) * hourMs, end: Math.ceil(end / hourMs) * hourMs }
}

/** Where the rows of the sessions lie that begin in an edge's hour. */
function around(edge: Span): Span {
  return aroundSessions([hourAround(edge)], Number.NEGATIVE_INFINITY)[0]!
}

/** Those of the days that an edge's sessions lie in. */
function generationsAround({ generations }: AggregateSnapshot, edge: Span): LiveGeneration[] {
  const { start, end } = around(edge)
  return generations.filter(({ day }) => day >= dayOf(hourOf(start)) && day <= dayOf(hourOf(end)))
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
