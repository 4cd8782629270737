/**
 * The card of a link: its page's title, description and picture, for platforms that leave making it to the sender. The
 * page is read as a company's is, from public addresses alone. A page that can't be read in time has no card.
 */
import { within } from '../../runtime/deadline.ts'
import { storable } from '../../schemas/json-text.ts'
import { linkCardMs } from '../../schemas/limits/publish-limits.ts'
import { linksIn } from '../../schemas/reference/links-in-text.ts'
import { type FetchedPicture, type Fetching, fetchPage, fetchPicture, PageRefused } from '../profile/fetch-page.ts'
import { readPage } from '../profile/read-page.ts'
import type { Call } from './adapter.ts'

/** One of the programs that make previews: a short link shows it the link's own (schemas/reference/known-bots.ts). */
const cardUserAgent = 'svc-card'

export interface LinkCard {
  /** As the text has it: a tracked link stays one. */
  readonly uri: string
  readonly title: string
  readonly description: string
  readonly picture: FetchedPicture | null
}

/** The card of a text's first link; null where it has none. @throws where the call's `signal` is aborted */
export async function readLinkCard(
  text: string,
  { signal, fetching }: Pick<Call<unknown>, 'signal' | 'fetching'>,
): Promise<LinkCard | null> {
  const link = linksIn(text).find(({ url }) => URL.canParse(url))
  if (link === undefined) return null
  const card = await within(linkCardMs, signal, (ending) =>
    readCard(link.url, { ...fetching, signal: ending, userAgent: cardUserAgent }),
  )
  signal.throwIfAborted()
  return card
}

async function readCard(uri: string, fetching: Fetching): Promise<LinkCard | null> {
  const found = await orNull(fetchPage(uri, fetching))
  if (found === null) return null
  const { meta, title: heading } = readPage(found.url, found.text)
  const title = storable(meta.get('og:title') ?? heading)
  if (title === '') return null
  const description = storable(meta.get('og:description') ?? meta.get('description') ?? '')
  const source = meta.get('og:image') ?? ''
  const isNamed = source !== '' && URL.canParse(source, found.url)
  const picture = isNamed ? await orNull(fetchPicture(new URL(source, found.url).href, fetching)) : null
  return { uri, title, description, picture }
}

async function orNull<Found>(fetched: Promise<Found>): Promise<Found | null> {
  try {
    return await fetched
  } catch (error) {
    if (error instanceof PageRefused) return null
    throw error
  }
}
