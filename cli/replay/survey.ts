/** First pass over the file: finds its time span and its site. The second pass sends. */
import { kindOfSource } from '../../schemas/reference/sources.ts'
import { CommandFailed } from '../command.ts'
import { type LogLine, parseLogLine } from './log-line.ts'
import { openLines } from './read-lines.ts'

export interface Survey {
  readonly lines: number
  readonly oddLines: number
  /** Times of the first and last request that is replayed; both 0 where there is none. */
  readonly firstTime: number
  readonly lastTime: number
  /** Origin that most requests were referred from: a site refers to itself most of all, by its images and styles. No known search engine or network. */
  readonly site: string | undefined
}

/** Referring origins that are counted; beyond them only those already known. */
const originsMax = 10_000

/** @param isReplayed which lines are sent */
export async function surveyLog(
  path: string,
  signal: AbortSignal,
  isReplayed: (line: LogLine) => boolean,
): Promise<Survey> {
  const reader = await openLines(path)
  const origins = new Map<string, number>()
  let lines = 0
  let oddLines = 0
  let firstTime = Number.POSITIVE_INFINITY
  let lastTime = Number.NEGATIVE_INFINITY
  for await (const chunk of reader.lines) {
    if (signal.aborted) throw new CommandFailed('interrupted')
    for (const text of chunk) {
      lines++
      const line = parseLogLine(text)
      if (line === undefined) {
        oddLines++
        continue
      }
      if (line.referrer !== '') countOrigin(origins, line.referrer)
      if (!isReplayed(line)) continue
      firstTime = Math.min(firstTime, line.time)
      lastTime = Math.max(lastTime, line.time)
    }
  }
  const tooLong = reader.tooLong()
  const hasPages = lastTime >= firstTime
  return {
    lines: lines + tooLong,
    oddLines: oddLines + tooLong,
    firstTime: hasPages ? firstTime : 0,
    lastTime: hasPages ? lastTime : 0,
    site: [...origins].filter(isOfSite).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0],
  }
}

function countOrigin(origins: Map<string, number>, referrer: string): void {
  const origin = /^https?:\/\/[A-Za-z0-9.-]+(?::\d+)?/.exec(referrer)?.[0].toLowerCase()
  if (origin === undefined || (origins.size >= originsMax && !origins.has(origin))) return
  origins.set(origin, (origins.get(origin) ?? 0) + 1)
}

/** An origin that leads visitors to many sites isn't the site. */
function isOfSite([origin]: readonly [string, number]): boolean {
  const kind = kindOfSource(new URL(origin).hostname)
  return kind === undefined || kind === 'shop'
}
