/**
 * Applies the inbox: stores contacts and identity facts of identify and conversion events. The bindings of the affected
 * browsers are recomputed from all their facts (bind.ts). One transaction applies a batch and marks its rows. After a
 * crash the batch runs again; a row that is applied twice changes nothing. One process merges at a time.
 */
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { takeNamedLock, tryNamedLock } from '../../postgres/named-lock.ts'
import {
  type FactLimits,
  forgetFurtherBrowsers,
  forgetFurtherFacts,
  insertFacts,
  readBindingsOfBrowsers,
  readBindingsOfContacts,
  readFactsOfBrowsers,
  readFirstFacts,
  replaceBindings,
  type StoredBinding,
  type StoredFact,
} from '../../postgres/tables/people/bindings.ts'
import { type Identified, readTraits, saveContacts } from '../../postgres/tables/people/contacts.ts'
import { dropErasedInbox } from '../../postgres/tables/people/erasures.ts'
import { markMerged, takeUnmerged, type UnmergedRow } from '../../postgres/tables/people/inbox.ts'
import { addPeopleWork } from '../../postgres/tables/people/people-work.ts'
import { addUntoldMerges, type GainedBrowser } from '../../postgres/tables/people/untold-merges.ts'
import { readSubscribedTypes } from '../../postgres/tables/webhooks/outbox.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import { groupBy } from '../../runtime/lists.ts'
import type { Log } from '../../runtime/log.ts'
import { identifierOf } from '../../schemas/event/identifiers.ts'
import {
  bindingPeriodsPerBrowserMax,
  browsersKnownPerContactMax,
  browsersPerContactMax,
  factsPerBrowserMax,
  inboxRowsPerMerge,
} from '../../schemas/limits/people-limits.ts'
import type { WebhookEventType } from '../../schemas/webhook-events.ts'
import { bindBrowsers } from './bind.ts'
import { mergeEvents, writeContactsToOutbox } from './write-outbox-rows.ts'

export interface MergeOptions {
  readonly pg: Postgres
  readonly hashes: IdentityHashes
  readonly log: Log
  readonly now: number
  /** Rows of one transaction. */
  readonly rowsMax?: number
  /** Limits for one browser. */
  readonly limits?: FactLimits
}

const usualLimits: FactLimits = { periodsMax: bindingPeriodsPerBrowserMax, factsMax: factsPerBrowserMax }

const lockName = 'merging people'

/** @returns how many rows were applied; 0: none waits, or another process merges */
export function mergeInbox({ pg, ...options }: MergeOptions): Promise<number> {
  return pg.transaction(async (tx) => ((await tryNamedLock(tx, lockName)) ? mergeNext(tx, options) : 0))
}

/** Waits until nobody merges, and keeps others from it until the end of the transaction. */
export function holdMerging(tx: Queryable): Promise<void> {
  return takeNamedLock(tx, lockName)
}

/** Applies the next rows, for whoever holds the lock. @returns how many; 0: none waits */
export async function mergeNext(
  tx: Queryable,
  { hashes, log, now, rowsMax = inboxRowsPerMerge, limits = usualLimits }: Omit<MergeOptions, 'pg'>,
): Promise<number> {
  const rows = await takeUnmerged(tx, rowsMax)
  const byWorkspace = groupBy(rows, (row) => row.workspaceId)
  const ids = [...byWorkspace.keys()]
  const subscribed = ids.length === 0 ? noSubscribers : await readSubscribedTypes(tx, mergeEvents, ids)
  for (const [workspaceId, ofWorkspace] of byWorkspace) {
    const wanted = subscribed.get(workspaceId)
    await mergeRows(tx, workspaceId, ofWorkspace, { hashes, log, now, limits, wanted })
  }
  await markMerged(
    tx,
    rows.map(({ eventId }) => eventId),
  )
  return rows.length
}

const noSubscribers: ReadonlyMap<number, ReadonlySet<WebhookEventType>> = new Map()

type IdentifiedRow = UnmergedRow & { readonly email: string }

function isIdentified(row: UnmergedRow): row is IdentifiedRow {
  return row.email !== null
}

