/**
 * A person's acts, a line each. The script's measurements of a page (time in sight, web vitals) aren't acts: they stand
 * with their page view. Pure; test/unit/dashboard-journey.test.ts.
 */
import type { Event } from '../../../schemas/resources/overview.ts'

/** Events of a journey that are asked for: as many as the API gives. */
export const journeyEventsMax = 500

export interface Line {
  readonly event: Event
  /** For a page view: how long it was in sight, and how far down, in per cent. */
  readonly engagedMs: number
  readonly scrollDepth: number
  readonly vitals: readonly Vital[]
}

export interface Vital {
  readonly metric: string
  readonly value: number
}

const measured = ['page_leave', 'web_vital']

/** Whether it is a measurement, not an act. */
export function isTechnical({ event_name }: Pick<Event, 'event_name'>): boolean {
  return measured.includes(event_name)
}

/** @param events newest first, as the lines are */
export function linesOf(events: readonly Event[]): Line[] {
  const lines: { -readonly [Name in keyof Line]: Line[Name] }[] = []
  const views = new Map<string, (typeof lines)[number]>()
  for (const event of [...events].reverse()) {
    const page = JSON.stringify([event.session_id, event.path])
    if (!isTechnical(event)) {
      const line = { event, engagedMs: 0, scrollDepth: 0, vitals: [] }
      lines.push(line)
      if (event.event_name === 'pageview') views.set(page, line)
      continue
    }
    const view = views.get(page)
    if (view === undefined) continue
    const { engagement_ms, scroll_depth, metric, value } = event.properties
    view.engagedMs += numberOf(engagement_ms)
    view.scrollDepth = Math.max(view.scrollDepth, numberOf(scroll_depth))
    if (typeof metric === 'string') view.vitals = [...view.vitals, { metric, value: numberOf(value) }]
  }
  return lines.reverse()
}

/**
 * Where each visit came from, by the id of its event: that of its first event, and those of later events that came from
 * elsewhere. Its other pages have no source of their own, which the API calls `direct`.
 * @param events newest first. Where they may not be all, the oldest may be in the midst of a visit
 */
export function sourcesOf(events: readonly Event[], areAll: boolean): ReadonlyMap<number, string> {
  const sources = new Map<number, string>()
  const sessions = new Set<number | null>()
  for (const { id, session_id, source } of [...events].reverse()) {
    const isFirst = !sessions.has(session_id) && (areAll || sessions.size > 0)
    sessions.add(session_id)
    if (isFirst || source !== 'direct') sources.set(id, source)
  }
  return sources
}

/** The text that was clicked, the place that a link leads to, or the term that was searched for; empty for other events. */
export function clickedOf({ event_name, properties: { text, href, search_term } }: Event): string {
  if (event_name === 'site_search') return typeof search_term === 'string' ? search_term : ''
  if (!event_name.endsWith('_click') && event_name !== 'file_download') return ''
  const [said] = [text, href].filter((one) => typeof one === 'string' && one !== '')
  return String(said ?? '')
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
