/** Bounds of sign-in by OAuth: registrations of apps, consents and tokens. */
import { day, hour, KiB, minute } from './units.ts'

/** Apps exchange a code at once; it travels through the browser. */
export const authorizationCodeMs = 1 * minute
/** A stolen access token works no longer. Apps get the next one by their refresh token. */
export const accessTokenMs = 1 * hour
/** A connection that isn't used for so long ends, as its refresh token does. */
export const refreshTokenMs = 30 * day
/** For so long a refresh token gives the same tokens again: an answer may be lost, and processes of an app may share it. */
export const refreshRepeatMs = 1 * minute
/** Connected apps of a member in a workspace. Beyond it the one that was used longest ago ends. */
export const connectedAppsOfMemberMax = 50
/** Those that the settings list. */
export const connectedAppsShownMax = 500
/** A registration that nobody has consented to is forgotten after so long. */
export const clientUnusedMs = 7 * day
/** … and one that somebody did, after so long without a sign-in or refresh. It outlives its tokens. */
export const clientKeptMs = 90 * day
/** Registrations that are kept. Beyond it the oldest without a consent goes, or else one without a connection. */
export const clientsMax = 10_000
/** Registrations of an address an hour. Hosted apps register from few addresses, once for each person. */
export const registrationsOfAddressMax = 60
/** Requests for tokens of an address a minute. */
export const tokenRequestsOfAddressMax = 300
/** A registration in JSON. Apps send logos and pages beside what is read. */
export const registrationBytesMax = 16 * KiB
/** Redirect URIs that are read of a registration. Editors send six. */
export const redirectUrisMax = 20
export const redirectUriLengthMax = 512
export const clientNameLengthMax = 80
/** The body of a request for a token. */
export const tokenRequestBytesMax = 8 * KiB
/** Rows that one run of the job deletes at a time. */
export const appSweepMax = 1_000
