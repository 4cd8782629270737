/** A post as a record of `app.bsky.feed.post`: its key, its links, mentions and tags, and its media. */
import { postThreadMax } from '../../../schemas/limits/api-limits.ts'
import { linksIn } from '../../../schemas/reference/links-in-text.ts'
import type { Publication, Published, PublishedMedia } from '../adapter.ts'
import type { LinkCard } from '../link-card.ts'

export const postCollection = 'app.bsky.feed.post'

/** A blob as the server describes it. */
export type Blob = Readonly<Record<string, unknown>>

export interface UploadedMedia {
  readonly file: PublishedMedia
  readonly blob: Blob
}

/** The places of a thread's parts are apart in ten bits. */
const placeStep = Math.floor(1024 / (postThreadMax + 1))
const base32 = '234567abcdefghijklmnopqrstuvwxyz'

/**
 * The key of the target's record, the same in each attempt. It is a TID of the first attempt: microseconds since 1970
 * and ten bits to tell clocks apart. The target's id, and the part's place in its thread, make those of one millisecond differ.
 */
export function recordKey(firstTriedAt: Date, { targetId, place }: Pick<Publication, 'targetId' | 'place'>): string {
  const micros = BigInt(firstTriedAt.getTime()) * 1000n + BigInt(targetId % 1000)
  const clock = BigInt((Math.floor(targetId / 1000) + place * placeStep) % 1024)
  let rest = (micros << 10n) | clock
  let key = ''
  for (let place = 0; place < 13; place++) {
    key = base32[Number(rest & 31n)] + key
    rest >>= 5n
  }
  return key
}

export interface PreparedCard extends Pick<LinkCard, 'uri' | 'title' | 'description'> {
  readonly thumb?: Blob
}

/** A record's references: its files or its link's card, and the accounts that its text mentions, by handle. */
export interface Prepared {
  readonly uploads: readonly UploadedMedia[]
  readonly card: PreparedCard | null
  readonly dids: ReadonlyMap<string, string>
}

export function recordOf(
  { text, replyTo }: Pick<Publication, 'text' | 'replyTo'>,
  { uploads, card, dids }: Prepared,
  createdAt: Date,
) {
  const facets = [...linkFacetsIn(text), ...mentionsIn(text, dids), ...tagsIn(text)]
  return {
    $type: postCollection,
    text,
    createdAt: createdAt.toISOString(),
    ...(replyTo && { reply: { root: referenceTo(replyTo.root), parent: referenceTo(replyTo.parent) } }),
    ...(facets.length > 0 && { facets }),
    ...(uploads.length > 0 && { embed: embedOf(uploads) }),
    ...(uploads.length === 0 && card && { embed: { $type: 'app.bsky.embed.external', external: card } }),
  }
}

/** `com.atproto.repo.strongRef` */
const referenceTo = ({ externalId: uri, cid }: Published) => ({ uri, cid })

/** A facet marks a link by its range of bytes in the text. */
function linkFacetsIn(text: string) {
  return linksIn(text).flatMap(({ index, url: uri }) =>
    URL.canParse(uri) ? [facet(text, index, uri, { $type: 'app.bsky.richtext.facet#link', uri })] : [],
  )
}

function facet(text: string, at: number, marked: string, feature: object) {
  const byteStart = Buffer.byteLength(text.slice(0, at))
  return { index: { byteStart, byteEnd: byteStart + Buffer.byteLength(marked) }, features: [feature] }
}

/**
 * A handle is a host's name. Only white space, a bracket or a direction mark may precede the `@`, so an e-mail address holds no
 * mention. Handles copied from bsky.app come with direction marks.
 */
const mention =
  /(?<=^|[\s(\u200e\u200f\u202a-\u202e\u2066-\u2069])@((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)/gi

/** Each once, in lower case. */
export function handlesIn(text: string): string[] {
  return [...new Set([...text.matchAll(mention)].map(([, handle]) => handle!.toLowerCase()))]
}

/** A handle of nobody is text. */
function mentionsIn(text: string, dids: ReadonlyMap<string, string>) {
  return [...text.matchAll(mention)].flatMap((match) => {
    const did = dids.get(match[1]!.toLowerCase())
    return did === undefined
      ? []
      : [facet(text, match.index, match[0], { $type: 'app.bsky.richtext.facet#mention', did })]
  })
}

/** The text behind the sign, up to the next space. Punctuation at its end is no part of it. */
const hashtag = /(?<=^|\s)[#＃](\S+?)(?=\p{P}*(?:\s|$))/gu
/** The limit of `app.bsky.richtext.facet#tag`, in graphemes; characters are as many or more. */
const tagLengthMax = 64

/** A tag needs more than digits, punctuation, invisible characters and combining marks, some of which make `#` an emoji. */
function tagsIn(text: string) {
  return [...text.matchAll(hashtag)].flatMap((match) => {
    const tag = match[1]!
    if (tag.length > tagLengthMax || !/[^\d\p{P}\p{Cf}\p{M}]/u.test(tag)) return []
    return [facet(text, match.index, match[0], { $type: 'app.bsky.richtext.facet#tag', tag })]
  })
}

function embedOf(uploads: readonly UploadedMedia[]) {
  const [first] = uploads
  if (first!.file.contentType.startsWith('video/')) {
    const { file, blob } = first!
    return {
      $type: 'app.bsky.embed.video',
      video: blob,
      ...(file.altText !== '' && { alt: file.altText }),
      ...shapeOf(file),
    }
  }
  const images = uploads.map(({ file, blob }) => ({ image: blob, alt: file.altText, ...shapeOf(file) }))
  return { $type: 'app.bsky.embed.images', images }
}

function shapeOf({ width, height }: PublishedMedia) {
  return width && height ? { aspectRatio: { width, height } } : {}
}
