/** Bounds of the customer API: requests, keys, lists, links and posts; and of the dashboard's sign-in and members. */
import { day, KiB, MiB, minute, second } from './units.ts'

/** Requests of a key are counted by these windows; how many it may make in one is a setting for each plan. */
export const rateLimitWindowMs = 1 * minute
/** A request doesn't wait longer to be counted by Redis: then it is counted here. */
export const rateLimitDeadlineMs = 500
/**
 * Mutations of a workspace that run at once, of the ten that Postgres has connections for. The others would mostly wait for the
 * same rows, and other workspaces would get no connection.
 */
export const mutationQueue = { isShared: false, atOnce: 3, waitingMax: 500, refusal: 'workspace_busy' } as const
export const idempotencyKeyLengthMax = 255
/** Tokens of everything that `tools/list` shows: a model reads it before it does anything. */
export const toolsListTokensMax = 12_600
/** Tokens that a toolset may add to it. */
export const toolsetTokensMax = 6_500
/** Characters of an unknown tool's name, in the error that names it. */
export const unknownToolShownMax = 100
/** Faults of a request that are listed: each shows the sent value, and a body may hold 100,000 of them. */
export const validationErrorsMax = 1_000
/** How often expired records are deleted, and how many at a time. */
export const idempotencySweepMs = 10 * minute
export const idempotencySweepMax = 10_000
/** Rows of a list, where nothing else is said. */
export const listLimitDefault = 100
export const listLimitMax = 200
export const auditActionLengthMax = 100
/** Deadline for computing a workspace's chain anew. */
export const auditVerifyDeadlineMs = 10 * minute
/** How long a rotated tracking key stays valid, because cached pages still contain it. */
export const trackingKeyGraceDays = 30
export const webhookUrlLengthMax = 2048
export const webhookDescriptionLengthMax = 500
/** Names that a registration may list, repeats among them: more than there are events. */
export const webhookEventsMax = 50
/** Webhook endpoints of a workspace. */
export const webhookEndpointsMax = 100
/** Short links: the contract's bounds, in Unicode code points. */
export const linkLabelLengthMax = 160
export const linkDestinationLengthMin = 8
export const linkDestinationLengthMax = 2048
export const linkUtmLengthMax = 120
/**
 * Longer texts aren't parsed as a URL: for a host beyond ASCII that takes time with the square of its length. Fields of URLs have
 * up to 2,048 code points, of two UTF-16 units each.
 */
export const parsedUrlLengthMax = 2 * 2048
/**
 * Bytes of a link's destination in a header: each code point may take twelve bytes there, and the names of parameters
 * come to it.
 */
export const trackingUrlBytesMax = 12 * (linkDestinationLengthMax + 4 * linkUtmLengthMax) + 200
/** The same of the address that a link leads to once it has expired: nothing is added to it. */
export const expiredUrlBytesMax = 12 * linkDestinationLengthMax
/** A short link's chosen key: people type it, and it stands in print. */
export const linkKeyLengthMax = 50
/** In code points. People type a link's password, or are told it. */
export const linkPasswordLengthMax = 128
/** A link's own preview, in code points: apps cut both earlier. */
export const linkPreviewTitleLengthMax = 200
export const linkPreviewDescriptionLengthMax = 500
/** Links that one request makes, in one transaction. */
export const linksCreatedMax = 100
/** Rows of a file of links that one request imports, and the characters of their text: less than a body's bytes. */
export const linksImportedMax = 500
export const linkImportBytesMax = 900_000
export const linkImportColumnLengthMax = 200
/** Rows of a file, and its bytes: a person makes up the file, and waits for it. */
export const linkFileRowsMax = 10_000
export const linkFileBytesMax = 32 * MiB
/** Different passwords in a request of many links: each takes some 50 ms to hash, while the transaction waits. */
export const linksPasswordsMax = 5
/** Tags of a link or post as they are sent: repeats are dropped before they are counted. */
export const tagsSentMax = 300
/** Text that links are searched by. */
export const linkSearchLengthMax = 200
export const linkTagsMax = 10
export const linkTagLengthMax = 50
/** Links read with one statement: up to 38 MB, with the longest destination, end, targets and preview that each may have. */
export const linksReadEach = 250
/** Links of a list without a limit: all links of a workspace, within the bounds of one answer. */
export const linksListedMax = 5_000
/** … and where they lead to somewhere long fewer: an answer is at most some 40 MB then, and more than any list with a limit. */
export const linksListedBytesMax = 16 * MiB
/** How often another key is tried when a new link's is taken: by chance not even once. */
export const attributionKeyTriesMax = 5
/**
 * Posts. A caption for a platform may be longer than any takes, so that the answer can tell by how much. All targets'
 * captions together are bounded because a list shows them all.
 */
