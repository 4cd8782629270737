/** Bounds of the reports by e-mail and in chats. */
import { day, hour, KiB, minute, second } from './units.ts'

/** Recipients of a workspace: addresses and chat channels together. */
export const reportRecipientsMax = 20
/** Characters of an address, by RFC 5321. */
export const reportEmailLengthMax = 254
/** Interval at which due reports are looked for. */
export const reportsEveryMs = 2 * minute
/** Interval at which reports that an owner asked for are looked for: the owner waits. */
export const askedReportsEveryMs = 3 * second
/** An owner may ask for a recipient's report once in this time. */
export const askedReportPauseMs = minute
/** Reports that the owner of a workspace may ask for in an hour, whoever its recipients are by then. */
export const askedReportsHourlyMax = 3 * reportRecipientsMax
/** A request that nobody answered within this time has failed: the pipeline is away, or died in the send. */
export const askedReportMaxMs = 5 * minute
/** A report goes out at this hour of the workspace's local time. */
export const reportLocalHour = 6
/** A later report isn't sent any more: it would come in the middle of the next period. */
export const reportLateMaxMs = 3 * day
/** Rows of each list in a mail, and characters of a name in it. */
export const reportRows = 5
export const reportNameLengthMax = 120
/** Workspaces' reports that one statement reads. */
export const reportsReadEach = 50
/** Mails under way at a time: providers take few connections of one sender. */
export const reportsAtOnce = 4
/** Deadline of a mail, from the connection to the server's answer. */
export const reportMailMs = 60 * second
/** Deadline of the connection and of the greeting. */
export const smtpConnectMs = 10 * second
/** One answer of the server: EHLO's has some hundred bytes. An endless one ends its connection, also after the deadline. */
export const smtpAnswerBytesMax = 16 * KiB
/** A process that died gives a claim away after this: longer than the deadline of a mail. */
export const reportClaimMs = 5 * minute
/** Delays between a failed attempt and the next; after the last of them the report has failed. */
export const reportRetryDelaysMs = [5 * minute, 30 * minute, 2 * hour, 8 * hour, 24 * hour] as const
/** After so many attempts with an unknown end a report has failed: one repeated mail may go out, a third never. */
export const reportUncertainAttemptsMax = 2
/** The body of an unsubscription, which isn't read. One-click sends 26 bytes, in a form of several parts some more. */
export const unsubscribeBodyBytesMax = 4 * KiB