async function mergeRows(
  tx: Queryable,
  workspaceId: number,
  all: readonly UnmergedRow[],
  {
    hashes,
    log,
    now,
    limits,
    wanted,
  }: Pick<MergeOptions, 'hashes' | 'log' | 'now'> & {
    readonly limits: FactLimits
    readonly wanted: ReadonlySet<WebhookEventType> | undefined
  },
): Promise<void> {
  const erased = await dropErasedInbox(
    tx,
    all.map(({ eventId, email, anonymousId, at }) => ({
      eventId,
      workspaceId,
      at,
      emailHash: email === null ? null : hashes.emailHashOf(workspaceId, email),
      visitor: anonymousId === '' ? null : hashes.visitorOf(workspaceId, anonymousId),
    })),
  )
  const rows = all.filter(isIdentified).filter(({ eventId }) => !erased.has(eventId))
  if (rows.length === 0) return
  // Always in the same order, so that two transactions never wait for each other's rows.
  const byEmail = [...groupBy(rows, ({ email }) => email)].sort(([a], [b]) => (a < b ? -1 : 1))
  const emails = byEmail.map(([email]) => email)
  const before = wanted && (await readTraits(tx, workspaceId, emails))
  const contactIds = await saveContacts(
    tx,
    byEmail.map(([email, ofEmail]) =>
      identifiedBy(workspaceId, email, hashes.emailHashOf(workspaceId, email), ofEmail),
    ),
  )
  const idOf = new Map(emails.map((email, at) => [email, contactIds[at]!]))
  const facts: StoredFact[] = rows
    .filter(({ anonymousId }) => anonymousId !== '')
    .map(({ anonymousId, email, at, eventId }) => ({
      workspaceId,
      anonymousId,
      at,
      eventId,
      contactId: idOf.get(email)!,
    }))
  await insertFacts(tx, facts)
  const bound = await bindAnew(tx, workspaceId, facts, { hashes, log, limits })
  // Each once, however often a browser went from one to another.
  const touched = new Set([...contactIds, ...bound.contactIds])
  await addPeopleWork(tx, [
    ...[...touched].map((contactId) => ({ workspaceId, contactId })),
    ...bound.visitors.map((visitor) => ({ workspaceId, visitor })),
  ])
  if (wanted?.has('contact.merged')) await addUntoldMerges(tx, bound.gained)
  if (wanted && before) await writeContactsToOutbox(tx, workspaceId, { wanted, named: contactIds, before }, now)
}

interface BoundAnew {
  readonly visitors: readonly string[]
  /** Whose the browsers were and are. */
  readonly contactIds: ReadonlySet<number>
  /** Contacts with a browser of these that they hadn't. */
  readonly gained: readonly GainedBrowser[]
}

/** @returns browsers that are bound otherwise than before */
async function bindAnew(
  tx: Queryable,
  workspaceId: number,
  added: readonly StoredFact[],
  { hashes, log, limits }: Pick<MergeOptions, 'hashes' | 'log'> & { readonly limits: FactLimits },
): Promise<BoundAnew> {
  const [visitors, touched, gained] = [[] as string[], new Set<number>(), [] as GainedBrowser[]]
  if (added.length === 0) return { visitors, contactIds: touched, gained }
  const browsers = new Set(added.map(({ anonymousId }) => anonymousId))
  const forgotten = await forgetFurtherFacts(tx, workspaceId, [...browsers], limits)
  if (forgotten.length > 0) {
    log.warn({ workspace: workspaceId, facts: forgotten.length }, 'browsers with more contacts than are bound')
  }
  for (const anonymousId of await browsersOfFullContacts(tx, added, log)) browsers.add(anonymousId)
  for (const anonymousId of await browsersMovingUp(tx, forgotten)) browsers.add(anonymousId)
  const facts = await readFactsOfBrowsers(tx, workspaceId, [...browsers])
  // A contact's first browsers say whether these are among them.
  const contactIds = [...new Set(facts.map(({ contactId }) => contactId))]
  const firsts = await readFirstFacts(tx, contactIds, browsersPerContactMax)
  const bound = bindBrowsers([...facts, ...firsts], browsersPerContactMax)
  const before = groupBy(await readBindingsOfBrowsers(tx, workspaceId, [...browsers]), (one) => one.anonymousId)
  const changed: string[] = []
  const bindings: StoredBinding[] = []
  for (const anonymousId of browsers) {
    const had = before.get(anonymousId) ?? []
    const has = bound.get(anonymousId) ?? []
    if (textOf(had) === textOf(has)) continue
    const visitor = hashes.visitorOf(workspaceId, anonymousId)
    changed.push(anonymousId)
    for (const start of has) bindings.push({ ...start, workspaceId, anonymousId, visitor })
    visitors.push(visitor)
    for (const { contactId } of [...had, ...has]) touched.add(contactId)
    const owners = new Set(has.map(({ contactId }) => contactId))
    for (const { contactId } of had) owners.delete(contactId)
    for (const contactId of owners) gained.push({ workspaceId, anonymousId, visitor, contactId })
  }
  if (changed.length > 0) await replaceBindings(tx, workspaceId, changed, bindings)
  return { visitors, contactIds: touched, gained }
}

