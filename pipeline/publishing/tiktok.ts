/**
 * An account on TikTok, by an access token of its owner (TikTok's documentation: "Content Posting API"): videos are
 * uploaded, photos are fetched by TikTok.
 *
 * TikTok knows no key of ours and lists nothing, but names a publication, and tells by that name what became of it. A
 * video has its name before its last bytes. A post of photos gets it by the answer to the request that publishes it:
 * where that is lost, nobody can tell.
 */
import { sleep } from '../../runtime/retry.ts'
import { tiktokArrivalMs, tiktokTitleLengthMax } from '../../schemas/limits/publish-limits.ts'
import { kindOf as mediaKindOf } from '../../schemas/reference/providers.ts'
import { type Adapter, asUnpublished, ProviderError, type Publication, type Published } from './adapter.ts'
import { cutTitle } from './cut-text.ts'
import { type ExpiringToken, isDue } from './oauth2.ts'
import {
  type Calling,
  type Creator,
  codeIn,
  type Fields,
  post,
  publishIdIn,
  readCreator,
  readOpenId,
  renew,
  type Signed,
  tokenOver,
} from './tiktok-api.ts'
import { type PostStatus, readStatus, untilPublished } from './tiktok-status.ts'
import { beginUpload, endUpload, sendFirstParts, type Upload } from './tiktok-upload.ts'

interface Prepared {
  /** A video, without its last part; null where the post is of photos. */
  readonly upload: Upload | null
  /** The post's texts and settings. */
  readonly info: Fields
  /** Its name, once TikTok has all of it: a call that is repeated with a new session only asks for it. */
  publishId: string | null
}

export const tiktok: Adapter<ExpiringToken, Prepared> = {
  name: 'tiktok',

  validate({ media }) {
    if (isVideo({ media }) || media.every(({ publicUrl }) => publicUrl !== null)) return null
    return 'TikTok fetches photos from here: set API_HOST to the public https address of this server'
  },

  async lookUp(call, { reference, media }) {
    if (reference === null) throw untold
    const [publishId, bytes] = reference.split(' ') as [string, string | undefined]
    let status = await readNamed(call, publishId)
    if (isIncomplete(status, bytes)) {
      await sleep(tiktokArrivalMs, call.signal)
      call.signal.throwIfAborted()
      status = await readNamed(call, publishId)
    }
    if (status.failure !== null || isIncomplete(status, bytes)) return null
    return publishedAs(call, { media }, publishId)
  },

  async prepare(call, publication) {
    const info = infoOf(await readCreator(call), levelOf(call), publication)
    if (!isVideo(publication)) return { upload: null, info, publishId: null }
    const upload = await beginUpload(call, publication.media[0]!, info)
    await publication.keep(`${upload.publishId} ${upload.file.bytes}`)
    await sendFirstParts(call, upload)
    return { upload, info, publishId: null }
  },

  async publish(call, publication, prepared) {
    const { upload, info } = prepared
    prepared.publishId ??=
      upload === null ? await publishPhotos(call, publication, info) : await endUpload(call, upload)
    return publishedAs(call, publication, prepared.publishId)
  },

  refresh: ({ credentials, signal }) => renew(credentials, signal),
  isDue,
}

const isVideo = ({ media }: Pick<Publication, 'media'>) =>
  media.some((file) => mediaKindOf(file.contentType) === 'video')

const untold = new ProviderError(
  { kind: 'unknown', code: 'outcome_unknown' },
  "TikTok can't be asked for the post, which may be there. Look there first: scheduling it again publishes it again",
)

/** Nothing comes of a video whose bytes are not all there. @param bytes the video's; undefined for photos */
function isIncomplete({ isUpload, receivedBytes }: PostStatus, bytes: string | undefined): boolean {
  return isUpload && receivedBytes !== undefined && receivedBytes < Number(bytes)
}

/** @throws ProviderError as `unknown` where TikTok has forgotten the name, or the account is another one now */
async function readNamed(call: Calling, publishId: string): Promise<PostStatus> {
  try {
    return await readStatus(call, publishId)
  } catch (error) {
    const code = error instanceof ProviderError ? codeIn(error.cause) : undefined
    const isForgotten = ['invalid_publish_id', 'token_not_authorized_for_specified_publish_id'].includes(code ?? '')
    throw isForgotten ? untold : error
  }
}

