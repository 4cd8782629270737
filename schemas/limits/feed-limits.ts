/** The bounds of feeds that make posts, with their unit and reason. */
import { day, hour, KiB, MiB, minute, second } from './units.ts'

/** Feeds of a workspace. */
export const feedsMax = 20
export const feedUrlLengthMax = 2_048
/** Code points of a template of captions: as many as a caption has. */
export const feedTemplateLengthMax = 2_200
/** Interval at which a feed is looked at, and by what part of it a look may come earlier or later. */
export const feedEveryMs = 15 * minute
export const feedJitterShare = 0.1
/** Shortest time between a look and the next one that somebody asks for. */
export const feedAskedPauseMs = minute
/** Interval at which due feeds are looked for. */
export const feedsEveryMs = 3 * second
/** Feeds that a process looks at together. */
export const feedsAtOnce = 8
/** Time until another process may look at a feed whose process has died. */
export const feedLeaseMs = 2 * minute
/** Deadline of one look, redirects included. */
export const feedRequestMs = 20 * second
export const feedRedirectsMax = 5
/** Size of a feed, unpacked: feeds with whole articles have some hundred KiB. */
export const feedBytesMax = 5 * MiB
/** Entries that are read of a feed, from its beginning. */
export const feedEntriesMax = 1_000
/** Tags of a page that are read to find the feed which its head names. */
export const feedPageTagsMax = 2_000
/** UTF-16 units of a page that are read for it: a tag may have many thousands of attributes, which hold up the process. */
export const feedPageLengthMax = 256 * KiB
/** Attributes of one tag of a feed: namespaces of a root are some twenty. */
export const feedAttributesMax = 1_000
/** Depth of a feed's elements, and of a page's. */
export const feedDepthMax = 100
/** UTF-16 units that are read of one field of an entry. */
export const feedFieldLengthMax = 20 * KiB
/** Code points of an entry's texts, as they stand in captions. */
export const feedTitleLengthMax = 300
export const feedSummaryLengthMax = 2_000
/** Posts that a feed makes at one look: more new entries are mostly a site that was moved. */
export const feedPostsEach = 10
/** Posts that a feed makes within 24 hours: more than that nobody reads before they go out. */
export const feedPostsADay = 100
/** Entries that a feed has no more, and that are still known: one of them that comes back makes no second post. */
export const feedGoneEntriesKept = 5_000
/** Delay after a look that failed, at most. */
export const feedRetryMaxMs = 6 * hour
/** A `Retry-After` that is believed. */
export const feedHoldMaxMs = day
/** A feed that fails for so long is turned off. */
export const feedFailingMaxMs = 7 * day
/** Validators of HTTP that are kept, in UTF-16 units. */
export const feedValidatorLengthMax = 1_000
/** Entries of a preview. */
export const feedPreviewEntries = 5
/** Previews that one API process reads at a time: each holds a connection and the feed's text. */
export const feedPreviewsAtOnce = 8
/** Previews of one workspace among them. */
export const feedPreviewsOfWorkspace = 2
