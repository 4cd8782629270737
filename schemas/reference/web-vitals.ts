/** The web vitals that are measured, with the thresholds of https://web.dev/articles/vitals; their order is that of answers. */
import { interactionMsMax, layoutShiftMax, paintMsMax } from '../limits/event-limits.ts'

export const vitalNames = ['FCP', 'LCP', 'INP', 'CLS'] as const
export type VitalName = (typeof vitalNames)[number]

export interface Vital {
  readonly label: string
  readonly unit: 'ms' | ''
  /** Up to here a value is good. */
  readonly good: number
  /** Beyond this it is poor. */
  readonly poor: number
  /** A larger value is no measurement, and no sample. */
  readonly max: number
}

export const vitals: Readonly<Record<VitalName, Vital>> = {
  FCP: { label: 'First Contentful Paint', unit: 'ms', good: 1800, poor: 3000, max: paintMsMax },
  LCP: { label: 'Largest Contentful Paint', unit: 'ms', good: 2500, poor: 4000, max: paintMsMax },
  INP: { label: 'Interaction to Next Paint', unit: 'ms', good: 200, poor: 500, max: interactionMsMax },
  CLS: { label: 'Cumulative Layout Shift', unit: '', good: 0.1, poor: 0.25, max: layoutShiftMax },
}

/** From best to worst. */
export const vitalRatings = ['good', 'needs_improvement', 'poor'] as const
export type VitalRating = (typeof vitalRatings)[number]

export function rateVital(name: VitalName, value: number): VitalRating {
  const { good, poor } = vitals[name]
  if (value <= good) return 'good'
  return value > poor ? 'poor' : 'needs_improvement'
}
