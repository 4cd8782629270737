/** Traffic alerts: what a workspace wants to be told of, and what it is told. */
import { z } from 'zod'
import { dropHoursMax, spikeVisitorsMax } from '../limits/alert-limits.ts'
import { dateTime } from './date-time.ts'

const alertKinds = ['spike', 'drop'] as const
export type AlertKind = (typeof alertKinds)[number]

/** Live visitors; null: off. */
const spikeVisitors = z.int().min(1).max(spikeVisitorsMax).nullable()
/** Hours without a visitor; null: off. */
const dropHours = z.int().min(1).max(dropHoursMax).nullable()

/** Fields that aren't named stay. */
export const TrafficAlertsUpdate = z.strictObject({
  spike_visitors: spikeVisitors.optional(),
  drop_hours: dropHours.optional(),
})

export const TrafficAlerts = z.object({
  spike_visitors: spikeVisitors,
  drop_hours: dropHours,
  /** When the last alert was. */
  spike_told_at: dateTime.nullable(),
  drop_told_at: dateTime.nullable(),
})

/** The object of `traffic.spike`. */
export interface TrafficSpike {
  readonly kind: 'spike'
  /** The workspace's setting. */
  readonly spike_visitors: number
  readonly live_visitors: number
  /** When they were counted. */
  readonly at: string
  /** The first ones of the last half hour, as the overview has them. */
  readonly top_sources: readonly { readonly source: string; readonly medium: string; readonly visitors: number }[]
  readonly top_pages: readonly { readonly path: string; readonly title: string; readonly pageviews: number }[]
}

/** The object of `traffic.drop`. */
export interface TrafficDrop {
  readonly kind: 'drop'
  /** The workspace's setting. */
  readonly drop_hours: number
  readonly last_visit_at: string
  /** Up to when nobody came: the figures were complete. */
  readonly as_of: string
}

export type TrafficAlert = TrafficSpike | TrafficDrop
