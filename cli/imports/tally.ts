/** Counts lines by reason, with the places of the first ones. Reasons beyond a bound count together. */
import { importFirstLinesMax, importReasonsMax } from '../../schemas/limits/event-limits.ts'

export interface Tallied {
  readonly reason: string
  readonly count: number
  /** `FILE:LINE` of the first ones. */
  readonly first: readonly string[]
}

export interface Tally {
  add(reason: string, place: string): void
  total(): number
  /** The most frequent first. */
  list(): Tallied[]
}

const reasonLengthMax = 120

export function makeTally(): Tally {
  const found = new Map<string, { count: number; readonly first: string[] }>()
  return {
    add: (text, place) => {
      // Names of events come from the file: no control character reaches a terminal.
      const reason = text.replace(/\p{Cc}/gu, '\ufffd').slice(0, reasonLengthMax)
      const name = found.has(reason) || found.size < importReasonsMax ? reason : 'other reasons'
      const entry = found.get(name) ?? { count: 0, first: [] }
      found.set(name, entry)
      entry.count++
      if (entry.first.length < importFirstLinesMax) entry.first.push(place)
    },
    total: () => [...found.values()].reduce((sum, { count }) => sum + count, 0),
    list: () => [...found].map(([reason, entry]) => ({ reason, ...entry })).sort((a, b) => b.count - a.count),
  }
}
