/**
 * Recomputes the figures of contacts after folds. It reads the events folded since the last run and the work queued by
 * merges and repairs. It copies events of known people to `person_events`, sums them up, and writes the figures and its
 * progress in one transaction. After a crash it runs again with the same result.
 */

import {
  type ContactSums,
  gatherContacts,
  type KnownContacts,
  measureEventsOf,
  readVisitorsWith,
  sumContacts,
  type TouchParts,
} from '../../clickhouse/queries/people/contact-events.ts'
import { readTouchedConversions } from '../../clickhouse/queries/people/contact-touches.ts'
import {
  copyEventsOf,
  copyEventsWithEmail,
  eventsIn,
  readEmailsIn,
  readVisitorsIn,
  type VisitorOf,
} from '../../clickhouse/queries/people/copy-events.ts'
import type { Queryable } from '../../postgres/client.ts'
import { listOpenBuildsOf } from '../../postgres/tables/figures/figure-builds.ts'
import { rangesOf, readFoldState } from '../../postgres/tables/figures/folds.ts'
import { gather } from '../../postgres/tables/messages/conversion-messages.ts'
import { readBindingsOfContacts, readBindingsOfVisitors } from '../../postgres/tables/people/bindings.ts'
import {
  type ContactFigures,
  type ContactKey,
  findContactsByHash,
  listWorkspacesOfContacts,
  noteSeen,
  readContactKeys,
  writeFigures,
} from '../../postgres/tables/people/contacts.ts'
import {
  endPeopleWork,
  type PeopleWork,
  postponeContacts,
  readPeopleDone,
  takePeopleWork,
} from '../../postgres/tables/people/people-work.ts'
import {
  type PersonCreditChanges,
  readCreditsOfContacts,
  writePersonCredits,
} from '../../postgres/tables/people/person-credits.ts'
import { listUntoldMerges } from '../../postgres/tables/people/untold-merges.ts'
import { recreditContacts } from '../../postgres/tables/revenue/revenue-credits.ts'
import { listWorkspacesAmong } from '../../postgres/tables/workspaces/workspaces.ts'
import { groupBy, inPortions } from '../../runtime/lists.ts'
import { type IdRange, subtractRanges } from '../../schemas/event/id-ranges.ts'
import { conversionsPerLookUp, foldEventsMax, visitorsPerLookUpMax } from '../../schemas/limits/figure-limits.ts'
import {
  contactsPerRefreshMs,
  contactsPerStatement,
  eventsPerContactMax,
  pastEventsPerRefresh,
  peopleWorkMax,
} from '../../schemas/limits/people-limits.ts'
import { isFromAhead } from '../../schemas/time/clock-ahead.ts'
import type { LeasedStores } from '../fold/fold.ts'
import { findCut } from '../fold/read-touched.ts'
import { keptFromOf } from '../retention/retention.ts'
import { copyPast, withinPastMax } from './copy-past.ts'
import { holdMerging } from './merge.ts'
import { creditChanges } from './person-credits.ts'
import { writeConversions } from './tell-conversions.ts'
import { writeMergedToOutbox } from './write-outbox-rows.ts'

export interface RefreshLimits {
  /** A contact with more events is left out. */
  readonly eventsMax: number
  /** Time for computing contacts. */
  readonly timeMs: number
  /** Bound on copied earlier events of newly bound browsers. */
  readonly pastMax: number
}

const usualLimits: RefreshLimits = {
  eventsMax: eventsPerContactMax,
  timeMs: contactsPerRefreshMs,
  pastMax: pastEventsPerRefresh,
}

/**
 * @param now milliseconds since 1970
 * @returns false: more work waits
 */
