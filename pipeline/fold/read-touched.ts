/** Visitors with new events, from when on, and their rows of earlier folds. */
import { tuplesIn } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { eventMs, idsIn, isDatable } from '../../clickhouse/rollups/event-sql.ts'
import type { EventRepair } from '../../postgres/tables/figures/folds.ts'
import { type IdRange, subtractRanges } from '../../schemas/event/id-ranges.ts'
import {
  busyVisitorEvents,
  foldDeadlineMs,
  knownDaysMax,
  sessionsPerVisitorDayMax,
} from '../../schemas/limits/figure-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import type { VisitorHistory } from './derive-rows.ts'
import type { Touch } from './read-session-days.ts'

/** A visitor with new events; '0' stands for server events. */
export interface TouchedVisitor {
  readonly workspaceId: number
  readonly visitor: string
  /** Time of the earliest of them; milliseconds since 1970. */
  readonly firstAt: number
  /** UTC hours (since 1970) that have some. */
  readonly hours: readonly number[]
}

/** Where the ids looked at hold too few events, as many times more are looked at. */
const spanGrowth = 8

/**
 * The id up to which new events are taken up in one fold, so that they are at most `max`. Looks at the oldest ids first: of
 * a hundred million new events, a fold would otherwise sort the ids of all.
 * @param added in order
 * @returns undefined where all of them fit
 */
export async function findCut(
  ch: Pick<ClickHouse, 'query'>,
  added: readonly IdRange[],
  max: number,
): Promise<number | undefined> {
  // The usual case: there are at most `max` ids, so there can't be more events.
  if (added.reduce((ids, { from, through }) => ids + through - from + 1, 0) <= max) return undefined
  const [first, last] = [added[0]?.from ?? 0, added.at(-1)?.through ?? 0]
  for (let span = max; ; span *= spanGrowth) {
    const through = Math.min(first + span, last)
    const { sql, params } = idsIn(
      subtractRanges(added, [{ from: through + 1, through: Number.MAX_SAFE_INTEGER }]),
      'oldest',
    )
    const [row] = await ch.query<{ id: number }>(
      `SELECT id FROM events WHERE ${sql} ORDER BY id LIMIT 1 OFFSET {max:UInt64}`,
      { ...params, max },
      { deadlineMs: foldDeadlineMs },
    )
    if (row !== undefined) return row.id - 1
    if (through === last) return undefined
  }
}

/**
 * @param added ids of new events
 * @param repairs hours whose events, or whose events of one visitor, count as new
 * @returns undefined where more than `max` events are new by their ids
 */
