/**
 * How claims on `client_event_id`s lie in Redis: in a database of their own, in small hashes. Redis stores these packed,
 * in about 20 bytes a claim instead of 130.
 *
 *   key  c:<slice>:<bucket>   slice = time / (window / 2), bucket = the first 17 bits of the hash
 *   field = the hash's last 6 bytes, value = the event id, 8 bytes
 *   key  n:<slice>   how many claims the slice holds
 *   key  since       all claims from then on are held: the first claim's time, or the end of a slice that lost some (current: now)
 *
 * Time is Redis's own, the same for all nodes. The script in claim.ts writes by the same layout.
 */
import { hourMs } from '../../schemas/time/time-zone.ts'

/**
 * A claim is written into the current slice, and searched in it and the two before: it is known for the window at
 * least.
 */
export const slicesPerWindow = 2
export const sinceKey = 'since'
const bucketBits = 17

/** The queue has the database that the URL names. Claims have the next one: the keys of the two never meet. */
export function claimsDatabaseOf(url: string): number {
  return Number(new URL(url).pathname.slice(1) || 0) + 1
}

export function sliceMsOf(windowHours: number): number {
  return (windowHours * hourMs) / slicesPerWindow
}

export function countKeyOf(slice: number): string {
  return `n:${slice}`
}

/** Count keys of the slices that are searched while `slice` is current. */
export function countKeysUpTo(slice: number): string[] {
  return Array.from({ length: slicesPerWindow + 1 }, (_, back) => countKeyOf(slice - back))
}

/** A full store drops a slice in 16 steps, each of this many buckets. */
export const dropsPerSlice = 16
export const bucketsPerDrop = 2 ** bucketBits / dropsPerSlice
