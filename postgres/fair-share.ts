/** How a queue of all workspaces is taken from, so that one of them with very many rows holds up no other's. */

interface Queue {
  readonly table: string
  /** Its column: in its order rows are taken. */
  readonly id: string
  /** SQL condition. */
  readonly isWaiting: string
}

/**
 * SQL of an array of the next ids, the most that may be taken or all that wait. Each workspace has an equal share; whatever
 * the shares leave is for the oldest rows. It reads twice the limit, and one row of each workspace: by an index on
 * (workspace_id, id) and one on the id.
 * @param max a parameter
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
