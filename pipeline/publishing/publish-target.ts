/**
 * One attempt to publish one claimed target, part by part where it has a thread (parts.ts).
 *
 *   read → validate → look up, where it was asked to publish before → prepare → mark as sent → publish → keep the part or settle
 *
 * Where a thread goes on, the parts before are looked for as well (deleted-parts.ts).
 *
 * A process may die between any two of these. Steps before "mark as sent" are repeated. After it, the next attempt first
 * looks the part up on the platform. Only if it isn't there does it publish again, under the same key. A name that
 * the platform gives the publication is kept as soon as it is known. A part that is kept isn't looked at again. The mark is
 * removed where nothing can be there (`isUnpublished`), and where a person decides (`unknown`). Expected failures settle
 * the target or give it back. Before the outcome is known an unavailable store throws, and the claim expires.
 */

import { readCredentials } from '../../postgres/tables/accounts/account-credentials.ts'
import { readPublication, type StoredPublication } from '../../postgres/tables/posts/publication.ts'
import {
  type Claim,
  type ClaimedTarget,
  keepReference,
  listKnownPublications,
  markSent,
} from '../../postgres/tables/posts/publishing.ts'
import { keepPart } from '../../postgres/tables/posts/sent-parts.ts'
import { changeAndTouchPost } from '../../postgres/tables/posts/touch-post.ts'
import { within } from '../../runtime/deadline.ts'
import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { publishAttemptMs, publishAttemptsMax, publishLimitWaitMs } from '../../schemas/limits/publish-limits.ts'
import { type Sessions, sessionOf } from './account-session.ts'
import {
  type Account,
  engagementReaderOf,
  type KnownIds,
  ProviderError,
  type Publication,
  type Published,
} from './adapter.ts'
import { adapterOf, adapterOfPart } from './adapters.ts'
import { partDeleted, reasonOf, requirePartsThere } from './deleted-parts.ts'
import { type Files, filesOf } from './part-files.ts'
import { nextPart, type Part, progressOf, publishedOf, sentPartOf, validateParts } from './parts.ts'
import {
  type CommentOutcome,
  type Failed,
  giveBack,
  type Outcome,
  type PublishedBy,
  type Settling,
  settleFailed,
  settlePublished,
} from './settle.ts'
import { untilWritten } from './until-written.ts'

export interface Publishing extends Sessions, Files, Settling {
  readonly log: Log
}

/** @returns the outcome, or null where the claim has expired. @throws where a store is away, or on `stopping` */
export async function publishTarget(
  publishing: Publishing,
  target: ClaimedTarget,
  holder: string,
  stopping: AbortSignal,
): Promise<Outcome | null> {
  const checked: Checked = { arePartsThere: false, isValid: false }
  for (;;) {
    const outcome = await publishPart(publishing, target, { targetId: target.id, holder }, checked, stopping)
    if (outcome !== 'kept') return outcome
  }
}

/** Checks that a claim needs once, with its first part. */
interface Checked {
  /** The parts of earlier claims weren't deleted on the platform. */
  arePartsThere: boolean
  /** The platform takes all parts that are left. */
  isValid: boolean
}