export const postTitleLengthMax = 180
export const postBaseCaptionLengthMax = 2200
/** With the caption a thread has 25 parts, as many as X's own editor takes. */
export const postThreadMax = 24
export const postFirstCommentLengthMax = 2200
/** The note on a post that is sent back. */
export const postReviewNoteLengthMax = 500
export const postCaptionOverrideLengthMax = 70_000
export const postCaptionOverridesLengthMax = 200_000
/** Captions of one page of posts, in bytes: 200 posts with 80,000 each. A page that holds more ends before. */
export const postsListedBytesMax = 16 * MiB
export const postTagsMax = 30
export const postTagLengthMax = 60
/** As many as the platforms that take most. */
export const postMediaMax = 20
export const postAccountsMax = 50
/** Twice the platforms that there are. */
export const postPlatformCaptionsMax = 20
/** Social accounts of a workspace, all in one answer. */
export const socialAccountsMax = 200
export const socialAccountNameLengthMax = 120

/** Lifetimes of a sign-in link, which is used once, and of a browser's session. */
export const signInLinkMs = 15 * minute
export const browserSessionMs = 30 * day
/** How exactly it is known when a session was last used, and how many an account's page lists. */
export const sessionUseMs = 10 * minute
export const browserSessionsListedMax = 100
/** Share of `ANSWER_DEADLINE_MS`. A page of the dashboard waits no longer for the answers that it begins with. */
export const firstAnswersShareOfAnswer = 0.2
/** An owner's password, in code points: long enough to withstand guessing, short enough to be hashed at once. */
export const passwordLengthMin = 10
export const passwordLengthMax = 200
/** Tries of an address, and of an e-mail from wherever, in each window. */
export const signInWindowMs = 15 * minute
export const signInTriesOfAddressMax = 10
export const signInTriesOfEmailMax = 30
/** Tries of a browser that signed in with the e-mail before, in place of the e-mail's, and how long it counts as such. */
export const signInTriesOfBrowserMax = 10
export const knownBrowserMs = 180 * day
/** Passwords compared at once, each with 19 MiB; beyond it the answer is 429. */
export const passwordChecksMax = 4
/** How long a link of an invitation works. */
export const invitationMs = 7 * day
/** Members and open invitations of a workspace, together: a team whose roles somebody keeps track of. */
export const membersMax = 50
/** Workspaces that an account owns, and that it may make in the dashboard. Operators make more by `svc`. */
export const ownWorkspacesMax = 50
/** A form with an e-mail and a password, each character of which may take twelve bytes, and the page that it leads to. */
export const signInFormBytesMax = 16 * KiB
/** Characters of the address that a sign-in leads back to; a longer one leads to the overview. */
export const signInNextLengthMax = 2_000

/** JSON bodies of the REST API, in bytes. */
export const apiBodyBytesMax = 1 * MiB
/** Bytes of one value that a 422 echoes. Longer texts are cut; longer objects and lists are omitted. */
export const errorInputBytesMax = 1 * KiB

/** How long a secret key is cached. Together with a look-up this stays under the 5 s that revoking may take. */
export const apiKeyCacheMs = 2 * second
export const apiKeyCacheMax = 10_000
/** How often the last use of a key is recorded. */
export const apiKeyTouchMs = 1 * minute

/** Names that people give, in Unicode code points. */
export const workspaceNameLengthMax = 120
/** Longer than any IANA name. */
export const timezoneLengthMax = 64
export const apiKeyNameLengthMax = 120
/** Live shared links of a workspace. Each is somebody who sees its figures: more aren't kept track of. */
export const sharedLinksMax = 50
/** The dashboard lists this many keys of a kind, live ones first. It creates no more, so that every live key is listed. */
export const apiKeysShownMax = 200
export const apiKeysMax = apiKeysShownMax
