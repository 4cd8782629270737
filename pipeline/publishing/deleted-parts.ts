/**
 * Parts of a thread that were deleted on the network before the whole thread was published. Most networks refuse a reply to
 * one of them, and Bluesky takes it. So the parts are looked for before a thread goes on, and once a reply is refused.
 *
 * A thread without one of its parts fails. The parts before it count: scheduled again, the thread goes on behind them. A
 * part that is still there behind the deleted one would be published twice by that, so it has to be deleted as well.
 */
import type { StoredPublication } from '../../postgres/tables/posts/publication.ts'
import { partGoneMs } from '../../schemas/limits/publish-limits.ts'
import type { Session } from './account-session.ts'
import { type Adapter, type Pausing, ProviderError } from './adapter.ts'

type Sent = Pick<StoredPublication, 'sent_parts' | 'thread'>

/** How `publish_result` names it. */
export const partDeleted = 'part_deleted'

type Look = [session: Session, adapter: Adapter, sent: Sent, pausing: Pausing]

/**
 * Before a thread goes on. A platform that shows the account no posts, or not now, may take the next part all the same.
 * @throws ProviderError where one of the parts is gone, or the platform can't answer for a moment
 */
export async function requirePartsThere(...look: Look): Promise<void> {
  const deletion = await findDeletion(...look).catch((error) => {
    if (error instanceof ProviderError && error.failure.kind !== 'transient') return null
    throw error
  })
  if (deletion !== null) throw deletion
}

/** @returns why a part was refused: parts before it are gone, or else the platform's own reason */
export async function reasonOf(refusal: ProviderError, ...look: Look): Promise<ProviderError> {
  const deletion = await findDeletion(...look).catch(() => null)
  return deletion ?? refusal
}

/** @throws ProviderError where the platform doesn't answer the look */
async function findDeletion(
  ...[session, adapter, { sent_parts, thread }, pausing]: Look
): Promise<ProviderError | null> {
  const ids = sent_parts.map(({ external_id }) => external_id)
  const gone = await findGone(session, adapter, ids, pausing)
  const first = ids.findIndex((id) => gone.has(id))
  if (first < 0) return null
  const behind = ids.flatMap((id, at) => (at > first && !gone.has(id) ? [at + 1] : []))
  const said = `Part ${first + 1} of ${thread.length + 1} was deleted there`
  const failure = { kind: 'permanent', code: partDeleted, isUnpublished: true } as const
  if (behind.length > 0) {
    const text = `${said}, but not part ${behind.join(', ')}. Delete these as well and schedule the post again, or archive it`
    return new ProviderError(failure, text)
  }
  const text = `${said}. Scheduled again, the thread goes on with part ${first + 1}`
  return new ProviderError({ ...failure, partsLeft: first }, text)
}

/** Those that two looks don't find: a platform may show a new part late. */
async function findGone(
  session: Session,
  adapter: Adapter,
  ids: readonly string[],
  { sleep, signal }: Pausing,
): Promise<ReadonlySet<string>> {
  const look = async (those: readonly string[]): Promise<ReadonlySet<string>> => {
    const { findGone } = adapter
    if (findGone === undefined || those.length === 0) return new Set()
    return session((call) => findGone(call, those))
  }
  const missing = await look(ids)
  if (missing.size === 0) return missing
  await sleep(partGoneMs, signal)
  signal.throwIfAborted()
  return look([...missing])
}