/** @returns `kept` where the part belongs to a thread, so that there may be another */
async function publishPart(
  publishing: Publishing,
  target: ClaimedTarget,
  claim: Claim,
  checked: Checked,
  stopping: AbortSignal,
): Promise<Outcome | 'kept' | null> {
  const { pg, log, sleep } = publishing
  const stored = await readPublication(pg, target.id)
  const part = nextPart(stored)
  const written = <Written>(write: () => Promise<Written>) => untilWritten(write, sleep, stopping)
  const settle = (published: PublishedBy) => written(() => settlePublished(publishing, target, claim, published))
  const settleAll = (comment?: CommentOutcome) => settle({ ...firstPublished(stored), comment })
  if (part === null) return settleAll()
  const keep = async (published: PublishedBy) => {
    if (part.isAlone) return settle(published)
    const sent = sentPartOf(published)
    if (part.isComment) return settleAll(sent)
    const write = () =>
      pg.transaction((tx) => changeAndTouchPost(tx, target.post_id, () => keepPart(tx, claim, part.place, sent)))
    return (await written(write)) ? 'kept' : null
  }
  return within(publishAttemptMs, stopping, async (ending) => {
    try {
      const published = await attempt(publishing, stored, part, { claim, checked }, ending)
      return published === null ? null : await keep(published)
    } catch (error) {
      if (error instanceof ClaimEnded) return null
      if (error instanceof StoreUnavailable || stopping.aborted) throw error
      const raised = ending.aborted ? tooLate : error instanceof ProviderError ? error : failedHere
      const known = await unlessReconnected(publishing, stored, raised)
      if (known === failedHere) log.error({ err: error, target: target.id }, 'an attempt to publish failed on our side')
      const { failure, message } = known
      // A limit that only passes with time uses up no attempt for a day.
      const isWaiting = failure.kind === 'rate_limited' && !failure.isSimulated && stored.late_ms < publishLimitWaitMs
      const isLast = !isWaiting && stored.attempt_count + 1 >= publishAttemptsMax
      const isOver = !['transient', 'rate_limited'].includes(failure.kind) || isLast
      // An earlier attempt that may have published it isn't undone by a refusal of this one.
      const isForgotten = failure.kind === 'unknown' || failure.partsLeft !== undefined
      const forgetsSent = isForgotten || (failure.isUnpublished === true && stored.sent_at === null)
      const progress = failure.code === partDeleted ? '' : progressOf(stored)
      const failed = { failure, message, progress, forgetsSent }
      if (!isOver) return written(() => giveBack(pg, target, claim, stored, failed, !isWaiting))
      const last = forgetsSent ? failed : await lookUpOnceMore(publishing, stored, claim, failed, stopping)
      if (!('failure' in last)) return keep(last)
      return part.isComment ? settleAll(last) : written(() => settleFailed(publishing, target, claim, last))
    }
  })
}

/** The error; a transient one if the account was connected again meanwhile, since it was about the earlier credentials. */
async function unlessReconnected({ pg }: Publishing, { account_id }: StoredPublication, error: ProviderError) {
  const { code, refusedVersion, isUnpublished = false } = error.failure
  if (refusedVersion === undefined) return error
  const now = await readCredentials(pg, account_id)
  if (now === null || now.version === refusedVersion) return error
  return new ProviderError({ kind: 'transient', code, isUnpublished }, error.message, { cause: error })
}

/** Another process has the target. */
class ClaimEnded extends Error {
  override name = 'ClaimEnded'
}

const tooLate = new ProviderError({ kind: 'transient', code: 'timeout' }, 'Publishing took too long')
/** Tried again as well, and ends the same way. */
const failedHere = new ProviderError({ kind: 'transient', code: 'internal_error' }, 'Publishing failed on our side')

/** @returns null when the claim has ended */
async function attempt(
  publishing: Publishing,
  stored: StoredPublication,
  part: Part,
  { claim, checked }: { readonly claim: Claim; readonly checked: Checked },
  signal: AbortSignal,
): Promise<PublishedBy | null> {
  const { pg, sleep } = publishing
  const adapter = adapterOfPart(stored, part)
  requireInUse(stored)
  requireConnected(stored)
  const publication = await publicationOf(publishing, stored, part, claim, signal)
  const account = accountOf(stored)
  const later = checked.isValid ? [] : await partsAfter(publishing, stored, part)
  validateParts(adapter, account, publication, { place: part.place, later })
  checked.isValid = true

  const session = sessionOf(publishing, adapter, account, signal)
  const known = stored.sent_at === null ? null : knownBy(publishing, account)
  if (known !== null) {
    const found = await session((call) => adapter.lookUp(call, asSent(publication, stored), known))
    if (found !== null) return publishedBy(stored, found)
  }
  if (!checked.arePartsThere) await requirePartsThere(session, adapter, stored, { sleep, signal })
  checked.arePartsThere = true
  try {
    const prepared = await session((call) => adapter.prepare(call, publication))
    const sentAt = await markSent(pg, claim, publication)
    if (sentAt === null) return null
    const published = await session((call) => adapter.publish(call, { ...publication, sentAt }, prepared, known))
    return publishedBy(stored, published)
  } catch (error) {
    const isRefusal = error instanceof ProviderError && error.failure.kind === 'permanent'
    throw isRefusal ? await reasonOf(error, session, adapter, stored, { sleep, signal }) : error
  }
}

