import { z } from 'zod'
import { type LinkClickCounts, readLinkClicks } from '../../../clickhouse/queries/link-clicks.ts'
import type { Visits } from '../../../clickhouse/queries/visits-of.ts'
import { findLink } from '../../../postgres/tables/links.ts'
import { StoreUnavailable } from '../../../runtime/store-error.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { problem } from '../../../schemas/problems.ts'
import { LinkWithClicks } from '../../../schemas/resources/link.ts'
import { readableFrom } from '../analytics/readable-from.ts'
import { defineOperation } from '../define.ts'
import { shownLink } from './shown.ts'
import { revenueOf, visitsOf } from './visits.ts'

export const getLink = defineOperation({
  name: 'link.get',
  http: { method: 'GET', path: '/v1/links/{link_id}' },
  summary: 'Get a tracked link with its clicks, and the visits, conversions and revenue that it led to.',
  description: 'All of it counts as far back as the plan lets analytics be read.',
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
    const led = { column: 'link_id', id: link.id, readableFrom: from } as const
    const ofLink = { workspaceId: workspace.id, linkId: link.id, readableFrom: from }
    const [counts, visits, revenue] = await Promise.all([
      readLinkClicks(stores.ch, ofLink).catch((error) => {
        if (!(error instanceof StoreUnavailable)) throw error
        log.warn({ err: error, requestId }, 'a link is shown without its clicks')
        return null
      }),
      visitsOf(context, led),
      revenueOf(context, led),
    ])
    return {
      ...shownLink(link, config.shortUrlHost),
      click_counts: counts && shownCounts(counts),
      visits: visits && shownVisits(visits),
      revenue,
    }
  },
})

function shownVisits({ visitors, sessions, conversions }: Visits) {
  return { visitors, sessions, conversions }
}

function shownCounts({ lastClickedAt, ...counts }: LinkClickCounts) {
  return { ...counts, last_clicked_at: lastClickedAt === null ? null : new Date(lastClickedAt).toISOString() }
}
