import { z } from 'zod'
import { expiryAfter } from '../../../authoring/links/expiry.ts'
import { holdLink, updateLink as writeLink } from '../../../postgres/tables/links.ts'
import { serializeLink } from '../../../postgres/tables/serialize-link.ts'
import { listDomains } from '../../../postgres/tables/short-domains.ts'
import { hashPassword } from '../../../runtime/crypto/password.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { type Loc, valueError } from '../../../schemas/errors/validation-errors.ts'
import { canonicalHost } from '../../../schemas/exclusions.ts'
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
  async handle({ path: { link_id }, body, workspace, clock, stores: { pg }, config }) {
    const urls: [loc: Loc, url: string | null | undefined][] = [
      [['body', 'destination_url'], body.destination_url],
      [['body', 'expired_url'], body.expired_url],
      ...(body.targets ?? []).map((target, at): [Loc, string] => [
        ['body', 'targets', at, 'destination_url'],
        target.destination_url,
      ]),
    ]
    const link = await holdLink(pg, workspace.id, link_id)
    if (link === null) throw problem('link_not_found')
    const roots = [config.shortUrlHost, ...(await listDomains(pg, workspace.id)).map(({ host }) => `https://${host}`)]
    const loops = urls.filter(([, url]) => url != null && roots.some((root) => isShortUrl(url, root)))
    if (loops.length > 0) throw invalid(loops.map(([loc, url]) => valueError(loc, url, loopText)))
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

const loopText = 'a link that is changed leads to no short link: it could lead to itself'

/** @param root of short URLs, without a slash at its end */
function isShortUrl(url: string, root: string): boolean {
  const [asked, short] = [new URL(url), new URL(`${root}/`)]
  const isSameHost = canonicalHost(asked.hostname) === canonicalHost(short.hostname) && asked.port === short.port
  return isSameHost && asked.pathname.startsWith(short.pathname)
}
