/**
 * LinkedIn, by an access token: as the person whose it is (scope `w_member_social`), or as a page of an organization
 * (`w_organization_social`, `r_organization_social`).
 *
 * LinkedIn knows no key of ours (its documentation: "Posts API"). After an attempt whose outcome is unknown:
 *
 *   a page's post                      is looked for among the page's newest, twice, and sent again if it isn't there
 *   a person's, a text without a link  is sent again within an hour: LinkedIn refuses a second post of the same text with
 *                                      422, and names the first one
 *   any other of a person              fails: no scope of apps lists a person's posts, and a file that is uploaded again
 *                                      makes it another post
 */

import { type Figures, sumOf } from '../../../schemas/engagement.ts'
import { membersOf } from '../../../schemas/json-object.ts'
import { linkedinPostsReadEach } from '../../../schemas/limits/engagement-limits.ts'
import {
  linkCardMs,
  linkedinDescriptionLengthMax,
  linkedinListedMs,
  linkedinPostsEach,
  linkedinPublishMs,
  linkedinRepeatMs,
  linkedinTitleLengthMax,
  providerClockOffMs,
  providerListBytesMax,
} from '../../../schemas/limits/publish-limits.ts'
import { linksIn } from '../../../schemas/reference/links-in-text.ts'
import { kindOf } from '../../../schemas/reference/providers.ts'
import {
  type Adapter,
  asRefused,
  externalIdOf,
  isRefusal,
  type KnownIds,
  ProviderError,
  type Publication,
  type Published,
} from '../adapter.ts'
import { readLinkCard } from '../link-card.ts'
import { lookTwice, outcomeUnknown } from '../look-up.ts'
import { bufferBody, pictureBody } from '../media-body.ts'
import { countIn, objectIn, odd, textIn } from '../request.ts'
import {
  ask,
  type Calling,
  isPage,
  type LinkedinCredentials,
  pagePrefix,
  postIdIn,
  renew,
  type Signed,
} from './linkedin-api.ts'
import { linkedinComments } from './linkedin-comments.ts'
import { uploadImage, uploadVideo } from './linkedin-media.ts'
import { describePerson } from './linkedin-pages.ts'
import { isSameText, littleText } from './linkedin-text.ts'

/** `prepare` gives the `content` of the post: files, or the article that it links to. */
export const linkedin: Adapter<LinkedinCredentials, object | null> = {
  name: 'linkedin',

  async lookUp(call, publication, known) {
    if (isPage(externalIdOf(call))) {
      return lookTwice(linkedinListedMs, call, () => findOnPage(call, publication, known))
    }
    const { sentAt, text, media } = publication
    const isTextAlone = media.length === 0 && linksIn(text).length === 0
    if (isTextAlone && Date.now() - sentAt!.getTime() < linkedinRepeatMs) return null
    throw outcomeUnknown('LinkedIn')
  },

  async prepare(call, { text, media }) {
    const owner = externalIdOf(call)
    const [first] = media
    if (first === undefined) return articleOf(call, text)
    if (kindOf(first.contentType) === 'video') return { media: { id: await uploadVideo(call, owner, first) } }
    const images: object[] = []
    for (const file of media) {
      const id = await uploadImage(call, owner, await pictureBody(file))
      images.push({ id, ...(file.altText !== '' && { altText: file.altText }) })
    }
    return images.length === 1 ? { media: images[0] } : { multiImage: { images } }
  },

  async publish(call, { text, sentAt }, content, known) {
    const json = {
      author: externalIdOf(call),
      commentary: littleText(text),
      visibility: 'PUBLIC',
      distribution: { feedDistribution: 'MAIN_FEED', targetEntities: [], thirdPartyDistributionChannels: [] },
      ...(content !== null && { content }),
      lifecycleState: 'PUBLISHED',
      isReshareDisabledByAuthor: false,
    }
    try {
      const answer = await ask(call, '/rest/posts', { method: 'POST', json, deadlineMs: linkedinPublishMs })
      return publishedAs(postIdIn(answer))
    } catch (error) {
      const first = isRefusal(error) ? firstPostIn(error) : null
      if (first !== null && known !== null && (await isOurs(first, sentAt!, known))) return publishedAs(first)
      throw asRefused(error)
    }
  },

  refresh: renew,

  comments: linkedinComments,

  // No scope of apps reads how a person's posts do.
  engagement: {
    postsPerRequest: linkedinPostsReadEach,
    covers: ({ externalId }) => isPage(externalId),
    async read(call, ids) {
      const { body } = await ask(call, `/rest/socialMetadata?ids=List(${ids.map(encodeURIComponent).join()})`)
      const [found, errors] = [objectIn(body, 'results'), membersOf(body['errors'])]
      return new Map(
        ids.flatMap((id): [string, Figures | null][] => {
          if (Object.hasOwn(found, id)) return [[id, figuresIn(membersOf(found[id]))]]
          return membersOf(errors[id])['status'] === 404 ? [[id, null]] : []
        }),
      )
    },
  },
}

