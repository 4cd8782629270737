/**
 * Pages on Facebook, by a page's access token. One that a system user or a person's long-lived token made doesn't
 * expire. Meta's documentation: "Pages API: Posts", "Page Photos", "Page Videos", "Video API".
 *
 * Facebook knows no key of ours. Photos are uploaded unpublished, and a video until its last phase, so nothing is seen
 * before one request publishes it. Later attempts look among the page's newest posts or videos.
 */

import type { Figures } from '../../../schemas/engagement.ts'
import { membersOf } from '../../../schemas/json-object.ts'
import { providerUploadMs, publishAttemptMs } from '../../../schemas/limits/publish-limits.ts'
import { linksIn } from '../../../schemas/reference/links-in-text.ts'
import { kindOf } from '../../../schemas/reference/providers.ts'
import {
  type Adapter,
  externalIdOf,
  ProviderError,
  type Publication,
  type Published,
  type PublishedMedia,
} from '../adapter.ts'
import { formBody } from '../media-body.ts'
import { pollUntil } from '../poll-until.ts'
import { countIn, cutText, objectIn, odd, textIn } from '../request.ts'
import {
  type Calling,
  type Fields,
  facebookApi,
  find,
  findPost,
  get,
  idIn,
  type Listing,
  listPosts,
  type MetaCredentials,
  post,
  publishBy,
  type Signed,
} from './meta-api.ts'
import { metaComments } from './meta-comments.ts'

interface UploadedVideo {
  readonly id: string
  readonly session: string
}

type Prepared = { readonly attached: Fields } | { readonly video: UploadedVideo }

/** `prepare` gives what is attached to the post, or the video that is published in its place. */
export const facebook: Adapter<MetaCredentials, Prepared> = {
  name: 'facebook',

  // Its files may be others by now: that of the last attempt says where it is listed.
  async lookUp(call, publication, known) {
    const edge = publication.reference ?? edgeOf(publication)
    const listing = edge === 'videos' ? videosOf(externalIdOf(call)) : postsOf(externalIdOf(call))
    const found = await findPost(call, listing, publication, known)
    return found === null ? null : publishedAs(idIn(found))
  },

  async prepare(call, publication) {
    const { text, media, reference, keep } = publication
    const [first] = media
    if (edgeOf(publication) !== reference) await keep(edgeOf(publication))
    if (first === undefined) return { attached: { link: linksIn(text).find(({ url }) => URL.canParse(url))?.url } }
    if (isVideo(first)) return { video: await uploadVideo(call, first) }
    const photos: object[] = []
    for (const file of media) photos.push({ media_fbid: await uploadPhoto(call, file) })
    return { attached: { attached_media: JSON.stringify(photos) } }
  },

  async publish(call, { text }, prepared) {
    if ('attached' in prepared) {
      const fields = { message: text, ...prepared.attached }
      return publishedAs(idIn((await publishBy(call, `${pageUrl(externalIdOf(call))}/feed`, fields)).body))
    }
    const { id, session } = prepared.video
    await publishBy(call, `${pageUrl(externalIdOf(call))}/videos`, {
      upload_phase: 'finish',
      upload_session_id: session,
      description: text,
    })
    await pollUntil(call, () => isReady(call, id))
    return publishedAs(id)
  },

  comments: metaComments({
    toWrite: 'pages_manage_engagement',
    toLook: 'pages_read_engagement',
    authors: ['from'],
    listing: { text: 'message', time: 'created_time', order: 'reverse_chronological' },
    urlOf: (comment) => publishedAs(comment).url,
  }),

  engagement: {
    postsPerRequest: 1,
    async read(call, [id]) {
      const summaries = ['likes', 'comments'].map((edge) => `${edge}.limit(0).summary(true)`)
      // A video alone has no shares.
      const fields = [...summaries, ...(id!.includes('_') ? ['shares'] : [])].join()
      const found = await find(call, `${facebookApi}/${id}`, { fields })
      return new Map([[id!, found && figuresIn(found)]])
    },
  },
}

/** Without any share the field isn't there. */
function figuresIn(post: Readonly<Record<string, unknown>>): Figures {
  const [likes, comments] = ['likes', 'comments'].map((edge) =>
    countIn(membersOf(membersOf(post[edge])['summary'])['total_count']),
  ) as [number | null, number | null]
  const isPost = String(post['id']).includes('_')
  const shares = countIn(membersOf(post['shares'])['count']) ?? (isPost ? 0 : null)
  return { likes, comments, shares, views: null }
}

const pageUrl = (page: string) => `${facebookApi}/${page}`
const isVideo = (file: PublishedMedia | undefined) => file !== undefined && kindOf(file.contentType) === 'video'

