/** The touches that a list of conversions shows. */
import { creditWindowMs } from '../../schemas/limits/figure-limits.ts'
import { touchesOfConversionMax } from '../../schemas/limits/overview-limits.ts'
import type { BoundSql } from '../bound-sql.ts'

/** A conversion of a contact or of an unknown visitor. */
export interface ConversionOf {
  /** The contact's id, or the visitor: decimal text. */
  readonly whose: string
  readonly id: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/**
 * Selects the newest touches up to each conversion, within the time for credit. Each touch counts for the first conversion
 * after it, so however many came later, no conversion's own are missing.
 * @param touches SQL of touches between the moments of `spanOfTouches`: `whose`, `at`, `id`, and columns that are answered
 *   beside them
 */
export function newestTouchesBefore(touches: string, conversions: readonly ConversionOf[]): BoundSql {
  const ordered = [...conversions].sort((one, other) => one.at - other.at || one.id - other.id)
  return {
    sql: `WITH arrayZip(arrayMap(one->toUInt64(one),{asked_whose:Array(String)}),{asked_at:Array(Int64)},{asked_id:Array(UInt64)}) AS asked
      SELECT * EXCEPT (whose,next)
      FROM (SELECT *,arrayFirst(one->one.1=whose AND (one.2,one.3)>=(at,id),asked) AS next FROM (${touches}))
      WHERE next.3!=0 AND at>=next.2-${creditWindowMs}
      ORDER BY at DESC,id DESC LIMIT ${touchesOfConversionMax} BY next.3
      SETTINGS max_block_size=2048`,
    params: {
      asked_whose: ordered.map(({ whose }) => whose),
      asked_at: ordered.map(({ at }) => at),
      asked_id: ordered.map(({ id }) => id),
    },
  }
}

/** The moments between which touches can be those of conversions, both included. */
export function spanOfTouches(conversions: readonly ConversionOf[]): { readonly start: number; readonly end: number } {
  const times = conversions.map(({ at }) => at)
  return { start: Math.min(...times) - creditWindowMs, end: Math.max(...times) }
}
