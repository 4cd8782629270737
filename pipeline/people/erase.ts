/**
 * Removes an erased person's events, and computes the touched figures again. This begins once everything that was
 * answered before the erasure is folded. Each step runs under the fold's lease:
 *
 *   delete pending webhook events, replays and events ─► no event is left: note the fold's version ─► delete copies, and rows
 *   derived before ─► mark the days' cells stale, record repaired hours, have contacts refreshed ─► write each day's cells
 *   anew once, some days at a time ─► done
 *
 * A step that deletes rows begins mutations in ClickHouse, and waits for none. A mutation takes some tenths of a second
 * for each part of a table. Folds go on until a later call finds the mutations done. Rows that folds derive meanwhile
 * may have the person's events. So derived rows of earlier versions are deleted after the last event is gone.
 *
 * The repaired hours make the next fold derive the remaining rows anew: events of others on a shared browser, and of
 * servers. Until then those rows are missing, so an erasure that deletes them goes before all others. Every step looks
 * for what is left, and may be repeated: an erasure that died is done again, and finds less.
 */
import type { BoundSql } from '../../clickhouse/bound-sql.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { readMutations } from '../../clickhouse/mutations.ts'
import type { Postgres } from '../../postgres/client.ts'
import { type BuildDay, markCellsStale } from '../../postgres/tables/figures/figure-builds.ts'
import { readFoldedAsOf, takeFoldVersion } from '../../postgres/tables/figures/folds.ts'
import { bindFromBeginning, readBindingsOfVisitors } from '../../postgres/tables/people/bindings.ts'
import { findContactsByHash } from '../../postgres/tables/people/contacts.ts'
import {
  type ErasedPlace,
  type Erasure,
  endErasure,
  forgetConversions,
  nextErasure,
  noteCleared,
  notePlaces,
  noteRepaired,
  noteSuccess,
  noteTry,
} from '../../postgres/tables/people/erasures.ts'
import { recordRepairs } from '../../postgres/tables/people/event-repairs.ts'
import { addPeopleWork } from '../../postgres/tables/people/people-work.ts'
import { inPortions } from '../../runtime/lists.ts'
import type { Log } from '../../runtime/log.ts'
import { conversionsPerLookUp, visitorsPerLookUpMax } from '../../schemas/limits/figure-limits.ts'
import { isFromAhead } from '../../schemas/time/clock-ahead.ts'
import { deleteRows } from '../fold/delete-rows.ts'
import type { LeasedStores } from '../fold/fold.ts'
import { eraseReplays } from './erase-replays.ts'
import { touchedDays, writeSomeCells } from './erased-days.ts'
import { erasedLookUpMs, eventsOf, findPlaces } from './erased-events.ts'
import { holdMerging } from './merge.ts'

/** A step of an erasure failed; `cause` says why. */
export class ErasureError extends Error {
  constructor(
    readonly erasureId: number,
    cause: unknown,
  ) {
    super(`erasure ${erasureId} fails`, { cause })
  }
}

/** They stand in its text. */
const idsPerMutation = 50_000
const lookUp = { isLong: true, deadlineMs: erasedLookUpMs }

/**
 * Does the next step of an erasure that can be done now.
 * @param now milliseconds since 1970
 * @returns whether it was the last one of its erasure
 * @throws {ErasureError} where the step fails; the next call takes another erasure, where one waits
 */
export async function eraseNext(work: LeasedStores, now: number, log?: Log): Promise<boolean> {
  const { pg, ch, ensureLease } = work
  const erasure = await nextErasure(pg)
  if (erasure === undefined) return false
  // An erasure dated by a fast clock would block all others, so it doesn't wait. Its next step deletes events that come later.
  const { asOf } = await readFoldedAsOf(pg)
  if (asOf < erasure.requestedAt && !isFromAhead(erasure.requestedAt, now)) return false
  if (await isDeleting(ch, erasure.id)) return false
  await ensureLease()
  await noteTry(pg, erasure.id)
  try {
    const isDone = await doStep(work, erasure, now)
    await noteSuccess(pg, erasure.id)
    return isDone
  } catch (error) {
    log?.warn({ err: error, erasure: erasure.id }, 'an erasure failed, and is tried again after the others')
    throw new ErasureError(erasure.id, error)
  }
}

/**
 * Whether a mutation is under way in a table that has something of people. The next step waits until all of them are done.
 * @throws where one fails: it is never done
 */
