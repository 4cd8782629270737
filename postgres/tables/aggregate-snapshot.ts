/** What the aggregates are made of, as one moment's state. */
import type { AggregateReset, AggregateSnapshot, LiveBlock, LiveGeneration } from '../../schemas/aggregate-snapshot.ts'
import { segmentRowsMax } from '../../schemas/limits.ts'
import type { Queryable } from '../client.ts'
import { milliseconds } from '../clock.ts'

interface StateRow {
  readonly revision: number
  readonly committedAt: number
  readonly marks: readonly { readonly first: number; readonly through: number }[] | null
  readonly generations: readonly LiveGeneration[] | null
  readonly blocks: readonly LiveBlock[] | null
  readonly resets: readonly AggregateReset[] | null
}

/**
 * One statement, so that all of it is of one moment.
 * @param known answered again when nothing was committed since
 */
export async function readSnapshot(q: Queryable, known?: AggregateSnapshot): Promise<AggregateSnapshot> {
  const [row] = await q.query<StateRow>(
    `SELECT revision, ${milliseconds('committed_at')} AS "committedAt",
       CASE WHEN revision != $1 THEN (SELECT jsonb_agg(jsonb_build_object('first', first_segment, 'through', through)
         ORDER BY first_segment) FROM aggregate_marks) END AS marks,
       CASE WHEN revision != $1 THEN (SELECT jsonb_agg(jsonb_build_object('generation', generation, 'day', day, 'isWhole', is_whole,
         'level', level, 'lastAt', last_at, 'newest', newest, 'parts', parts) ORDER BY generation) FROM aggregate_generations_live) END AS generations,
       CASE WHEN revision != $1 THEN (SELECT jsonb_agg(jsonb_build_object('generation', generation, 'firstDay', first_day, 'days', days)
         ORDER BY generation) FROM aggregate_blocks_live) END AS blocks,
       CASE WHEN revision != $1 THEN (SELECT jsonb_agg(jsonb_build_object('workspaceId', workspace_id, 'hour', hour,
         'generation', generation)) FROM aggregate_resets) END AS resets
     FROM aggregate_revision`,
    [known?.revision ?? -1],
  )
  const { revision, committedAt, marks, generations, blocks, resets } = row!
  if (known !== undefined && revision === known.revision) return known
  const aggregated: { from: number; through: number }[] = []
  for (const { first, through } of marks ?? []) {
    const from = first * segmentRowsMax
    const last = aggregated.at(-1)
    if (through < from) continue
    if (last !== undefined && from <= last.through + 1) last.through = Math.max(last.through, through)
    else aggregated.push({ from, through })
  }
  return {
    revision,
    committedAt,
    aggregated,
    generations: generations ?? [],
    blocks: blocks ?? [],
    resets: resets ?? [],
  }
}
