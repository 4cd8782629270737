/** The raw rows of the parts of hours that ranges begin and end with: read once for all figures, where they are few. */
import { LRUCache } from 'lru-cache'
import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import {
  crowdedForMs,
  crowdedWorkspacesMax,
  edgeRowsAtHandMax,
  edgeRowsRememberedMax,
} from '../../../schemas/limits.ts'
import type { Span } from '../../../schemas/time-range.ts'
import { hourMs } from '../../../schemas/time-zone.ts'
import { alikeRowsOf, type EventRow, readRows } from '../../aggregates/rows-at-hand.ts'
import { dayOf, hourOf } from './aggregated-cells.ts'
import { composeSpan, type EdgeRows, edgesOf, type PendingRows } from './composition.ts'
import { aroundSessions, inAnySpan, type ReadableSpan, type Reader } from './span.ts'

/** Workspaces of which they were many: to find that out takes as long as to read few. */
const crowded = new LRUCache<number, true>({ max: crowdedWorkspacesMax, ttl: crowdedForMs })

/**
 * Ranges that end now begin a little later with each question, in an hour that is the same for an hour: of days that are over
 * it is read whole, for a reader that remembers.
 * @param pending of the snapshot, around the ranges
 * @returns undefined where they are many, or a range has no whole hours: then each figure is counted by a statement
 */
export async function readEdges(
  ch: Reader,
  snapshot: AggregateSnapshot,
  ranges: readonly ReadableSpan[],
  pending: Promise<PendingRows | undefined>,
): Promise<EdgeRows | undefined> {
  const compositions = ranges.map((range) => composeSpan(snapshot, range))
  if (compositions.some(({ hours }) => hours.start >= hours.end)) return undefined
  const spans = compositions.flatMap((composition) => edgesOf(composition, composition.hours).raw)
  if (spans.length === 0) return { spans, rows: [], alike: [] }

  const { workspaceId, readableFrom } = ranges[0]!
  if (crowded.has(workspaceId)) return undefined
  const hours = spans.map(hoursAround)
  const near = aroundSessions(hours, Number.NEGATIVE_INFINITY)
  const generations = generationsIn(snapshot, near)
  // No row comes to these hours then without another generation on the list, or as a pending one; and all of them stay readable.
  if (generations.every(({ isWhole }) => isWhole) && near.every(({ start }) => start >= readableFrom)) {
    const params = { edge_generations: generations.map(({ generation }) => generation) }
    const [rows, waiting] = await Promise.all([
      readAround(ch, ranges[0]!, hours, { max: edgeRowsRememberedMax, params, isLasting: true }),
      pending,
    ])
    if (rows !== undefined && !near.some((span) => liesIn(waiting, span)))
      return { spans, rows, alike: alikeRowsOf(rows) }
  }
  const rows = await readAround(ch, ranges[0]!, spans, { max: edgeRowsAtHandMax, params: {}, isLasting: false })
  if (rows === undefined) crowded.set(workspaceId, true)
  return rows && { spans, rows, alike: alikeRowsOf(rows) }
}

function hoursAround({ start, end }: Span): Span {
  return { start: hourOf(start) * hourMs, end: Math.ceil(end / hourMs) * hourMs }
}

/** The generations of the days of some spans. */
function generationsIn({ generations }: AggregateSnapshot, spans: readonly Span[]) {
  return generations.filter(({ day }) =>
    spans.some(({ start, end }) => day >= dayOf(hourOf(start)) && day <= dayOf(hourOf(end))),
  )
}

function liesIn(pending: PendingRows | undefined, { start, end }: Span): boolean {
  return pending !== undefined && pending.hours.start * hourMs < end && pending.hours.end * hourMs > start
}

interface RowsAround {
  readonly max: number
  readonly params: Readonly<Record<string, unknown>>
  readonly isLasting: boolean
}

/** The rows of some spans, and the others of their sessions. */
function readAround(
  ch: Reader,
  { workspaceId, readableFrom }: ReadableSpan,
  spans: readonly Span[],
  { max, params, isLasting }: RowsAround,
): Promise<EventRow[] | undefined> {
  const inEdges = inAnySpan('edge', spans)
  const near = inAnySpan('near', aroundSessions(spans, readableFrom))
  const sessions = `SELECT session FROM events WHERE workspace_id = {workspace:UInt32} AND ${inEdges.sql} AND visitor != 0`
  const condition = `workspace_id = {workspace:UInt32} AND ${near.sql}
    AND (${inEdges.sql} OR visitor != 0 AND session IN (${sessions}))`
  const all = { workspace: workspaceId, ...inEdges.params, ...near.params, ...params }
  return readRows(ch, { condition, params: all, max, isLasting })
}
