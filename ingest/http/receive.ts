/**
 * The path of a request's body from its bytes to the answer. Cheapest refusal first; nothing is stored before all
 * of the request has been judged; the answer is given once everything it acknowledges is synced.
 */
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { boundedErrors, missingBody, type ValidationError } from '../../schemas/errors/validation-errors.ts'
import type { BotsBody, ReplayBody, TrackBody, TrackEvent } from '../../schemas/event/event.ts'
import {
  locInBatch,
  validateBatch,
  validateBatchEvent,
  validateBots,
  validateReplay,
  validateTrack,
} from '../../schemas/event/event-validator.ts'
import type { ExclusionReason } from '../../schemas/exclusions.ts'
import { type JsonValue, parseJsonBody } from '../../schemas/json-body.ts'
import { rateRetryAfterSeconds, userAgentLengthMax } from '../../schemas/limits/event-limits.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import type { Appender } from '../append.ts'
import type { Enricher } from '../enrich/enrich.ts'
import type { IngestWorkspace, Sender, TrackedWorkspace } from '../event-context.ts'
import { exclusionOfEvent } from '../exclusion-matcher.ts'
import type { ReplayReceiver } from '../replay/receive-chunk.ts'
import type { KeyTable } from '../tables/tracking-key-table.ts'
import type { BotAnswer, BotReader } from './bots.ts'
import type { Capacity } from './capacity.ts'
import type { KeyRate } from './key-rate.ts'
import { batchBody, botBody, type Excluded, excludedAnswer, type Rejected, trackBody } from './tracking-bodies.ts'
import { trackingRefusals } from './tracking-refusals.ts'

export interface Answer {
  readonly status: number
  readonly body: string
  readonly retryAfter?: number
}

export type Respond = (answer: Answer) => void
export type Endpoint = 'track' | 'batch' | 'bots' | 'replay'

/** Why an event was not accepted: the labels of the metric. */
export type RefusalReason =
  | 'malformed'
  | 'unknown_key'
  | 'key_table_unavailable'
  | 'invalid'
  | 'rate_limited'
  | 'over_capacity'
  | 'not_synced'
  | 'failed'

export interface ReceiveOptions {
  readonly keys: KeyTable
  readonly enricher: Enricher
  readonly bots: BotReader
  readonly replays: ReplayReceiver
  readonly appender: Appender
  readonly capacity: Pick<Capacity, 'refusal'>
  readonly keyRate: KeyRate
  readonly clock: Clock
  readonly log: Log
  readonly countAccepted: (events: number, deduplicated: number) => void
  readonly countRefused: (reason: RefusalReason, events: number) => void
  readonly countExcluded: (reason: ExclusionReason) => void
}

/**
 * Upper bounds of a row's bytes in the log: for each byte of its body, for itself, and for each character of the user agent. A number
 * grows most: of `1e19,` the row has 21 bytes, and the side payload of a conversion as many.
 */
const rowBytesPerBodyByte = 9
const rowBytesBeside = 1024
const rowBytesPerAgentCharacter = 3

interface Appended {
  readonly id: number
  readonly isDuplicate: boolean
}

export class Receiver {
  constructor(private readonly options: ReceiveOptions) {}

  /** Judges and stores one request. `respond` is called once, now or after the sync. `bytes` may be used again after return. */
  receive(endpoint: Endpoint, bytes: Buffer, sender: Sender, respond: Respond): void {
    const body = parseJsonBody(bytes)
    if (!body.ok) return this.refuse(respond, 'malformed', body.status, body.detail)
    const { value } = body
    if (value === undefined || value === null) return this.refuse(respond, 'invalid', 422, [missingBody()])
    const key = (value as { tracking_key?: unknown }).tracking_key
    if (typeof key !== 'string') {
      return this.refuse(respond, 'invalid', 422, this.validate(endpoint, body) ?? [])
    }
    const workspace = this.options.keys.find(key)
    if (workspace) return this.admit(endpoint, body, key, workspace, bytes.length, sender, respond)
    const { length } = bytes
    // Looked up now: later the connection may be gone.
    void sender.address
    const admit = (found: TrackedWorkspace | 'unknown' | 'unavailable') => {
      if (found === 'unknown') this.refuse(respond, 'unknown_key', 401, trackingRefusals.keyUnknown.detail)
      else if (found === 'unavailable') {
        this.refuse(respond, 'key_table_unavailable', 503, trackingRefusals.keyUnsure.detail, retryAfterSeconds)
      } else this.admit(endpoint, body, key, found, length, sender, respond)
    }
    this.options.keys
      .resolve(key)
      .then(admit)
      .catch((error) => this.fail(respond, error))
  }

