/**
 * The oracle of the analytics overview: every figure of docs/metrics.md computed from plain rows. Slow on purpose. Used
 * by test/property/overview.test.ts, which asks the product the same questions.
 */
import { countersOf, inSpan, ofKind, ownFacts, presenceOf } from './counters.ts'
import { byTime, day, type Facts, kind, type OracleWorkspace, type OverviewQuery, sessionOf } from './facts.ts'
import { filterFacts } from './filters.ts'
import { breakdown, breakdownKeys, liveVisitors, sessionsByPage, topPages, topSources } from './lists.ts'
import { bucketSizeOf, bucketsOf, previousOf, readableFrom, resolveRange, type Span, since } from './range.ts'
import { allCounted, creditOf, pageSessionNames, sessionNames, sessionsOf, startingIn } from './sessions.ts'
import { vitalPages, vitalPoint, webVitals } from './web-vitals.ts'

export type Overview = NonNullable<ReturnType<typeof computeOverview>>

/** The overview of one workspace's facts with the breakdown by entry and exit page, or undefined where the query must be refused. `now` in milliseconds. */
export function computeOverview(facts: Facts, query: OverviewQuery, workspace: OracleWorkspace, now: number) {
  const span = resolveRange(query, workspace, now)
  if (!span) return undefined
  const { timezone } = workspace
  const readable = { events: readableFrom(workspace, now), botVisits: now - 180 * day }
  // Sessions and touches are whole, whatever is readable of them.
  const filtered = query.filters && filterFacts(facts, query.filters, timezone)
  const counted = filtered ?? allCounted
  const whole = filtered?.events ?? facts.events
  const sessions = {
    all: sessionsOf(whole, timezone, counted),
    nameOf: sessionNames(whole, timezone),
    counted,
  }
  const pageSessionName = pageSessionNames(ofKind(whole, kind.pageview), timezone)
  const count = (period: Span) => {
    const counters = countersOf({ ...facts, events: whole }, sessions, period, readable)
    if (period !== span && period.start < readable.botVisits) Object.assign(counters, { bot_visits: null })
    return filtered ? { ...counters, new_contacts: null, bot_visits: null, link_clicks: null } : counters
  }

  const shown = since(readable.events, span)
  const events = inSpan(whole, shown)
  const starting = startingIn(sessions.all, shown)
  const credits = ofKind(events, kind.conversion).map((conversion) => creditOf(conversion, facts, timezone))
  const buckets = bucketsOf(span, query, timezone)
  const previous = previousOf(span, query, timezone)
  const rows = query.limit ?? 10
  return {
    metrics: {
      ...count(span),
      live_visitors: liveVisitors(inSpan(whole, { start: readable.events, end: now + 1 }), now),
      range: { ...span, timezone, bucket: bucketSizeOf(span, query, timezone) },
      previous:
        query.compare === 'none' || previous.start < readable.events || previous.start === previous.end
          ? null
          : count(previous),
    },
    traffic_series: buckets.map((bucket) => ({
      ...bucket,
      ...presenceOf(inSpan(events, bucket), sessions),
      ...ownFacts(startingIn(starting, bucket)),
    })),
    top_sources: topSources(starting, credits).slice(0, rows),
    top_pages: topPages(
      events,
      ofKind(inSpan(facts.events, shown), kind.pageview),
      starting,
      pageSessionName,
      counted,
    ).slice(0, rows),
    entry_pages: sessionsByPage(starting, ({ entryPath }) => entryPath).slice(0, rows),
    exit_pages: sessionsByPage(starting, ({ exitPath }) => exitPath).slice(0, rows),
    devices: breakdown(events, starting, breakdownKeys.devices).slice(0, rows),
    browsers: breakdown(events, starting, breakdownKeys.browsers).slice(0, rows),
    countries: breakdown(events, starting, breakdownKeys.countries).slice(0, rows),
    web_vitals: webVitals(events),
    web_vital_pages: vitalPages(events, counted).slice(0, rows),
    web_vital_series: buckets.map((bucket) => ({ ...bucket, ...vitalPoint(inSpan(events, bucket)) })),
    recent_events: recentEvents(events),
  }
}

function recentEvents(events: Facts['events']) {
  return events
    .filter((event) => event.kind !== kind.webVital && event.kind !== kind.pageLeave)
    .sort((a, b) => byTime(b, a))
    .slice(0, 50)
    .map((event) => {
      const session = sessionOf(event)
      return { id: Number(event.id), session_id: event.session_named === 1 && session !== 0 ? session : null }
    })
}
