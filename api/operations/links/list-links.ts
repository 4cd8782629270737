import { z } from 'zod'
import { listLinks as readLinks } from '../../../postgres/tables/links.ts'
import { laxInt } from '../../../schemas/lax.ts'
import { linksListedMax, listLimitMax } from '../../../schemas/limits/api-limits.ts'
import { LinkResource, linkStatuses } from '../../../schemas/resources/link.ts'
import { beforeId } from '../../../schemas/resources/page.ts'
import { defineOperation } from '../define.ts'
import { serializeLink } from './serialize.ts'

const LinksQuery = z.object({
  limit: laxInt({
    ge: 1,
    le: listLimitMax,
    description: `At most; all when left out, up to ${linksListedMax}.`,
  }),
  before_id: beforeId('link'),
  status: z.enum(linkStatuses).optional().meta({ description: '`active` when left out.' }),
})

export const listLinks = defineOperation({
  name: 'link.list',
  http: { method: 'GET', path: '/v1/links' },
  tool: 'svc.list_links',
  summary: 'List the tracked links, newest first.',
  tag: 'Links',
  effect: 'read',
  scope: 'links:read',
  input: { query: LinksQuery },
  output: z.array(LinkResource),
  async handle({ query: { limit = linksListedMax, before_id, status }, workspace, stores: { pg }, config }) {
    const links = await readLinks(pg, workspace.id, {
      ...{ limit, beforeId: before_id, isArchived: status === 'archived' },
    })
    return links.map((link) => serializeLink(link, config.shortUrlHost))
  },
})
