/**
 * Holds the installation's hosts and short domains apart. A short domain serves links alone, so the product couldn't be
 * reached at a host that is one. The API takes no own host as a domain; the settings may change later. Held by
 * test/integration/short-domain-redirects.test.ts.
 */
import { type Config, SettingError } from '../../../runtime/config.ts'
import { canonicalHost } from '../../../schemas/exclusions.ts'
import type { Queryable } from '../../client.ts'

export type GivenHosts = Partial<Pick<Config, 'apiHost' | 'shortUrlHost'>>

/** The hosts of both settings, as far as they are set. */
export function ownHostsOf({
  apiHost,
  shortUrlHost,
}: GivenHosts): { readonly setting: string; readonly host: string }[] {
  const given = { API_HOST: apiHost, SHORT_URL_HOST: shortUrlHost }
  return Object.entries(given).flatMap(([setting, root]) =>
    root === undefined ? [] : [{ setting, host: canonicalHost(new URL(root).hostname) }],
  )
}

/** @throws SettingError where one of them is a verified short domain */
export async function requireOwnHosts(q: Queryable, given: GivenHosts): Promise<void> {
  const own = ownHostsOf(given)
  if (own.length === 0) return
  const [taken] = await q.query<{ host: string; workspace_id: number }>(
    'SELECT host, workspace_id FROM short_domains WHERE host = ANY($1::text[]) AND verified_at IS NOT NULL ORDER BY host',
    [own.map(({ host }) => host)],
  )
  if (taken === undefined) return
  const { setting } = own.find(({ host }) => host === taken.host)!
  throw new SettingError(
    `${setting} names ${taken.host}, which is a short domain of workspace ${taken.workspace_id}: set another host, or start without it and free the host by \`svc domains release ${taken.host}\``,
  )
}
