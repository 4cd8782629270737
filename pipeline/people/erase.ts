/**
 * Removes an erased person's events, and computes the touched figures again. This is done under the fold's lease, once
 * everything that was answered before the erasure is folded:
 *
 *   mark the days' cells stale ─► delete pending webhook events, replays, copies and events ─► delete derived rows
 *   ─► record repaired hours ─► write the days' cells anew ─► done
 *
 * The repaired hours make the next fold derive the remaining rows anew: events of others on a shared browser, and of
 * servers. Every step may be repeated: an erasure that died is done again, and finds less.
 */
import type { BoundSql } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { timesIn } from '../../clickhouse/queries/people/browser-times.ts'
import { eventMs } from '../../clickhouse/rollups/event-sql.ts'
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { findContactsByHash } from '../../postgres/tables/contacts.ts'
import {
  type ErasedPlace,
  type Erasure,
  endErasure,
  forgetConversions,
  nextErasure,
  notePlaces,
  noteTry,
  reopenErasure,
} from '../../postgres/tables/erasures.ts'
import { recordRepairs } from '../../postgres/tables/event-repairs.ts'
import { type BuildDay, listOpenBuilds, markCellsFresh, markCellsStale } from '../../postgres/tables/figure-builds.ts'
import { rangesOf, readFoldedAsOf, readFoldState, takeFoldVersion } from '../../postgres/tables/folds.ts'
import type { Log } from '../../runtime/log.ts'
import { conversionsPerLookUp, visitorsPerLookUpMax } from '../../schemas/limits/figure-limits.ts'
import { hourMs, localDayAt } from '../../schemas/time/time-zone.ts'
import { deleteRows } from '../fold/delete-rows.ts'
import type { Folding } from '../fold/fold.ts'
import { inPortions } from '../fold/group-by.ts'
import { lastClosedDay, writeCells } from '../fold/write-cells.ts'
import { eraseReplays } from './erase-replays.ts'

const mutationDeadlineMs = 60 * 60_000
/** ClickHouse takes a parameter of at most 128 KiB. */
const idsPerParameter = 5_000
const parametersPerMutation = 10

/**
 * @param now milliseconds since 1970
 * @returns false: there is none that can be done now
 * @throws the error that an erasure failed by; the next call takes another, where one waits
 */
export async function eraseNext(work: Folding, now: number, log?: Log): Promise<boolean> {
  const { pg, ensureLease } = work
  const erasure = await nextErasure(pg)
  if (erasure === undefined || (await readFoldedAsOf(pg)).asOf < erasure.requestedAt) return false
  await ensureLease()
  await noteTry(pg, erasure.id)
  try {
    await erase(work, erasure, now)
  } catch (error) {
    log?.warn({ err: error, erasure: erasure.id }, 'an erasure failed, and is tried again after the others')
    throw error
  }
  return true
}

/**
 * Reopens a finished erasure if events of its person arrived in ClickHouse later. They were answered before it, on a
 * node that was away or had them loaded anew.
 * @returns whether there are such events
 */
export async function reopenIfLate(
  pg: Pick<Postgres, 'query'>,
  ch: Pick<ClickHouse, 'query'>,
  erasure: Erasure,
): Promise<boolean> {
  if ((await findPlaces(ch, await eventsOf(pg, ch, erasure))).length === 0) return false
  await reopenErasure(pg, erasure.id)
  return true
}

async function erase(work: Folding, erasure: Erasure, now: number): Promise<void> {
  const { pg, ch } = work
  const events = await eventsOf(pg, ch, erasure)
  const places = erasure.places ?? (await findPlaces(ch, events))
  if (erasure.places === null) await notePlaces(pg, erasure.id, places)
  await removeAndDeriveAnew(work, { erasure, events, places }, now)
  await endErasure(
    pg,
    erasure.id,
    places.reduce((sum, { events }) => sum + events, 0),
  )
}

function findPlaces(ch: Pick<ClickHouse, 'query'>, { sql, params }: BoundSql): Promise<ErasedPlace[]> {
  return ch.query<ErasedPlace>(
    `SELECT toString(events.visitor) AS visitor, intDiv(toUnixTimestamp(occurred_at), 3600) AS hour, count() AS events
     FROM events WHERE ${sql} GROUP BY events.visitor, hour`,
    params,
    { isLong: true, deadlineMs: mutationDeadlineMs },
  )
}

