/** From what is sent of new links to the links: what only the workspace can tell is checked here. */
import type { z } from 'zod'
import {
  hasLinkTargets,
  insertLink,
  insertLinkWithKey,
  type NewLink,
  type TrackedLink,
} from '../../../postgres/tables/links.ts'
import { linksOfKeys } from '../../../postgres/tables/links-known.ts'
import { hashPassword } from '../../../runtime/crypto/password.ts'
import { invalid, Problem } from '../../../schemas/errors/problems.ts'
import { type Loc, type ValidationError, valueError } from '../../../schemas/errors/validation-errors.ts'
import type { LinkCreate } from '../../../schemas/resources/link.ts'
import type { CallContext } from '../define.ts'
import { expiryAfter } from './expiry.ts'

type Sent = z.output<typeof LinkCreate>

/** A link as it was sent, and where in the request. */
export type SentLink = readonly [loc: Loc, link: Sent]

/** The part of a call that links are made with: commands have no more of one. */
export interface LinkContext extends Pick<CallContext, 'clock'> {
  readonly workspace: Pick<CallContext['workspace'], 'id' | 'timezone'>
  readonly stores: Pick<CallContext['stores'], 'pg'>
}

/**
 * Makes the links, or none: the faults of all are told together.
 * @returns the links in the order in which they were sent
 * @throws Problem 422
 */
export async function makeLinks(sent: readonly SentLink[], context: LinkContext): Promise<TrackedLink[]> {
  const faults = await faultsOfKeys(sent, context)
  for (const one of sent) faults.push(...(await faultsOf(one, context)))
  if (faults.length > 0) throw invalid(faults)
  const { workspace, stores } = context
  const hashOf = makeHashes()
  const made = new Map<SentLink, TrackedLink>()
  for (const one of inOrderOfKeys(sent, ([, { key }]) => key)) {
    const [loc, link] = one
    const expiry = expiryOf([loc, link], context)
    const row: NewLink = {
      workspaceId: workspace.id,
      label: link.label,
      destinationUrl: link.destination_url,
      ...{ postId: link.post_id, socialAccountId: link.social_account_id },
      ...{ utmSource: link.utm_source, utmMedium: link.utm_medium },
      ...{ utmCampaign: link.utm_campaign, utmContent: link.utm_content },
      ...{ expiresAt: expiry.expires_at, expiredUrl: expiry.expired_url, targets: link.targets ?? [] },
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
export function inOrderOfKeys<Item>(items: readonly Item[], keyOf: (item: Item) => string | null): Item[] {
  return items
    .map((item) => ({ item, key: keyOf(item) ?? '' }))
    .sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
    .map(({ item }) => item)
}

/** Keys that other links have, or an earlier one of the request. */
async function faultsOfKeys(sent: readonly SentLink[], { stores }: LinkContext): Promise<ValidationError[]> {
  const keys = sent.flatMap(([, { key }]) => key ?? [])
  if (keys.length === 0) return []
  const taken = new Set((await linksOfKeys(stores.pg, keys)).map(({ attribution_key: key }) => key))
  return sent.filter(([, { key }]) => key !== null && (taken.has(key) || !taken.add(key))).map(takenKey)
}

function takenKey([loc, { key }]: SentLink): ValidationError {
  return valueError([...loc, 'key'], key, takenText)
}

export const takenText = 'The key is taken by another link'

/** Faults beyond those of its key. */
export async function faultsOf([loc, link]: SentLink, context: LinkContext): Promise<ValidationError[]> {
  const { post_id: postId, social_account_id: socialAccountId } = link
  const isNamed = postId !== null || socialAccountId !== null
  const has = isNamed
    ? await hasLinkTargets(context.stores.pg, context.workspace.id, { postId, socialAccountId })
    : { post: true, account: true }
  return [
    ...(has.post ? [] : [valueError([...loc, 'post_id'], postId, 'Post not found')]),
    ...(has.account ? [] : [valueError([...loc, 'social_account_id'], socialAccountId, 'Social account not found')]),
    ...expiryFaults([loc, link], context),
  ]
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