async function isDeleting(ch: Pick<ClickHouse, 'query'>, erasureId: number): Promise<boolean> {
  const tables = ['events', 'person_events', 'replay_chunks', 'sessions', 'visitors', 'credits']
  const { mutations, failure } = await readMutations(ch, tables)
  if (failure !== '') throw new Error(`erasure ${erasureId} waits, as a mutation of ClickHouse fails: ${failure}`)
  return mutations > 0
}

/** @returns whether the erasure is done */
async function doStep(work: LeasedStores, erasure: Erasure, now: number): Promise<boolean> {
  const { pg, ensureLease } = work
  if (erasure.clearedVersion === null) {
    if (await deleteSomeEvents(work, erasure)) return false
    await noteCleared(pg, erasure.id, await takeFoldVersion(pg))
    return false
  }
  const places = erasure.places!
  if (!erasure.isRepaired) {
    if (await deleteDerived(work, erasure, places, erasure.clearedVersion)) return false
    await ensureLease()
    await noteRepaired(pg, erasure.id, await repair(work, erasure, places, now))
    return false
  }
  if (await writeSomeCells(work, erasure, await touchedDays(pg, erasure.workspaceId, places, now))) return false
  await endErasure(
    pg,
    erasure.id,
    places.reduce((sum, { events }) => sum + events, 0),
  )
  return true
}

/** @returns false: no event is left, and no replay */
async function deleteSomeEvents({ pg, ch, ensureLease }: LeasedStores, erasure: Erasure): Promise<boolean> {
  const events = await eventsOf(pg, ch, erasure)
  const found = await findPlaces(ch, events)
  const places = withNew(erasure.places ?? [], found)
  if (places.length !== erasure.places?.length) await notePlaces(pg, erasure.id, places)
  if (found.length === 0) return (await eraseReplays(ch, erasure, { waits: false })) > 0
  await forgetTold(pg, ch, erasure.workspaceId, events)
  // While the events still say which sessions were theirs.
  const ofEvents = { sql: `SELECT session FROM events WHERE ${events.sql}`, params: events.params }
  if ((await eraseReplays(ch, erasure, { ofEvents, waits: false })) > 0) return true
  const ids = await readIds(ch, `SELECT id FROM events WHERE ${events.sql}`, events.params)
  await ensureLease()
  await deleteIds(ch, 'events', erasure.workspaceId, ids)
  return ids.length > 0
}

/** Events may come late, while earlier ones are being deleted. */
function withNew(known: readonly ErasedPlace[], found: readonly ErasedPlace[]): ErasedPlace[] {
  const keyOf = ({ visitor, hour }: ErasedPlace) => `${visitor} ${hour}`
  const keys = new Set(known.map(keyOf))
  return [...known, ...found.filter((place) => !keys.has(keyOf(place)))]
}

/** Deletes pending webhook events about the person's conversions, while the events still say which those are. */
async function forgetTold(
  pg: Postgres,
  ch: Pick<ClickHouse, 'query'>,
  workspaceId: number,
  { sql, params }: BoundSql,
): Promise<void> {
  const conversions = `SELECT id FROM events WHERE ${sql} AND kind = 'conversion'`
  const rows = await ch.query<{ id: number }>(conversions, params, lookUp)
  for (const some of inPortions(rows, conversionsPerLookUp)) {
    const ids = some.map(({ id }) => id)
    await pg.transaction((tx) => forgetConversions(tx, workspaceId, ids))
  }
}

/** @returns those of one mutation */
async function readIds(
  ch: Pick<ClickHouse, 'query'>,
  sql: string,
  params: Record<string, unknown>,
): Promise<readonly number[]> {
  const limited = { ...params, max: idsPerMutation }
  const rows = await ch.query<{ id: number }>(`${sql} ORDER BY id LIMIT {max:UInt64}`, limited, lookUp)
  return rows.map(({ id }) => id)
}

/** A mutation looks at each part of its table, of which there may be thousands. So it names the ids, and looks nothing up. */
async function deleteIds(
  ch: Pick<ClickHouse, 'command'>,
  table: 'events' | 'person_events',
  workspace: number,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return
  await ch.command(
    `ALTER TABLE {table:Identifier} DELETE WHERE workspace_id = {workspace:UInt32} AND id IN {ids:Array(UInt64)} SETTINGS mutations_sync = 0`,
    { ids, table, workspace },
    { deadlineMs: erasedLookUpMs },
  )
}

/**
 * Deletes copies of events that are gone, and rows that were derived before `version`.
 * @returns whether there were any
 */