async function removeAndDeriveAnew(
  work: Folding,
  {
    erasure,
    events,
    places,
  }: { readonly erasure: Erasure; readonly events: BoundSql; readonly places: readonly ErasedPlace[] },
  now: number,
): Promise<void> {
  const { pg, ch, ensureLease } = work
  const { workspaceId } = erasure
  const builds = (await listOpenBuilds(pg)).filter((build) => build.workspaceId === workspaceId)
  const days: BuildDay[] = []
  for (const { build, timezone, cellsThrough } of builds) {
    if (cellsThrough === null) continue
    const own = places.map(({ hour }) => localDayAt(hour * hourMs, timezone))
    // An hour may be of two days, where a timezone is half an hour off.
    const later = places.map(({ hour }) => localDayAt((hour + 1) * hourMs - 1, timezone))
    // A closing of days that died may have left cells behind `cellsThrough`.
    const over = Math.max(cellsThrough, lastClosedDay(timezone, now))
    const touched = [...new Set([...own, ...later])].filter((day) => day <= over)
    days.push(...touched.map((day) => ({ build, workspaceId, timezone, day })))
  }
  const throughOf = new Map(builds.map(({ build, cellsThrough }) => [build, cellsThrough]))
  const read = days.filter(({ build, day }) => day <= throughOf.get(build)!)
  await markCellsStale(pg, read)
  await forgetTold(pg, ch, workspaceId, events)
  // While the events still say which sessions were theirs.
  await eraseReplays(ch, erasure, { sql: `SELECT session FROM events WHERE ${events.sql}`, params: events.params })
  await deleteEvents(work, workspaceId, events)
  await ensureLease()
  const visitors = [...new Set(places.map(({ visitor }) => visitor))].filter((visitor) => visitor !== '0')
  const ofServers = places.filter(({ visitor }) => visitor === '0').map(({ hour }) => hour)
  await deleteDerived(ch, workspaceId, visitors, ofServers)
  const left = await readHoursLeft(ch, workspaceId, visitors)
  const repaired = [...left, ...ofServers.map((hour) => ({ visitor: '0', hour }))]
  await recordRepairs(
    pg,
    repaired.map((one) => ({ workspaceId, ...one })),
  )
  const version = await takeFoldVersion(pg)
  const visible = rangesOf((await readFoldState(pg)).folded)
  await writeCells(ch, days, { version, visible })
  await markCellsFresh(pg, read, version)
}

/**
 * SQL condition of the person's events. An event with the e-mail of another contact is that contact's, whoever has the
 * browser, as in clickhouse/queries/people/contact-events.ts. An unbound browser has all of its events.
 */
async function eventsOf(pg: Queryable, ch: Pick<ClickHouse, 'query'>, erasure: Erasure): Promise<BoundSql> {
  const { workspaceId, emailHash } = erasure
  const { sql, params } = eventsBy(erasure)
  if (emailHash === null) return { sql, params }
  const named = await ch.query<{ hash: string }>(
    `SELECT DISTINCT toString(email_hash) AS hash FROM events
     WHERE ${sql} AND email_hash NOT IN (0, toUInt64({email_hash:String}))`,
    params,
    { isLong: true, deadlineMs: mutationDeadlineMs },
  )
  const others: string[] = []
  for (const some of inPortions(named, visitorsPerLookUpMax)) {
    const contacts = await findContactsByHash(
      pg,
      some.map(({ hash }) => ({ workspaceId, hash })),
    )
    others.push(...contacts.map((contact) => contact.emailHash))
  }
  if (others.length === 0) return { sql, params }
  return {
    sql: `${sql} AND email_hash NOT IN (SELECT toUInt64(arrayJoin({others:Array(String)})))`,
    params: { ...params, others },
  }
}

