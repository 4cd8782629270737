/** Bounds of messages to chat channels. Recipients and channels of a workspace are counted together: report-limits.ts. */
import { KiB, second } from './units.ts'

/** Characters of a channel's name, and of its address: those of Teams are the longest, with about 400. */
export const chatNameLengthMax = 80
export const chatAddressLengthMax = 2_000
/** Characters of an address that are shown at its end. */
export const chatEndingLength = 4
/** A shorter path shows none of them. */
export const chatEndingSecretMin = 24
/** Deadline for reaching the host. It is shorter than that of a whole request, so a host that is away surely has no message. */
export const chatConnectMs = 8 * second
/**
 * Characters of a row of a list, escaped. A table has seven rows at most. A field of Discord takes 1,024 characters, a
 * section of Slack 3,000, and Google Chat 4,096 in all.
 */
export const chatRowLengthMax = 120
/** A message to Teams may have 28 KB, one to Google Chat 32,000 bytes. */
export const chatBodyBytesMax = 28 * KiB
