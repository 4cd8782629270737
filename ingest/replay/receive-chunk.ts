/**
 * Chunks of replays, from their validated envelope to the log. As an event, a chunk is acknowledged once it is synced. A
 * repeat is another row that ClickHouse puts in place of the first: both have the same session, page and sequence.
 *
 * A page's script may send what it likes under a public key. So what is off is refused here, and a session and a key have
 * limits: docs/replay.md lists the answers. Held by test/integration/replay-ingest.test.ts.
 */
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { valueError } from '../../schemas/errors/validation-errors.ts'
import type { ReplayBody } from '../../schemas/event/event.ts'
import { identifierOf } from '../../schemas/event/identifiers.ts'
import type { ReplayChunkRow } from '../../schemas/event/row.ts'
import { rateRetryAfterSeconds } from '../../schemas/limits/event-limits.ts'
import {
  replayBytesPerSecondMax,
  replayJsonBytesPerSecondMax,
  replayNodesPerSecondMax,
  replayRowBytesMax,
  replaySessionBytesMax,
  replaySessionsCountedMax,
  replayThreadNodesPerSecondMax,
  replayUnpackingMax,
} from '../../schemas/limits/replay-limits.ts'
import { retryAfterSeconds } from '../../schemas/limits/store-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { Countries } from '../enrich/countries.ts'
import { countryOfSender, countryOrZone } from '../enrich/find-place.ts'
import { makeUserAgents } from '../enrich/user-agents.ts'
import type { Sender, TrackedWorkspace } from '../event-context.ts'
import { exclusionOfChunk } from '../exclusion-matcher.ts'
import { makeKeyRate } from '../http/key-rate.ts'
import type { Answer, RefusalReason } from '../http/receive.ts'
import { excludedAnswer } from '../http/tracking-bodies.ts'
import { trackingRefusals } from '../http/tracking-refusals.ts'
import type { LogWriter } from '../log/writer.ts'
import { type ChunkSender, makeChunkRows } from './chunk-row.ts'
import { countEvents, readEvents, unpackEvents } from './read-events.ts'

/** The fate of a chunk: the labels of the metric. */
export type ChunkOutcome = RefusalReason | 'stored' | 'replay_off' | 'bot' | 'session_full' | 'day_full' | 'excluded'

export interface ReplayOptions {
  readonly secretKey: string
  /** Null: no address is looked up. */
  readonly countries: Countries | null
  readonly writer: Pick<LogWriter<ReplayChunkRow>, 'hasRoom' | 'append' | 'whenSynced'>
  readonly clock: Clock
  readonly countChunk: (outcome: ChunkOutcome) => void
  /** Bytes that this thread stores of one workspace in a day; 0: no limit. */
  readonly bytesPerDayMax: number
}

export interface ReplayReceiver {
  /** The sender is read before this returns. Rejects only where our own code fails. */
  receive(body: ReplayBody, workspace: TrackedWorkspace, sender: Sender): Promise<Answer>
}

const accepted: Answer = { status: 202, body: '{"accepted":true}' }

