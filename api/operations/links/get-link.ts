import { z } from 'zod'
import { readLinkClicks } from '../../../clickhouse/queries/link-clicks.ts'
import { findLink } from '../../../postgres/tables/links.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { problem } from '../../../schemas/problems.ts'
import { LinkWithClicks } from '../../../schemas/resources/link.ts'
import { readableFrom } from '../analytics/readable-from.ts'
import { defineOperation } from '../define.ts'
import { shownLink } from './shown.ts'

export const getLink = defineOperation({
  name: 'link.get',
  http: { method: 'GET', path: '/v1/links/{link_id}' },
  summary: 'Get a tracked link with its click counts.',
  description: 'Clicks count as far back as the plan lets analytics be read.',
  tag: 'Links',
  effect: 'read',
  scope: 'links:read',
  input: { path: z.object({ link_id: idInPath('link') }) },
  output: LinkWithClicks,
  problems: ['link_not_found'],
  async handle({ path: { link_id }, workspace, stores: { pg, ch }, clock, config }) {
    const link = await findLink(pg, workspace.id, link_id)
    if (link === null) throw problem('link_not_found')
    const { lastClickedAt, ...counts } = await readLinkClicks(ch, {
      workspaceId: workspace.id,
      linkId: link.id,
      readableFrom: readableFrom(workspace, clock.now()),
    })
    const last_clicked_at = lastClickedAt === null ? null : new Date(lastClickedAt).toISOString()
    return { ...shownLink(link, config.shortUrlHost), click_counts: { ...counts, last_clicked_at } }
  },
})
