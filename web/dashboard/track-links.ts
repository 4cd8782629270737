/** Puts tracked links in the place of the addresses in a post's captions and thread, so that its clicks and what follows are counted. */

import { ownUtm } from '../../schemas/reference/campaign-query.ts'
import { linksIn, replaceLinks } from '../../schemas/reference/links-in-text.ts'
import type { LinkResource } from '../../schemas/resources/link.ts'
import { send } from './query.ts'
import { refusalOf, request } from './request.ts'

type Link = (typeof LinkResource)['_output']

const labelLength = 160

export interface Captions {
  readonly base_caption: string
  readonly thread: readonly {
    readonly text: string
    readonly platform_captions: Readonly<Record<string, string>>
  }[]
  readonly platform_captions: Readonly<Record<string, string>>
}

/** @returns the captions as they are now; after a refusal the addresses that are left stay */
export async function trackLinks<Draft extends Captions>(
  draft: Draft,
  { id, title }: { readonly id: number; readonly title: string },
): Promise<{ readonly draft: Draft; readonly refusal: string }> {
  const parts = [{ text: draft.base_caption, platform_captions: draft.platform_captions }, ...draft.thread]
  const all = parts.flatMap(({ text, platform_captions }) => [text, ...Object.values(platform_captions)])
  let link: Link | undefined
  try {
    link = (await readNewest('active')) ?? (await readNewest('archived'))
  } catch (error) {
    return { draft, refusal: (error as Error).message }
  }
  // The prefix of short links, which are tracked already; undefined where there is none yet.
  const shortUrl = link?.post_url.slice(0, -link.attribution_key.length)
  const isShort = (address: string) => shortUrl !== undefined && address.startsWith(shortUrl)
  const addresses = new Set(all.flatMap((text) => linksIn(text).map(({ url }) => url)))
  const found = [...addresses].filter((address) => !isShort(address))
  const shortened = new Map<string, string>()
  let refusal =
    found.length === 0 ? 'The captions have no address that isn’t tracked and begins with http:// or https://.' : ''
  for (const address of found) {
    if (refusal !== '') break
    const label = [...`${title}: ${address.replace(/^https?:\/\//, '')}`].slice(0, labelLength).join('')
    const made = { label, destination_url: address, post_id: id, ...ownUtm(address) }
    const sent = await send<Link>('POST', '/links', made)
    if ('refusal' in sent) refusal = sent.refusal
    else shortened.set(address, sent.made.post_url)
  }
  const replaced = (text: string) => replaceLinks(text, (address) => shortened.get(address) ?? address)
  const captionsOf = (captions: Captions['platform_captions']) =>
    Object.fromEntries(Object.entries(captions).map(([platform, text]) => [platform, replaced(text)]))
  const thread = draft.thread.map((part) => ({
    ...part,
    text: replaced(part.text),
    platform_captions: captionsOf(part.platform_captions),
  }))
  const captions = {
    base_caption: replaced(draft.base_caption),
    thread,
    platform_captions: captionsOf(draft.platform_captions),
  }
  return { draft: { ...draft, ...captions }, refusal }
}

/** @throws Error that says in words why it can't be read */
async function readNewest(status: 'active' | 'archived'): Promise<Link | undefined> {
  const answer = await request(`/links?${new URLSearchParams({ limit: '1', status })}`)
  if (!answer.response.ok) throw new Error(refusalOf(answer))
  return (answer.body as Link[])[0]
}
