/**
 * Parts of a thread that were deleted on the network before the whole thread was published. Most networks refuse a reply to
 * one of them, and Bluesky takes it. So the parts are looked for before a thread goes on, and once a reply is refused.
 *
 * A thread without one of its parts fails. The parts before it count: scheduled again, the thread goes on behind them. A
 * part that is still there behind the deleted one would be published twice by that, so it has to be deleted as well.
 */
import type { StoredPublication } from '../../postgres/tables/publication.ts'
import { sleep } from '../../runtime/retry.ts'
import { partGoneMs } from '../../schemas/limits/publish-limits.ts'
import type { Session } from './account-session.ts'
import { type Adapter, ProviderError } from './adapter.ts'

type Sent = Pick<StoredPublication, 'sent_parts' | 'thread'>

/** How `publish_result` names it. */
export const partDeleted = 'part_deleted'

/**
 * @param session calls with the account's credentials
 * @throws ProviderError where one of them is gone, or the platform doesn't answer
 */
export async function requirePartsThere(
  session: Session,
  adapter: Adapter,
  { sent_parts, thread }: Sent,
  signal: AbortSignal,
): Promise<void> {
  const ids = sent_parts.map(({ external_id }) => external_id)
  const gone = await findGone(session, adapter, ids, signal)
  const first = ids.findIndex((id) => gone.has(id))
  if (first < 0) return
  const behind = ids.flatMap((id, at) => (at > first && !gone.has(id) ? [at + 1] : []))
  const said = `Part ${first + 1} of ${thread.length + 1} was deleted there`
  const failure = { kind: 'permanent', code: partDeleted, isUnpublished: true } as const
  if (behind.length > 0) {
    const text = `${said}, but not part ${behind.join(', ')}. Delete these as well and schedule the post again, or archive it`
    throw new ProviderError(failure, text)
  }
  const text = `${said}. Scheduled again, the thread goes on with part ${first + 1}`
  throw new ProviderError({ ...failure, partsLeft: first }, text)
}

/** Those that two looks don't find: a platform may show a new part late. */
async function findGone(
  session: Session,
  adapter: Adapter,
  ids: readonly string[],
  signal: AbortSignal,
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
