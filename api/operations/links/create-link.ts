import { hasLinkTargets, insertLink } from '../../../postgres/tables/links.ts'
import { hashPassword } from '../../../runtime/crypto/password.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { LinkCreate, LinkResource } from '../../../schemas/resources/link.ts'
import { defineOperation } from '../define.ts'
import { expiryAfter } from './expiry.ts'
import { serializeLink } from './serialize.ts'

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
  async handle({ body, workspace, clock, stores: { pg }, config }) {
    const targets = { postId: body.post_id, socialAccountId: body.social_account_id }
    const { post, account } = await hasLinkTargets(pg, workspace.id, targets)
    const errors = [
      ...(post ? [] : [valueError(['body', 'post_id'], body.post_id, 'Post not found')]),
      ...(account
        ? []
        : [valueError(['body', 'social_account_id'], body.social_account_id, 'Social account not found')]),
    ]
    if (errors.length > 0) throw invalid(errors)
    const expiry = expiryAfter(null, body, { timezone: workspace.timezone, now: clock.now() })
    const link = await insertLink(pg, {
      workspaceId: workspace.id,
      label: body.label,
      destinationUrl: body.destination_url,
      ...targets,
      ...{ utmSource: body.utm_source, utmMedium: body.utm_medium },
      ...{ utmCampaign: body.utm_campaign, utmContent: body.utm_content },
      ...{ expiresAt: expiry.expires_at, expiredUrl: expiry.expired_url, targets: body.targets ?? [] },
      tags: body.tags ?? [],
      passwordHash: body.password == null ? null : await hashPassword(body.password),
    })
    return serializeLink(link, config.shortUrlHost)
  },
})
