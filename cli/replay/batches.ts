/** Groups events into batches that the public interface takes, and keeps to the pace. */
import { sleep } from '../../runtime/retry.ts'
import { batchBodyBytesMax, batchEventsMax } from '../../schemas/limits/event-limits.ts'
import type { Replayed } from './page-events.ts'
import type { Timing } from './timing.ts'

/** The envelope around the events: key, brackets, commas. */
const envelopeBytes = 1024

/** @yields batches of at most 1000 events and, as JSON, 1 MB; when paced, as soon as the next event isn't due yet. */
export async function* toBatches<Event>(
  source: AsyncIterable<Replayed<Event>[]>,
  timing: Timing,
  signal: AbortSignal,
): AsyncGenerator<Event[]> {
  let batch: Event[] = []
  let bytes = envelopeBytes
  for await (const events of source) {
    for (const { event, logTime } of events) {
      const size = Buffer.byteLength(JSON.stringify(event)) + 1
      const wait = timing.dueAt(logTime) - Date.now()
      if (batch.length > 0 && (batch.length >= batchEventsMax || bytes + size > batchBodyBytesMax || wait > 0)) {
        yield batch
        batch = []
        bytes = envelopeBytes
      }
      if (wait > 0) await sleep(wait, signal)
      batch.push(event)
      bytes += size
    }
  }
  if (batch.length > 0) yield batch
}
