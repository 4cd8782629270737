/** The second reading of the file, for `--bots`: its requests as visits of the bots endpoint, each with the address of its line. */
import type { BotVisit } from '../../schemas/event/event.ts'
import { CommandFailed } from '../command.ts'
import { eventIdOf, parseLogLine, urlOf } from './log-line.ts'
import type { Replayed } from './page-events.ts'
import { type LineReader, openLines } from './read-lines.ts'
import type { Timing } from './timing.ts'

interface VisitCounts {
  lines: number
  odd_lines: number
  /** Requests of crawlers, or of everybody where that is wanted. */
  visits: number
  /** Requests of others: left out. */
  others: number
}

export interface VisitSource {
  readonly counts: VisitCounts
  readonly reader: LineReader
  events(): AsyncGenerator<Replayed<BotVisit>[]>
}

export interface VisitOptions {
  /** Origin of the paths in the log. */
  readonly site: string
  readonly timing: Timing
  /** Hashes ids. */
  readonly key: Buffer
  /** Whose requests are told of, by their user agent. */
  readonly isWanted: (agent: string) => boolean
  readonly signal: AbortSignal
}

export async function readBotVisits(
  path: string,
  { site, timing, key, isWanted, signal }: VisitOptions,
): Promise<VisitSource> {
  const reader = await openLines(path)
  const counts: VisitCounts = { lines: 0, odd_lines: 0, visits: 0, others: 0 }

  function visitOf(text: string): Replayed<BotVisit> | undefined {
    counts.lines++
    const line = parseLogLine(text)
    // A request that isn't HTTP asked for no page.
    if (line === undefined || line.target === '') {
      counts.odd_lines++
      return undefined
    }
    if (!isWanted(line.agent)) {
      counts.others++
      return undefined
    }
    counts.visits++
    const event: BotVisit = {
      client_event_id: eventIdOf(key, `bots ${counts.lines}`, timing.run, text),
      url: urlOf(line, site),
      method: line.method,
      user_agent: line.agent,
      ip: line.address,
      status_code: line.status,
      ...(line.referrer !== '' && { referrer: line.referrer }),
      occurred_at: new Date(timing.occurredAt(line.time)).toISOString(),
    }
    return { event, logTime: line.time }
  }

  async function* events(): AsyncGenerator<Replayed<BotVisit>[]> {
    for await (const chunk of reader.lines) {
      if (signal.aborted) throw new CommandFailed('interrupted')
      yield chunk.flatMap((text) => visitOf(text) ?? [])
    }
    counts.lines += reader.tooLong()
    counts.odd_lines += reader.tooLong()
  }

  return { counts, reader, events }
}
