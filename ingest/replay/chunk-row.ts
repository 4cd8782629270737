/** Builds the row of a chunk: whose it is, when and where it was recorded, and by what. */
import type { ReplayBody } from '../../schemas/event/event.ts'
import { noCountry, type ReplayChunkRow } from '../../schemas/event/row.ts'
import { clockSkewMaxMs, eventAgeMaxMs } from '../../schemas/limits/event-limits.ts'
import { parseEventTime } from '../../schemas/time/date-time.ts'
import { makeNamedSessions, makeNamedVisitors } from '../enrich/hash-ids.ts'
import { makePageUrl, readPageUrl } from '../enrich/page-url.ts'
import type { Agent } from '../enrich/user-agents.ts'
import type { IngestWorkspace } from '../event-context.ts'
import type { ChunkFacts } from './read-events.ts'

/** Facts of the request that are read before anything is waited for. */
export interface ChunkSender {
  readonly agent: Agent
  readonly country: string
  /** Milliseconds since 1970 UTC. */
  readonly receivedAt: number
}

/** The row is the maker's own and filled anew by the next call; `id` is not set yet. */
export type MakeChunkRow = (
  body: ReplayBody,
  facts: ChunkFacts,
  sender: ChunkSender,
  workspace: IngestWorkspace,
) => ReplayChunkRow

export function makeChunkRows(secretKey: string): MakeChunkRow {
  const sessionOf = makeNamedSessions(secretKey)
  const visitorOf = makeNamedVisitors(secretKey)
  const page = makePageUrl()
  const row = emptyChunkRow()

  return (body, facts, { agent, country, receivedAt }, workspace) => {
    readPageUrl(body.url ?? '', page)
    row.workspace_id = workspace.id
    row.occurred_at = timeOf(body, facts, receivedAt, workspace.timezone)
    row.received_at = receivedAt
    visitorOf(workspace.id, body.anonymous_id, row.visitor)
    row.session = sessionOf(workspace.id, body.session_id)
    row.sequence = body.sequence
    row.duration_ms = facts.durationMs
    row.event_count = facts.eventCount
    row.clicks = facts.clicks
    row.bytes = body.events.length
    row.json_bytes = facts.jsonBytes
    row.device = agent.device
    row.country = country
    row.page_id = body.page_id
    row.session_id = body.session_id
    row.anonymous_id = body.anonymous_id
    row.path = page.path
    row.url = page.url
    row.browser = agent.browser
    row.os = agent.os
    row.events = body.events
    return row
  }
}

/**
 * When the chunk begins by our clock: as events are corrected by `sent_at`. A time that can't be right is that of receipt,
 * because a replay in the wrong place is worth more than none.
 */
function timeOf(body: ReplayBody, { firstAt, durationMs }: ChunkFacts, receivedAt: number, timezone: string): number {
  const skew = body.sent_at ? receivedAt - parseEventTime(body.sent_at, timezone) : 0
  const time = Math.abs(skew) <= clockSkewMaxMs ? firstAt + skew : firstAt
  const isPossible = time <= receivedAt && time >= receivedAt - eventAgeMaxMs
  return isPossible ? time : receivedAt - durationMs
}

function emptyChunkRow(): ReplayChunkRow {
  return {
    id: 0,
    workspace_id: 0,
    occurred_at: 0,
    received_at: 0,
    visitor: { hi: 0, lo: 0 },
    session: 0,
    sequence: 0,
    duration_ms: 0,
    event_count: 0,
    clicks: 0,
    bytes: 0,
    json_bytes: 0,
    device: 0,
    country: noCountry,
    page_id: '',
    session_id: '',
    anonymous_id: '',
    path: '',
    url: '',
    browser: '',
    os: '',
    events: '',
  }
}
