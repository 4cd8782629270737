/** The raw rows of the parts of hours that ranges begin and end with: read once for all figures, where they are few. */
import { LRUCache } from 'lru-cache'
import type { AggregateSnapshot } from '../../../schemas/aggregate-snapshot.ts'
import { crowdedForMs, crowdedWorkspacesMax, edgeRowsAtHandMax } from '../../../schemas/limits.ts'
import { readRows } from '../../aggregates/rows-at-hand.ts'
import { composeSpan, type EdgeRows, edgesOf } from './composition.ts'
import { aroundSessions, inAnySpan, type ReadableSpan, type Reader } from './span.ts'

/** Workspaces of which they were many: to find that out takes as long as to read few. */
const crowded = new LRUCache<number, true>({ max: crowdedWorkspacesMax, ttl: crowdedForMs })

/** @returns undefined where they are many, or a range has no whole hours: then each figure is counted by a statement */
export async function readEdges(
  ch: Reader,
  snapshot: AggregateSnapshot,
  ranges: readonly ReadableSpan[],
): Promise<EdgeRows | undefined> {
  const compositions = ranges.map((range) => composeSpan(snapshot, range))
  if (compositions.some(({ hours }) => hours.start >= hours.end)) return undefined
  const spans = compositions.flatMap((composition) => edgesOf(composition, composition.hours).raw)
  if (spans.length === 0) return { spans, rows: [] }

  const { workspaceId, readableFrom } = ranges[0]!
  if (crowded.has(workspaceId)) return undefined
  const inEdges = inAnySpan('edge', spans)
  const near = inAnySpan('near', aroundSessions(spans, readableFrom))
  const sessions = `SELECT session FROM events WHERE workspace_id = {workspace:UInt32} AND ${inEdges.sql} AND visitor != 0`
  const condition = `workspace_id = {workspace:UInt32} AND ${near.sql}
    AND (${inEdges.sql} OR visitor != 0 AND session IN (${sessions}))`
  const params = { workspace: workspaceId, ...inEdges.params, ...near.params }
  const rows = await readRows(ch, { condition, params, max: edgeRowsAtHandMax })
  if (rows === undefined) crowded.set(workspaceId, true)
  return rows && { spans, rows }
}
