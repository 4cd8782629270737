/** The visitors last seen, newest first: of all, or by letters of how a session began. */
import { moment } from '../../rollups/event-sql.ts'
import { columnEnd, onOneThread, type Reader } from '../reader.ts'
import type { VisitorRows } from './visitors.ts'

export interface SeenVisitor {
  /** Decimal text. */
  readonly visitor: string
  readonly lastAt: number
}

export interface NewestVisitors extends VisitorRows {
  /** Days from this one on are looked at. */
  readonly fromDay: number
  /** Only those last seen since; milliseconds since 1970. */
  readonly since: number
  /** Only those last seen before this one; at the same moment, those with lower hashes. */
  readonly before: SeenVisitor
  readonly limit: number
  /** Only those with a session that began by a source or campaign with these letters. */
  readonly q: string | undefined
}

interface FoundVisitor extends SeenVisitor {
  /** Whether a session began by a source or campaign with the letters; true without letters. */
  readonly isFound: boolean
}

export interface FoundVisitors {
  readonly visitors: readonly FoundVisitor[]
  /** Whether more may come behind the last one. */
  readonly isCut: boolean
}

/** Qualified by the table: an alias `visitor` would hide the column. */
const ofDays =
  'workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND day >= {from_day:UInt16} AND sessions.visitor != 0'
const isBeforePoint = (row: string) => `${row} < (${moment('before')}, {before_visitor:UInt64})`

/**
 * Visitors by last-seen time, newest first; ties by hash, greatest first. The newest version of a session's row has the
 * latest time, so all versions may be read for it. Only the newest version says how a session began. So a search for
 * letters gives all visitors with any version that has them, and says which of them are found.
 */
export async function readNewestVisitors(ch: Reader, request: NewestVisitors): Promise<FoundVisitors> {
  const { workspaceId, build, fromDay, since, before, limit, q } = request
  const rows = await ch.query<FoundVisitor>(
    q === undefined ? newestSql(before) : searchSql,
    {
      workspace: workspaceId,
      build,
      from_day: fromDay,
      since,
      limit,
      q: q ?? '',
      before: before.lastAt,
      before_visitor: before.visitor,
    },
    q === undefined ? { settings: onOneThread } : {},
  )
  // A visitor's latest row comes first.
  const visitors = new Map<string, FoundVisitor>()
  for (const row of rows) if (!visitors.has(row.visitor)) visitors.set(row.visitor, row)
  return { visitors: [...visitors.values()], isCut: rows.length === limit }
}

/** Rows are sorted, and repeats left out later: to group all visitors of a day takes twice as long. */
function newestSql(before: SeenVisitor): string {
  const isRowBefore = isBeforePoint('(last_at, sessions.visitor)')
  const isOfOthers = `sessions.visitor NOT IN (SELECT visitor FROM sessions WHERE ${ofDays} AND NOT (${isRowBefore}))`
  const isFirstPage = before.lastAt >= columnEnd
  return `SELECT toString(sessions.visitor) AS visitor, toUnixTimestamp64Milli(last_at) AS lastAt, true AS isFound
    FROM sessions WHERE ${ofDays} AND last_at >= ${moment('since')}${isFirstPage ? '' : ` AND ${isRowBefore} AND ${isOfOthers}`}
    ORDER BY last_at DESC, sessions.visitor DESC LIMIT {limit:UInt32}`
}

/**
 * Whether any session may have begun by a source or campaign with these letters. Mostly none has, and then nobody has to be
 * looked for: the two columns have few texts, so this takes a fraction of the time.
 */
export async function isOriginOfVisitors(
  ch: Reader,
  { workspaceId, build, firstDay }: VisitorRows,
  q: string,
): Promise<boolean> {
  const found = await ch.query(
    `SELECT 1 FROM sessions
     WHERE workspace_id = {workspace:UInt32} AND build = {build:UInt32} AND day >= {first_day:UInt16} AND (${hasLetters})
     LIMIT 1`,
    { workspace: workspaceId, build, first_day: firstDay, q },
  )
  return found.length > 0
}

const hasLetters =
  'positionCaseInsensitiveUTF8(source, {q:String}) > 0 OR positionCaseInsensitiveUTF8(campaign, {q:String}) > 0'

/** Candidates may be of all days, in few columns. */
const candidates = `SELECT visitor AS seen_visitor, max(last_at) AS last FROM sessions WHERE ${ofDays}
  GROUP BY visitor HAVING last >= ${moment('since')} AND ${isBeforePoint('(last, seen_visitor)')} AND countIf(${hasLetters}) > 0
  ORDER BY last DESC, seen_visitor DESC LIMIT {limit:UInt32}`

const searchSql = `SELECT toString(seen_visitor) AS visitor, toUnixTimestamp64Milli(last) AS lastAt, found AS isFound
  FROM (SELECT visitor AS seen_visitor, max(last_at) AS last, countIf(${hasLetters}) > 0 AS found FROM sessions FINAL
    WHERE ${ofDays} AND visitor IN (SELECT seen_visitor FROM (${candidates})) GROUP BY visitor)
  ORDER BY last DESC, seen_visitor DESC`
