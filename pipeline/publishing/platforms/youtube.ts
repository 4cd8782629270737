/**
 * A channel on YouTube, by a refresh token of its owner (Google's documentation: "YouTube Data API: Videos", "Videos:
 * insert", "PlaylistItems: list", "Channels: list").
 *
 * YouTube knows no key of ours. There is no video before the last bytes have arrived, and an attempt whose answer to them
 * is lost asks for it. Later attempts look for a video of this title and description among the channel's newest.
 */

import { within } from '../../../runtime/deadline.ts'
import type { Figures } from '../../../schemas/engagement.ts'
import { membersOf } from '../../../schemas/json-object.ts'
import {
  providerClockOffMs,
  publishAttemptMs,
  youtubeDescriptionBytesMax,
  youtubeListedMs,
  youtubeProcessingMs,
  youtubeTitleLengthMax,
  youtubeVideosEach,
} from '../../../schemas/limits/publish-limits.ts'
import { type Adapter, type KnownIds, ProviderError, type Publication, type Published } from '../adapter.ts'
import { comparable, cut, cutTitle } from '../cut-text.ts'
import { firstOwn, lookTwice } from '../look-up.ts'
import { type ExpiringToken, isDue, type Renewal, signInBy } from '../oauth2.ts'
import { pollUntil } from '../poll-until.ts'
import { countIn, objectIn, odd, textIn } from '../request.ts'
import { googleTokenUrl, reasonIn } from './google-api.ts'
import { type Calling, type Fields, list, renew, type Signed } from './youtube-api.ts'
import { beginUpload, endUpload, type Upload } from './youtube-upload.ts'

/** `prepare` gives the upload, without its last part. */
export const youtube: Adapter<ExpiringToken, Upload> = {
  name: 'youtube',

  validate: ({ title }) => (titleOf(title) === '' ? 'A video on YouTube needs a title' : null),

  lookUp: (call, publication, known) => lookTwice(youtubeListedMs, call, () => findUpload(call, publication, known)),

  prepare: (call, { title, text, media }) =>
    beginUpload(call, media[0]!, {
      snippet: { title: titleOf(title), description: descriptionOf(text) },
      status: { privacyStatus: 'public', selfDeclaredMadeForKids: false },
    }),

  async publish(call, _publication, upload) {
    const id = idIn(await endUpload(call, upload))
    await untilProcessed(call, id)
    return publishedAs(id)
  },

  refresh: renew,
  isDue,

  engagement: {
    postsPerRequest: youtubeVideosEach,
    async read(call, ids) {
      const videos = await list(call, 'videos', { part: 'statistics', id: ids.join() })
      const found = new Map(videos.map((video) => [video['id'], objectIn(video, 'statistics')]))
      return new Map(ids.map((id) => [id, found.has(id) ? figuresIn(found.get(id)!) : null]))
    },
  },
}

/** Owners may hide likes. Nobody is told of shares. */
function figuresIn({ likeCount, commentCount, viewCount }: Fields): Figures {
  return { likes: countIn(likeCount), comments: countIn(commentCount), shares: null, views: countIn(viewCount) }
}

const publishedAs = (id: string): Published => ({ externalId: id, url: `https://www.youtube.com/watch?v=${id}` })

/** Ids are parts of links. */
function idIn(fields: Fields): string {
  const id = textIn(fields, 'id')
  if (/^[\w-]{1,64}$/.test(id)) return id
  throw odd("The platform's answer has an id that is none")
}

/** YouTube refuses angle brackets: quotation marks of that shape stand in their place. */
const withoutBrackets = (text: string) => text.replaceAll('<', '‹').replaceAll('>', '›')

const titleOf = (title: string) => cutTitle(withoutBrackets(title), youtubeTitleLengthMax)
const descriptionOf = (text: string) => cut(withoutBrackets(text), youtubeDescriptionBytesMax, Buffer.byteLength)

/**
 * A video that YouTube is still working on when the time is up is published, as is one that can't be asked for.
 * @throws ProviderError where nobody will see it
 */
async function untilProcessed(call: Calling, id: string): Promise<void> {
  let fault: string | null = null
  const isDone = async (calling: Calling) => {
    const [video] = await list(calling, 'videos', { part: 'status', id })
    const status = video === undefined ? {} : objectIn(video, 'status')
    fault = faultOf(status)
    return fault !== null || status['uploadStatus'] === 'processed'
  }
  await within(youtubeProcessingMs, call.signal, (signal) => {
    const calling = { ...call, signal }
    return pollUntil(calling, () => isDone(calling))
  }).catch((error) => {
    if (call.signal.aborted) throw error
  })
  if (fault !== null) throw new ProviderError({ kind: 'permanent', code: 'refused', isUnpublished: true }, fault)
}