export async function refreshPeople(
  work: LeasedStores,
  now: number,
  limits: Partial<RefreshLimits> = {},
): Promise<boolean> {
  const { pg, ensureLease } = work
  const { eventsMax, timeMs, pastMax } = { ...usualLimits, ...limits }
  // In this order: each merge was committed with its work, and the fold's state read later covers all of that work.
  const untold = await listUntoldMerges(pg, peopleWorkMax)
  const taken = inTurns(await takePeopleWork(pg, peopleWorkMax))
  const waiting = await withinPastMax(work, taken, pastMax)
  const isAllTaken = taken.length < peopleWorkMax && waiting.length === taken.length
  const { folded, asOf } = await readFoldState(pg)
  const visible = rangesOf(folded)
  const done = await readPeopleDone(pg)
  // After an outage the rest comes with the next rounds: what is read of the added events is held at once.
  const unread = subtractRanges(visible, done)
  const cut = unread.length === 0 ? undefined : await findCut(work.ch, unread, foldEventsMax)
  const rest = cut === undefined ? [] : subtractRanges(unread, [{ from: 0, through: cut }])
  const added = subtractRanges(unread, rest)
  // The rest waits for the fold of what was answered before.
  const isAllRead = isAllTaken && rest.length === 0
  const isFolded = ({ boundAt }: (typeof untold)[number]) => boundAt <= asOf || isFromAhead(boundAt, now)
  const tellable = isAllRead ? untold.filter(isFolded) : []
  if (waiting.length === 0 && added.length === 0 && tellable.length === 0) return true
  const { contactIds, changed } = await copyNew(work, waiting, added, visible)
  await ensureLease()
  const workspaceIds = await listWorkspacesOfContacts(pg, [...contactIds])
  const keptFrom = keptFromOf(await listWorkspacesAmong(pg, workspaceIds), now)
  const timezones = await timezonesOf(pg, workspaceIds)
  const { computed, left } = await computeContacts(work, [...contactIds], { keptFrom, timezones, eventsMax, timeMs })
  const toTell = tellable.filter(({ contactId }) => !left.has(contactId)).map(({ id }) => id)
  // The events of these contacts are copied, so their payments can be credited. A crash before the end repeats it.
  for (const some of inPortions(changed, contactsPerStatement)) {
    await pg.transaction((tx) => recreditContacts(tx, some))
  }
  await pg.transaction(async (tx) => {
    // First, because it reads from ClickHouse: no contact is locked meanwhile.
    const told = await writeConversions(tx, work.ch, added, now)
    // Merges lock contacts in an order of their own.
    await holdMerging(tx)
    await writeFigures(
      tx,
      computed.flatMap(({ figures }) => figures),
      keptFrom,
    )
    for (const { leftOut } of computed) if (leftOut) await noteSeen(tx, leftOut)
    for (const { changed, gone } of computed.map(({ credits }) => credits)) {
      for (const some of inPortions(gone, conversionsPerLookUp))
        await writePersonCredits(tx, { changed: [], gone: some })
      for (const some of inPortions(changed, conversionsPerLookUp))
        await writePersonCredits(tx, { changed: some, gone: [] })
    }
    await writeMergedToOutbox(tx, work.ch, toTell, now)
    // Last: payments wait for the rows that it locks.
    await gather(tx, told, now)
    await endPeopleWork(tx, { workIds: waiting.map(({ id }) => id), from: done, done: subtractRanges(visible, rest) })
    await postponeContacts(tx, [...left])
  })
  return isAllRead && left.size === 0 && toTell.length < peopleWorkMax
}

/** Round-robin over workspaces, because a run may not reach the end. Contacts that an earlier run postponed come first. */
function inTurns(work: readonly PeopleWork[]): PeopleWork[] {
  const longestFirst = work.toSorted((a, b) => Number(b.isPostponed) - Number(a.isPostponed))
  return [...groupBy(longestFirst, ({ workspaceId }) => workspaceId).values()]
    .flatMap((own) => own.map((one, turn) => ({ one, turn })))
    .sort((a, b) => a.turn - b.turn)
    .map(({ one }) => one)
}

/**
 * Copies events of known people that aren't copied yet.
 * @returns the contacts whose figures may have changed, and those whose payments may have
 */
async function copyNew(
  { pg, ch, ensureLease }: LeasedStores,
  waiting: readonly PeopleWork[],
  added: readonly IdRange[],
  visible: readonly IdRange[],
): Promise<{ readonly contactIds: Set<number>; readonly changed: readonly number[] }> {
  const idsOf = (some: readonly PeopleWork[]) => some.flatMap(({ contactId }) => contactId ?? [])
  const news = idsOf(waiting.filter(({ isPostponed }) => !isPostponed))
  const contactIds = new Set(idsOf(waiting))
  const hours = waiting.flatMap(({ workspaceId, hour }) => (hour === null ? [] : [{ workspaceId, hour }]))
  if (added.length > 0 || hours.length > 0) {
    const which = eventsIn(added, hours)
    const [ofBrowsers, hashes] = await Promise.all([readVisitorsIn(ch, which), readEmailsIn(ch, which)])
    for (const visitors of inPortions(ofBrowsers, visitorsPerLookUpMax)) {
      await ensureLease()
      const bindings = await readBindingsOfVisitors(pg, visitors)
      for (const { contactId } of bindings) contactIds.add(contactId)
      await copyEventsOf(ch, distinct(bindings), which)
    }
    if (hashes.length > 0) await copyEventsWithEmail(ch, which)
    for (const some of inPortions(hashes, visitorsPerLookUpMax)) {
      for (const { contactId } of await findContactsByHash(pg, some)) contactIds.add(contactId)
    }
  }
  const ofPast = await copyPast({ pg, ch }, waiting, visible)
  for (const contactId of ofPast) contactIds.add(contactId)
  // A new contact takes over events with its e-mail, which counted for the contacts that their browsers are bound to.
  const keys = await readContactKeys(pg, news)
  for (const some of inPortions(keys, contactsPerStatement)) {
    const visitors = await readVisitorsWith(ch, some)
    for (const { contactId } of await readBindingsOfVisitors(pg, visitors)) contactIds.add(contactId)
  }
  return { contactIds, changed: [...new Set([...news, ...ofPast])] }
}

