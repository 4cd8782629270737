/** Bounds of mails about accounts: invitations, and links for a forgotten password. */
import { hour, minute, second } from './units.ts'

/** Interval at which mails that are to be sent are looked for: somebody waits. */
export const accountMailsEveryMs = 3 * second
/** Mails that one look reads; the rest comes with the next. */
export const accountMailsReadEach = 50
/** A mail that couldn't be sent by then is given up, and its token deleted. */
export const accountMailMs = hour
/** Delays between a failed attempt and the next; after the last of them the mail is given up. */
export const accountMailRetryDelaysMs = [30 * second, 5 * minute] as const
/** A process that died gives a claim away after this: longer than the deadline of a mail. */
export const accountMailClaimMs = 5 * minute
/** After so many attempts with an unknown end a mail is given up: one repeated mail may go out, a third never. */
export const accountMailUncertainAttemptsMax = 2
/** Questions for a new password that wait, whether somebody has the e-mail or not: beyond it the answer is 429. */
export const forgottenPasswordsMax = 1_000
/** Invitations in an hour that are mailed, of a workspace and of an account. More are made, and their links passed on by hand. */
export const invitationMailsHourlyMax = 30
/** Those that go to one address, whoever invites: strangers can't fill its mailbox. */
export const invitationMailsOfAddressHourlyMax = 5
/** How long the link of such a mail works, and how many of them an account gets in an hour. */
export const passwordResetMs = hour
export const passwordResetsHourlyMax = 3
