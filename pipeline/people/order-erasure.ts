/**
 * Orders the erasure of a person, for `svc people erase` and the dashboard alike. Rows in Postgres are deleted at once.
 * The transaction also merges waiting inbox rows, which have to be few: see `isInboxLong` and `shortenInbox`.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { hasEventsOfEmail } from '../../clickhouse/queries/people/events-of-email.ts'
import { findVisitor } from '../../clickhouse/queries/people/visitor-names.ts'
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { isPayer } from '../../postgres/tables/people/erased-payers.ts'
import { type BoundBrowser, findErasedPerson } from '../../postgres/tables/people/erased-person.ts'
import { type ErasedPerson, erasePerson } from '../../postgres/tables/people/erasures.ts'
import { hasMoreUnmergedThan } from '../../postgres/tables/people/inbox.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { inboxRowsPerErasure, inboxRowsPerMerge, mergeEveryMs } from '../../schemas/limits/people-limits.ts'
import { holdMerging, mergeInbox, mergeNext } from './merge.ts'

/** An anonymous id may be the name of a hash as well. */
export type NamedPerson = { readonly email: string } | { readonly id: number } | { readonly anonymousId: string }

export interface OrderedErasure {
  readonly erasureId: number
  readonly contactId: number | null
  /** Times of browsers. */
  readonly browsers: number
}

export interface ErasureOptions {
  readonly ch: Pick<ClickHouse, 'query'>
  readonly hashes: IdentityHashes
  readonly log: Log
  readonly now: number
}

/** True while more waits than an erasure merges: its transaction would take long and hold up all merges, others' too. */
export function isInboxLong(q: Queryable): Promise<boolean> {
  return hasMoreUnmergedThan(q, inboxRowsPerErasure)
}

/** Merges in transactions of their own, beside a pipeline that may do so too, until the inbox isn't long. */
export async function shortenInbox(pg: Postgres, options: ErasureOptions, signal: AbortSignal): Promise<void> {
  while (await isInboxLong(pg)) {
    signal.throwIfAborted()
    if ((await mergeInbox({ ...options, pg })) === 0) await sleep(mergeEveryMs, signal)
  }
}

/**
 * The whole inbox is merged first, because events sent until now are the person's as well. Nobody else merges until the
 * end of the transaction.
 * @returns undefined where nobody is known by that name
 */
export async function orderErasure(
  tx: Queryable,
  workspaceId: number,
  named: NamedPerson,
  { ch, hashes, log, now }: ErasureOptions,
): Promise<OrderedErasure | BoundBrowser | undefined> {
  await holdMerging(tx)
  while ((await mergeNext(tx, { hashes, log, now })) === inboxRowsPerMerge);
  const sought =
    'anonymousId' in named
      ? { ...named, visitor: await findVisitor(ch, hashes, workspaceId, named.anonymousId) }
      : named
  const found =
    (await findErasedPerson(tx, workspaceId, sought)) ?? (await findByEmailAlone(tx, workspaceId, named, ch, hashes))
  if (found === undefined || 'boundTo' in found) return found
  return {
    erasureId: await erasePerson(tx, found),
    contactId: found.contactId,
    browsers: found.browsers.length,
  }
}

/** Somebody who is no contact: a payer whom only a provider named, or the sender of other events with an e-mail. */
async function findByEmailAlone(
  tx: Queryable,
  workspaceId: number,
  named: NamedPerson,
  ch: Pick<ClickHouse, 'query'>,
  hashes: IdentityHashes,
): Promise<ErasedPerson | undefined> {
  if (!('email' in named)) return undefined
  const { email } = named
  const emailHash = hashes.emailHashOf(workspaceId, email)
  const isKnown = (await isPayer(tx, workspaceId, email)) || (await hasEventsOfEmail(ch, workspaceId, emailHash))
  if (!isKnown) return undefined
  return { workspaceId, contactId: null, email, emailHash, anonymousIds: [], browsers: [], sharedTimes: [] }
}
