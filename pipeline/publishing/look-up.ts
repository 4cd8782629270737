/** Looking for the publication of an earlier attempt among an account's newest, where a platform knows no key of ours. */
import { type KnownIds, type Pausing, ProviderError } from './adapter.ts'

/** A platform may list a new publication late. @param waitMs until the second look. @throws on `signal` */
export async function lookTwice<Found>(
  waitMs: number,
  { sleep, signal }: Pausing,
  look: () => Promise<Found | null>,
): Promise<Found | null> {
  const found = await look()
  if (found !== null) return found
  await sleep(waitMs, signal)
  signal.throwIfAborted()
  return look()
}

/** Where a platform lists no posts: an earlier attempt may have published it. */
export function outcomeUnknown(label: string): ProviderError {
  const said = `${label} didn't say whether it published the post. Look there first: scheduling it again publishes it again`
  return new ProviderError({ kind: 'unknown', code: 'outcome_unknown' }, said)
}

/**
 * The first of those with the same text that is no other target's.
 * @param same their ids, among publications since the first attempt
 * @param isWhole whether all of those were listed
 * @throws ProviderError as `unknown` where it may be one that wasn't
 */
export async function firstOwn(same: string[], known: KnownIds, isWhole: boolean): Promise<string | null> {
  const others = await known(same)
  const found = same.find((id) => !others.has(id))
  if (found !== undefined) return found
  if (isWhole) return null
  throw moreThanListed()
}

/** Where the publication may be among those that weren't looked through. */
export function moreThanListed(): ProviderError {
  const said =
    'More was published since than can be looked through. Look there first: scheduling it again publishes it again'
  return new ProviderError({ kind: 'unknown', code: 'outcome_unknown' }, said)
}
