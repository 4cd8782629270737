/** The second reading of the file: its page requests, in order of time, as events of the public interface. */
import { CommandFailed } from '../command.ts'
import { eventIdOf, type LogLine, parseLogLine, urlOf } from './log-line.ts'
import { isPageRequest } from './page-request.ts'
import { type LineReader, openLines } from './read-lines.ts'
import { makeReorderBuffer } from './reorder-buffer.ts'
import type { Timing } from './timing.ts'
import { makeVisitTracker } from './visits.ts'

/** An event as the public interface takes it. */
export interface PageEvent {
  readonly event_name: 'pageview'
  readonly client_event_id: string
  readonly url: string
  readonly referrer?: string
  readonly user_agent?: string
  readonly anonymous_id: string
  readonly session_id: string
  readonly occurred_at: string
}

/** The event for a line, and the line's own time. */
export interface Replayed<Event> {
  readonly event: Event
  readonly logTime: number
}

interface ReplayedPage extends Replayed<PageEvent> {
  /** The line's address. It is never sent. */
  readonly address: string
}

/** Counts of people and bots in the log; filled while it is read. */
interface ReplayCounts {
  lines: number
  odd_lines: number
  /** Page requests of people. */
  pageviews: number
  /** Page requests of crawlers: sent like all others, and kept apart by ingest. */
  bots: number
  visitors: number
  sessions: number
}

/** Lines of one log lie so far out of order, and no more of them are held back. */
const windowMs = 5 * 60_000
const waitingMax = 100_000

export interface PageEventSource {
  readonly counts: ReplayCounts
  readonly reader: LineReader
  events(): AsyncGenerator<ReplayedPage[]>
}

export interface PageEventOptions {
  /** Origin of the paths in the log. */
  readonly site: string
  readonly timing: Timing
  /** Hashes addresses. */
  readonly key: Buffer
  /** Whether ingest will take this user agent for a crawler. */
  readonly isBot: (agent: string) => boolean
  readonly signal: AbortSignal
}

export async function readPageEvents(
  path: string,
  { site, timing, key, isBot, signal }: PageEventOptions,
): Promise<PageEventSource> {
  const reader = await openLines(path)
  const counts: ReplayCounts = { lines: 0, odd_lines: 0, pageviews: 0, bots: 0, visitors: 0, sessions: 0 }
  const people = makeVisitTracker(key, timing.run)
  const crawlers = makeVisitTracker(key, timing.run)
  const inOrder = makeReorderBuffer<{ line: LogLine; id: string }>(windowMs, waitingMax)

  function toEvent({ line, id }: { line: LogLine; id: string }): ReplayedPage {
    const isCrawler = isBot(line.agent)
    const visit = (isCrawler ? crawlers : people).visit(line)
    if (isCrawler) counts.bots++
    else {
      counts.pageviews++
      if (visit.isNewSession) counts.sessions++
      counts.visitors = people.visitors()
    }
    const event: PageEvent = {
      event_name: 'pageview',
      client_event_id: id,
      url: urlOf(line, site),
      ...(line.referrer !== '' && { referrer: line.referrer }),
      ...(line.agent !== '' && { user_agent: line.agent }),
      anonymous_id: visit.anonymousId,
      session_id: visit.sessionId,
      occurred_at: new Date(timing.occurredAt(line.time)).toISOString(),
    }
    return { event, logTime: line.time, address: line.address }
  }

  async function* events(): AsyncGenerator<ReplayedPage[]> {
    for await (const chunk of reader.lines) {
      if (signal.aborted) throw new CommandFailed('interrupted')
      const ready: ReplayedPage[] = []
      for (const text of chunk) {
        counts.lines++
        const line = parseLogLine(text)
        if (line === undefined) counts.odd_lines++
        else if (isPageRequest(line)) {
          const id = eventIdOf(key, String(counts.lines), timing.run, text)
          for (const item of inOrder.push(line.time, { line, id })) ready.push(toEvent(item))
        }
      }
      if (ready.length > 0) yield ready
    }
    counts.lines += reader.tooLong()
    counts.odd_lines += reader.tooLong()
    yield inOrder.end().map(toEvent)
  }

  return { counts, reader, events }
}
