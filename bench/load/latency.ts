/** Percentiles by sorting: exact, and the loads are bounded. */
import type { Latency } from './load-plan.ts'

/** By hundredths of a millisecond. */
export function latencyOf(milliseconds: ArrayLike<number>): Latency {
  const sorted = Float64Array.from(milliseconds).sort()
  const at = (share: number) => Math.round(percentile(sorted, share) * 100) / 100
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

/** `sorted` is ascending; NaN of none. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5)
}
