/** Limits of publishing: the queue in Postgres, and requests to platforms. */
import { hour, KiB, MiB, minute, second } from './units.ts'

/** How often it is looked for posts that are due. */
export const publishEveryMs = 0.5 * second
/** Posts that are taken with one transaction. */
export const duePostsEach = 500
/**
 * Targets that one process publishes at a time, and those of one platform, so that one that hangs doesn't delay others. A
 * workspace has half of a platform's, as it may name a server of its own there; and one account some less.
 */
export const publishAtOnceMax = 64
export const publishAtOncePlatformMax = publishAtOnceMax / 2
export const publishAtOnceWorkspaceMax = publishAtOncePlatformMax / 2
export const publishAtOnceEachMax = 12
/** How long after its time a target waits for limits of its platform without using up its attempts. */
export const publishLimitWaitMs = 24 * hour
/** Lease of a claimed target, and how often it is renewed. If the process dies, another one takes the target after it. */
export const publishLeaseMs = 15 * second
export const publishProlongMs = 4 * second
/** Posting times of a workspace's week, and how many days ahead the queue looks for a free one. */
export const postingTimesMax = 100
export const queueDaysMax = 60
/** One attempt altogether, uploads included. */
export const publishAttemptMs = 10 * minute
/** The first attempt and five retries may fail for now, before the target has failed for good; and how long is waited after each. */
export const publishAttemptsMax = 6
export const publishRetryFirstMs = 5 * second
export const publishRetryMaxMs = 10 * minute
/** A platform that says when to ask again is believed up to here. */
export const publishWaitMaxMs = 6 * hour
/** Interval between two counts of due targets. */
export const publishCountMs = 5 * second

/** One request to a platform, and one that carries a file. */
export const providerRequestMs = 20 * second
export const providerUploadMs = 5 * minute
/** Platforms refuse what was signed by a clock that is further off. */
export const signedTimeApartMaxMs = 5 * minute
/** More of an answer isn't read. */
export const providerAnswerBytesMax = 1024 * KiB
/** The same of a list of an account's newest: a hundred long texts whose signs platforms may escape by six each. */
export const providerListBytesMax = 4 * MiB
/** Reading the page that a post links to, with its picture: a post doesn't wait for it longer. */
export const linkCardMs = 5 * second
/** The bound of `app.bsky.embed.external`. */
export const linkCardPictureBytesMax = 1_000_000
/** First and longest wait until it is asked again whether the platform has done with an uploaded file; each is twice the last. */
export const providerPollMs = 1 * second
export const providerPollMaxMs = 15 * second
/** Statuses of one question for an account's newest, and how many such questions. */
export const mastodonStatusesEach = 40
export const mastodonStatusPagesMax = 10
/** An instance knows the key of a status for an hour. Less by how long an attempt may take, and clocks may be off. */
export const mastodonKeyKnownMs = 50 * minute
/** X takes segments of at most 5 MB. */
export const xSegmentBytesMax = 4 * 1024 * KiB
/** X says when to ask again whether a video is processed; it is believed up to here. */
export const xPollMaxMs = 30 * second
/** Posts of one question for an account's newest, and how many such questions: X gives the newest 3,200. */
export const xPostsEach = 100
export const xPostPagesMax = 32
/** How far our clock and a platform's may differ. */
export const providerClockOffMs = 5 * minute
/** Until the second look for a part of a thread that a network doesn't show. */
export const partGoneMs = 15 * second
/** One request to LinkedIn to publish: without its answer nobody can tell what became of most posts. */
export const linkedinPublishMs = 1 * minute
/** How often LinkedIn is asked whether it has done with a video: it counts questions by the day. */
export const linkedinPollMs = 5 * second
/** How long LinkedIn may take to list a page's new post, and how many of the newest are looked through. */
export const linkedinListedMs = 15 * second
export const linkedinPostsEach = 50
/** How long after the first attempt a text alone is sent again: LinkedIn still refuses a second post of it then. */
export const linkedinRepeatMs = 1 * hour
/** The bounds of an article's title and description. */
export const linkedinTitleLengthMax = 400
export const linkedinDescriptionLengthMax = 4_086
/** One request to Meta to publish: without its answer the post has to be looked for. */
export const metaPublishMs = 1 * minute
/** How long Meta may take to list a new post, and how many of the newest are looked through: it lists 100 at most. */
export const metaListedMs = 15 * second
export const metaPostsEach = 100
/** The same of comments under a post on Instagram: it shows 50, however many are asked for. */
export const instagramCommentsEach = 50
/** Age of a token of Threads at which it is renewed: it holds for 60 days, and can be renewed from one day on. */
export const threadsRenewMs = 25 * hour
/** Parts in which a video goes to YouTube: it takes multiples of 256 KiB. */
export const youtubePartBytes = 8 * 1024 * KiB
/** Requests of one upload to YouTube that may fail in a row: each is followed by a question for what has arrived. */
export const youtubeFailuresMax = 5
/** How long a new video's processing is watched: one that YouTube still works on by then counts as published. */
export const youtubeProcessingMs = 1 * minute
/** How long YouTube may take to list a new video, and how many of the newest are looked through. */
export const youtubeListedMs = 15 * second
export const youtubeVideosEach = 50
/** Title of a video, in UTF-16 code units, and bytes of its description. */
export const youtubeTitleLengthMax = 100
export const youtubeDescriptionBytesMax = 5_000
/** How long Pinterest may take to list a new pin, and how many of a board's newest are looked through: it lists 250 at most. */
export const pinterestListedMs = 15 * second
export const pinterestPinsEach = 250
/** The bounds of a pin's title and link. */
export const pinterestTitleLengthMax = 100
export const pinterestLinkLengthMax = 2_048
/**
 * Size of the parts in which a video goes to TikTok, which takes 5 to 64 MB and 1,000 parts. The last one has the rest,
 * too. Requests for one part that may fail in a row: each is followed by a question for what has arrived.
 */
