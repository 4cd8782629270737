/**
 * Puts tracked links in the place of the addresses in a post's captions, thread and first comment, so that its clicks and
 * what follows are counted.
 */

import { ownUtm } from '../../../schemas/reference/campaign-query.ts'
import { linksIn, replaceLinks } from '../../../schemas/reference/links-in-text.ts'
import type { LinkResource } from '../../../schemas/resources/link.ts'
import type { ShortDomain } from '../../../schemas/resources/short-domain.ts'
import { readUrl } from '../parts/read-url.ts'
import { send } from '../requests/query.ts'
import { refusalOf, request } from '../requests/request.ts'
import { isCommentedOn } from './post-comment.tsx'
import type { Account } from './post-draft.ts'

type Link = (typeof LinkResource)['_output']

const labelLength = 160
/** Links whose short URLs say where others stand. */
const rootsOf = 100

interface Captioned {
  /** In place of the text, by network. */
  readonly platform_captions: Readonly<Record<string, string>>
}

export interface Captions extends Captioned {
  readonly base_caption: string
  /** Null: none. All networks share it. */
  readonly first_comment: string | null
  readonly thread: readonly (Captioned & { readonly text: string })[]
}

/** A network that the post goes to. Its accounts share its captions. */
export interface Network {
  readonly platform: Account['platform']
  /** Null: several. */
  readonly account: Account | null
}

export function networksOf(chosen: readonly Account[]): Network[] {
  return [...new Set(chosen.map(({ platform }) => platform))].map((platform) => {
    const [account, ...others] = chosen.filter((one) => one.platform === platform)
    return { platform, account: others.length === 0 ? account! : null }
  })
}

/** Which texts are rewritten. */
type Place = Network | 'first comment' | 'all'

interface Tracked {
  readonly id: number
  readonly title: string
  readonly networks: readonly Network[]
  /** Each network gets links of its own, in captions of its own; else all texts have one link for each address. */
  readonly isSplit: boolean
}

/** @returns the captions as they are now; after a refusal the addresses that are left stay */
export async function trackLinks<Draft extends Captions>(
  draft: Draft,
  { id, title, networks, isSplit }: Tracked,
): Promise<{ readonly draft: Draft; readonly refusal: string }> {
  let roots: string[]
  let hosts: string[]
  try {
    roots = await readRoots()
    hosts = await readHosts()
  } catch (error) {
    return { draft, refusal: (error as Error).message }
  }
  const isAtDomain = (address: string) => hosts.includes(readUrl(address)?.hostname ?? '')
  const isShort = (address: string) => roots.some((root) => address.startsWith(root)) || isAtDomain(address)
  const [first] = networks
  const alone = networks.length === 1 ? first!.account : null
  let next = draft
  let found = 0
  const places: Place[] = isSplit ? [...networks, 'first comment'] : ['all']
  for (const place of places) {
    const texts = textsOf(next, place, networks)
    const addresses = [...new Set(texts.flatMap((text) => linksIn(text).map(({ url }) => url)))]
    const shortened = new Map<string, string>()
    let refusal = ''
    for (const address of addresses.filter((address) => !isShort(address))) {
      found += 1
      const network = typeof place === 'string' ? undefined : place
      const sent = await makeLink(address, { id, title, network, account: network ? network.account : alone })
      if ('refusal' in sent) refusal = sent.refusal
      else shortened.set(address, sent.made.post_url)
      if (refusal !== '') break
    }
    next = rewritten(next, place, (text) => replaceLinks(text, (address) => shortened.get(address) ?? address))
    if (refusal !== '') return { draft: next, refusal }
  }
  const none = 'The captions have no address that isn’t tracked and begins with http:// or https://.'
  return { draft: next, refusal: found === 0 ? none : '' }
}

interface Made extends Pick<Tracked, 'id' | 'title'> {
  readonly network: Network | undefined
  readonly account: Account | null
}

function makeLink(address: string, { id, title, network, account }: Made) {
  const at = network === undefined ? '' : `${network.platform}${account === null ? '' : ` ${account.handle}`}: `
  const label = [...`${title}: ${at}${address.replace(/^https?:\/\//, '')}`].slice(0, labelLength).join('')
  return send<Link>('POST', '/links', {
    label,
    destination_url: address,
    post_id: id,
    social_account_id: account?.id ?? null,
    ...ownUtm(address),
  })
}

/** The texts of a place that the networks show: all of them while none is chosen. */
function textsOf(captions: Captions, place: Place, networks: readonly Network[]): string[] {
  const { base_caption, platform_captions, thread, first_comment } = captions
  const isCommented = networks.length === 0 || networks.some(({ platform }) => isCommentedOn(platform))
  const comment = first_comment === null || !isCommented ? [] : [first_comment]
  if (place === 'first comment') return comment
  const parts = [{ text: base_caption, platform_captions }, ...thread]
  const shownOn = ({ platform }: Network) => parts.map(({ text, platform_captions: by }) => by[platform] || text)
  if (place !== 'all') return shownOn(place)
  if (networks.length > 0) return [...networks.flatMap(shownOn), ...comment]
  return [...parts.flatMap(({ text, platform_captions: by }) => [text, ...Object.values(by)]), ...comment]
}

/** The captions of a network become its own where they change. */
function rewritten<Draft extends Captions>(draft: Draft, place: Place, replace: (text: string) => string): Draft {
  if (place === 'first comment') return withComment(draft, replace)
  const captionsOf = (text: string, by: Captioned['platform_captions']) => {
    if (place === 'all') return Object.fromEntries(Object.entries(by).map(([name, own]) => [name, replace(own)]))
    const before = by[place.platform] || text
    const after = replace(before)
    return after === before ? by : { ...by, [place.platform]: after }
  }
  const shared = place === 'all' ? replace : (text: string) => text
  const thread = draft.thread.map((part) => ({
    ...part,
    text: shared(part.text),
    platform_captions: captionsOf(part.text, part.platform_captions),
  }))
  const { base_caption: caption, platform_captions } = draft
  const captions = { base_caption: shared(caption), platform_captions: captionsOf(caption, platform_captions) }
  return { ...withComment(draft, shared), ...captions, thread }
}

function withComment<Draft extends Captions>(draft: Draft, replace: (text: string) => string): Draft {
  return { ...draft, first_comment: draft.first_comment === null ? null : replace(draft.first_comment) }
}

/** The domains under which the newest links stand, and the installation's root: their links are tracked already. */
async function readRoots(): Promise<string[]> {
  const newest = [...(await readNewest('active')), ...(await readNewest('archived'))]
  return [...new Set(newest.map(({ post_url: url, attribution_key: key }) => url.slice(0, -key.length)))]
}

/** Hosts of the workspace's short domains, which no link may lead to. @throws Error likewise */
async function readHosts(): Promise<string[]> {
  return (await read<(typeof ShortDomain)['_output'][]>('/domains')).map(({ host }) => host)
}

/** @throws Error that says in words why they can't be read */
function readNewest(status: 'active' | 'archived'): Promise<Link[]> {
  return read(`/links?${new URLSearchParams({ limit: String(rootsOf), status })}`)
}

async function read<Answer>(path: string): Promise<Answer> {
  const answer = await request(path)
  if (!answer.response.ok) throw new Error(refusalOf(answer))
  return answer.body as Answer
}
