import { kinds, vitalMetrics } from '../../schemas/event/row.ts'
import { type VitalName, vitals } from '../../schemas/reference/web-vitals.ts'
import type { Facts, Verdict } from './facts.ts'

type Properties = Readonly<Record<string, unknown>>

const metrics: ReadonlyMap<string, { readonly number: number; readonly max: number }> = new Map(
  Object.entries(vitals).map(([name, { max }]) => [name, { number: vitalMetrics[name as VitalName], max }]),
)
const engagementMax = 2 ** 32 - 1
const scrollDepthMax = 100

/** The free properties as JSON, and the properties that svc.js gives its own events. */
export function readProperties(facts: Facts): Verdict {
  const { event, row } = facts
  row.metric = vitalMetrics.none
  row.metric_value = 0
  row.engagement_ms = 0
  row.scroll_depth = 0
  const { properties } = event
  if (properties === undefined || properties === null) {
    row.properties = ''
    return undefined
  }
  row.properties = jsonOf(properties)
  if (row.kind === kinds.web_vital) readVital(properties, facts)
  else if (row.kind === kinds.page_leave) {
    row.engagement_ms = boundedInteger(properties['engagement_ms'], engagementMax)
    row.scroll_depth = boundedInteger(properties['scroll_depth'], scrollDepthMax)
  }
  return undefined
}

const longDigits = /\d{19}/
const textOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/g

/** ClickHouse finds no property of an event with an integer beyond 64 bits. Such a number is written with an exponent. */
function jsonOf(properties: Properties): string {
  const json = JSON.stringify(properties)
  return longDigits.test(json)
    ? json.replace(textOrNumber, (part) => (isTooLong(part) ? exponential(part) : part))
    : json
}

function isTooLong(part: string): boolean {
  return /^-?\d{19,}$/.test(part) && (BigInt(part) >= 2n ** 64n || BigInt(part) < -(2n ** 63n))
}

function exponential(digits: string): string {
  return Number(digits).toExponential()
}

/** An event whose measurement can't be read stays, without a metric. */
function readVital({ metric, value }: Properties, { row, countDropped }: Facts): void {
  const known = typeof metric === 'string' ? metrics.get(metric.toUpperCase()) : undefined
  if (known === undefined || typeof value !== 'number') return
  if (!(value >= 0 && value <= known.max)) return countDropped('vital_out_of_bounds')
  row.metric = known.number
  row.metric_value = value
}

function boundedInteger(value: unknown, max: number): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.round(value), max) : 0
}
