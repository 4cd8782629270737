/** Questions to the overview: ranges, as dashboards ask for them, each question one that was not asked before. */
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { Question } from './load-plan.ts'

export interface Range {
  readonly name: string
  /** As dashboards ask: the same again and again. */
  readonly query: string
  /** Queries of the same cost that differ from each other. */
  coldQuery(number: number): string
}

const path = '/v1/analytics/overview'
/** The longest list that may be asked for. */
const limits = 100

/** Whole local days up to now, today included. */
export function lastDays(days: number): Range {
  return ofWhole(`days=${days}`, `days=${days}`)
}

export function lastHours(hours: number): Range {
  return ofWhole(`hours=${hours}`, `hours=${hours}`)
}

/** The same range of the sessions that a filter chooses. */
export function filtered({ query }: Range, filter: string): Range {
  return ofWhole(`${query}&${filter}`, `${query}&${filter}`)
}

/** The answer depends on the length of its lists: a question with another one was not asked before. */
function ofWhole(name: string, query: string): Range {
  return { name, query, coldQuery: (number) => `${query}&limit=${1 + (number % limits)}` }
}

/** A range up to now that begins inside a day: each question a second later than the one before. */
export function sinceInsideDay(days: number): Range {
  const startAt = (number: number) => new Date(Date.now() - (days + 0.4) * dayMs + number * 1000).toISOString()
  return { name: `${days}.4 days`, query: `start=${startAt(0)}`, coldQuery: (number) => `start=${startAt(number)}` }
}

export function repeatedQuestion(range: Range, apiKey: string): Question[] {
  return [{ path: `${path}?${range.query}`, apiKey }]
}

let asked = 0

export function coldQuestions(range: Range, apiKey: string, count: number): Question[] {
  return Array.from({ length: count }, () => ({ path: `${path}?${range.coldQuery(++asked)}`, apiKey }))
}