const edgeOf = ({ media: [first] }: Pick<Publication, 'media'>) => (isVideo(first) ? 'videos' : 'feed')

const publishedAs = (id: string): Published => ({ externalId: id, url: `https://www.facebook.com/${id}` })

const postsOf = (page: string): Listing => ({
  url: `${pageUrl(page)}/published_posts`,
  text: 'message',
  time: 'created_time',
})

/** A video has its description since the request that published it, but maybe the time at which its upload began. */
const videosOf = (page: string): Listing => ({
  url: `${pageUrl(page)}/videos`,
  text: 'description',
  time: 'created_time',
  others: 'status',
  begunBeforeMs: publishAttemptMs,
  isLeftOut: ({ status }) => failedStates.includes(membersOf(status)['video_status']),
})

const failedStates: readonly unknown[] = ['error', 'expired', 'upload_failed']

/** @returns the photo's id: nobody sees it until a post shows it */
async function uploadPhoto(call: Calling, file: PublishedMedia): Promise<string> {
  const fields = { published: 'false', ...(file.altText !== '' && { alt_text_custom: file.altText }) }
  const form = formBody(file, fields, { name: 'source' })
  const sent = await post(call, `${pageUrl(externalIdOf(call))}/photos`, {}, { ...form, deadlineMs: providerUploadMs })
  return idIn(sent.body)
}

/** Facebook says which part it wants next, until the next one is empty. */
async function uploadVideo(call: Calling, file: PublishedMedia): Promise<UploadedVideo> {
  const url = `${pageUrl(externalIdOf(call))}/videos`
  const begun = (await post(call, url, { upload_phase: 'start', file_size: String(file.bytes) })).body
  const video = { id: idIn(begun, 'video_id'), session: textIn(begun, 'upload_session_id') }
  let part = partIn(begun)
  let sent = 0
  while (part.start < part.end) {
    if (part.start < sent || part.end > file.bytes) throw odd("The platform's part isn't one of the file")
    sent = part.end
    const fields = {
      upload_phase: 'transfer',
      upload_session_id: video.session,
      start_offset: String(part.start),
    }
    const form = formBody(file, fields, { name: 'video_file_chunk', ...part })
    part = partIn((await post(call, url, {}, { ...form, deadlineMs: providerUploadMs })).body)
  }
  return video
}

function partIn(body: Readonly<Record<string, unknown>>): { start: number; end: number } {
  const [start, end] = ['start_offset', 'end_offset'].map((field) => textIn(body, field)) as [string, string]
  if (/^\d{1,15}$/.test(start) && /^\d{1,15}$/.test(end)) return { start: Number(start), end: Number(end) }
  throw odd("The platform's answer names no part of the file")
}

/** @throws ProviderError where Facebook can't play the video: nobody sees it then */
async function isReady(call: Calling, id: string): Promise<boolean> {
  const status = objectIn((await get(call, `${facebookApi}/${id}`, { fields: 'status' })).body, 'status')
  const state = String(status['video_status'])
  if (!failedStates.includes(state)) return state === 'ready'
  const errors = membersOf(membersOf(status['processing_phase'])['errors'])[0] as { message?: unknown } | undefined
  const failure = { kind: 'permanent', code: 'refused', isUnpublished: true } as const
  throw new ProviderError(failure, `Facebook can't play the video: ${cutText(String(errors?.message ?? state))}`)
}

/**
 * Reads the page, and its posts, as every look-up does.
 * @param credentials a token of the page, or of a person who publishes there: by that one Facebook tells the page's
 * @throws ProviderError where the token isn't accepted, or doesn't reach so far
 */
export async function describeFacebook(credentials: MetaCredentials, page: string, signal: AbortSignal) {
  const own = await readPage({ credentials, signal }, page, 'name,username')
  await listPosts({ credentials: own.credentials, signal }, postsOf(page), 1)
  const { name, username } = own.body
  const displayName = String(name ?? page)
  const handle = typeof username === 'string' && username !== '' ? username : `${displayName} (${page})`
  return { credentials: own.credentials, externalId: page, handle, displayName, metadata: {} }
}

/** @returns the page's fields, and its own token. @throws ProviderError where the token isn't one for this page */
export async function readPage(call: Signed, page: string, fields: string) {
  const { body } = await get(call, pageUrl(page), { fields: `${fields},access_token` })
  const told = body['access_token']
  if (typeof told === 'string' && told !== '') return { body, credentials: { ...call.credentials, accessToken: told } }
  if (idIn((await get(call, `${facebookApi}/me`, { fields: 'id' })).body) === page)
    return { body, credentials: call.credentials }
  const failure = { kind: 'permanent', code: 'not_authorized' } as const
  throw new ProviderError(failure, 'The token is neither one of this page, nor one of a person who publishes there')
}
