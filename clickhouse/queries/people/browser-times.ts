/** Times of browsers that are somebody's, as a table to join: the statement is as long for ten thousand as for one. */
import { type BoundSql, tuplesIn } from '../../bound-sql.ts'

/** From a moment and id on, up to another; null: to the end. */
export interface VisitorTime {
  /** Decimal text. */
  readonly visitor: string
  readonly fromAt: number
  readonly fromId: number
  readonly toAt: number | null
  readonly toId: number | null
}

/** A subselect with `time_visitor`, `from_at`, `from_id`, `to_at` and `to_id`. @param name begins those of its parameters */
export function timesIn(times: readonly VisitorTime[], name: string): BoundSql {
  return {
    sql: `(SELECT toUInt64(t.1) AS time_visitor, t.2 AS from_at, t.3 AS from_id, t.4 AS to_at, t.5 AS to_id
      FROM ${tuplesIn({ [`${name}_visitors`]: 'String', [`${name}_from`]: 'Int64', [`${name}_from_id`]: 'UInt64', [`${name}_to`]: 'Int64', [`${name}_to_id`]: 'UInt64' })})`,
    params: {
      [`${name}_visitors`]: times.map(({ visitor }) => visitor),
      [`${name}_from`]: times.map(({ fromAt }) => fromAt),
      [`${name}_from_id`]: times.map(({ fromId }) => fromId),
      [`${name}_to`]: times.map(({ toAt }) => toAt ?? Number.MAX_SAFE_INTEGER),
      [`${name}_to_id`]: times.map(({ toId }) => toId ?? 0),
    },
  }
}
