/** Which rows a question may see, and the pieces of SQL that say so. */
import { clickhouseQueryMemoryMax } from '../../schemas/limits/store-limits.ts'
import type { Span } from '../../schemas/time/time-range.ts'
import type { ClickHouse } from '../client.ts'
import { moment } from '../rollups/event-sql.ts'

export type Reader = Pick<ClickHouse, 'query'>

/**
 * Settings of statements that are put together from many parts: ClickHouse's optimizations of the query tree find nothing
 * in them, and take it longer than to read the rows (decisions/0007 has the figures).
 */
export const composedStatement: Readonly<Record<string, number>> = {
  // All parts of a statement read one snapshot of each table: those of one moment.
  enable_shared_storage_snapshot_in_query: 1,
  optimize_aggregators_of_group_by_keys: 0,
  optimize_and_compare_chain: 0,
  optimize_arithmetic_operations_in_aggregate_functions: 0,
  optimize_extract_common_expressions: 0,
  optimize_functions_to_subcolumns: 0,
  optimize_group_by_function_keys: 0,
  optimize_injective_functions_in_group_by: 0,
  optimize_injective_functions_inside_uniq: 0,
  optimize_multiif_to_if: 0,
  optimize_redundant_functions_in_order_by: 0,
  optimize_syntax_fuse_functions: 0,
  optimize_time_filter_with_preimage: 0,
  optimize_use_implicit_projections: 0,
}

/**
 * Besides, for statements that read few of many rows with FINAL. Merging their parts on several threads costs more than it
 * saves. Conditions over the sorting key are checked before other columns are read: they can't change which version of a
 * row counts. Both together save a fifth of the processor's time of an overview's figures and details.
 */
export const fewRowsStatement: Readonly<Record<string, number>> = {
  ...composedStatement,
  split_intersecting_parts_ranges_into_layers_final: 0,
  optimize_move_to_prewhere_if_final: 1,
}

/** A second thread would take as long to begin as one takes for all rows of such a statement. */
export const onOneThread: Readonly<Record<string, number>> = { max_threads: 1 }

/** One workspace's rows of a range; those before `readableFrom` are as if they weren't there. */
export interface ReadableSpan extends Span {
  readonly workspaceId: number
  readonly readableFrom: number
}

/** The range of DateTime64: no row lies after it, and a later bound would wrap. */
export const columnEnd = Date.UTC(2200, 0, 1)

/** The values of the parameters `workspace`, `from` and `to`; moments are milliseconds since 1970 UTC. */
export function spanParams({ workspaceId, start, end, readableFrom }: ReadableSpan): {
  workspace: number
  from: number
  to: number
} {
  const readable = (moment: number) => Math.min(Math.max(moment, readableFrom), columnEnd)
  const from = readable(start)
  return { workspace: workspaceId, from, to: Math.max(from, readable(end)) }
}

/** SQL condition: rows of the workspace and span of `spanParams`. */
export const isInSpan = `workspace_id = {workspace:UInt32} AND occurred_at >= ${moment('from')} AND occurred_at < ${moment('to')}`

/** Groups beyond half of a statement's memory limit spill to the disk. */
export const spillingStatement: Readonly<Record<string, string>> = {
  max_bytes_before_external_group_by: String(clickhouseQueryMemoryMax / 2),
}
