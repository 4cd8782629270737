/** What the overview is asked for: a range, as dashboards ask for it and in a form that no cache has an answer to. */
import type { Question } from './load-plan.ts'

export interface Range {
  readonly name: string
  /** As dashboards ask: the same again and again. */
  readonly cached: string
  /** Milliseconds since 1970 of its begin; it ends now. */
  startAt(now: number): number
}

const dayMs = 86_400_000
const hourMs = 3_600_000
const path = '/v1/analytics/overview'

/** Whole UTC days up to now, today included. */
export function lastDays(days: number): Range {
  return {
    name: `${days} days`,
    cached: `days=${days}`,
    startAt: (now) => Math.floor(now / dayMs) * dayMs - (days - 1) * dayMs,
  }
}

export function lastHours(hours: number): Range {
  return { name: `${hours} hours`, cached: `hours=${hours}`, startAt: (now) => now - hours * hourMs }
}

export function cachedQuestion(range: Range, apiKey: string): Question[] {
  return [{ path: `${path}?${range.cached}`, apiKey }]
}

let shifts = 0
/** 50 minutes: then from the beginning, when the end has moved on. */
const shiftsMax = 3_000

/** Each range is a second shorter at both ends than the one before. */
export function uncachedQuestions(range: Range, apiKey: string, count: number): Question[] {
  const now = Date.now()
  return Array.from({ length: count }, () => {
    const shiftMs = (++shifts % shiftsMax) * 1_000
    const start = new Date(range.startAt(now) + shiftMs).toISOString()
    const end = new Date(now - shiftMs).toISOString()
    return { path: `${path}?start=${start}&end=${end}`, apiKey }
  })
}

/** Each as a dashboard asks, but with an end of its own a little after now, so that each is answered anew. */
export function liveQuestions(range: Range, apiKey: string, count: number): Question[] {
  const now = Date.now()
  const start = new Date(range.startAt(now)).toISOString()
  return Array.from({ length: count }, () => {
    const end = new Date(now + (++shifts % shiftsMax) * 1_000).toISOString()
    return { path: `${path}?start=${start}&end=${end}`, apiKey }
  })
}
