/** Input and output of every scenario. */

import type { Latency } from './load/load-plan.ts'
import type { Cores } from './measure/cores.ts'

export interface BenchSettings {
  readonly cores: Cores | string
  /** Undisturbed rounds of each measurement. */
  readonly rounds: number
  /** Length of the sustained loads. */
  readonly sustainedSeconds: number
  /** Numbers of events that overviews are measured on, ascending; storage and the dashboard on the largest. */
  readonly sizes: readonly number[]
  /** Events a second of `mixed`. */
  readonly mixedRate: number
  /** A few seconds for each scenario, only to see that nothing is lost: no profile, no repetition of disturbed rounds. */
  readonly isShort: boolean
  readonly say: (line: string) => void
}

/** One line of the table. */
export interface Figure {
  readonly measure: string
  readonly value: number
  /** `times` is a ratio of which less is better. */
  readonly unit: 'ratio' | 'times' | 'ms' | 's' | 'B' | 'MB' | 'MB/s' | 'events/s' | 'requests/s' | 'errors'
  /** Targets of the first stage and of the goal; a figure may have none of its own. */
  readonly firstStage?: number
  readonly goal?: number
  /** Milliseconds that the requests of this figure took. */
  readonly latency?: Latency
  readonly eventsPerCpuSecond?: { readonly product: number; readonly reference?: number }
}

export function isReached({ unit, value }: Pick<Figure, 'unit' | 'value'>, target: number): boolean {
  // A figure that could not be measured is NaN, and null once it was kept as JSON: `null <= 30` holds.
  if (!Number.isFinite(value)) return false
  // Less is better of time, room and `times`.
  return unit === 'ratio' || unit.endsWith('/s') ? value >= target : value <= target
}

export interface ScenarioResult {
  readonly figures: Figure[]
  /** Events sent, acknowledged and stored over all rounds; absent where nothing is sent. */
  readonly counts?: EventCounts
  /** Sentences that a reader of the figures needs. */
  readonly remarks: string[]
  readonly settings: Readonly<Record<string, unknown>>
  /** Cores of each process, where that isn't as for other scenarios. */
  readonly placement?: string
  /** Everything measured, also what was thrown away. */
  readonly rounds: readonly unknown[]
}

export interface EventCounts {
  sent: number
  acknowledged: number
  stored: number
  /** Stored more than once. */
  repeated: number
}

export type Scenario = (settings: BenchSettings) => Promise<ScenarioResult>

export function sumCounts(all: readonly Partial<EventCounts>[]): EventCounts {
  const sum = (name: keyof EventCounts) => all.reduce((before, counts) => before + (counts[name] ?? 0), 0)
  return { sent: sum('sent'), acknowledged: sum('acknowledged'), stored: sum('stored'), repeated: sum('repeated') }
}

/** Sent = acknowledged = stored, each once: else the figures beside it are void. */
export function isComplete({ sent, acknowledged, stored, repeated }: EventCounts): boolean {
  return sent === acknowledged && acknowledged === stored && repeated === 0
}