  private fail(respond: Respond, error: unknown): void {
    this.options.log.error({ err: error }, 'an event could not be received')
    this.refuse(respond, 'failed', 500, trackingRefusals.internal.detail)
  }

  private validate(endpoint: Endpoint, { value, hasUnstorableText }: JsonValue): ValidationError[] | null {
    if (endpoint === 'track') return validateTrack(value, hasUnstorableText)
    if (endpoint === 'replay') return validateReplay(value, hasUnstorableText)
    return endpoint === 'batch' ? validateBatch(value) : validateBots(value, hasUnstorableText)
  }

  private admit(
    endpoint: Endpoint,
    body: JsonValue,
    key: string,
    workspace: TrackedWorkspace,
    bodyBytes: number,
    sender: Sender,
    respond: Respond,
  ): void {
    const { capacity, keyRate, clock } = this.options
    const { value } = body
    const events = countOf(endpoint, value)
    if (!keyRate.allows(key, events, clock.now())) {
      return this.refuse(respond, 'rate_limited', 429, trackingRefusals.keyRate.detail, rateRetryAfterSeconds, events)
    }
    const errors = this.validate(endpoint, body)
    if (errors) return this.refuse(respond, 'invalid', 422, errors)
    const reason = capacity.refusal()
    if (reason !== null) return this.refuse(respond, 'over_capacity', 503, reason, retryAfterSeconds, events)
    if (endpoint === 'replay') return this.replay(value as ReplayBody, workspace, sender, respond)
    // Each crawler's row has the user agent, which came once.
    const agentBytes = Math.min(sender.userAgent.length, userAgentLengthMax) * rowBytesPerAgentCharacter
    const bound = bodyBytes * rowBytesPerBodyByte + events * (rowBytesBeside + agentBytes)
    if (!this.options.appender.beginRequest(events, bound)) {
      return this.refuse(respond, 'over_capacity', 503, trackingRefusals.queueFull.detail, retryAfterSeconds, events)
    }
    if (endpoint === 'track') this.track(value as TrackBody, workspace, sender, respond)
    else if (endpoint === 'batch') this.trackBatch(body, workspace, sender, respond)
    else this.checkBots(body, bound, workspace, sender, respond)
  }

  /** A crawler's address may have to be looked up by DNS. After that the room in the log is checked again. */
  private checkBots(
    body: JsonValue,
    bound: number,
    workspace: IngestWorkspace,
    sender: Sender,
    respond: Respond,
  ): void {
    const lookedUp = this.options.bots.prepare(body.value as BotsBody)
    if (lookedUp === null) return this.trackBots(body, workspace, sender, respond)
    const store = () => {
      const events = countOf('bots', body.value)
      const reason = this.options.capacity.refusal()
      if (reason === null && this.options.appender.beginRequest(events, bound)) {
        return this.trackBots(body, workspace, sender, respond)
      }
      this.refuse(respond, 'over_capacity', 503, reason ?? trackingRefusals.queueFull.detail, retryAfterSeconds, events)
    }
    lookedUp.then(store).catch((error) => this.fail(respond, error))
  }

  /** A chunk has its own log, and its own refusals are counted there. */
  private replay(body: ReplayBody, workspace: TrackedWorkspace, sender: Sender, respond: Respond): void {
    this.options.replays
      .receive(body, workspace, sender)
      .then(respond)
      .catch((error) => this.fail(respond, error))
  }

  private track(event: TrackBody, workspace: TrackedWorkspace, sender: Sender, respond: Respond): void {
    const known = this.options.appender.findDuplicate('events', event.client_event_id, workspace)
    if (known !== 0) {
      this.whenRowsSynced([known], respond, 1, () => trackBody(known, true))
      return
    }
    const enriched = this.options.enricher.enrich(event, sender, workspace)
    if (enriched.stream === 'rejected') return this.refuse(respond, 'invalid', 422, enriched.detail)
    const reason = exclusionOfEvent(event, enriched, sender, workspace)
    if (reason !== null) {
      this.options.countExcluded(reason)
      return respond(excludedAnswer(reason))
    }
    const id = this.options.appender.append(enriched)
    this.options.appender.whenStreamSynced(enriched.stream, (isDurable) => {
      if (!isDurable) return this.refuseUnsynced(respond, 1)
      this.options.countAccepted(1, 0)
      respond({ status: 202, body: trackBody(id, false) })
    })
  }

