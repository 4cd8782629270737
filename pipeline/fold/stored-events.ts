/**
 * How many stored events a fold reads again. Tracking keys are public, so one sender may send any number of events of one
 * visitor. Visitors with too many are left out, and a statement reads a bounded number. Held by
 * test/integration/fold-limits.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { groupBy } from '../../runtime/lists.ts'
import {
  foldDeadlineMs,
  storedEventsPerServerHourMax,
  storedEventsPerStatement,
  storedEventsPerVisitorMax,
} from '../../schemas/limits/figure-limits.ts'
import { hourOfEvents, scopeSql, type VisitorHour } from './read-session-days.ts'
import { type KnownVisitor, nameOf } from './read-touched.ts'

export interface StoredEventsLimits {
  /** Beyond it the visitor's rows stay as they are. */
  readonly perVisitor: number
  /** The same for a workspace's server events of a UTC hour, and for visitors without earlier rows to keep. */
  readonly perServerHour: number
  /** Unless one visitor or hour has more. */
  readonly perStatement: number
}

export const storedEventsLimits: StoredEventsLimits = {
  perVisitor: storedEventsPerVisitorMax,
  perServerHour: storedEventsPerServerHourMax,
  perStatement: storedEventsPerStatement,
}

/** Key of a unit that is derived at once: a visitor, or a workspace's server events of one hour. */
const wholeOf = (workspaceId: number, hour: number, visitor: string) =>
  visitor === '0' ? `${workspaceId} server ${hour}` : nameOf(workspaceId, visitor)

interface KnownVisitors {
  readonly known: ReadonlyMap<string, KnownVisitor>
  /** Whether some of the visitor's rows are missing: then they give no event count, and can't stay as the figures. */
  readonly lacksRows: (workspaceId: number, visitor: string) => boolean
}

/**
 * Groups the hours by statement. It counts server events, and events of visitors who are busy or lack rows. For other visitors
 * it uses the count of the last fold.
 */
export async function inStatements(
  ch: Pick<ClickHouse, 'query'>,
  hours: readonly VisitorHour[],
  { known, lacksRows }: KnownVisitors,
  { perVisitor, perServerHour, perStatement }: StoredEventsLimits,
): Promise<VisitorHour[][]> {
  const hasHighLimit = ([workspaceId, , visitor]: VisitorHour) => visitor === '0' || lacksRows(workspaceId, visitor)
  const isCounted = (hour: VisitorHour) => hasHighLimit(hour) || known.get(nameOf(hour[0], hour[2]))?.isBusy === true
  const counted = await countEvents(ch, hours.filter(isCounted))
  const statements: VisitorHour[][] = []
  let room = 0
  for (const [whole, own] of groupBy(hours, (one) => wholeOf(...one))) {
    const events = counted.get(whole) ?? known.get(whole)?.events ?? 0
    if (events > (hasHighLimit(own[0]!) ? perServerHour : perVisitor)) continue
    if (statements.length === 0 || events > room) {
      statements.push([])
      room = perStatement
    }
    statements.at(-1)!.push(...own)
    room -= events
  }
  return statements
}

/** How many events are stored of each visitor or server hour. It reads the columns of the order key alone. */
async function countEvents(ch: Pick<ClickHouse, 'query'>, hours: readonly VisitorHour[]): Promise<Map<string, number>> {
  if (hours.length === 0) return new Map()
  const { sql, params } = scopeSql({ hours })
  const rows = await ch.query<{ workspaceId: number; whose: string; hour: number; stored: number }>(
    `SELECT workspace_id AS workspaceId, toString(visitor) AS whose, if(visitor = 0, ${hourOfEvents}, 0) AS hour, count() AS stored
     FROM events WHERE ${sql} GROUP BY workspaceId, whose, hour`,
    params,
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
  return new Map(rows.map(({ workspaceId, whose, hour, stored }) => [wholeOf(workspaceId, hour, whose), stored]))
}