export async function readTouched(
  ch: Pick<ClickHouse, 'query'>,
  added: readonly IdRange[],
  repairs: readonly EventRepair[],
  max: number,
): Promise<TouchedVisitor[] | undefined> {
  const { sql, params } = idsIn(added, 'added')
  const repaired = (key: string, columns: string, which: string) => `(${key}) IN (SELECT ${columns}
    FROM ${tuplesIn({ repair_workspaces: 'UInt32', repair_hours: 'UInt32', repair_visitors: 'String' })}
    WHERE ${which})`
  const hour = "t.1, toDateTime(t.2 * 3600, 'UTC')"
  // Apart, because of conditions that are joined by OR neither the index of ids nor the order key is used.
  const ofRepairs = [
    ...(repairs.some(({ visitor }) => visitor === null)
      ? [repaired('workspace_id, toStartOfHour(occurred_at)', hour, "t.3 = ''")]
      : []),
    ...(repairs.some(({ visitor }) => visitor !== null)
      ? [repaired('workspace_id, toStartOfHour(occurred_at), visitor', `${hour}, toUInt64(t.3)`, "t.3 != ''")]
      : []),
  ]
  const part = (isAdded: 0 | 1, which: string) =>
    `SELECT workspace_id, visitor, occurred_at, ${isAdded} AS is_added FROM events WHERE ${which} AND ${isDatable}`
  const parts = [`${part(1, sql)} LIMIT {limit:UInt64}`, ...ofRepairs.map((which) => part(0, which))]
  const rows = await ch.query<TouchedVisitor & { readonly addedEvents: number }>(
    `SELECT workspace_id AS workspaceId, toString(visitor) AS visitor, min(${eventMs}) AS firstAt,
       groupUniqArray(intDiv(${eventMs}, ${hourMs})) AS hours, sum(is_added) AS addedEvents
     FROM (${parts.map((each) => `SELECT * FROM (${each})`).join(' UNION ALL ')}) AS touched GROUP BY workspaceId, touched.visitor`,
    {
      ...params,
      limit: max + 1,
      ...(repairs.length > 0 && {
        repair_workspaces: repairs.map(({ workspaceId }) => workspaceId),
        repair_hours: repairs.map(({ hour }) => hour),
        repair_visitors: repairs.map(({ visitor }) => visitor ?? ''),
      }),
    },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
  return rows.reduce((events, { addedEvents }) => events + addedEvents, 0) > max ? undefined : rows
}

export interface KnownVisitor {
  readonly history: VisitorHistory
  /** Days from two before `fromDay` on, with the UTC hours that have events: bit n is the n-th from the day's beginning. */
  readonly days: readonly (readonly [day: number, hours: number])[]
  /** Events of these days, as far as they are counted. */
  readonly events: number
  /** More may be stored than are counted, or far more than visitors have. */
  readonly isBusy: boolean
}

/**
 * The rows that earlier folds wrote about visitors, by workspace and hash of the visitor.
 * @param visitors all with the same first touched day
 */
export async function readKnown(
  ch: Pick<ClickHouse, 'query'>,
  visitors: readonly { readonly build: number; readonly workspaceId: number; readonly visitor: string }[],
  fromDay: number,
): Promise<Map<string, KnownVisitor>> {
  interface Row {
    w: number
    v: string
    days: [number, number][]
    last_days: [keys: string[], days: number[]]
    touch: readonly [at: number, source: string, medium: string]
    counted: number
    most_events: number
  }
  const rows = await ch.query<Row>(
    `SELECT workspace_id AS w, toString(visitor) AS v, groupArrayIf((day, hours), day >= {from_day:UInt16} - 2) AS days,
       sumIf(events, day >= {from_day:UInt16} - 2) AS counted, maxIf(events, day >= {from_day:UInt16} - 2) AS most_events,
       maxMapIf(arrayMap(key -> toString(key), keys), arrayMap(key -> day, keys), day < {from_day:UInt16} - 1) AS last_days,
       argMaxIf((toUnixTimestamp64Milli(touch_at), toString(touch_source), toString(touch_medium)), touch_at,
         day < {from_day:UInt16} - 1 AND touch_source != '') AS touch
     FROM visitors FINAL
     PREWHERE (workspace_id, build, visitor) IN (
       SELECT t.1, t.2, toUInt64(t.3)
       FROM ${tuplesIn({ workspaces: 'UInt32', builds: 'UInt32', visitors: 'String' })}) AND day >= {from_day:UInt16} - 1 - ${knownDaysMax}
     GROUP BY workspace_id, visitor`,
    {
      from_day: fromDay,
      workspaces: visitors.map(({ workspaceId }) => workspaceId),
      builds: visitors.map(({ build }) => build),
      visitors: visitors.map(({ visitor }) => visitor),
    },
    { isLong: true, deadlineMs: foldDeadlineMs },
  )
  return new Map(
    rows.map(({ w, v, days, counted, most_events, last_days: [keys, lastDays], touch: [at, source, medium] }) => [
      nameOf(w, v),
      {
        days,
        events: counted,
        // `counted` lacks sessions over a day's limit. Such a day has at least as many events as the limit, so it is busy.
        isBusy: counted >= busyVisitorEvents || most_events >= sessionsPerVisitorDayMax,
        history: {
          lastDays: new Map(keys.map((key, place) => [key, lastDays[place]!])),
          lastTouch: source === '' ? undefined : ([at, 0, source, medium] satisfies Touch),
        },
      },
    ]),
  )
}

/** A visitor of a workspace as one text. */
export function nameOf(workspaceId: number, visitor: string): string {
  return `${workspaceId} ${visitor}`
}
