/** Ingest's metrics, by closed lists of labels. */
import type { Clock } from '../runtime/clock.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { StreamName } from '../schemas/event/row.ts'
import type { ExclusionReason } from '../schemas/exclusions.ts'
import { hourMs } from '../schemas/time/time-zone.ts'
import type { DropReason } from './enrich/facts.ts'
import type { RefusalReason } from './http/receive.ts'
import type { LinkOutcome } from './http/redirect.ts'
import type { DedupWindow } from './log/dedup-window.ts'
import type { ChunkOutcome } from './replay/receive-chunk.ts'
import type { Claims } from './ship/claim.ts'
import type { Shipper } from './ship/shipper.ts'

const syncBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]

export function watchMetrics(metrics: Metrics) {
  const accepted = metrics.counter('ingest_events_accepted_total', 'Events answered 202 and new.')
  const deduplicated = metrics.counter('ingest_events_deduplicated_total', 'Events answered 202 as repeats.')
  const refused = metrics.counter('ingest_events_refused_total', 'Events not accepted, by reason.', ['reason'])
  const excluded = metrics.counter('ingest_events_excluded_total', 'Events that a workspace leaves out, by reason.', [
    'reason',
  ])
  const dropped = metrics.counter('ingest_fields_dropped_total', 'Fields of accepted events not kept, by reason.', [
    'reason',
  ])
  const answers = metrics.counter('ingest_answers_total', 'HTTP answers by status.', ['status'])
  const linkRequests = metrics.counter('ingest_link_requests_total', 'Requests for short links, by outcome.', [
    'outcome',
  ])
  const chunks = metrics.counter('ingest_replay_chunks_total', 'Chunks of replays, by outcome.', ['outcome'])
  const shipped = metrics.counter('ingest_rows_shipped_total', 'Rows by what became of them when shipped.', [
    'stream',
    'outcome',
  ])
  const setAside = metrics.counter('ingest_set_aside_total', 'Rows or groups set aside because they can’t be stored.', [
    'stream',
  ])
  const syncs = metrics.histogram('ingest_sync_seconds', 'Duration of a group commit.', syncBuckets, ['stream'])
  const groupRows = metrics.counter('ingest_group_rows_total', 'Rows written to the log.', ['stream'])

  return {
    countAccepted(events: number, repeats: number): void {
      if (events > 0) accepted.inc(events)
      if (repeats > 0) deduplicated.inc(repeats)
    },
    countRefused(reason: RefusalReason, events: number): void {
      if (events > 0) refused.inc({ reason }, events)
    },
    countExcluded: (reason: ExclusionReason) => excluded.inc({ reason }),
    countDropped: (reason: DropReason) => dropped.inc({ reason }),
    countLinkRequest: (outcome: LinkOutcome) => linkRequests.inc({ outcome }),
    countChunk: (outcome: ChunkOutcome) => chunks.inc({ outcome }),
    observeAnswer: makeAnswerCount((status, count) => answers.inc({ status }, count)),
    streamHooks(stream: StreamName) {
      // `increase()` of a series that begins at 1 is 0.
      setAside.inc({ stream }, 0)
      return {
        countShipped: (outcome: string, rows: number) => shipped.inc({ stream, outcome }, rows),
        countSetAside: () => setAside.inc({ stream }),
        observeSync: (seconds: number, rows: number) => {
          syncs.observe({ stream }, seconds)
          groupRows.inc({ stream }, rows)
        },
      }
    },
    /** Called by the thread that ships. */
    watchShipping(shippers: Readonly<Record<StreamName, Shipper>>, claims: Claims): void {
      const backlog = metrics.gauge('ingest_backlog_bytes', 'Log bytes whose rows are not stored yet.', ['stream'])
      const lag = metrics.gauge('ingest_backlog_seconds', 'Age of the oldest rows not stored yet.', ['stream'])
      const claimHours = metrics.gauge(
        'ingest_claims_held_hours',
        'Hours for which client event ids are known over all nodes.',
      )
      const update = () => {
        for (const [stream, shipper] of Object.entries(shippers)) {
          const { bytes, ageMs } = shipper.backlog()
          backlog.set({ stream }, bytes)
          lag.set({ stream }, ageMs / 1000)
        }
        claimHours.set(claims.heldHours())
      }
      setInterval(update, 1000).unref()
      update()
    },
    /** Called by each thread that receives. */
    watchWindow(window: DedupWindow, clock: Clock): void {
      const localHours = metrics.gauge(
        'ingest_dedup_window_held_hours',
        'Hours for which this node knows client event ids.',
        [],
        'min',
      )
      const update = () => localHours.set((clock.now() - window.heldSince) / hourMs)
      setInterval(update, 1000).unref()
      update()
    },
  }
}

/** Labels cost a look-up each: statuses are counted in an array and handed over once a second. */
function makeAnswerCount(flush: (status: number, count: number) => void): (status: number) => void {
  const counts = new Uint32Array(600)
  setInterval(() => {
    for (const [status, count] of counts.entries()) if (count > 0) flush(status, count)
    counts.fill(0)
  }, 1000).unref()
  return (status) => {
    counts[status]!++
  }
}
