/** An appearance of a visitor with a key: its kind, its sums, and how it knows the one before. */

/** As the column `kind` numbers them. 7 is taken below: the next number is 8. */
export const cellKinds = { all: 0, converting: 1, source: 2, device: 3, browser: 4, country: 5, page: 6 } as const
export type CellKind = keyof typeof cellKinds
/** Cells of one page each: its title and its samples of web vitals. */
export const cellOfPage = 7
/** The answered list of pages with samples of web vitals. */
export const sampledPage = 7

/** Parts of an appearance that the page report alone asks for, and that pages alone have. */
const pageSumNames = ['exits', 'engaged_ms', 'timed_views', 'depths', 'scrolled'] as const
/** The others. */
export const countNames = [
  'sessions',
  'fresh',
  'begun',
  'bounces',
  'duration_ms',
  'pageviews',
  'events',
  'conversions',
  'samples',
] as const

/**
 * The parts of an appearance that add up over rows and days. `fresh` are those of `sessions` that were not there on the
 * day before. For sources, devices, browsers and countries, `pageviews` and `events` are those of the whole sessions.
 * `timed_views` are page views that `engaged_ms` is known of. `depths` is the greatest depth in per cent, `scrolled` 1 where
 * there is one.
 */
export const sumNames = [...countNames, ...pageSumNames] as const
export type SumName = (typeof sumNames)[number]

/** `prev_day` of a visitor's first appearance with a key, and of one that isn't the first of its day. */
export const neverBefore = 0
export const addsNoVisitor = 65_535
