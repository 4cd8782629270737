import { makeLinks } from '../../../authoring/links/new-links.ts'
import { serializeLink } from '../../../postgres/tables/links/serialize-link.ts'
import { LinkCreate, LinkResource } from '../../../schemas/resources/link.ts'
import { defineOperation } from '../define.ts'

export const createLink = defineOperation({
  name: 'link.create',
  http: { method: 'POST', path: '/v1/links' },
  tool: 'svc.create_link',
  summary: 'Create a tracked link: a short URL with campaign parameters.',
  tag: 'Links',
  effect: 'create',
  scope: 'links:write',
  input: { body: LinkCreate },
  output: LinkResource,
  emits: 'link.created',
  async handle(context) {
    const [link] = await makeLinks([[['body'], context.body]], context)
    return serializeLink(link!, context.config.shortUrlHost)
  },
})
