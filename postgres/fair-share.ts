/** Takes from a queue by fair shares, so that a workspace with very many rows doesn't block the others. */

interface Queue {
  readonly table: string
  /** Column of ids: rows are taken in its order. */
  readonly id: string
  /** SQL condition for pending rows. */
  readonly isWaiting: string
}

/**
 * SQL of an array of the next ids, at most `max`. Each workspace has an equal share, and the oldest rows fill the rest. It reads
 * at most twice `max` rows and one or two of each workspace. It needs an index on (workspace_id, id) and one on the id.
 * @param max placeholder of the limit, such as `$1`
 */
export function nextInTurns({ table, id, isWaiting }: Queue, max: string): string {
  const firstOf = (column: string, which: string, limit: string) =>
    `SELECT ${column} FROM ${table} WHERE ${isWaiting} AND ${which} ORDER BY ${column} LIMIT ${limit}`
  return `ARRAY(
    WITH RECURSIVE waiting AS (
      (${firstOf('workspace_id', 'true', '1')})
      UNION ALL
      SELECT next.workspace_id FROM waiting CROSS JOIN LATERAL (
        ${firstOf('workspace_id', 'workspace_id > waiting.workspace_id', '1')}) AS next
    ), taken AS (
      SELECT own.${id} AS id, 1 AS turn FROM waiting CROSS JOIN LATERAL (
        ${firstOf(id, 'workspace_id = waiting.workspace_id', `greatest(1, ${max}::bigint / (SELECT count(*) FROM waiting))`)}) AS own
      UNION ALL
      (SELECT oldest.${id}, 2 FROM (${firstOf(id, 'true', `${max}::bigint`)}) AS oldest)
    )
    SELECT id FROM taken GROUP BY id ORDER BY min(turn), id LIMIT ${max}::bigint)`
}
