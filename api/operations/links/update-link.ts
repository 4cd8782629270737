import { z } from 'zod'
import { expiryAfter } from '../../../authoring/links/expiry.ts'
import { loopFaults, shortAddressesOf } from '../../../authoring/links/short-addresses.ts'
import { lockLink, updateLink as writeLink } from '../../../postgres/tables/links/links.ts'
import { serializeLink } from '../../../postgres/tables/links/serialize-link.ts'
import { hashPassword } from '../../../runtime/crypto/password.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { LinkResource, LinkUpdate } from '../../../schemas/resources/link.ts'
import { defineOperation } from '../define.ts'

export const updateLink = defineOperation({
  name: 'link.update',
  http: { method: 'PATCH', path: '/v1/links/{link_id}' },
  tool: 'svc.update_link',
  summary: 'Change a tracked link.',
  description: 'Fields left out stay. A past `expires_at` ends it at once.',
  tag: 'Links',
  effect: 'update',
  scope: 'links:write',
  input: { path: z.object({ link_id: idInPath('link') }), body: LinkUpdate },
  output: LinkResource,
  problems: ['link_not_found'],
  async handle(context) {
    const { path, body, workspace, clock, stores, config } = context
    const { pg } = stores
    const link = await lockLink(pg, workspace.id, path.link_id)
    if (link === null) throw problem('link_not_found')
    const loops = loopFaults(body, await shortAddressesOf(context))
    if (loops.length > 0) throw invalid(loops)
    const fields = {
      label: body.label ?? link.label,
      destination_url: body.destination_url ?? link.destination_url,
      utm_source: body.utm_source ?? link.utm_source,
      utm_medium: body.utm_medium ?? link.utm_medium,
      utm_campaign: body.utm_campaign ?? link.utm_campaign,
      utm_content: body.utm_content ?? link.utm_content,
      targets: body.targets === undefined ? link.targets : (body.targets ?? []),
      preview: body.preview === undefined ? link.preview : body.preview,
      tags: body.tags === undefined ? link.tags : (body.tags ?? []),
      ...expiryAfter(link, body, { timezone: workspace.timezone, now: clock.now() }),
    }
    const passwordHash = body.password && (await hashPassword(body.password))
    return serializeLink(await writeLink(pg, link, fields, passwordHash), config.shortUrlHost)
  },
})
