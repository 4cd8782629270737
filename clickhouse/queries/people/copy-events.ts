/** Copies of events of known people, in the order in which a person's are read (migrations/0005_person_events.sql). */
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import { foldDeadlineMs } from '../../../schemas/limits/figure-limits.ts'
import { type BoundSql, tuplesIn } from '../../bound-sql.ts'
import type { ClickHouse } from '../../client.ts'
import { deleteWhere } from '../../delete-where.ts'
import { idsIn } from '../../rollups/event-sql.ts'

/** 64 bits are decimal texts. */
export interface VisitorOf {
  readonly workspaceId: number
  readonly visitor: string
}

/** SQL of pairs of workspace and hash, as a subselect. */
export function pairsIn(pairs: readonly (readonly [workspaceId: number, hash: string])[], name: string): BoundSql {
  return {
    sql: `(SELECT t.1, toUInt64(t.2) FROM ${tuplesIn({ [`${name}_workspaces`]: 'UInt32', [`${name}_hashes`]: 'String' })})`,
    params: {
      [`${name}_workspaces`]: pairs.map(([workspaceId]) => workspaceId),
      [`${name}_hashes`]: pairs.map(([, hash]) => hash),
    },
  }
}

/** Events of some ids, or of some hours of workspaces. */
export function eventsIn(
  ids: readonly IdRange[],
  hours: readonly { readonly workspaceId: number; readonly hour: number }[],
): BoundSql {
  const { sql, params } = idsIn(ids, 'added')
  if (hours.length === 0) return { sql, params }
  return {
    sql: `(${sql} OR (workspace_id, toStartOfHour(occurred_at)) IN (
      SELECT t.1, toDateTime(t.2 * 3600, 'UTC')
      FROM ${tuplesIn({ changed_workspaces: 'UInt32', changed_hours: 'UInt32' })}))`,
    params: {
      ...params,
      changed_workspaces: hours.map(({ workspaceId }) => workspaceId),
      changed_hours: hours.map(({ hour }) => hour),
    },
  }
}

/** The visitors that have events among `which`. */
export function readVisitorsIn(ch: Pick<ClickHouse, 'query'>, which: BoundSql): Promise<VisitorOf[]> {
  return ch.query<VisitorOf>(
    `SELECT DISTINCT workspace_id AS workspaceId, toString(visitor) AS visitor FROM events
     WHERE ${which.sql} AND events.visitor != 0 AND anonymous_id != ''`,
    which.params,
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
}

/** The e-mails, as hashes, that events among `which` have. */
export function readEmailsIn(
  ch: Pick<ClickHouse, 'query'>,
  which: BoundSql,
): Promise<{ workspaceId: number; hash: string }[]> {
  return ch.query(
    `SELECT DISTINCT workspace_id AS workspaceId, toString(email_hash) AS hash FROM events
     WHERE ${which.sql} AND email_hash != 0`,
    which.params,
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
}

const copied = 'occurred_at, id, visitor, session, email_hash, toString(kind), source, medium, campaign, content'

const intoCopies = (knownBy: 'visitor' | 'email', hash: string) =>
  `INSERT INTO person_events (workspace_id, known_by, hash, occurred_at, id, visitor, session, email_hash, kind, source, medium, campaign, content)
   SELECT workspace_id, '${knownBy}', ${hash}, ${copied} FROM events`

export async function copyEventsWithEmail(ch: Pick<ClickHouse, 'command'>, which: BoundSql): Promise<void> {
  await ch.command(`${intoCopies('email', 'email_hash')} WHERE ${which.sql} AND email_hash != 0`, which.params, {
    deadlineMs: foldDeadlineMs,
  })
}

/** Those of `which` that visitors have. */
export async function copyEventsOf(
  ch: Pick<ClickHouse, 'command'>,
  visitors: readonly VisitorOf[],
  which: BoundSql,
): Promise<void> {
  if (visitors.length === 0) return
  const chosen = pairsIn(
    visitors.map(({ workspaceId, visitor }) => [workspaceId, visitor]),
    'copied',
  )
  await ch.command(
    `${intoCopies('visitor', 'visitor')} WHERE ${which.sql} AND (workspace_id, visitor) IN ${chosen.sql}`,
    { ...which.params, ...chosen.params },
    { deadlineMs: foldDeadlineMs },
  )
}

/**
 * All events that visitors have, found by their hours.
 * @param builds in use, of the visitors' workspaces
 */
export async function copyPastOf(
  ch: Pick<ClickHouse, 'command'>,
  visitors: readonly VisitorOf[],
  builds: readonly number[],
  visible: readonly IdRange[],
): Promise<void> {
  if (visitors.length === 0) return
  const seen = idsIn(visible, 'visible')
  const chosen = pairsIn(
    visitors.map(({ workspaceId, visitor }) => [workspaceId, visitor]),
    'copied',
  )
  await ch.command(
    `${intoCopies('visitor', 'visitor')}
     WHERE (workspace_id, toStartOfHour(occurred_at), visitor) IN (${hoursOfVisitors(chosen.sql, 'build IN {builds:Array(UInt32)}')})
       AND ${seen.sql}`,
    { ...chosen.params, ...seen.params, builds },
    { deadlineMs: foldDeadlineMs },
  )
}

/** Folded events of each visitor, by workspace and visitor. A visitor without folded events is missing. */
export async function countPastOf(
  ch: Pick<ClickHouse, 'query'>,
  visitors: readonly VisitorOf[],
  builds: readonly number[],
): Promise<Map<string, number>> {
  const chosen = pairsIn(
    visitors.map(({ workspaceId, visitor }) => [workspaceId, visitor]),
    'counted',
  )
  const rows = await ch.query<{ whose: string; counted: number }>(
    `SELECT concat(toString(workspace_id), ' ', toString(visitor)) AS whose, sum(events) AS counted FROM visitors FINAL
     WHERE (workspace_id, visitor) IN ${chosen.sql} AND build IN {builds:Array(UInt32)} GROUP BY workspace_id, visitor`,
    { ...chosen.params, builds },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
  return new Map(rows.map(({ whose, counted }) => [whose, counted]))
}

/** SQL of the workspaces, hours and visitors that may have events, of the order key of `events`. @param days condition of `visitors` */
export function hoursOfVisitors(chosen: string, days: string): string {
  return `SELECT workspace_id, arrayJoin(arrayMap(hour -> toDateTime(hour * 3600, 'UTC'),
      range(intDiv(toUInt32(toUnixTimestamp(first_at)), 3600), intDiv(toUInt32(toUnixTimestamp(last_at)), 3600) + 1))) AS hour, visitor
    FROM visitors FINAL WHERE (workspace_id, visitor) IN ${chosen} AND ${days}`
}

/** Deletes copies of workspaces' events before each one's time, at once: a mutation looks at all parts of the table. */
export async function deleteOldCopies(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  expiring: readonly { readonly workspaceId: number; readonly before: number }[],
): Promise<void> {
  await deleteWhere(ch, 'person_events', {
    sql: `workspace_id IN {ids:Array(UInt32)}
      AND toUnixTimestamp64Milli(occurred_at) < transform(workspace_id, {ids:Array(UInt32)}, {befores:Array(Int64)}, toInt64(0))`,
    params: { ids: expiring.map(({ workspaceId }) => workspaceId), befores: expiring.map(({ before }) => before) },
  })
}