/** An earlier browser takes the place of a later one, where a contact has as many as it may have. */
async function browsersOfFullContacts(tx: Queryable, added: readonly StoredFact[], log: Log): Promise<string[]> {
  const contactIds = [...new Set(added.map(({ contactId }) => contactId))]
  const firsts = groupBy(await readFirstFacts(tx, contactIds, browsersPerContactMax), ({ contactId }) => contactId)
  const full = contactIds.filter((id) => (firsts.get(id)?.length ?? 0) > browsersPerContactMax)
  if (full.length === 0) return []
  await forgetFurtherBrowsers(tx, full, browsersKnownPerContactMax)
  log.warn({ contact_ids: full.slice(0, 20), max: browsersPerContactMax }, 'contacts with more browsers than are bound')
  return (await readBindingsOfContacts(tx, full)).map(({ anonymousId }) => anonymousId)
}

/** A later browser takes the place of one whose facts were forgotten. */
async function browsersMovingUp(tx: Queryable, forgotten: readonly number[]): Promise<string[]> {
  if (forgotten.length === 0) return []
  const firsts = await readFirstFacts(tx, [...new Set(forgotten)], browsersPerContactMax)
  return [...groupBy(firsts, ({ contactId }) => contactId).values()]
    .filter((ofContact) => ofContact.length >= browsersPerContactMax)
    .flatMap((ofContact) => ofContact.map(({ anonymousId }) => anonymousId))
}

function textOf(starts: readonly { contactId: number; fromAt: number; fromId: number }[]): string {
  return starts.map(({ contactId, fromAt, fromId }) => `${contactId} ${fromAt} ${fromId}`).join('\n')
}

type Trait = 'full_name' | 'company' | 'user_id'

/** Merges the traits that rows have for one e-mail. */
function identifiedBy(
  workspaceId: number,
  email: string,
  emailHash: string,
  rows: readonly IdentifiedRow[],
): Identified {
  const identified = {
    workspace_id: workspaceId,
    email,
    email_hash: emailHash,
    first: Number.POSITIVE_INFINITY,
    last: 0,
    full_name: '',
    full_name_at: 0,
    company: '',
    company_at: 0,
    user_id: '',
    user_id_at: 0,
  }
  for (const { at, fullName, company, userId } of rows) {
    identified.first = Math.min(identified.first, at)
    identified.last = Math.max(identified.last, at)
    const note = (trait: Trait, value: string) => {
      const [known, knownAt] = [identified[trait], identified[`${trait}_at`]]
      if (value === '' || (known !== '' && (at < knownAt || (at === knownAt && !isGreater(value, known))))) return
      identified[trait] = value
      identified[`${trait}_at`] = at
    }
    note('full_name', identifierOf(fullName) ?? '')
    note('company', company)
    note('user_id', identifierOf(userId) ?? '')
  }
  return identified
}

/** By UTF-8 bytes, as Postgres compares in the collation "C". */
function isGreater(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0
}