function distinct(visitors: readonly VisitorOf[]): VisitorOf[] {
  return [...new Map(visitors.map((one) => [`${one.workspaceId} ${one.visitor}`, one])).values()]
}

/** The timezone of the figures, by workspace. */
async function timezonesOf(pg: Queryable, workspaceIds: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const builds = (await listOpenBuildsOf(pg, workspaceIds)).filter(({ state }) => state === 'current')
  return new Map(builds.map(({ workspaceId, timezone }) => [workspaceId, timezone]))
}

interface ComputedContacts {
  readonly figures: ContactFigures[]
  /** Conversions are credited by the contacts' touches. */
  readonly credits: PersonCreditChanges
  /** A contact with too many events: only when it was seen is written. Else retention would delete it. */
  readonly leftOut?: { readonly contactId: number; readonly lastAt: number }
}

interface ComputeOptions {
  readonly keptFrom: ReadonlyMap<number, number>
  readonly timezones: ReadonlyMap<number, string>
  readonly eventsMax: number
  readonly timeMs: number
}

/**
 * Contacts with more than `eventsMax` events together are computed in halves. A single contact with more is left out and keeps
 * its figures, so that it doesn't block others. After `timeMs`, the remaining contacts wait for the next run.
 */
async function computeContacts(
  work: LeasedStores,
  ids: readonly number[],
  options: ComputeOptions,
): Promise<{ readonly computed: readonly ComputedContacts[]; readonly left: ReadonlySet<number> }> {
  const { pg, ch, ensureLease } = work
  const endsAt = performance.now() + options.timeMs
  const computed: ComputedContacts[] = []
  const portions = inPortions(ids, contactsPerStatement)
  while (portions.length > 0 && (computed.length === 0 || performance.now() < endsAt)) {
    const some = portions.shift()!
    await ensureLease()
    const known: KnownContacts = {
      wanted: await readContactKeys(pg, some),
      bindings: await readBindingsOfContacts(pg, some),
      findByHash: (hashes) => findContactsByHash(pg, hashes),
    }
    const { events } = await measureEventsOf(ch, known)
    if (events <= options.eventsMax) computed.push(await computeFigures(work, some, known, options))
    else if (some.length === 1) computed.push(await leaveOut(work, some[0]!, known))
    else portions.unshift(...inPortions(some, Math.ceil(some.length / 2)))
  }
  return { computed, left: new Set(portions.flat()) }
}

async function leaveOut({ ch }: LeasedStores, contactId: number, known: KnownContacts): Promise<ComputedContacts> {
  // The last binding of each browser says whose it is now.
  const last = new Map(known.bindings.map((one) => [`${one.workspaceId} ${one.visitor}`, one]))
  const bindings = [...last.values()].filter((one) => one.contactId === contactId)
  const { lastAt } = await measureEventsOf(ch, { wanted: known.wanted, bindings })
  return { figures: [], credits: { changed: [], gone: [] }, leftOut: { contactId, lastAt } }
}

async function computeFigures(
  { pg, ch }: LeasedStores,
  ids: readonly number[],
  known: KnownContacts,
  { keptFrom, timezones }: ComputeOptions,
): Promise<ComputedContacts> {
  const contacts = await gatherContacts(ch, known)
  const sums = await sumContacts(ch, contacts, { timezones })
  const hasSome = sums.some(({ conversions }) => conversions > 0)
  const touched = hasSome ? await readTouchedConversions(ch, contacts) : []
  const stored = await readCreditsOfContacts(pg, ids)
  return {
    figures: figuresOf(known.wanted, sums),
    credits: creditChanges({ contacts: known.wanted, touched, stored, keptFrom }),
  }
}

function figuresOf(wanted: readonly ContactKey[], summed: readonly ContactSums[]): ContactFigures[] {
  const sums = new Map(summed.map((one) => [one.contactId, one]))
  return wanted.map(({ contactId }) => {
    const sum = sums.get(contactId)
    if (sum === undefined) return { ...noFigures, contactId }
    const { touches, firstTouch, lastTouch, ...counts } = sum
    return {
      ...counts,
      firstTouch: touches === 0 ? null : touchOf(firstTouch),
      lastTouch: touches === 0 ? null : touchOf(lastTouch),
    }
  })
}

const noFigures = { sessions: 0, events: 0, conversions: 0, firstAt: 0, lastAt: 0, firstTouch: null, lastTouch: null }

function touchOf([at, source, medium, campaign, content]: TouchParts) {
  return { at, source, medium, campaign, content }
}
