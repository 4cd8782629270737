/** The members of the answer about web vitals. */
import type { Details, PageVitals } from '../../../clickhouse/queries/overview/read-vitals-and-titles.ts'
import { rateVital, type VitalName, vitalNames, vitalRatings, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { AnalyticsOverview } from '../../../schemas/resources/overview.ts'
import type { Bucket } from '../../../schemas/time/time-range.ts'

type List<Name extends keyof AnalyticsOverview> = NonNullable<AnalyticsOverview[Name]>

/** All four, with or without samples. */
export function vitalRows(total: Details['vitals']['total']): List<'web_vitals'> {
  return vitalNames.map((metric) => {
    const { label, unit, good, poor } = vitals[metric]
    const figures = total.get(metric)
    return {
      metric,
      label,
      unit,
      rating: figures === undefined ? 'no_data' : rateVital(metric, figures.p75),
      count: figures?.count ?? 0,
      latest: shown(figures?.latest ?? 0),
      average: shown(figures?.average ?? 0),
      p75: shown(figures?.p75 ?? 0),
      p90: shown(figures?.p90 ?? 0),
      p99: shown(figures?.p99 ?? 0),
      good_threshold: good,
      poor_threshold: poor,
    }
  })
}

export function vitalPoints(series: Details['vitals']['series'], buckets: readonly Bucket[]): List<'web_vital_series'> {
  return buckets.map(({ label, start, end }, i) => {
    const samples = series[i]
    const values: Record<string, number> = {}
    const counts: Record<string, number> = {}
    for (const metric of vitalNames) {
      const sample = samples?.get(metric)
      if (sample !== undefined) values[metric] = shown(sample.p75)
      counts[metric] = sample?.count ?? 0
    }
    return { label, start: new Date(start).toISOString(), end: new Date(end).toISOString(), values, counts }
  })
}

export function vitalPageRow({ path, pageviews, metrics }: PageVitals): List<'web_vital_pages'>[number] {
  const measured = vitalNames.filter((metric) => metrics.has(metric))
  const worst = worstVital(metrics)
  const sum = (of: 'count' | 'good' | 'poor') => measured.reduce((total, metric) => total + metrics.get(metric)![of], 0)
  const [samples, good, poor] = [sum('count'), sum('good'), sum('poor')]
  return {
    path,
    worst_metric: worst,
    rating: rateVital(worst, metrics.get(worst)!.p75),
    pageviews,
    samples,
    good,
    needs_improvement: samples - good - poor,
    poor,
    p90: shown(metrics.get(worst)!.p90),
    metric_p90s: Object.fromEntries(measured.map((metric) => [metric, shown(metrics.get(metric)!.p90)])),
    metric_ratings: Object.fromEntries(measured.map((metric) => [metric, rateVital(metric, metrics.get(metric)!.p75)])),
  }
}

/**
 * The metric with the worst rating. Among equal ones, the one whose p90 is furthest towards poor or beyond it.
 * Differences in an interpolation's last digits don't count.
 */
export function worstVital(metrics: PageVitals['metrics']): VitalName {
  const badness = (metric: VitalName): [rating: number, reach: number] => {
    const { p75, p90 } = metrics.get(metric)!
    return [vitalRatings.indexOf(rateVital(metric, p75)), shown(p90 / vitals[metric].poor)]
  }
  // Sorting is stable: what is equal in both stays in the order of the names.
  const [worst] = vitalNames
    .filter((metric) => metrics.has(metric))
    .sort((a, b) => {
      const [ratingA, reachA] = badness(a)
      const [ratingB, reachB] = badness(b)
      return ratingB - ratingA || reachB - reachA
    })
  return worst!
}

/** At most six decimals: means differ beyond them with the order of adding. */
function shown(value: number): number {
  return Number(value.toFixed(6))
}