/** Why nobody sees a video, or null. Those of a project that Google hasn't audited stay private. */
function faultOf(status: Fields): string | null {
  const { uploadStatus: state, failureReason, rejectionReason, privacyStatus } = status
  if (state === 'failed') return `YouTube can't process the video: ${String(failureReason ?? 'no reason given')}`
  if (state === 'rejected') return `YouTube rejected the video: ${String(rejectionReason ?? 'no reason given')}`
  if (state === 'deleted') return 'The video was deleted on YouTube'
  if (privacyStatus === 'public' || privacyStatus === undefined) return null
  return 'YouTube keeps the video private, as it does for projects that Google has not audited'
}

/** @throws ProviderError as `unknown` where more was uploaded since the first attempt than is listed */
async function findUpload(
  call: Calling,
  { title, text, sentAt }: Publication,
  known: KnownIds,
): Promise<Published | null> {
  // A video may have the time at which its upload began.
  const from = (sentAt ?? new Date()).getTime() - providerClockOffMs - publishAttemptMs
  const uploads = await listUploads(call, (await readChannel(call)).uploads, youtubeVideosEach)
  const recent = uploads.filter(({ snippet }) => Date.parse(textIn(membersOf(snippet), 'publishedAt')) >= from)
  const wanted = comparable(`${titleOf(title)}\n${descriptionOf(text)}`)
  const same = recent.filter(({ snippet, status }) => {
    const { title: listed, description = '' } = membersOf(snippet) as Fields
    return comparable(`${listed}\n${description}`) === wanted && faultOf(membersOf(status)) === null
  })
  const found = await firstOwn(same.map(idIn), known, recent.length < youtubeVideosEach)
  return found === null ? null : publishedAs(found)
}

/** The channel's newest videos, newest first. */
async function listUploads(call: Signed, playlistId: string, count: number): Promise<Fields[]> {
  const items = await list(call, 'playlistItems', {
    part: 'contentDetails',
    playlistId,
    maxResults: String(count),
  }).catch((error) => {
    // The playlist comes about with the first video.
    if (error instanceof ProviderError && reasonIn(error.cause) === 'playlistNotFound') return []
    throw error
  })
  if (items.length === 0) return []
  const ids = items.map((item) => textIn(objectIn(item, 'contentDetails'), 'videoId'))
  return list(call, 'videos', { part: 'snippet,status', id: ids.join() })
}

async function readChannel(call: Signed) {
  const [channel] = await list(call, 'channels', { part: 'snippet,contentDetails', mine: 'true' })
  if (channel === undefined) {
    throw new ProviderError({ kind: 'permanent', code: 'refused' }, 'The Google account has no channel')
  }
  const { title, customUrl } = objectIn(channel, 'snippet')
  const playlists = objectIn(objectIn(channel, 'contentDetails'), 'relatedPlaylists')
  return { id: idIn(channel), title: String(title ?? ''), customUrl, uploads: textIn(playlists, 'uploads') }
}

const uploadScopes = ['youtube', 'youtube.upload', 'youtube.force-ssl'].map(
  (name) => `https://www.googleapis.com/auth/${name}`,
)

/**
 * Reads whose token it is, and the channel's videos, as every look-up does.
 * @throws ProviderError where the token isn't accepted, or doesn't reach so far
 */
export async function describeYoutube(renewal: Renewal, signal: AbortSignal) {
  const { credentials, scopes } = await signInBy(googleTokenUrl, renewal, signal)
  if (!scopes.split(' ').some((scope) => uploadScopes.includes(scope))) {
    const failure = { kind: 'permanent', code: 'not_authorized' } as const
    throw new ProviderError(failure, 'The token lacks the scope youtube.upload')
  }
  const { id, title, customUrl, uploads } = await readChannel({ credentials, signal })
  await listUploads({ credentials, signal }, uploads, 1)
  const handle = typeof customUrl === 'string' && customUrl !== '' ? customUrl : `${title} (${id})`
  return { credentials, externalId: id, handle, displayName: title || handle, metadata: {} }
}
