/**
 * Lets the heap of a service under load grow before it is collected whole.
 *
 * V8 begins a full collection when less is left of the old generation than the young one holds (32 MB). It lets the old
 * one grow to twice its size or less. Our services hold 30 MB, so less than 32 MB are left as soon as a collection has
 * ended: the next one begins at once. Under load ingest was collected whole every 1.3 seconds, 15 to 40 ms of its thread
 * each. With three times its size there is room for seconds. decisions/0014 has the figures.
 */
import { setFlagsFromString } from 'node:v8'

/** The old generation may become larger by this before it is collected. */
const growingPercent = 200
export const growingFlag = '--heap-growing-percent'

/** For the whole process, its threads as well; from the next full collection on. */
export function letHeapGrow(): void {
  setFlagsFromString(`${growingFlag}=${growingPercent}`)
}