/** Each kind of reaction is a like. */
function figuresIn({ reactionSummaries, commentSummary }: Readonly<Record<string, unknown>>): Figures {
  const reactions = Object.values(membersOf(reactionSummaries) as object).map((kind) =>
    countIn(membersOf(kind)['count']),
  )
  const likes = reactionSummaries === undefined ? null : (sumOf(reactions) ?? 0)
  return { likes, comments: countIn(membersOf(commentSummary)['count']), shares: null, views: null }
}

const publishedAs = (id: string): Published => ({
  externalId: id,
  url: `https://www.linkedin.com/feed/update/${id}/`,
})

/** @throws ProviderError as `unknown` where more was published since the first attempt than is listed */
async function findOnPage(call: Calling, { text, sentAt }: Publication, known: KnownIds): Promise<Published | null> {
  const from = sentAt!.getTime() - providerClockOffMs
  const posts = await listPosts(call, externalIdOf(call), linkedinPostsEach)
  const recent = posts.filter(({ createdAt }) => createdAt >= from)
  const same = recent.filter(({ commentary }) => isSameText(commentary, text)).map(({ id }) => id)
  const others = await known(same)
  const found = same.find((id) => !others.has(id))
  if (found !== undefined) return publishedAs(found)
  if (recent.length === linkedinPostsEach) throw outcomeUnknown('LinkedIn')
  return null
}

/** A page's newest posts. */
async function listPosts(call: Signed, author: string, count: number) {
  const query = new URLSearchParams({ author, q: 'author', count: String(count), sortBy: 'CREATED' })
  const headers = { 'x-restli-method': 'FINDER' }
  const { body } = await ask(call, `/rest/posts?${query}`, { headers, answerBytesMax: providerListBytesMax })
  return Object.values(objectIn(body, 'elements')).map((element) => {
    const { createdAt, commentary } = element as Record<string, unknown>
    if (typeof createdAt !== 'number') throw odd("The platform's answer has no createdAt")
    return { id: textIn(element as Record<string, unknown>, 'id'), createdAt, commentary: String(commentary ?? '') }
  })
}

/** The post that LinkedIn names where it refuses another one of the same text. */
function firstPostIn({ message }: ProviderError): string | null {
  return /duplicate of (urn:li:(?:share|ugcPost):\d{1,20})\b/i.exec(message)?.[1] ?? null
}

/**
 * An id holds the time at which it was made: milliseconds since 1970, above 22 other bits. LinkedIn's ids show it, its
 * documentation doesn't promise it: an id of another kind isn't taken for ours.
 */
async function isOurs(id: string, sentAt: Date, known: KnownIds): Promise<boolean> {
  const madeAt = Number(BigInt(id.slice(id.lastIndexOf(':') + 1)) >> 22n)
  return madeAt >= sentAt.getTime() - providerClockOffMs && !(await known([id])).has(id)
}

/** LinkedIn reads no pages for posts of its API. An image that it doesn't take soon is left out. */
async function articleOf(call: Calling, text: string): Promise<object | null> {
  const card = await readLinkCard(text, call)
  if (card === null) return null
  const { uri: source, title, description, picture } = card
  const article = {
    source,
    title: cut(title, linkedinTitleLengthMax),
    ...(description !== '' && { description: cut(description, linkedinDescriptionLengthMax) }),
  }
  if (picture === null || !/^image\/(jpeg|png|gif)$/.test(picture.contentType)) return { article }
  try {
    const file = bufferBody(picture.contentType, picture.bytes)
    return { article: { ...article, thumbnail: await uploadImage(call, externalIdOf(call), file, linkCardMs) } }
  } catch (error) {
    if (error instanceof ProviderError && error.failure.kind !== 'reauthenticate') return { article }
    throw error
  }
}

const cut = (text: string, lengthMax: number) => [...text].slice(0, lengthMax).join('')

/**
 * Reads whose token it is. For a page it reads the page's posts, as every look-up does.
 * @param page the organization's id; without it the person
 * @throws ProviderError where the token isn't accepted, or doesn't reach so far
 */
export async function describeLinkedin(
  credentials: LinkedinCredentials,
  page: number | undefined,
  signal: AbortSignal,
) {
  const call = { credentials, signal }
  if (page === undefined) {
    return describePerson(call)
  }
  const externalId = pagePrefix + page
  await listPosts(call, externalId, 1)
  const { vanityName, localizedName } = await readPage(call, page)
  const handle = String(vanityName ?? page)
  return { externalId, handle, displayName: String(localizedName ?? handle) }
}

/** Its name needs a scope of its own, `r_organization_admin`: without it the page goes by its id. */
async function readPage(call: Signed, page: number): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await ask(call, `/rest/organizations/${page}`)).body
  } catch (error) {
    if (error instanceof ProviderError && error.failure.kind === 'reauthenticate') return {}
    throw error
  }
}
