import { z } from 'zod'
import { countClicksOfLinks } from '../../../clickhouse/queries/link-clicks.ts'
import { listLinks as readLinks } from '../../../postgres/tables/links/links.ts'
import { serializeLink } from '../../../postgres/tables/links/serialize-link.ts'
import { StoreUnavailable } from '../../../runtime/store-error.ts'
import { laxInt } from '../../../schemas/lax.ts'
import {
  linkSearchLengthMax,
  linksListedMax,
  linkTagLengthMax,
  listLimitMax,
} from '../../../schemas/limits/api-limits.ts'
import { ListedLink, linkStatuses } from '../../../schemas/resources/link.ts'
import { beforeId } from '../../../schemas/resources/page.ts'
import { shortDomain } from '../../../schemas/resources/short-domain.ts'
import { tagOf } from '../../../schemas/resources/tags.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { type CallContext, defineOperation } from '../define.ts'

const LinksQuery = z.object({
  limit: laxInt({
    ge: 1,
    le: listLimitMax,
    description: `All by default, up to ${linksListedMax}.`,
  }),
  before_id: beforeId('link'),
  status: z.enum(linkStatuses).default('active').meta({ description: 'Status.' }),
  tag: tagOf(linkTagLengthMax).optional().meta({ description: 'Only those with it.' }),
  domain: shortDomain.optional().meta({ description: 'Only those under it.' }),
  q: z.string().max(linkSearchLengthMax).optional().meta({ description: 'In label, key or destination.' }),
  include: z.enum(['clicks']).optional().meta({ description: 'Adds it to each link.' }),
})

export const listLinks = defineOperation({
  name: 'link.list',
  http: { method: 'GET', path: '/v1/links' },
  tool: 'svc.list_links',
  onlyWith: { toolset: 'links', members: ['domain'] },
  summary: 'List the tracked links, newest first.',
  tag: 'Links',
  effect: 'read',
  scope: 'links:read',
  input: { query: LinksQuery },
  output: z.array(ListedLink),
  async handle(context) {
    const { query, workspace, stores, config } = context
    const { limit = linksListedMax, before_id, status, tag, domain, q: text, include } = query
    const links = await readLinks(stores.pg, workspace.id, {
      limit,
      beforeId: before_id,
      isArchived: status === 'archived',
      tag,
      domain,
      text,
    })
    const shown = links.map((link) => serializeLink(link, config.shortUrlHost))
    if (include === undefined || shown.length === 0) return shown
    const ids = shown.map(({ id }) => id)
    const clicks = await clicksOf(context, ids)
    return shown.map((link) => ({ ...link, clicks: clicks && (clicks.get(link.id) ?? 0) }))
  },
})

/** Null while ClickHouse is away. */
async function clicksOf(
  { workspace, stores: { ch }, clock, log, requestId }: CallContext,
  linkIds: readonly number[],
): Promise<Map<number, number> | null> {
  const read = { workspaceId: workspace.id, linkIds, readableFrom: readableFrom(workspace, clock.now()) }
  return countClicksOfLinks(ch, read).catch((error) => {
    if (!(error instanceof StoreUnavailable)) throw error
    log.warn({ err: error, requestId }, 'links are listed without their clicks')
    return null
  })
}
