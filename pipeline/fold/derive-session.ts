/** A session's row of one local day: its own counts, what the whole session comes to, and which appearances are first ones. */
import { isBounce } from '../../clickhouse/rollups/event-sql.ts'
import { type SessionRow, sameDay } from '../../clickhouse/rollups/tables.ts'
import type { SessionDay } from './read-session-days.ts'

/** Keys of `visitors`: a letter for the kind, then the key itself. */
export const keys = {
  visitor: 'v',
  converting: 'x',
  source: (source: string, medium: string) => `s${source}\0${medium}`,
  device: (device: string) => `d${device}`,
  browser: (browser: string) => `b${browser}`,
  country: (country: string) => `c${country}`,
  page: (path: string) => `p${path}`,
} as const

/** The same session's days around a row's, where it has events on them. */
export interface Neighbours {
  readonly before: SessionDay | undefined
  readonly next: SessionDay | undefined
}

/** @param prevDayOf the `prev_day` of a key, which is `sameDay` where another row of the day has its first appearance */
export function deriveSession(
  one: SessionDay,
  { before, next }: Neighbours,
  prevDayOf: (key: string) => number,
  { build, version }: { readonly build: number; readonly version: number },
): SessionRow {
  const begins = before === undefined
  const whole = begins ? wholeSession(one, next) : noWholeSession
  const [source, medium, campaign, device, browser, os, country] = begins ? one.entry : noEntry
  const firstConversion = one.conversions[0]
  const pages = pagesOf(one)
  const paths = [...pages.keys()]
  const counts = [...pages.values()]
  const pathsBefore = before === undefined ? undefined : new Set(before.views.map(([, , path]) => path))
  // Written out, without spreading: there is a row for each session.
  return {
    workspace_id: one.workspaceId,
    build,
    day: one.day,
    visitor: one.visitor,
    session: one.session,
    version,
    first_at: one.firstAt,
    last_at: one.lastAt,
    prev_day: prevDayOf(keys.visitor),
    continued: begins ? 0 : 1,
    begins: begins ? 1 : 0,
    events: one.events,
    pageviews: one.pageviews,
    conversions: one.conversions.length,
    session_events: whole.events,
    session_pageviews: whole.pageviews,
    duration_ms: whole.durationMs,
    is_bounce: whole.isBounce,
    source,
    medium,
    campaign,
    device,
    browser,
    os,
    country,
    has_entry: whole.hasEntry,
    entry_path: whole.entryPath,
    source_prev_day: begins ? prevDayOf(keys.source(source, medium)) : sameDay,
    device_prev_day: begins ? prevDayOf(keys.device(device)) : sameDay,
    browser_prev_day: begins ? prevDayOf(keys.browser(browser)) : sameDay,
    country_prev_day: begins ? prevDayOf(keys.country(country)) : sameDay,
    converted_at: firstConversion === undefined ? 0 : firstConversion[0],
    converting_prev_day: firstConversion === undefined ? sameDay : prevDayOf(keys.converting),
    page_path: paths,
    page_views: counts.map(({ count }) => count),
    page_after_ms: counts.map(({ afterMs }) => afterMs),
    page_prev_day: paths.map((path) => prevDayOf(keys.page(path))),
    page_continued: paths.map((path) => (pathsBefore?.has(path) ? 1 : 0)),
    folded: [],
  }
}

const noEntry: SessionDay['entry'] = ['', '', '', '', '', '', '']

interface WholeSession {
  readonly events: number
  readonly pageviews: number
  readonly durationMs: number
  readonly isBounce: number
  readonly hasEntry: number
  readonly entryPath: string
}

const noWholeSession: WholeSession = { events: 0, pageviews: 0, durationMs: 0, isBounce: 0, hasEntry: 0, entryPath: '' }

/** A session is meant for a day at most: what it comes to is counted over the day it begins on and the next one. */
function wholeSession(one: SessionDay, next: SessionDay | undefined): WholeSession {
  const pageviews = one.pageviews + (next?.pageviews ?? 0)
  const acts = one.acts + (next?.acts ?? 0)
  const engagementMs = one.engagementMs + (next?.engagementMs ?? 0)
  const entry = one.views[0] ?? next?.views[0]
  return {
    events: one.events + (next?.events ?? 0),
    pageviews,
    durationMs: (next?.lastAt ?? one.lastAt) - one.firstAt,
    isBounce: isBounce(pageviews, acts, engagementMs) ? 1 : 0,
    hasEntry: entry === undefined ? 0 : 1,
    entryPath: entry?.[2] ?? '',
  }
}

/** Views of each page, and how long after the session's first event of the day the first one was. */
export function pagesOf(one: SessionDay): Map<string, { count: number; afterMs: number }> {
  const pages = new Map<string, { count: number; afterMs: number }>()
  for (const [at, , path] of one.views) {
    const known = pages.get(path)
    if (known === undefined) pages.set(path, { count: 1, afterMs: at - one.firstAt })
    else known.count++
  }
  return pages
}
