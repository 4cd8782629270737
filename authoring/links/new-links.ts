/** From what is sent of new links to the links: what only the workspace can tell is checked here. */
import type { z } from 'zod'
import type { Queryable } from '../../postgres/client.ts'
import {
  hasLinkTargets,
  insertLink,
  insertLinkWithKey,
  type NewLink,
  type TrackedLink,
} from '../../postgres/tables/links/links.ts'
import { linksOfKeys } from '../../postgres/tables/links/links-known.ts'
import { domainsOfHosts } from '../../postgres/tables/links/short-domains.ts'
import type { Clock } from '../../runtime/clock.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import type { PublicHosts } from '../../runtime/public-hosts.ts'
import { invalid, Problem } from '../../schemas/errors/problems.ts'
import { type Loc, type ValidationError, valueError } from '../../schemas/errors/validation-errors.ts'
import { LinkCreate } from '../../schemas/resources/link.ts'
import { expiryAfter } from './expiry.ts'
import { type IsShortAddress, loopFaults, shortAddressesOf } from './short-addresses.ts'

type Sent = z.output<typeof LinkCreate>

/** A link as it was sent, and where in the request. */
export type SentLink = readonly [loc: Loc, link: Sent]

/** The part of a call that links are made with: feeds and commands have no more of one. */
export interface LinkContext {
  readonly clock: Clock
  readonly workspace: { readonly id: number; readonly timezone: string }
  readonly stores: { readonly pg: Queryable }
  readonly config: PublicHosts
}

/**
 * Makes the links, or none: the faults of all are told together.
 * @param known where no link leads, for callers that make many one by one
 * @returns the links in the order in which they were sent
 * @throws Problem 422
 */
export async function makeLinks(
  sent: readonly SentLink[],
  context: LinkContext,
  known?: IsShortAddress,
): Promise<TrackedLink[]> {
  const isShort = known ?? (await shortAddressesOf(context))
  const domains = await domainsOf(
    sent.map(([, { domain }]) => domain),
    context,
  )
  const isTaken = await takenKeysOf(sent, domains, context)
  const faults: ValidationError[] = []
  for (const one of sent) {
    const others = await faultsOf(one, { domains, isShort }, context)
    faults.push(...(isTaken.has(one) ? inOrderOfFields(one, [...others, takenKey(one)]) : others))
  }
  if (faults.length > 0) throw invalid(faults)
  const { workspace, stores } = context
  const hashOf = makeHashes()
  const made = new Map<SentLink, TrackedLink>()
  for (const one of inOrderOfKeys(sent, ([, link]) => link)) {
    const [loc, link] = one
    const expiry = expiryOf([loc, link], context)
    const row: NewLink = {
      workspaceId: workspace.id,
      domainId: idOf(link, domains),
      label: link.label,
      destinationUrl: link.destination_url,
      postId: link.post_id,
      socialAccountId: link.social_account_id,
      utmSource: link.utm_source,
      utmMedium: link.utm_medium,
      utmCampaign: link.utm_campaign,
      utmContent: link.utm_content,
      expiresAt: expiry.expires_at,
      expiredUrl: expiry.expired_url,
      targets: link.targets ?? [],
      tags: link.tags ?? [],
      passwordHash: link.password == null ? null : await hashOf(link.password),
      preview: link.preview,
    }
    const inserted = await (link.key === null
      ? insertLink(stores.pg, row)
      : insertLinkWithKey(stores.pg, row, link.key))
    // Somebody was faster, after all keys were looked up.
    if (inserted === null) throw invalid([takenKey([loc, link])])
    made.set(one, inserted)
  }
  return sent.map((one) => made.get(one)!)
}

/** Two that insert the same keys in one order wait for each other and never both. Equal keys and none keep their order. */
export function inOrderOfKeys<Item>(items: readonly Item[], placeOf: (item: Item) => KeyAndDomain): Item[] {
  return items
    .map((item) => {
      const { key, domain } = placeOf(item)
      return { item, key: key === null ? '' : `${key} ${domain ?? ''}` }
    })
    .sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
    .map(({ item }) => item)
}

/** A key as it is sent, and the host that it stands under; null: one is made, and the installation's. */
export type KeyAndDomain = Pick<Sent, 'key' | 'domain'>