/** Texts and files of the parts that follow one. */
function partsAfter(publishing: Publishing, stored: StoredPublication, { place }: Part) {
  const parts = stored.thread.slice(place).map(async (text, at) => {
    return { text, media: await filesOf(publishing, stored, place + at + 1) }
  })
  return Promise.all(parts)
}

function publishedBy(stored: StoredPublication, published: Published): PublishedBy {
  const adapter = adapterOf(stored)
  return { ...published, provider: adapter.name, reader: engagementReaderOf(adapter, accountOf(stored)) }
}

/** The target's first part, by which a whole thread, and a post with its comment, is known. */
function firstPublished(stored: StoredPublication): PublishedBy {
  const root = stored.sent_parts[0]!
  return { ...publishedBy(stored, publishedOf(root)), publishedAt: new Date(root.published_at) }
}

/** Nobody could stop a post of such a workspace: its members have no access any more. */
function requireInUse({ has_plan, is_suspended }: StoredPublication): void {
  if (has_plan && !is_suspended) return
  const [code, text] = is_suspended
    ? (['workspace_suspended', 'The workspace is suspended'] as const)
    : (['plan_missing', 'The workspace has no plan'] as const)
  throw new ProviderError({ kind: 'permanent', code, isOfWorkspace: true }, text)
}

function requireConnected({ account_status }: StoredPublication): void {
  if (account_status === 'connected') return
  const failure = { kind: 'permanent', code: 'account_not_connected' } as const
  throw new ProviderError(failure, `The account is ${account_status}`)
}

/**
 * Before a target is given up: a lost answer may have been a success.
 * @returns `failed` where nothing is found; where nobody can tell, this is why it failed
 */
async function lookUpOnceMore(
  publishing: Publishing,
  stored: StoredPublication,
  claim: Claim,
  failed: Failed,
  signal: AbortSignal,
): Promise<PublishedBy | Failed> {
  try {
    // Its first request may have been in this very attempt.
    const now = await readPublication(publishing.pg, stored.id)
    const part = nextPart(now)
    if (now.sent_at === null || part === null) return failed
    const [adapter, account] = [adapterOfPart(now, part), accountOf(now)]
    const publication = await publicationOf(publishing, now, part, claim, signal)
    const session = sessionOf(publishing, adapter, account, signal)
    const found = await session((call) => adapter.lookUp(call, asSent(publication, now), knownBy(publishing, account)))
    return found === null ? failed : publishedBy(now, found)
  } catch (error) {
    if (error instanceof StoreUnavailable || signal.aborted) throw error
    if (!(error instanceof ProviderError)) {
      publishing.log.error({ err: error, target: stored.id }, 'a publication could not be looked up')
    } else if (error.failure.kind === 'unknown') {
      return { ...failed, failure: error.failure, message: error.message, forgetsSent: true }
    }
    return failed
  }
}

/** The post may have another title and text by now, under which no platform has it. */
function asSent(publication: Publication, { sent_title: title, sent_text: text }: StoredPublication): Publication {
  return { ...publication, title: title ?? publication.title, text: text ?? publication.text }
}

const knownBy =
  ({ pg }: Publishing, { id }: Account): KnownIds =>
  async (externalIds) =>
    new Set(externalIds.length > 0 ? await listKnownPublications(pg, id, externalIds) : [])

function accountOf(stored: StoredPublication): Account {
  const { account_id, platform, handle, external_id, provider_metadata } = stored
  return { id: account_id, platform, handle, externalId: external_id, metadata: provider_metadata }
}

async function publicationOf(
  { pg, sleep, ...files }: Publishing,
  stored: StoredPublication,
  { place, text, key, replyTo, isComment }: Part,
  claim: Claim,
  signal: AbortSignal,
): Promise<Publication> {
  const { id, title, sent_at, sent_reference } = stored
  return {
    key,
    targetId: id,
    place,
    title,
    text,
    replyTo,
    sentAt: sent_at,
    media: isComment ? [] : await filesOf(files, stored, place),
    reference: sent_reference,
    keep: async (reference) => {
      const isOurs = await untilWritten(() => keepReference(pg, claim, reference), sleep, signal)
      if (!isOurs) throw new ClaimEnded(`the claim of target ${id} has ended`)
    },
  }
}
