/** Mutations of ClickHouse that aren't done. */
import type { ClickHouse } from './client.ts'

/**
 * @returns how many are under way in these tables, whoever began them, and why one fails; '' where none does. ClickHouse
 *   tries a mutation that fails again for ever, and does no later one of its table.
 */
export async function readMutations(
  ch: Pick<ClickHouse, 'query'>,
  tables: readonly string[],
): Promise<{ readonly mutations: number; readonly failure: string }> {
  const [under] = await ch.query<{ mutations: number; failure: string }>(
    `SELECT count() AS mutations, anyIf(concat(table, ', ', mutation_id, ': ', latest_fail_reason), latest_fail_reason != '') AS failure
     FROM system.mutations
     WHERE database = currentDatabase() AND NOT is_done AND table IN (SELECT arrayJoin({tables:Array(String)}))`,
    { tables },
  )
  return under!
}
