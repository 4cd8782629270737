/** Bounds of questions about analytics. The dashboard has those of ranges and funnels. */
import { hour, minute, second } from './units.ts'

/** The analytics overview. */
export const overviewDaysMax = 365
export const overviewDaysDefault = 30
export const overviewHoursMax = 744
/** Days of a leap year. */
export const overviewRangeDaysMax = 366
/** How far figures may lag behind a range that advice compares with the one before: a small part of it. */
export const comparedLagMaxMs = 5 * minute
export const overviewRowsDefault = 10
export const overviewRowsMax = 100
/** The same of the dashboard's whole lists. */
export const ownListRowsMax = 1_000
/** Pages that advice looks at; of other lists `overviewRowsMax`. With the web vitals of 100 pages an overview takes a sixth longer. */
export const advicePages = 10
/** Rows of one breakdown: ten pages of 100. */
export const breakdownRowsMax = 1_000
/** Keys of breakdowns by a session's first event are cut: a referrer may have 2,048 characters. */
export const breakdownKeyLengthMax = 300
export const pageReportRowsMax = 1_000
/** Pages that are ordered by their revenue: others come as if they had none. */
export const pagesByRevenueMax = 5_000
/** Characters of their paths, together: the client takes a millisecond for 5,000 characters of a parameter. */
export const pagesByRevenueLengthMax = 200_000
/** Names of events, or values of a property, in one answer. A longer value is cut. */
export const eventNamesMax = 1_000
export const propertyNameLengthMax = 200
/** Names of properties in one answer, and the newest events that they are looked for in. */
export const propertyNamesMax = 100
export const propertyNamesEventsMax = 1_000
export const propertyValueShownMax = 200
/** Steps of a funnel, days that a visitor has for all of them, and events of a visitor that are looked at: the first ones. */
export const funnelStepsMin = 2
export const funnelStepsMax = 8
export const funnelDaysDefault = 7
export const funnelDaysMax = 30
export const funnelEventsOfVisitorMax = 2_000
/** A funnel within sessions: they are meant for 24 hours, and figures of chosen sessions count their first two days. */
export const funnelSessionHours = 48
/**
 * How long before and after a page view a session's other pages are looked at, and the number of its first page views
 * that are.
 */
export const pageFlowHours = 48
export const pageFlowViewsOfSessionMax = 2_000
/** Cohorts of one answer about retention, and those of an answer without a range: the bucket that runs and those before it. */
export const retentionCohortsMax = 60
export const retentionCohortsDefault = { day: 30, week: 12, month: 12 } as const
/** Filters: values of one filter, the length of a value and its `*`, and sources that a channel filter may match. */
export const filterValuesMax = 20
export const filterTextLengthMax = 2_048
export const filterWildcardsMax = 10
export const channelSourcesMax = 10_000
/** Conversions of one answer, and touches of each. */
export const conversionsDefault = 50
export const conversionsMax = 200
export const touchesOfConversionMax = 20
/** Figures of all workspaces at a glance: their local days up to now, workspaces with figures, and those that are read at a time. */
export const glanceDays = 7
export const glanceWorkspacesMax = 50
export const glancesAtOnce = 2
/** Attempts at an overview when its cells are rewritten during the reading. */
export const overviewAttemptsMax = 3
export const recentEventsMax = 50
/** A series has hour buckets up to the first span, day buckets up to the second, then weeks. */
export const hourBucketsSpanMs = 72 * hour
export const dayBucketsDaysMax = 120

/** How long identical overview requests share one answer; it may be that much older. */
export const overviewReuse = { leastMs: 200, mostMs: 1 * second }
