/**
 * Addresses at which this installation redirects. A link to one of them could make a loop. So links lead to none that
 * their workspace can reach: keys under the installation's roots, and the workspace's short domains.
 */
import type { z } from 'zod'
import type { Queryable } from '../../postgres/client.ts'
import { listDomains } from '../../postgres/tables/links/short-domains.ts'
import { type PublicHosts, shortLinkPathOf } from '../../runtime/public-hosts.ts'
import { type Loc, type ValidationError, valueError } from '../../schemas/errors/validation-errors.ts'
import { canonicalHost } from '../../schemas/exclusions.ts'
import { linkKeyOfPath } from '../../schemas/link-key.ts'
import type { LinkUpdate } from '../../schemas/resources/link.ts'

/** Whether an address is one of them. */
export type IsShortAddress = (url: string) => boolean

interface HostContext {
  readonly workspace: { readonly id: number }
  readonly stores: { readonly pg: Queryable }
  readonly config: PublicHosts
}

/** Those of the workspace. Domains count before they are verified: they may be so before the link is followed. */
export async function shortAddressesOf({ workspace, stores, config }: HostContext): Promise<IsShortAddress> {
  const hosts = new Set((await listDomains(stores.pg, workspace.id)).map(({ host }) => host))
  return (text) => {
    const url = new URL(text)
    return hosts.has(canonicalHost(url.hostname)) || keyUnderRoots(url, config) !== null
  }
}

/** @returns the key of a short link under the installation's roots; null for another address */
export function keyUnderRoots(url: URL, { apiHost, shortUrlHost }: PublicHosts): string | null {
  // Either is empty where the process doesn't know it.
  const isAt = (root: string) => root !== '' && isSameHost(new URL(root), url)
  if (!isAt(apiHost) && !isAt(shortUrlHost)) return null
  const own = shortUrlHost === '' ? '' : shortLinkPathOf(shortUrlHost)
  // Ingest serves both paths at both hosts. Only where keys stand at the root, pages of the other host are no keys.
  const paths = ['/l', ...(own !== '' || isAt(shortUrlHost) ? [own] : [])]
  const keys = paths
    .filter((path) => url.pathname.startsWith(`${path}/`))
    .map((path) => linkKeyOfPath(url.pathname.slice(path.length + 1)))
  return keys.find((key) => key !== null) ?? null
}

function isSameHost(one: URL, other: URL): boolean {
  return canonicalHost(one.hostname) === canonicalHost(other.hostname) && one.port === other.port
}

type Destinations = Pick<z.output<typeof LinkUpdate>, 'destination_url' | 'expired_url' | 'targets'>

/** Faults of the destinations of a link as it is sent. @param loc of the link in the request */
export function loopFaults(link: Destinations, isShort: IsShortAddress, loc: Loc = ['body']): ValidationError[] {
  const urls: readonly (readonly [loc: Loc, url: string | null | undefined])[] = [
    [[...loc, 'destination_url'], link.destination_url],
    [[...loc, 'expired_url'], link.expired_url],
    ...(link.targets ?? []).map((target, at): [Loc, string] => [
      [...loc, 'targets', at, 'destination_url'],
      target.destination_url,
    ]),
  ]
  return urls.filter(([, url]) => url != null && isShort(url)).map(([at, url]) => valueError(at, url, loopText))
}

const loopText = 'a link leads to no short link and no short domain: it could lead to itself'
