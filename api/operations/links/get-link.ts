import { z } from 'zod'
import {
  type LinkClickCounts,
  type ListedClicks,
  readClickLists,
  readLinkClicks,
} from '../../../clickhouse/queries/link-clicks.ts'
import { findLink } from '../../../postgres/tables/links/links.ts'
import { serializeLink } from '../../../postgres/tables/links/serialize-link.ts'
import { StoreUnavailable } from '../../../runtime/store-error.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import type { LinkWay } from '../../../schemas/link-ways.ts'
import { cityLabel } from '../../../schemas/reference/places.ts'
import { LinkWithClicks } from '../../../schemas/resources/link.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { dateOfDay, localDayAt, startOfLocalDay } from '../../../schemas/time/time-zone.ts'
import { perCent } from '../analytics/metrics.ts'
import { defineOperation } from '../define.ts'
import { revenueOf, type VisitsByPage, visitsByPageOf } from './visits.ts'

export const getLink = defineOperation({
  name: 'link.get',
  http: { method: 'GET', path: '/v1/links/{link_id}' },
  tool: 'svc.get_link',
  summary: 'Get a tracked link with its results.',
  description: 'As far back as the plan reads; null while unreadable. `visits` and `revenue` need `analytics:read`.',
  tag: 'Links',
  effect: 'read',
  scope: 'links:read',
  input: { path: z.object({ link_id: idInPath('link') }) },
  output: LinkWithClicks,
  problems: ['link_not_found'],
  async handle(context) {
    const { path, workspace, stores, clock, config, log, requestId } = context
    const link = await findLink(stores.pg, workspace.id, path.link_id)
    if (link === null) throw problem('link_not_found')
    const from = readableFrom(workspace, clock.now())
    const origin = { column: 'link_id', id: link.id, readableFrom: from } as const
    const ofLink = { workspaceId: workspace.id, linkId: link.id, readableFrom: from }
    const days = lastDays(clock.now(), workspace.timezone)
    const ofDays = { daysFrom: Math.max(from, days[0]!.start), timezone: workspace.timezone }
    const unlessAway = (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error
      log.warn({ err: error, requestId }, 'a link is shown without its clicks')
      return null
    }
    const [counts, lists, visits, revenue] = await Promise.all([
      readLinkClicks(stores.ch, ofLink).catch(unlessAway),
      readClickLists(stores.ch, { ...ofLink, ...ofDays }).catch(unlessAway),
      visitsByPageOf(context, origin),
      revenueOf(context, origin),
    ])
    return {
      ...serializeLink(link, config.shortUrlHost),
      click_counts: counts && shownCounts(counts),
      click_lists: lists && shownLists(lists, days),
      visits: visits && shownVisits(visits),
      revenue,
    }
  },
})

function shownVisits({ visitors, sessions, conversions, pages }: VisitsByPage) {
  const shownPages = pages.map(({ converting, ...page }) => ({
    ...page,
    conversion_rate: perCent(converting, page.visitors),
  }))
  return { visitors, sessions, conversions, pages: shownPages }
}

function shownCounts({ lastClickedAt, ...counts }: LinkClickCounts) {
  return { ...counts, last_clicked_at: lastClickedAt === null ? null : new Date(lastClickedAt).toISOString() }
}

const daysShown = 30

interface Day {
  /** Since 1970. */
  readonly number: number
  readonly start: number
}

function lastDays(now: number, timezone: string): Day[] {
  const today = localDayAt(now, timezone)
  return Array.from({ length: daysShown }, (_, at) => today - daysShown + 1 + at).map((number) => ({
    number,
    start: startOfLocalDay(number, timezone),
  }))
}

function shownLists(lists: readonly ListedClicks[], days: readonly Day[]) {
  const of = (wanted: ListedClicks['list']) => lists.filter(({ list }) => list === wanted)
  const ofDay = new Map(of('day').map(({ name, clicks }) => [Number(name), clicks]))
  return {
    days: days.map(({ number }) => ({
      day: dateOfDay(number),
      clicks: ofDay.get(number) ?? 0,
    })),
    countries: of('country').map(({ name, clicks }) => ({ country: name, clicks })),
    referrers: of('referrer').map(({ name, clicks }) => ({ host: name, clicks })),
    targets: of('target').map(({ name, clicks }) => ({ destination_url: name || null, clicks })),
    devices: of('device').map(({ name, clicks }) => ({ device: name, clicks })),
    browsers: of('browser').map(({ name, clicks }) => ({ browser: name, clicks })),
    systems: of('system').map(({ name, clicks }) => ({ system: name, clicks })),
    cities: of('city').map(({ name, region_name, clicks }) => ({
      city: name,
      label: cityLabel(name, region_name),
      clicks,
    })),
    ways: of('way').map(({ name, clicks }) => ({ way: name as LinkWay, clicks })),
  }
}