/** The request that publishes. @returns the publication's name */
async function publishPhotos(call: Calling, publication: Publication, info: object): Promise<string> {
  // Else a lost answer would be looked up by the name of an earlier attempt.
  if (publication.reference !== null) await publication.keep(null)
  const urls = publication.media.map(({ publicUrl }) => publicUrl)
  const source = { source: 'PULL_FROM_URL', photo_cover_index: 0, photo_images: urls }
  const sent = { media_type: 'PHOTO', post_mode: 'DIRECT_POST', post_info: info, source_info: source }
  let publishId: string
  try {
    publishId = publishIdIn(await post(call, 'content/init', sent))
  } catch (error) {
    // An answer that isn't TikTok's, or speaks of a fault of its own, tells nothing of the post.
    if (!(error instanceof ProviderError) || error.failure.kind === 'transient') throw error
    throw asUnpublished(error)
  }
  await publication.keep(publishId)
  return publishId
}

/** A post without an id of its own has the profile's address. */
async function publishedAs(
  call: Calling,
  publication: Pick<Publication, 'media'>,
  publishId: string,
): Promise<Published> {
  const postId = await untilPublished(call, publishId, levelOf(call) === privacyLevels.everyone)
  const profile = `https://www.tiktok.com/${call.account.handle}`
  if (postId === null) return { externalId: publishId, url: profile }
  return { externalId: postId, url: `${profile}/${isVideo(publication) ? 'video' : 'photo'}/${postId}` }
}

/** Who sees an account's posts: our words, and TikTok's. */
export const privacyLevels = {
  everyone: 'PUBLIC_TO_EVERYONE',
  followers: 'FOLLOWER_OF_CREATOR',
  friends: 'MUTUAL_FOLLOW_FRIENDS',
  self: 'SELF_ONLY',
} as const
export type Privacy = keyof typeof privacyLevels
export const privacies = Object.keys(privacyLevels) as Privacy[]

function levelOf({ account: { metadata } }: Calling): string {
  const level = metadata['privacy_level']
  if (typeof level !== 'string') throw new Error('an account on TikTok without its privacy level')
  return level
}

/** A post's texts and settings. Comments, duets and stitches are as the account has them. */
function infoOf(creator: Creator, level: string, publication: Publication): Fields {
  requireLevel(creator, level)
  const { comments, duets, stitches } = creator.forbids
  const shared = {
    ...{ privacy_level: level, disable_comment: comments },
    ...{ brand_content_toggle: false, brand_organic_toggle: false },
  }
  const { title, text } = publication
  if (isVideo(publication)) return { ...shared, title: text, disable_duet: duets, disable_stitch: stitches }
  return { ...shared, title: cutTitle(title, tiktokTitleLengthMax), description: text, auto_add_music: false }
}

/** A private account has no public posts, for one. */
function requireLevel({ levels }: Creator, level: string): void {
  if (levels.includes(level)) return
  const offered = privacies.filter((name) => levels.includes(privacyLevels[name]))
  const said = `TikTok doesn't let this account post for ${level}. Connect it again with another --privacy`
  throw new ProviderError({ kind: 'permanent', code: 'refused' }, `${said}: ${offered.join(', ')}`)
}

/**
 * Reads whose token it is, and what the account allows, as every post does. A token that is over is renewed.
 * @throws ProviderError where it isn't accepted, doesn't reach so far, or the account has no such privacy level
 */
export async function describeTiktok(given: ExpiringToken, privacy: Privacy, signal: AbortSignal) {
  try {
    return await describe({ credentials: given, signal }, privacyLevels[privacy])
  } catch (error) {
    if (!(error instanceof ProviderError) || codeIn(error.cause) !== tokenOver) throw error
    return describe({ credentials: await renew(given, signal), signal }, privacyLevels[privacy])
  }
}

async function describe(call: Signed, level: string) {
  const creator = await readCreator(call)
  requireLevel(creator, level)
  const externalId = await readOpenId(call)
  const [handle, displayName] = [`@${creator.username}`, creator.nickname]
  return { credentials: call.credentials, externalId, handle, displayName, metadata: { privacy_level: level } }
}