  private trackBatch(body: JsonValue, workspace: TrackedWorkspace, sender: Sender, respond: Respond): void {
    const { events } = body.value as { events: unknown[] }
    const rejected: Rejected[] = []
    const excluded: Excluded[] = []
    const ids: number[] = []
    let duplicates = 0
    for (const [index, event] of events.entries()) {
      const faults = validateBatchEvent(event, index, body.hasUnstorableText)
      const outcome = faults ?? this.appendEvent(event as TrackEvent, index, workspace, sender)
      if (Array.isArray(outcome)) rejected.push({ index, detail: outcome })
      else if (typeof outcome === 'string') {
        this.options.countExcluded(outcome)
        excluded.push({ index, reason: outcome })
      } else {
        ids.push(outcome.id)
        if (outcome.isDuplicate) duplicates++
      }
    }
    if (rejected.length > 0) this.options.countRefused('invalid', rejected.length)
    this.whenRowsSynced(ids, respond, duplicates, () => batchBody(ids, duplicates, rejected, { excluded }))
  }

  private trackBots(body: JsonValue, workspace: IngestWorkspace, sender: Sender, respond: Respond): void {
    const { value, hasUnstorableText } = body
    const ids: number[] = []
    const bots: BotAnswer[] = []
    let duplicates = 0
    const visits = this.options.bots.read(value as BotsBody, hasUnstorableText, sender, workspace, (row, bot) => {
      const known = this.options.appender.findDuplicate('bot_visits', row.client_event_id, workspace)
      if (known !== 0) duplicates++
      ids.push(known !== 0 ? known : this.options.appender.append({ stream: 'bot_visits', row, side: null }))
      bots.push(bot)
    })
    if (visits.rejected.length > 0) this.options.countRefused('invalid', visits.rejected.length)
    if (!visits.isBatch && visits.rejected.length > 0) {
      return this.refuse(respond, 'invalid', 422, visits.rejected[0]!.detail, undefined, 0)
    }
    this.whenRowsSynced(ids, respond, duplicates, () =>
      visits.isBatch ? batchBody(ids, duplicates, visits.rejected, { bots }) : botBody(ids, duplicates, bots),
    )
  }

  private appendEvent(
    event: TrackEvent,
    index: number,
    workspace: TrackedWorkspace,
    sender: Sender,
  ): Appended | ExclusionReason | ValidationError[] {
    const known = this.options.appender.findDuplicate('events', event.client_event_id, workspace)
    if (known !== 0) return { id: known, isDuplicate: true }
    const enriched = this.options.enricher.enrich(event, sender, workspace)
    if (enriched.stream === 'rejected') {
      return enriched.detail.map((error) => ({ ...error, loc: [...locInBatch(index), ...error.loc.slice(1)] }))
    }
    const reason = exclusionOfEvent(event, enriched, sender, workspace)
    return reason ?? { id: this.options.appender.append(enriched), isDuplicate: false }
  }

  /** Answers 202 with `body()` once the rows `ids` are synced. */
  private whenRowsSynced(ids: number[], respond: Respond, duplicates: number, body: () => string): void {
    this.options.appender.whenSynced(ids, duplicates > 0, (isDurable) => {
      if (!isDurable) return this.refuseUnsynced(respond, ids.length)
      this.options.countAccepted(ids.length - duplicates, duplicates)
      respond({ status: 202, body: body() })
    })
  }

  private refuseUnsynced(respond: Respond, events: number): void {
    this.refuse(respond, 'not_synced', 503, trackingRefusals.notStored.detail, retryAfterSeconds, events)
  }

  private refuse(
    respond: Respond,
    reason: RefusalReason,
    status: number,
    detail: string | readonly ValidationError[],
    retryAfter?: number,
    events = 1,
  ): void {
    this.options.countRefused(reason, events)
    const shown = typeof detail === 'string' ? detail : boundedErrors(detail)
    respond({ status, body: JSON.stringify({ detail: shown }), ...(retryAfter === undefined ? {} : { retryAfter }) })
  }
}

function countOf(endpoint: Endpoint, body: unknown): number {
  if (endpoint === 'track' || endpoint === 'replay') return 1
  // Not validated yet: any value that isn't a list counts as one.
  const { events, visits } = body as { events?: unknown; visits?: unknown }
  const list = endpoint === 'batch' ? events : visits
  return Array.isArray(list) ? list.length : 1
}
