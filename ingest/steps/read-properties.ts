import { kinds, vitalMetrics } from '../../schemas/row.ts'
import type { Facts, Verdict } from './facts.ts'

type Properties = Readonly<Record<string, unknown>>

const metrics: ReadonlyMap<string, number> = new Map(Object.entries(vitalMetrics).filter(([name]) => name !== 'none'))
const engagementMax = 2 ** 32 - 1
const scrollDepthMax = 100

/** The free properties as JSON, and what svc.js puts into those of its own events. */
export function readProperties({ event, row }: Facts): Verdict {
  row.metric = vitalMetrics.none
  row.metric_value = 0
  row.engagement_ms = 0
  row.scroll_depth = 0
  const { properties } = event
  if (properties === undefined || properties === null) {
    row.properties = ''
    return undefined
  }
  row.properties = JSON.stringify(properties)
  if (row.kind === kinds.web_vital) readVital(properties, row)
  else if (row.kind === kinds.page_leave) {
    row.engagement_ms = boundedInteger(properties['engagement_ms'], engagementMax)
    row.scroll_depth = boundedInteger(properties['scroll_depth'], scrollDepthMax)
  }
  return undefined
}

/** A measurement that is none stays an event, without a metric. */
function readVital({ metric, value }: Properties, row: Facts['row']): void {
  if (typeof metric !== 'string' || typeof value !== 'number' || !(value >= 0)) return
  row.metric = metrics.get(metric.toUpperCase()) ?? vitalMetrics.none
  if (row.metric !== vitalMetrics.none) row.metric_value = value
}

function boundedInteger(value: unknown, max: number): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.round(value), max) : 0
}