async function deleteDerived(
  { ch, ensureLease }: Pick<LeasedStores, 'ch' | 'ensureLease'>,
  { workspaceId: workspace }: Erasure,
  places: readonly ErasedPlace[],
  version: number,
): Promise<boolean> {
  const hours = [...new Set(places.map(({ hour }) => hour))]
  const everybody = [...new Set(places.map(({ visitor }) => visitor))]
  const inPlaces = `workspace_id = {workspace:UInt32} AND visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))
    AND toStartOfHour(occurred_at) IN (SELECT toDateTime(arrayJoin({hours:Array(UInt32)}) * 3600, 'UTC'))`
  const copies = await readIds(
    ch,
    `SELECT DISTINCT id FROM person_events WHERE ${inPlaces} AND id NOT IN (SELECT id FROM events WHERE ${inPlaces})`,
    { workspace, visitors: everybody, hours },
  )
  await ensureLease()
  await deleteIds(ch, 'person_events', workspace, copies)
  const { visitors, serverHours } = divide(places)
  const params = { workspace, version, visitors, hours: serverHours.map(String) }
  const isTheirs = 'has(arrayMap(one -> toUInt64(one), {visitors:Array(String)}), visitor)'
  const isOfServers = 'visitor = 0 AND has(arrayMap(one -> toUInt64(one), {hours:Array(String)}), session)'
  const isEarlier = 'workspace_id = {workspace:UInt32} AND version < {version:UInt64}'
  const ofBoth = `${isEarlier} AND (${isTheirs} OR (${isOfServers}))`
  const rows =
    (await deleteRows(ch, ofBoth, params, { of: ['sessions', 'credits'], waits: false })) +
    (await deleteRows(ch, `${isEarlier} AND ${isTheirs}`, params, { of: ['visitors'], waits: false }))
  return copies.length + rows > 0
}

/** Browsers, and the hours of server events. */
function divide(places: readonly ErasedPlace[]): { visitors: readonly string[]; serverHours: readonly number[] } {
  return {
    visitors: [...new Set(places.map(({ visitor }) => visitor))].filter((visitor) => visitor !== '0'),
    serverHours: places.filter(({ visitor }) => visitor === '0').map(({ hour }) => hour),
  }
}

/**
 * Has readers count the days from `sessions`, and the next fold derive what stays. Contacts that the copies counted for are
 * computed again: the person may have been identified anew meanwhile.
 * @returns the days whose cells are to be written anew
 */
async function repair(
  { pg, ch }: LeasedStores,
  { workspaceId, emailHash, browsers }: Erasure,
  places: readonly ErasedPlace[],
  now: number,
): Promise<BuildDay[]> {
  const days = (await touchedDays(pg, workspaceId, places, now)).filter(({ isRead }) => isRead)
  await markCellsStale(pg, days)
  const { visitors, serverHours } = divide(places)
  // Only now: until their events were gone, these would have been the next contact's.
  await pg.transaction(async (tx) => {
    await holdMerging(tx)
    await bindFromBeginning(tx, workspaceId, [...new Set(browsers.map(({ visitor }) => visitor))])
  })
  const contactIds = await findContactsOf(pg, workspaceId, emailHash, visitors)
  await addPeopleWork(
    pg,
    contactIds.map((contactId) => ({ workspaceId, contactId })),
  )
  const left = await readHoursLeft(ch, workspaceId, visitors)
  const repaired = [...left, ...serverHours.map((hour) => ({ visitor: '0', hour }))]
  await recordRepairs(
    pg,
    repaired.map((one) => ({ workspaceId, ...one })),
  )
  return days
}

/** Contacts with the e-mail, or with one of the browsers. */
async function findContactsOf(
  pg: Postgres,
  workspaceId: number,
  emailHash: string | null,
  visitors: readonly string[],
): Promise<number[]> {
  const named = emailHash === null ? [] : await findContactsByHash(pg, [{ workspaceId, hash: emailHash }])
  const found = new Set(named.map(({ contactId }) => contactId))
  for (const some of inPortions(visitors, visitorsPerLookUpMax)) {
    const bindings = await readBindingsOfVisitors(
      pg,
      some.map((visitor) => ({ workspaceId, visitor })),
    )
    for (const { contactId } of bindings) found.add(contactId)
  }
  return [...found]
}

/** Hours in which visitors have events that stay. */
function readHoursLeft(ch: Pick<ClickHouse, 'query'>, workspaceId: number, visitors: readonly string[]) {
  return ch.query<{ visitor: string; hour: number }>(
    `SELECT DISTINCT toString(events.visitor) AS visitor, intDiv(toUnixTimestamp(occurred_at), 3600) AS hour FROM events
     WHERE workspace_id = {workspace:UInt32} AND events.visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))
     ORDER BY visitor, hour`,
    { workspace: workspaceId, visitors },
    lookUp,
  )
}
