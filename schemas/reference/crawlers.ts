/**
 * The table of known crawlers, made of a maintained list (schemas/generate-crawlers.ts): one pass over a user agent finds the
 * crawler that it names. Held by test/unit/crawlers.test.ts.
 */
import { crawlers } from '../generated/crawlers.js'
import type { Bot } from './known-bots.ts'

interface Crawler {
  readonly part: string
  readonly isBeginning: boolean
  readonly bot: Bot
}

/** By how their parts begin: a text is asked at each of its places for the few that could stand there. */
const indexLength = 3
const byBeginning = new Map<string, Crawler[]>()
for (const [text, name, operator, category] of crawlers as [string, string, string, Bot['category']][]) {
  const isBeginning = text.startsWith('^')
  const part = isBeginning ? text.slice(1) : text
  const beginning = part.slice(0, indexLength)
  const others = byBeginning.get(beginning) ?? []
  byBeginning.set(beginning, [...others, { part, isBeginning, bot: { name, operator, category } }])
}

/** The crawler whose part of the user agent is the longest; null where it names none of the table. */
export function crawlerOf(userAgent: string): Bot | null {
  let found: Crawler | null = null
  for (let at = 0; at <= userAgent.length - indexLength; at++) {
    const candidates = byBeginning.get(userAgent.slice(at, at + indexLength))
    if (candidates === undefined) continue
    for (const candidate of candidates) {
      if (candidate.isBeginning && at > 0) continue
      if (found !== null && candidate.part.length <= found.part.length) continue
      if (userAgent.startsWith(candidate.part, at)) found = candidate
    }
  }
  return found?.bot ?? null
}
