/** Puts tracked links in the place of the addresses in a post's captions and thread, so that its clicks and what follows are counted. */

import { ownUtm } from '../../schemas/reference/campaign-query.ts'
import { linksIn, replaceLinks } from '../../schemas/reference/links-in-text.ts'
import type { LinkResource } from '../../schemas/resources/link.ts'
import type { Account } from './post-draft.ts'
import { send } from './query.ts'
import { refusalOf, request } from './request.ts'

type Link = (typeof LinkResource)['_output']

const labelLength = 160

interface Captioned {
  /** In place of the text, by network. */
  readonly platform_captions: Readonly<Record<string, string>>
}

export interface Captions extends Captioned {
  readonly base_caption: string
  readonly thread: readonly (Captioned & { readonly text: string })[]
}

/** A network that the post goes to. Its accounts share its captions. */
export interface Network {
  readonly platform: string
  /** Null: several. */
  readonly account: Account | null
}

export function networksOf(chosen: readonly Account[]): Network[] {
  return [...new Set(chosen.map(({ platform }) => platform))].map((platform) => {
    const [account, ...others] = chosen.filter((one) => one.platform === platform)
    return { platform, account: others.length === 0 ? account! : null }
  })
}

interface Tracked {
  readonly id: number
  readonly title: string
  readonly networks: readonly Network[]
  /** Each network gets links of its own, in texts of its own; else all texts have one link for each address. */
  readonly isSplit: boolean
}

/** @returns the captions as they are now; after a refusal the addresses that are left stay */
export async function trackLinks<Draft extends Captions>(
  draft: Draft,
  { id, title, networks, isSplit }: Tracked,
): Promise<{ readonly draft: Draft; readonly refusal: string }> {
  let link: Link | undefined
  try {
    link = (await readNewest('active')) ?? (await readNewest('archived'))
  } catch (error) {
    return { draft, refusal: (error as Error).message }
  }
  // The prefix of short links, which are tracked already; undefined where there is none yet.
  const shortUrl = link?.post_url.slice(0, -link.attribution_key.length)
  const isShort = (address: string) => shortUrl !== undefined && address.startsWith(shortUrl)
  const [first] = networks
  const alone = networks.length === 1 ? first!.account : null
  let next = draft
  let found = 0
  for (const network of isSplit ? networks : [undefined]) {
    const texts = textsOf(next, network)
    const addresses = [...new Set(texts.flatMap((text) => linksIn(text).map(({ url }) => url)))]
    const shortened = new Map<string, string>()
    let refusal = ''
    for (const address of addresses.filter((address) => !isShort(address))) {
      found += 1
      const sent = await makeLink(address, { id, title, network, account: network ? network.account : alone })
      if ('refusal' in sent) refusal = sent.refusal
      else shortened.set(address, sent.made.post_url)
      if (refusal !== '') break
    }
    next = rewritten(next, network, (text) => replaceLinks(text, (address) => shortened.get(address) ?? address))
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
    ...{ label, destination_url: address, post_id: id, social_account_id: account?.id ?? null },
    ...ownUtm(address),
  })
}

/** All texts, or those that a network shows. */
function textsOf({ base_caption, platform_captions, thread }: Captions, network: Network | undefined): string[] {
  const parts = [{ text: base_caption, platform_captions }, ...thread]
  if (network === undefined) return parts.flatMap(({ text, platform_captions: by }) => [text, ...Object.values(by)])
  return parts.map(({ text, platform_captions: by }) => by[network.platform] ?? text)
}

/** The texts of a network become its own where they change. */
function rewritten<Draft extends Captions>(
  draft: Draft,
  network: Network | undefined,
  replace: (text: string) => string,
): Draft {
  const captionsOf = (text: string, by: Captioned['platform_captions']) => {
    if (network === undefined) return Object.fromEntries(Object.entries(by).map(([name, own]) => [name, replace(own)]))
    const before = by[network.platform] ?? text
    const after = replace(before)
    return after === before ? by : { ...by, [network.platform]: after }
  }
  const shared = network === undefined ? replace : (text: string) => text
  const thread = draft.thread.map((part) => ({
    ...part,
    ...{ text: shared(part.text), platform_captions: captionsOf(part.text, part.platform_captions) },
  }))
  const { base_caption: caption, platform_captions } = draft
  return { ...draft, base_caption: shared(caption), thread, platform_captions: captionsOf(caption, platform_captions) }
}

/** @throws Error that says in words why it can't be read */
async function readNewest(status: 'active' | 'archived'): Promise<Link | undefined> {
  const answer = await request(`/links?${new URLSearchParams({ limit: '1', status })}`)
  if (!answer.response.ok) throw new Error(refusalOf(answer))
  return (answer.body as Link[])[0]
}
