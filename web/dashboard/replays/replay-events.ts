/**
 * A recording's chunks as one row of events to play. Page loads follow one another, even those of parallel
 * tabs, because a player shows one page at a time. Pure; test/unit/dashboard-replay.test.ts.
 */
import type { ReplayPage } from '../../../schemas/resources/replay.ts'
import type { RecordedEvent } from '../../player/harmless.ts'

export type Chunk = ReplayPage['chunks'][number]

/** A load of a page, or a part of one. Times are milliseconds. */
export interface PageLoad {
  readonly url: string
  /** From the begin of what is played. */
  readonly at: number
  readonly durationMs: number
  /** When it was, by the server's clock, since 1970. */
  readonly startedAt: number
}

export interface Recording {
  readonly events: readonly RecordedEvent[]
  readonly loads: readonly PageLoad[]
  /** Chunks are missing, or a load's beginning. */
  readonly lacksParts: boolean
}

/** A gap is shown up to here: nothing moves in it. */
const gapMaxMs = 10 * 60_000
/** A clock that is set back by less makes no part of its own. */
const clockSlackMs = 1_000
const fullSnapshot = 2

export function recordingOf(chunks: readonly Chunk[]): Recording {
  const events: RecordedEvent[] = []
  const loads: PageLoad[] = []
  let begin = 0
  /** Taken out of the gaps so far: what follows a long one stands as far from it as it was. */
  let cutMs = 0
  let lacksParts = false
  for (const load of loadsOf(chunks)) {
    lacksParts ||= load.some(({ sequence }, index) => sequence !== index)
    // Changes without a snapshot have nothing to change.
    if (!load.some((chunk) => chunk.events.some(({ type }) => type === fullSnapshot))) {
      lacksParts = true
      continue
    }
    for (const { url, startedAt, own } of partsOf(load)) {
      const [first, last] = [own[0]!.timestamp, own.at(-1)!.timestamp]
      if (loads.length === 0) begin = startedAt
      const before = loads.at(-1)
      const end = before === undefined ? 0 : before.at + before.durationMs + 1
      const at = Math.min(Math.max(startedAt - begin - cutMs, end), end + gapMaxMs)
      cutMs = Math.max(cutMs, startedAt - begin - at)
      for (const event of own) events.push({ ...event, timestamp: begin + at + event.timestamp - first })
      loads.push({ url, at, durationMs: last - first, startedAt })
    }
  }
  return { events, loads, lacksParts }
}

interface Part {
  readonly url: string
  readonly startedAt: number
  readonly own: RecordedEvent[]
}

/** Events in their order. Another part begins where the visitor's clock was set back, or jumps. */
function partsOf(load: readonly Chunk[]): Part[] {
  const parts: Part[] = []
  for (const chunk of load) {
    const recorded = chunk.events as unknown as readonly RecordedEvent[]
    const begin = recorded.reduce((least, { timestamp }) => Math.min(least, timestamp), Number.POSITIVE_INFINITY)
    for (const event of recorded) {
      const last = parts.at(-1)?.own.at(-1)?.timestamp
      const isNext = last !== undefined && event.timestamp >= last - clockSlackMs && event.timestamp <= last + gapMaxMs
      if (isNext) parts.at(-1)!.own.push({ ...event, timestamp: Math.max(event.timestamp, last) })
      else {
        const startedAt = Date.parse(chunk.started_at) + event.timestamp - begin
        parts.push({ url: chunk.url, startedAt, own: [event] })
      }
    }
  }
  return parts
}

/** Where in what is played a moment is, or null where nothing was recorded then. @param moment since 1970 */
export function placeOf({ loads }: Pick<Recording, 'loads'>, moment: number): number | null {
  const slackMs = 2_000
  // One of several tabs that were open together may have ended before.
  const load = loads.findLast(
    ({ startedAt, durationMs }) => startedAt <= moment + slackMs && moment <= startedAt + durationMs + slackMs,
  )
  if (load === undefined) return null
  return load.at + Math.min(Math.max(moment - load.startedAt, 0), load.durationMs)
}

/** The chunks of each load in order, those of the first load first. */
function loadsOf(chunks: readonly Chunk[]): Chunk[][] {
  const loads = new Map<string, Map<number, Chunk>>()
  for (const chunk of chunks) {
    const load = loads.get(chunk.page_id) ?? new Map<number, Chunk>()
    loads.set(chunk.page_id, load)
    // A chunk that was sent again while it was read comes twice.
    load.set(chunk.sequence, chunk)
  }
  const inOrder = [...loads.values()].map((load) => [...load.values()].sort((a, b) => a.sequence - b.sequence))
  return inOrder.sort((a, b) => Date.parse(a[0]!.started_at) - Date.parse(b[0]!.started_at))
}
