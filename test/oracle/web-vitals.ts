/** Web vitals: of the range, of its pages, of its buckets. */

import { ofKind } from './counters.ts'
import { byTime, type EventFact, groupBy, kind } from './facts.ts'
import { byText } from './lists.ts'
import type { Counted } from './sessions.ts'

const metricNames = ['FCP', 'LCP', 'INP', 'CLS'] as const
export type MetricName = (typeof metricNames)[number]
export type Rating = 'good' | 'needs_improvement' | 'poor' | 'no_data'

const thresholds: Readonly<Record<MetricName, { good: number; poor: number }>> = {
  FCP: { good: 1800, poor: 3000 },
  LCP: { good: 2500, poor: 4000 },
  INP: { good: 200, poor: 500 },
  CLS: { good: 0.1, poor: 0.25 },
}

/** Metrics are stored as 1 to 4 in the order of `metricNames`; 0 is none. */
function metricOf(event: EventFact): MetricName {
  return metricNames[event.metric - 1]!
}

function samplesOf(events: readonly EventFact[]): EventFact[] {
  return ofKind(events, kind.webVital).filter((event) => event.metric !== 0)
}

/** Between the two closest ranks, as far as `level` lies between them. */
function percentile(values: readonly number[], level: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const rank = (sorted.length - 1) * level
  const [below, above] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!]
  return below + (above - below) * (rank - Math.floor(rank))
}

export function rate(metric: MetricName, value: number): Rating {
  if (value <= thresholds[metric].good) return 'good'
  return value > thresholds[metric].poor ? 'poor' : 'needs_improvement'
}

export function webVitals(events: readonly EventFact[]) {
  const samples = samplesOf(events).sort(byTime)
  return metricNames.map((metric) => {
    const values = samples.filter((sample) => metricOf(sample) === metric).map((sample) => sample.metric_value)
    if (values.length === 0) {
      return { metric, count: 0, latest: 0, average: 0, p75: 0, p90: 0, p99: 0, rating: 'no_data' }
    }
    const p75 = percentile(values, 0.75)
    return {
      metric,
      count: values.length,
      latest: values.at(-1)!,
      average: values.reduce((total, value) => total + value, 0) / values.length,
      p75,
      p90: percentile(values, 0.9),
      p99: percentile(values, 0.99),
      rating: rate(metric, p75),
    }
  })
}

export function vitalPages(events: readonly EventFact[], { isCountedView }: Counted) {
  const views = groupBy(events.filter(isCountedView), ({ path }) => path)
  return [...groupBy(samplesOf(events), ({ path }) => path)]
    .map(([path, samples]) => describePage(path, samples, views.get(path)?.length ?? 0))
    .sort((a, b) => b.pageviews - a.pageviews || byText(a.path, b.path))
}

/** In millionths: of equal ones that are interpolated the last digits differ. */
function reachOf(metric: MetricName, p90: number): number {
  return Math.round((p90 / thresholds[metric].poor) * 1e6)
}

function describePage(path: string, samples: readonly EventFact[], pageviews: number) {
  const rows = webVitals(samples).filter(({ count }) => count > 0)
  const badness = ['good', 'needs_improvement', 'poor']
  const worst = [...rows].sort(
    (a, b) =>
      badness.indexOf(b.rating) - badness.indexOf(a.rating) ||
      reachOf(b.metric, b.p90) - reachOf(a.metric, a.p90) ||
      metricNames.indexOf(a.metric) - metricNames.indexOf(b.metric),
  )[0]!
  const rated = (rating: Rating) =>
    samples.filter((sample) => rate(metricOf(sample), sample.metric_value) === rating).length
  return {
    path,
    pageviews,
    samples: samples.length,
    good: rated('good'),
    needs_improvement: rated('needs_improvement'),
    poor: rated('poor'),
    worst_metric: worst.metric,
    rating: worst.rating,
    p90: worst.p90,
    metric_p90s: Object.fromEntries(rows.map(({ metric, p90 }) => [metric, p90])),
    metric_ratings: Object.fromEntries(rows.map(({ metric, rating }) => [metric, rating])),
  }
}

export function vitalPoint(events: readonly EventFact[]) {
  const rows = webVitals(events)
  return {
    values: Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ metric, p75 }) => [metric, p75])),
    counts: Object.fromEntries(rows.map(({ metric, count }) => [metric, count])),
  }
}
