/** Tells where an answer of the product differs from the oracle. */
import type { Overview } from './overview.ts'
import { type MetricName, rate } from './web-vitals.ts'

/** Percentiles may be off by so much: they may come from sketches. */
const percentileTolerance = 0.01
const shownDecimals = 1e-6
const percentiles = ['p75', 'p90', 'p99', 'values', 'metric_p90s']
const measured = ['latest', 'average']
/** Objects whose members are keys of the data: none may be missing, none too many. */
const maps = ['values', 'counts', 'metric_p90s', 'metric_ratings']

/**
 * Differences as sentences, each with the member's path; none when every figure is right. Members that the oracle doesn't
 * know, such as `metrics.as_of` and `metrics.lists_cut`, are not looked at.
 */
export function differences(expected: Overview, actual: unknown): string[] {
  const found: string[] = []
  compare('', '', expected, actual, found)
  return found
}

function compare(path: string, key: string, expected: unknown, actual: unknown, found: string[]): void {
  const differ = () => found.push(`${path}: expected ${show(expected)}, got ${show(actual)}`)
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return void differ()
    if (expected.length !== actual.length) found.push(`${path}: expected ${expected.length} rows, got ${actual.length}`)
    expected.forEach((row, at) => {
      if (at < actual.length) compare(`${path}[${at}]`, key, row, actual[at], found)
    })
  } else if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return void differ()
    const names = new Set([...Object.keys(expected), ...(maps.includes(key) ? Object.keys(actual) : [])])
    const rated = ratedAsShown(expected, actual)
    for (const name of names) {
      const [one, other] = [rated, actual].map((side) => (side as Record<string, unknown>)[name])
      // Within a map the member is what its map is: a percentile, a count, a rating.
      compare(path === '' ? name : `${path}.${name}`, maps.includes(key) ? key : name, one, other, found)
    }
  } else if (!isEqual(key, expected, actual)) differ()
}

/**
 * A metric's rating is that of the shown p75, which is compared for itself. The shown value may lie beyond a threshold
 * that the exact one just meets.
 */
function ratedAsShown(expected: object, actual: object): object {
  const { metric, p75, rating } = expected as Record<string, unknown>
  const shown = (actual as Record<string, unknown>)['p75']
  if (rating === undefined || rating === 'no_data' || p75 === undefined || typeof shown !== 'number') return expected
  return { ...expected, rating: rate(metric as MetricName, shown) }
}

function isEqual(key: string, expected: unknown, actual: unknown): boolean {
  if ((key === 'start' || key === 'end') && typeof actual === 'string') {
    return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(actual) && Date.parse(actual) === expected
  }
  if (typeof expected === 'number' && typeof actual === 'number') {
    if (percentiles.includes(key)) {
      return Math.abs(expected - actual) <= Math.max(shownDecimals, expected * percentileTolerance)
    }
    if (measured.includes(key)) return Math.abs(expected - actual) <= shownDecimals
  }
  return Object.is(expected, actual)
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}
