/**
 * The elements of `sessions.seen`: the figures that a session's row of a local day counts for. The first one is the
 * session itself. Then come the visitor's first conversion, and the entry's source, device, browser, country and page.
 * All pages follow, pages with samples of web vitals, and the keys that the conversions are credited to.
 */
import { createHash } from 'node:crypto'
import { addsNoVisitor, type CellKind, cellKinds, type SumName } from '../../clickhouse/rollups/appearance.ts'
import { type CreditRow, nothingSeen, type Seen } from '../../clickhouse/rollups/tables.ts'
import { groupBy } from '../../runtime/lists.ts'
import { creditsApartMax } from '../../schemas/limits/figure-limits.ts'
import type { Leave, SessionDay, View } from './read-session-days.ts'

/** Keys of `visitors`: a letter for the kind, then the key itself, or a hash of a long path. */
export const keys = {
  visitor: 'v',
  converting: 'x',
  source: (source: string, medium: string) => `s${source}\0${medium}`,
  device: (device: string) => `d${device}`,
  browser: (browser: string) => `b${browser}`,
  country: (country: string) => `c${country}`,
  // All keys that a visitor ever had are looked up together: long paths would be gigabytes.
  page: (path: string) =>
    path.length <= 60 ? `p${path}` : `h${createHash('sha256').update(path).digest('base64url')}`,
} as const

export interface WholeSession {
  readonly events: number
  readonly pageviews: number
  readonly durationMs: number
  readonly isBounce: number
  /** Undefined where no page was viewed. */
  readonly entryPath: string | undefined
  readonly exitPath: string
}

export interface SeenSession {
  readonly one: SessionDay
  /** The same session on the day before. */
  readonly before: SessionDay | undefined
  /** Undefined where it began on the day before. */
  readonly whole: WholeSession | undefined
  readonly prevDayOf: (key: string) => number
  /** Credits of the conversions of this day. */
  readonly credits: readonly CreditRow[]
}

export function appearancesOf(session: SeenSession): Seen {
  const { one, whole, prevDayOf, credits } = session
  const seen = nothingSeen()
  const fresh = whole === undefined ? 0 : 1
  appear(seen, 'all', '', '', prevDayOf(keys.visitor), 0, {
    sessions: 1,
    fresh,
    begun: fresh,
    bounces: whole?.isBounce ?? 0,
    duration_ms: whole?.durationMs ?? 0,
    pageviews: one.pageviews,
    events: one.events,
  })
  const firstConversion = one.conversions[0]
  if (firstConversion !== undefined) {
    const afterMs = firstConversion[0] - one.firstAt
    appear(seen, 'converting', '', '', prevDayOf(keys.converting), afterMs, {})
  }
  if (whole !== undefined) addEntry(seen, session, whole)
  addPages(seen, session)
  addSamples(seen, one)
  addCredits(seen, one, credits)
  return seen
}

/** For a server's events, which have no visitor and no session. */
export function serverAppearances(one: SessionDay, credits: readonly CreditRow[]): Seen {
  const seen = nothingSeen()
  appear(seen, 'all', '', '', addsNoVisitor, 0, { pageviews: one.pageviews, events: one.events })
  for (const [path, { count, firstAt }] of pagesOf(one.views)) {
    appear(seen, 'page', path, '', addsNoVisitor, firstAt - one.firstAt, { pageviews: count })
  }
  addSamples(seen, one)
  addCredits(seen, one, credits)
  return seen
}

function addEntry(seen: Seen, { one, prevDayOf }: SeenSession, whole: WholeSession): void {
  const [source, medium, , device, browser, , country] = one.entry
  const sums = { sessions: 1, fresh: 1, pageviews: whole.pageviews, events: whole.events }
  appear(seen, 'source', source, medium, prevDayOf(keys.source(source, medium)), 0, sums)
  appear(seen, 'device', device, '', prevDayOf(keys.device(device)), 0, sums)
  appear(seen, 'browser', browser, '', prevDayOf(keys.browser(browser)), 0, sums)
  appear(seen, 'country', country, '', prevDayOf(keys.country(country)), 0, sums)
  if (whole.entryPath === undefined) return
  appear(seen, 'page', whole.entryPath, '', addsNoVisitor, 0, { begun: 1, bounces: whole.isBounce })
  if (isExitLater(one, whole)) appear(seen, 'page', whole.exitPath, '', addsNoVisitor, 0, { exits: 1 })
}

/** An exit counts on the day on which the session begins. Another page element has it where the page wasn't viewed that day. */
function isExitLater({ views }: SessionDay, { exitPath }: WholeSession): boolean {
  return !views.some(([, , path]) => path === exitPath)
}