export const tiktokPartBytes = 10_000_000
export const tiktokFailuresMax = 3
/** How long TikTok may take to count bytes that have arrived. */
export const tiktokArrivalMs = 3 * second
/** How long a post's processing is watched in one attempt, and then the review that a public post's id waits for. */
export const tiktokProcessingMs = 5 * minute
export const tiktokReviewMs = 1 * minute
/** One request to Telegram or Discord to publish a text: without its answer nobody can tell what became of the post. */
export const chatPublishMs = 1 * minute
/** The requests that renew a session, for all who wait for them. */
export const renewalMs = 1 * minute
/** As long no other process renews it, if the one that does dies. Whoever waits for another's looks this often. */
export const renewalLeaseMs = renewalMs + 10 * second
export const renewalLookMs = 250
/** A token, an app password, or the four values of X. */
export const accountSecretLengthMax = 4_096
/** Whatever else connects an account: an address, a number. */
export const accountFieldLengthMax = 2_048
/** The check of credentials before an account is connected: all of its requests together. A person waits for it. */
export const accountCheckMs = 40 * second
/** The public id of an app at a platform, and the scopes that it asks for. */
export const platformAppIdLengthMax = 300
export const platformAppScopesLengthMax = 1_000
/** How long a sign-in at a platform may take, until its account is chosen. */
export const accountSignInMs = 10 * minute
/** Pages or boards that are offered after a sign-in: platforms list 100 at once. */
export const accountChoicesMax = 100
/** The code, and whatever else a platform sends back with the browser. */
export const signInCodeLengthMax = 4_096
/** Characters of a handle, name or id that a platform tells: longer than any has. */
export const platformNameLengthMax = 300
/** Tries of a workspace's members to connect an account in the dashboard, in each window: each asks a platform. */
export const accountTriesMax = 30
export const accountTriesWindowMs = 15 * minute
/** Characters that are kept of a platform's error text. */
export const providerTextLengthMax = 300
/** How long a simulated publication takes. */
export const simulatedPublishMs = 20
export const simulatedRateLimitMs = 1 * second
