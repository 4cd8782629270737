/** Bounds of `svc seed`. */

import { dayMs } from '../time/time-zone.ts'
import { retentionDaysMax } from './retention-limits.ts'

/** More than a bench or a demonstration needs. A day's limit bounds its busiest hour, the least of an insert. */
export const seedEventsMax = 500_000_000
export const seedEventsPerDayMax = 20_000_000
export const seedWorkspacesMax = 1_000
/** The range that the longest plan can read. */
export const seedDaysMax = retentionDaysMax
/** One insert of it: some hundred MB of memory, and fewer days than the partitions that ClickHouse takes in a block. */
export const seedInsertRowsMax = 1_000_000
export const seedInsertDaysMax = 60
/** Rows of each of its segments, as of ingest's at a moderate load: all events take half a lease at most. */
export const seedSegmentRows = 2_000
/** Events of the last two days have `client_event_id`s: no sender would repeat older ones. */
export const seedClientEventIdsMs = 2 * dayMs
/** The demo workspace of the dashboard: enough for every list, stored in a second; its last month has one before to compare with. */
export const demoEvents = 20_000
export const demoDays = 61
/** Its visits of crawlers; people who are known, and payments, at most: there are 84 names. */
export const demoCrawls = 2_000
export const demoPeopleMax = 84
export const demoPaymentsMax = 60