function addPages(seen: Seen, { one, before, whole, prevDayOf }: SeenSession): void {
  const pathsBefore = before === undefined ? undefined : new Set(before.views.map(([, , path]) => path))
  const left = attentionOf(one.leaves)
  for (const [path, { count, firstAt }] of pagesOf(one.views)) {
    const fresh = pathsBefore?.has(path) ? 0 : 1
    const exits = whole?.exitPath === path ? 1 : 0
    const attention = left.get(path)
    const sums = { sessions: 1, fresh, pageviews: count, exits, ...(attention && attentionSums(attention, count)) }
    appear(seen, 'page', path, '', prevDayOf(keys.page(path)), firstAt - one.firstAt, sums)
  }
}

interface Attention {
  engagedMs: number
  depth: number
}

/** How long and how far each page was looked at that was left. A leave doesn't name its page view: those of a day are one. */
function attentionOf(leaves: readonly Leave[]): Map<string, Attention> {
  const pages = new Map<string, Attention>()
  for (const [, , path, engagedMs, depth] of leaves) {
    const known = pages.get(path)
    if (known === undefined) pages.set(path, { engagedMs, depth })
    else {
      known.engagedMs += engagedMs
      known.depth = Math.max(known.depth, depth)
    }
  }
  return pages
}

function attentionSums({ engagedMs, depth }: Attention, views: number) {
  return { engaged_ms: engagedMs, timed_views: views, depths: depth, scrolled: depth > 0 ? 1 : 0 }
}

function addSamples(seen: Seen, { sampledPaths }: SessionDay): void {
  for (const path of new Set(sampledPaths)) appear(seen, 'page', path, '', addsNoVisitor, 0, { samples: 1 })
}

/**
 * Each by itself, with its time, which a period that ends inside of the day asks for; too many are put together. Those without
 * a credit count beside the last one.
 */
function addCredits(seen: Seen, { firstAt, converted }: SessionDay, credits: readonly CreditRow[]): void {
  const textOf = ({ source, medium, device, browser, country, path }: CreditRow) =>
    JSON.stringify([source, medium, device, browser, country, path])
  const groups =
    credits.length > creditsApartMax ? [...groupBy(credits, textOf).values()] : credits.map((credit) => [credit])
  for (const alike of groups) {
    const { source, medium, device, browser, country, path, occurred_at } = alike[0]!
    const add = (kind: CellKind, key: string, detail: string) =>
      appear(seen, kind, key, detail, addsNoVisitor, occurred_at - firstAt, { conversions: alike.length })
    add('all', '', '')
    add('source', source, medium)
    add('device', device, '')
    add('browser', browser, '')
    add('country', country, '')
    add('page', path, '')
  }
  const uncredited = converted - credits.length
  if (uncredited === 0) return
  const lastAt = credits.at(-1)?.occurred_at ?? firstAt
  appear(seen, 'all', '', '', addsNoVisitor, lastAt - firstAt, { conversions: uncredited })
}

/** The arguments stand apart: as members of an object they take twice as long. */
function appear(
  seen: Seen,
  kind: CellKind,
  key: string,
  detail: string,
  prevDay: number,
  afterMs: number,
  sums: Partial<Record<SumName, number>>,
): void {
  seen.kind.push(cellKinds[kind])
  seen.key.push(key)
  seen.detail.push(detail)
  seen.prev_day.push(prevDay)
  seen.after_ms.push(afterMs)
  // Written out: a loop over their names takes twice as long.
  seen.sessions.push(sums.sessions ?? 0)
  seen.fresh.push(sums.fresh ?? 0)
  seen.begun.push(sums.begun ?? 0)
  seen.bounces.push(sums.bounces ?? 0)
  seen.duration_ms.push(sums.duration_ms ?? 0)
  seen.pageviews.push(sums.pageviews ?? 0)
  seen.events.push(sums.events ?? 0)
  seen.conversions.push(sums.conversions ?? 0)
  seen.samples.push(sums.samples ?? 0)
  seen.exits.push(sums.exits ?? 0)
  seen.engaged_ms.push(sums.engaged_ms ?? 0)
  seen.timed_views.push(sums.timed_views ?? 0)
  seen.depths.push(sums.depths ?? 0)
  seen.scrolled.push(sums.scrolled ?? 0)
}

/** How many views each page has, and the time of its first one. @param views in order of time */
export function pagesOf(views: readonly View[]): Map<string, { count: number; readonly firstAt: number }> {
  const pages = new Map<string, { count: number; readonly firstAt: number }>()
  for (const [at, , path] of views) {
    const known = pages.get(path)
    if (known === undefined) pages.set(path, { count: 1, firstAt: at })
    else known.count++
  }
  return pages
}
