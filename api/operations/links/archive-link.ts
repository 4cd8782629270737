/** Takes a link out of lists, and puts it back. Neither changes where it leads, nor that it is counted. */
import { z } from 'zod'
import { markLinkArchived } from '../../../postgres/tables/links/links.ts'
import { serializeLink } from '../../../postgres/tables/links/serialize-link.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { LinkResource } from '../../../schemas/resources/link.ts'
import { defineOperation } from '../define.ts'

function defineArchiving(verb: 'archive' | 'unarchive', summary: string) {
  return defineOperation({
    name: `link.${verb}`,
    http: { method: 'POST', path: `/v1/links/{link_id}/${verb}` },
    tool: `svc.${verb}_link`,
    summary,
    tag: 'Links',
    effect: 'update',
    scope: 'links:write',
    input: { path: z.object({ link_id: idInPath('link') }) },
    output: LinkResource,
    problems: ['link_not_found'],
    async handle({ path: { link_id }, workspace, stores: { pg }, config }) {
      const link = await markLinkArchived(pg, workspace.id, link_id, verb === 'archive')
      if (link === null) throw problem('link_not_found')
      return serializeLink(link, config.shortUrlHost)
    },
  })
}

export const archiveLink = defineArchiving('archive', 'Archive a link: lists leave it out; it still redirects.')
export const unarchiveLink = defineArchiving('unarchive', 'Put an archived link back.')
