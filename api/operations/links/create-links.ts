import { makeLinks, type SentLink } from '../../../authoring/links/new-links.ts'
import { LinksCreate, LinksResource } from '../../../schemas/resources/link.ts'
import { defineOperation } from '../define.ts'
import { emitLinksCreated } from './emit-created.ts'

export const createLinks = defineOperation({
  name: 'link.bulk_create',
  http: { method: 'POST', path: '/v1/links/bulk' },
  tool: 'svc.create_links',
  toolset: 'links',
  summary: 'Create many tracked links: all of them, or none.',
  description: 'Each is checked as by `POST /v1/links`, and faults name its place in the list.',
  tag: 'Links',
  effect: 'create',
  scope: 'links:write',
  input: { body: LinksCreate },
  output: LinksResource,
  emits: 'link.created',
  writesOutbox: true,
  auditIds: ['link_ids'],
  async handle(context) {
    const { body, workspace, stores, config } = context
    const sent = body.links.map((link, at): SentLink => [['body', 'links', at], link])
    const links = await emitLinksCreated(stores.pg, workspace.id, await makeLinks(sent, context), config.shortUrlHost)
    return { links, link_ids: links.map(({ id }) => id) }
  },
})
