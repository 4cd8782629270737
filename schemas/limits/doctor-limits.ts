/** Deadlines of `svc doctor`, one for each examination and each request to ingest; then the thresholds of its findings. */
import { MiB, minute, second } from './units.ts'

export const examinationDeadlineMs = 20 * second
export const probeDeadlineMs = 5 * second
/** Longer than the deadline of a connection to the mail server, whose error says more. */
export const mailProbeDeadlineMs = 15 * second
/** Differences of clocks: seconds change the order of a visitor's events, a minute moves events into another hour. */
export const clockOffWarnMs = 1 * second
export const clockOffFailMs = 60 * second
/** Rows reach the stores within seconds: a longer backlog is stuck. */
export const backlogWarnMs = 1 * minute
export const marksBehindWarnMs = 10 * minute
export const replicaBehindWarnMs = 5 * minute
/** Free disk of a store: a merge needs room for the parts that it replaces. */
export const storeDiskFreeBytesMin = 1024 * MiB
export const storeDiskFreeShareWarn = 0.1
/** Insert tokens that a table remembers. At eight inserts a second they last 20 minutes, ten times an insert's deadline. */
export const insertTokensKnownMin = 10_000