export function makeReplayReceiver(options: ReplayOptions): ReplayReceiver {
  const { secretKey, countries, writer, clock, countChunk, bytesPerDayMax } = options
  const agentOf = makeUserAgents()
  const rowOf = makeChunkRows(secretKey)
  const keyRate = makeKeyRate(replayBytesPerSecondMax)
  const keyJsonRate = makeKeyRate(replayJsonBytesPerSecondMax)
  const keyNodeRate = makeKeyRate(replayNodesPerSecondMax)
  const threadNodeRate = makeKeyRate(replayThreadNodesPerSecondMax)
  const sessionBytes = new LRUCache<string, number>({ max: replaySessionsCountedMax })
  const dayBytes = makeDayBytes(clock)
  let unpacking = 0

  function refuse(outcome: ChunkOutcome, { status, detail }: Refusal, retryAfter?: number): Answer {
    countChunk(outcome)
    return { status, body: JSON.stringify({ detail }), ...(retryAfter !== undefined && { retryAfter }) }
  }

  const refuseRate = () => refuse('rate_limited', trackingRefusals.keyRate, rateRetryAfterSeconds)

  /** Parsing holds up the thread, which takes all events, too: so keys have a limit each, and together. */
  function allowsNodes(key: string, nodes: number): boolean {
    const now = clock.now()
    return keyNodeRate.allows(key, nodes, now) && threadNodeRate.allows('', nodes, now)
  }

  /** Why the chunk isn't worth unpacking; null where it is. */
  function refusalOf(body: ReplayBody, workspace: TrackedWorkspace, isBot: boolean): Answer | null {
    if (workspace.replayShare === 0) return refuse('replay_off', trackingRefusals.replayOff)
    if (isBot) return refuse('bot', trackingRefusals.replayOfBot)
    if (identifierOf(body.anonymous_id) === null) return refuse('invalid', nobodysId('anonymous_id', body.anonymous_id))
    if (identifierOf(body.session_id) === null) return refuse('invalid', nobodysId('session_id', body.session_id))
    if (bytesPerDayMax > 0 && dayBytes.of(workspace.id) + body.events.length > bytesPerDayMax) {
      return refuse('day_full', trackingRefusals.replayDayFull, retryAfterSeconds)
    }
    const known = sessionBytes.get(sessionName(body, workspace)) ?? 0
    if (known + body.events.length > replaySessionBytesMax) return refuse('session_full', trackingRefusals.replayFull)
    if (!keyRate.allows(body.tracking_key, body.events.length, clock.now())) return refuseRate()
    if (unpacking >= replayUnpackingMax) return refuse('over_capacity', trackingRefusals.queueFull, retryAfterSeconds)
    return null
  }

  async function store(body: ReplayBody, workspace: TrackedWorkspace, sender: ChunkSender): Promise<Answer> {
    unpacking++
    const json = await unpackEvents(body.events).finally(() => unpacking--)
    if (json !== null && !keyJsonRate.allows(body.tracking_key, json.length, clock.now())) return refuseRate()
    const counted = json && countEvents(json)
    if (counted !== null && !allowsNodes(body.tracking_key, counted.nodes)) return refuseRate()
    const facts = counted && readEvents(counted)
    if (facts === null) return refuse('invalid', invalidEvents())
    if (!writer.hasRoom(1, replayRowBytesMax)) {
      return refuse('over_capacity', trackingRefusals.queueFull, retryAfterSeconds)
    }
    writer.append(rowOf(body, facts, sender, workspace), null, null)
    const isDurable = await new Promise<boolean>((resolve) => writer.whenSynced(resolve))
    if (!isDurable) return refuse('not_synced', trackingRefusals.notStored, retryAfterSeconds)
    const name = sessionName(body, workspace)
    sessionBytes.set(name, (sessionBytes.get(name) ?? 0) + body.events.length)
    dayBytes.add(workspace.id, body.events.length)
    countChunk('stored')
    return accepted
  }

  return {
    receive: async (body, workspace, sender) => {
      const agent = agentOf(sender.userAgent)
      const country = countryOrZone(countryOfSender(sender, countries), body.timezone)
      const excluded = exclusionOfChunk(body, country, sender, workspace)
      // The script ends the recording of the page then.
      if (excluded !== null) {
        countChunk('excluded')
        return excludedAnswer(excluded)
      }
      const refusal = refusalOf(body, workspace, agent.program !== null)
      if (refusal !== null) return refusal
      const { receivedAt } = sender
      return store(body, workspace, { agent, country, receivedAt })
    },
  }
}

/** Bytes that were stored of each workspace on the current day. */
function makeDayBytes(clock: Clock) {
  const bytes = new Map<number, number>()
  let day = 0
  const today = () => {
    const now = Math.floor(clock.now() / dayMs)
    if (now !== day) bytes.clear()
    day = now
    return bytes
  }
  return {
    of: (workspaceId: number) => today().get(workspaceId) ?? 0,
    add: (workspaceId: number, more: number) => void today().set(workspaceId, (bytes.get(workspaceId) ?? 0) + more),
  }
}

interface Refusal {
  readonly status: number
  readonly detail: unknown
}

function sessionName(body: ReplayBody, { id }: TrackedWorkspace): string {
  return `${id} ${body.session_id}`
}

function nobodysId(field: 'anonymous_id' | 'session_id', value: string): Refusal {
  return { status: 422, detail: [valueError(['body', field], value, `${field} should name somebody`)] }
}

function invalidEvents(): Refusal {
  const message = 'events should be base64 of gzipped JSON, a list of rrweb events'
  return { status: 422, detail: [valueError(['body', 'events'], null, message)] }
}