/** Events with the e-mail, and those of the browsers in the person's times; none that came after the erasure was ordered. */
function eventsBy({ workspaceId, emailHash, browsers, requestedAt }: Erasure): BoundSql {
  const times = timesIn(browsers, 'browser_times')
  const inTimes = `id IN (
    SELECT id FROM (SELECT id, visitor, occurred_at FROM events WHERE workspace_id = {workspace:UInt32}) AS known
    INNER JOIN ${times.sql} AS times ON visitor = time_visitor
    WHERE (${eventMs}, id) >= (from_at, from_id) AND (${eventMs}, id) < (to_at, to_id))`
  const theirs = [
    ...(emailHash === null ? [] : ['email_hash = toUInt64({email_hash:String})']),
    ...(browsers.length === 0 ? [] : [inTimes]),
  ]
  return {
    sql: `workspace_id = {workspace:UInt32} AND (${theirs.join(' OR ') || '0'})
      AND ${eventMs} + receive_delay_ms <= {requested_at:Int64}`,
    params: { workspace: workspaceId, email_hash: emailHash ?? '0', requested_at: requestedAt, ...times.params },
  }
}

/** Deletes pending webhook events about the person's conversions, while the events still say which those are. */
async function forgetTold(
  pg: Postgres,
  ch: Pick<ClickHouse, 'query'>,
  workspaceId: number,
  { sql, params }: BoundSql,
): Promise<void> {
  const rows = await ch.query<{ id: number }>(`SELECT id FROM events WHERE ${sql} AND kind = 'conversion'`, params, {
    isLong: true,
    deadlineMs: mutationDeadlineMs,
  })
  for (const some of inPortions(rows, conversionsPerLookUp)) {
    const ids = some.map(({ id }) => id)
    await pg.transaction((tx) => forgetConversions(tx, workspaceId, ids))
  }
}

/**
 * Copies of the events go first: a repeat finds only those whose event is still there. A mutation looks at each part of its table, of
 * which there may be thousands. So it names the ids, and looks nothing up.
 */
async function deleteEvents(
  { ch, ensureLease }: Pick<Folding, 'ch' | 'ensureLease'>,
  workspace: number,
  { sql, params }: BoundSql,
): Promise<void> {
  const rows = await ch.query<{ id: number }>(`SELECT id FROM events WHERE ${sql} ORDER BY id`, params, {
    isLong: true,
    deadlineMs: mutationDeadlineMs,
  })
  const lists = inPortions(
    rows.map(({ id }) => id),
    idsPerParameter,
  )
  for (const some of inPortions(lists, parametersPerMutation)) {
    const isNamed = some.map((_, at) => `id IN {ids_${at}:Array(UInt64)}`).join(' OR ')
    const ids = Object.fromEntries(some.map((list, at) => [`ids_${at}`, list]))
    for (const table of ['person_events', 'events']) {
      await ensureLease()
      await ch.command(
        `ALTER TABLE {table:Identifier} DELETE WHERE workspace_id = {workspace:UInt32} AND (${isNamed})
         SETTINGS mutations_sync = 1`,
        { ...ids, table, workspace },
        { deadlineMs: mutationDeadlineMs },
      )
    }
  }
}

async function deleteDerived(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  workspaceId: number,
  visitors: readonly string[],
  serverHours: readonly number[],
): Promise<void> {
  const params = { workspace: workspaceId, visitors, hours: serverHours.map(String) }
  const ofVisitors = 'has(arrayMap(one -> toUInt64(one), {visitors:Array(String)}), visitor)'
  const ofServers = 'visitor = 0 AND has(arrayMap(one -> toUInt64(one), {hours:Array(String)}), session)'
  await deleteRows(ch, `workspace_id = {workspace:UInt32} AND (${ofVisitors} OR (${ofServers}))`, params, [
    'sessions',
    'credits',
  ])
  await deleteRows(ch, `workspace_id = {workspace:UInt32} AND ${ofVisitors}`, params, ['visitors'])
}

/** Hours in which visitors have events that stay. */
async function readHoursLeft(
  ch: Pick<ClickHouse, 'query'>,
  workspaceId: number,
  visitors: readonly string[],
): Promise<{ visitor: string; hour: number }[]> {
  return ch.query<{ visitor: string; hour: number }>(
    `SELECT DISTINCT toString(events.visitor) AS visitor, intDiv(toUnixTimestamp(occurred_at), 3600) AS hour FROM events
     WHERE workspace_id = {workspace:UInt32} AND events.visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))
     ORDER BY visitor, hour`,
    { workspace: workspaceId, visitors },
    { isLong: true, deadlineMs: mutationDeadlineMs },
  )
}
