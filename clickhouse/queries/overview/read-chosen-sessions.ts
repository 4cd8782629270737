/** Which of some sessions filters choose: those that payments are credited to. */
import type { SessionFilters } from '../../../schemas/session-filters.ts'
import { dayMs, localDayAt } from '../../../schemas/time/time-zone.ts'
import { tuplesIn } from '../../bound-sql.ts'
import { moment } from '../../rollups/event-sql.ts'
import type { Reader } from '../reader.ts'
import { choose } from './read-filtered.ts'
import { chosenRows } from './selection.ts'

/** `visitor` and `session` as decimal texts; when it began, in milliseconds since 1970. */
export interface NamedSession {
  readonly visitor: string
  readonly session: string
  readonly sessionAt: number
}

export interface ChosenSessionsRequest {
  readonly workspaceId: number
  readonly build: number
  readonly timezone: string
  readonly filters: SessionFilters
}

export async function readChosenSessions<Session extends NamedSession>(
  ch: Reader,
  sessions: readonly Session[],
  request: ChosenSessionsRequest,
): Promise<Session[]> {
  if (sessions.length === 0) return []
  const { workspaceId, build, timezone } = request
  const begins = sessions.map(({ sessionAt }) => sessionAt)
  const from = begins.reduce((a, b) => Math.min(a, b))
  const to = begins.reduce((a, b) => Math.max(a, b))
  const { selection, calendar } = await choose(ch, { ...request, from: from - dayMs, to: to + dayMs })
  const chosen = chosenRows(
    selection,
    'day>={first_day:UInt16} AND day<={last_day:UInt16} AND nth_day=1',
    `occurred_at>=${moment('from')} AND occurred_at<${moment('to')} AND visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))`,
  )
  const rows = await ch.query<{ visitor: string; session: string; day: number }>(
    `SELECT toString(visitor) AS visitor, toString(session) AS session, day FROM (${chosen})
     WHERE (visitor, session) IN (SELECT toUInt64(t.1), toUInt64(t.2)
       FROM ${tuplesIn({ visitors: 'String', sessions: 'String' })})`,
    {
      ...selection.params,
      ...calendar,
      workspace: workspaceId,
      build,
      visitors: sessions.map(({ visitor }) => visitor),
      sessions: sessions.map(({ session }) => session),
      first_day: localDayAt(from, timezone),
      last_day: localDayAt(to, timezone),
      from: from - 2 * dayMs,
      to: to + 3 * dayMs,
    },
  )
  const key = (visitor: string, session: string, day: number) => `${visitor} ${session} ${day}`
  const found = new Set(rows.map(({ visitor, session, day }) => key(visitor, session, day)))
  return sessions.filter(({ visitor, session, sessionAt }) =>
    found.has(key(visitor, session, localDayAt(sessionAt, timezone))),
  )
}
