import { z } from 'zod'
import { type LinkClickCounts, readLinkClicks } from '../../../clickhouse/queries/link-clicks.ts'
import { findLink } from '../../../postgres/tables/links.ts'
import { readRevenueOfLink } from '../../../postgres/tables/revenue-figures.ts'
import { StoreUnavailable } from '../../../runtime/store-error.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { problem } from '../../../schemas/problems.ts'
import { LinkWithClicks } from '../../../schemas/resources/link.ts'
import { readableFrom } from '../analytics/readable-from.ts'
import { defineOperation } from '../define.ts'
import { shownLink } from './shown.ts'

export const getLink = defineOperation({
  name: 'link.get',
  http: { method: 'GET', path: '/v1/links/{link_id}' },
  summary: 'Get a tracked link with its click counts and the revenue that it led to.',
  description: 'Clicks and revenue count as far back as the plan lets analytics be read.',
  tag: 'Links',
  effect: 'read',
  scope: 'links:read',
  input: { path: z.object({ link_id: idInPath('link') }) },
  output: LinkWithClicks,
  problems: ['link_not_found'],
  async handle({ path: { link_id }, workspace, stores: { pg, ch }, clock, config, log, requestId }) {
    const link = await findLink(pg, workspace.id, link_id)
    if (link === null) throw problem('link_not_found')
    const from = readableFrom(workspace, clock.now())
    const counts = await readLinkClicks(ch, { workspaceId: workspace.id, linkId: link.id, readableFrom: from }).catch(
      (error) => {
        if (!(error instanceof StoreUnavailable)) throw error
        log.warn({ err: error, requestId }, 'a link is shown without its clicks')
        return null
      },
    )
    const { payments, cents, apart } = await readRevenueOfLink(pg, link.id, {
      ...{ workspaceId: workspace.id, currency: workspace.currency, start: from, end: clock.now() },
    })
    const revenue = { payments, revenue_cents: cents, revenue_by_currency: { ...apart } }
    return { ...shownLink(link, config.shortUrlHost), click_counts: counts && shownCounts(counts), revenue }
  },
})

function shownCounts({ lastClickedAt, ...counts }: LinkClickCounts) {
  return { ...counts, last_clicked_at: lastClickedAt === null ? null : new Date(lastClickedAt).toISOString() }
}
