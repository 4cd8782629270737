/** Puts enriched events into the logs, each client event id once. A placeholder such as `undefined` counts as no id. */
import type { Clock } from '../runtime/clock.ts'
import { deriveHashKey, type HashKey, hash64, hashed } from '../runtime/crypto/hash.ts'
import { identifierOf } from '../schemas/event/identifiers.ts'
import type { BotVisitRow, EventRow, Hash64 } from '../schemas/event/row.ts'
import type { Enriched, IngestWorkspace } from './event-context.ts'
import type { DedupWindow } from './log/dedup-window.ts'
import type { LogWriter } from './log/writer.ts'

export interface AppendOptions {
  readonly events: LogWriter<EventRow>
  readonly botVisits: LogWriter<BotVisitRow>
  readonly window: DedupWindow
  readonly secretKey: string
  readonly clock: Clock
}

/** Each log has client event ids of its own: an order is no retry of a crawler's visit. */
type Stream = 'events' | 'bot_visits'

export class Appender {
  private readonly claimKeys: Readonly<Record<Stream, HashKey>>
  /** The hash of the client event id that was looked up last. */
  private readonly claim: Hash64 = { hi: 0, lo: 0 }

  private readonly touched = new Set<LogWriter<EventRow> | LogWriter<BotVisitRow>>()

  constructor(private readonly options: AppendOptions) {
    this.claimKeys = claimKeysOf(options.secretKey)
  }

  /**
   * Begins a request, which has written to no log yet.
   * @returns whether `events` rows of at most `bytes` together can be taken now, whichever log they go to
   */
  beginRequest(events: number, bytes: number): boolean {
    this.touched.clear()
    return this.options.events.hasRoom(events, bytes) && this.options.botVisits.hasRoom(events, bytes)
  }

  /** The event id that this client event id has already, or 0; leaves its hash in `claim` for `append`. */
  findDuplicate(stream: Stream, clientEventId: string | null | undefined, workspace: IngestWorkspace): number {
    const own = identifierOf(clientEventId)
    if (own === null) return 0
    hash64(this.claimKeys[stream], workspace.id, own)
    this.claim.hi = hashed.hi
    this.claim.lo = hashed.lo
    return this.options.window.find(this.claim)
  }

  /** Follows on `findDuplicate`, whose hash it stores. The row's client event id is empty if it was a placeholder. */
  append(enriched: Exclude<Enriched, { stream: 'rejected' }>): number {
    const claim = enriched.row.client_event_id === '' ? null : this.claim
    const id =
      enriched.stream === 'events'
        ? this.options.events.append(enriched.row, claim, enriched.side)
        : this.options.botVisits.append(enriched.row, claim, null)
    this.touched.add(enriched.stream === 'events' ? this.options.events : this.options.botVisits)
    if (claim) this.options.window.add(claim, id, this.options.clock.now())
    return id
  }

  /** Calls back once the last row appended to the log of `stream` is synced, or it is known that it won't be. */
  whenStreamSynced(stream: Stream, done: (isDurable: boolean) => void): void {
    const writer = stream === 'events' ? this.options.events : this.options.botVisits
    writer.whenSynced(done)
  }

  /** Calls back once the rows `ids`, and all else that this request has appended, are synced, or it is known that they won't be. */
  whenSynced(ids: readonly number[], hasDuplicates: boolean, done: (isDurable: boolean) => void): void {
    let open = 1
    let isDurable = true
    const one = (isSynced: boolean) => {
      isDurable &&= isSynced
      if (--open === 0) done(isDurable)
    }
    for (const writer of this.touched) {
      open++
      writer.whenSynced(one)
    }
    for (const writer of [this.options.events, this.options.botVisits]) {
      // A repeat waits for its first: that may be another request's, and in any group of either log.
      if (!hasDuplicates) break
      for (const id of ids) {
        open++
        writer.whenRowSynced(id, one)
      }
    }
    one(true)
  }
}

/** The keys under which client event ids are hashed, the same on every node of an installation. */
function claimKeysOf(secretKey: string): Record<Stream, HashKey> {
  return {
    events: deriveHashKey(secretKey, 'client event ids'),
    bot_visits: deriveHashKey(secretKey, 'client event ids of visits'),
  }
}