/** Ids of the workspace's verified domains, by host. */
export type Domains = ReadonlyMap<string, number>

/** Those of them that are named. */
export function domainsOf(hosts: readonly (string | null)[], { workspace, stores }: LinkContext): Promise<Domains> {
  const named = new Set(hosts.filter((host) => host !== null))
  return domainsOfHosts(stores.pg, workspace.id, [...named])
}

/** Null: none is named, or it is unknown, which is a fault of the link. */
export function idOf({ domain }: Pick<Sent, 'domain'>, domains: Domains): number | null {
  return domain === null ? null : (domains.get(domain) ?? null)
}

/** Those whose key another link of the domain has, or an earlier one of the request. */
async function takenKeysOf(
  sent: readonly SentLink[],
  domains: Domains,
  { stores }: LinkContext,
): Promise<ReadonlySet<SentLink>> {
  const placeOf = (key: string, domainId: number | null) => `${domainId ?? ''}/${key}`
  const places = sent.flatMap(([, link]) =>
    link.key === null ? [] : [{ key: link.key, domainId: idOf(link, domains) }],
  )
  if (places.length === 0) return new Set()
  const known = await linksOfKeys(stores.pg, places)
  const taken = new Set(known.map(({ attribution_key: key, domain_id }) => placeOf(key, domain_id)))
  /** Takes the place where it is free. */
  const isTaken = (place: string) => {
    const was = taken.has(place)
    taken.add(place)
    return was
  }
  return new Set(sent.filter(([, link]) => link.key !== null && isTaken(placeOf(link.key, idOf(link, domains)))))
}

function takenKey([loc, { key }]: SentLink): ValidationError {
  return valueError([...loc, 'key'], key, takenText)
}

/** As faults of the schema stand. */
function inOrderOfFields([loc]: SentLink, faults: readonly ValidationError[]): ValidationError[] {
  const fields = Object.keys(LinkCreate.shape)
  const fieldOf = (fault: ValidationError) => fields.indexOf(String(fault.loc[loc.length]))
  return [...faults].sort((one, other) => fieldOf(one) - fieldOf(other))
}

export const takenText = 'The key is taken by another link'

/** Hosts of the workspace's links, and addresses that none leads to. */
export interface LinkSurroundings {
  readonly domains: Domains
  readonly isShort: IsShortAddress
}

/** Faults beyond those of its key. */
export async function faultsOf(
  sent: SentLink,
  { domains, isShort }: LinkSurroundings,
  context: LinkContext,
): Promise<ValidationError[]> {
  const [loc, link] = sent
  const { post_id: postId, social_account_id: socialAccountId } = link
  const isNamed = postId !== null || socialAccountId !== null
  const has = isNamed
    ? await hasLinkTargets(context.stores.pg, context.workspace.id, { postId, socialAccountId })
    : { post: true, account: true }
  const isUnknown = link.domain !== null && !domains.has(link.domain)
  return inOrderOfFields(sent, [
    ...(isUnknown
      ? [valueError([...loc, 'domain'], link.domain, 'The workspace has no verified domain of this name')]
      : []),
    ...(has.post ? [] : [valueError([...loc, 'post_id'], postId, 'Post not found')]),
    ...(has.account ? [] : [valueError([...loc, 'social_account_id'], socialAccountId, 'Social account not found')]),
    ...expiryFaults(sent, context),
    ...loopFaults(link, isShort, loc),
  ])
}

function expiryFaults(sent: SentLink, context: LinkContext): readonly ValidationError[] {
  try {
    expiryOf(sent, context)
    return []
  } catch (error) {
    if (error instanceof Problem && typeof error.detail !== 'string') return error.detail
    throw error
  }
}

function expiryOf([loc, link]: SentLink, { workspace, clock }: LinkContext) {
  return expiryAfter(null, link, { timezone: workspace.timezone, now: clock.now(), loc })
}

/** Hashes equal passwords once: each takes some 20 ms. */
function makeHashes(): (password: string) => Promise<string> {
  const made = new Map<string, Promise<string>>()
  return (password) => {
    const hash = made.get(password) ?? hashPassword(password)
    made.set(password, hash)
    return hash
  }
}
