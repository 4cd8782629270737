/**
 * A recording's chunks as one row of events to play. Loads of pages follow one another, those of tabs that were open together
 * as well: a player shows one page at a time. Pure; test/unit/dashboard-replay.test.ts.
 */
import type { ReplayPage } from '../../schemas/resources/replay.ts'
import type { RecordedEvent } from '../player/harmless.ts'

export type Chunk = ReplayPage['chunks'][number]

/** A load of a page. Times are milliseconds. */
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
}

/** A gap between pages is shown up to here: nothing moves in it. */
const gapMaxMs = 10 * 60_000
const fullSnapshot = 2

export function recordingOf(chunks: readonly Chunk[]): Recording {
  const events: RecordedEvent[] = []
  const loads: PageLoad[] = []
  let begin = 0
  for (const load of loadsOf(chunks)) {
    const own = load.flatMap((chunk) => chunk.events as unknown as RecordedEvent[]).sort(byTime)
    // Changes without a snapshot have nothing to change.
    if (!own.some(({ type }) => type === fullSnapshot)) continue
    const [first, last] = [own[0]!.timestamp, own.at(-1)!.timestamp]
    const startedAt = Date.parse(load[0]!.started_at)
    if (loads.length === 0) begin = startedAt
    const before = loads.at(-1)
    const end = before === undefined ? 0 : before.at + before.durationMs + 1
    const at = Math.min(Math.max(startedAt - begin, end), end + gapMaxMs)
    for (const event of own) events.push({ ...event, timestamp: begin + at + event.timestamp - first })
    loads.push({ url: load[0]!.url, at, durationMs: last - first, startedAt })
  }
  return { events, loads }
}

/** Where in what is played a moment is, or null where nothing was recorded then. @param moment since 1970 */
export function placeOf({ loads }: Pick<Recording, 'loads'>, moment: number): number | null {
  const slackMs = 2_000
  const load = loads.findLast(({ startedAt }) => startedAt <= moment + slackMs)
  if (load === undefined || moment > load.startedAt + load.durationMs + slackMs) return null
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

function byTime(a: RecordedEvent, b: RecordedEvent): number {
  return a.timestamp - b.timestamp
}
