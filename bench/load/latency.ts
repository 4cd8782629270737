/** Percentiles by sorting: exact, and the loads are bounded. */
import type { Latency } from './load-plan.ts'

/** Sorts `milliseconds` in place. */
export function latencyOf(milliseconds: Float32Array): Latency {
  milliseconds.sort()
  const at = (share: number) => rounded(percentile(milliseconds, share))
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

/** `sorted` is ascending; NaN of none. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  )
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
