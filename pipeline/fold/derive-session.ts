/** A session's row of one local day: its own counts, the whole session's, and which appearances are first ones. */
import { isBounce } from '../../clickhouse/rollups/event-sql.ts'
import type { CreditRow, SessionRow } from '../../clickhouse/rollups/tables.ts'
import { cityKey } from '../../schemas/reference/places.ts'
import { appearancesOf, pagesOf, type WholeSession } from './appearances.ts'
import type { SessionDay } from './read-session-days.ts'

/** The same session's days around a row's, where it has events on them. */
export interface Neighbours {
  readonly before: SessionDay | undefined
  readonly next: SessionDay | undefined
  /** 1: the session begins on this day; 2: on the day before; 0: earlier. */
  readonly nthDay: 0 | 1 | 2
}

/**
 * @param prevDayOf the `prev_day` of a key, which is `addsNoVisitor` where another row of the day has its first appearance
 * @param credits for the session's conversions on this day
 */
export function deriveSession(
  one: SessionDay,
  { before, next, nthDay }: Neighbours,
  prevDayOf: (key: string) => number,
  credits: readonly CreditRow[],
  { build, version }: { readonly build: number; readonly version: number },
): SessionRow {
  const [first, second] = nthDay === 1 ? [one, next] : nthDay === 2 ? [before, one] : []
  const whole = nthDay === 1 ? wholeSession(one, next) : undefined
  const [source, medium, campaign, device, browser, os, country, region, regionName, city, ...keys] =
    first?.entry ?? noEntry
  const [hostname, referrer, content, language, screen] = keys
  const other = nthDay === 1 ? next : first
  // Written out, without spreading: there is a row for each session.
  return {
    workspace_id: one.workspaceId,
    build,
    day: one.day,
    visitor: one.visitor,
    session: one.session,
    version,
    first_at: one.firstAt,
    lasted_ms: one.lastAt - one.firstAt,
    nth_day: nthDay,
    source,
    medium,
    campaign,
    device,
    browser,
    os,
    country,
    region,
    region_name: regionName,
    city: cityKey(city, region, country),
    hostname,
    referrer,
    content,
    language,
    screen,
    entry_path: entryPath(first, second) ?? '',
    exit_path: exitPath(first, second),
    other_pages: other === undefined ? noPages : pageCounts(other),
    seen: appearancesOf({ one, before, whole, prevDayOf, credits }),
    folded: [],
  }
}

const noEntry: SessionDay['entry'] = ['', '', '', '', '', '', '', '', '', '', '', '', '', '', '']

/** Nearly all sessions have one day. */
const noPages: SessionRow['other_pages'] = { path: [], pageviews: [] }

function pageCounts({ views }: SessionDay): SessionRow['other_pages'] {
  const pages = [...pagesOf(views)]
  return { path: pages.map(([path]) => path), pageviews: pages.map(([, { count }]) => count) }
}

/**
 * The whole session's figures: they count over its first day and the next one, because a session is meant for a day at
 * most.
 */
function wholeSession(one: SessionDay, next: SessionDay | undefined): WholeSession {
  const pageviews = one.pageviews + (next?.pageviews ?? 0)
  const acts = one.acts + (next?.acts ?? 0)
  const engagementMs = one.engagementMs + (next?.engagementMs ?? 0)
  return {
    events: one.events + (next?.events ?? 0),
    pageviews,
    durationMs: (next?.lastAt ?? one.lastAt) - one.firstAt,
    isBounce: isBounce(pageviews, acts, engagementMs) ? 1 : 0,
    entryPath: entryPath(one, next),
    exitPath: exitPath(one, next),
  }
}

/** @returns undefined where no page was viewed */
function entryPath(first: SessionDay | undefined, second: SessionDay | undefined): string | undefined {
  return (first?.views[0] ?? second?.views[0])?.[2]
}

/** @returns an empty text where no page was viewed. Views beyond a day's `viewsPerSessionDayMax` aren't known here. */
function exitPath(first: SessionDay | undefined, second: SessionDay | undefined): string {
  return (second?.views.at(-1) ?? first?.views.at(-1))?.[2] ?? ''
}
