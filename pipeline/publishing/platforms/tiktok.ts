/**
 * An account on TikTok, by an access token of its owner (TikTok's documentation: "Content Posting API"), which gets
 * videos.
 *
 * TikTok knows no key of ours and lists nothing, but names a publication, and tells by that name what became of it. A
 * video has its name before its last bytes.
 */
import { tiktokArrivalMs } from '../../../schemas/limits/publish-limits.ts'
import { type Privacy, privacies } from '../../../schemas/reference/account-fields.ts'
import { type Adapter, ProviderError, type Published } from '../adapter.ts'
import { type ExpiringToken, isDue } from '../oauth2.ts'
import {
  type Calling,
  type Creator,
  codeIn,
  type Fields,
  readCreator,
  readOpenId,
  renew,
  type Signed,
  tokenOver,
} from './tiktok-api.ts'
import { type PostStatus, readStatus, untilPublished } from './tiktok-status.ts'
import { beginUpload, sendUpTo, type Upload } from './tiktok-upload.ts'

/** `prepare` gives the upload, without its last part. */
export const tiktok: Adapter<ExpiringToken, Upload> = {
  name: 'tiktok',

  async lookUp(call, { reference }) {
    // No upload has begun: the account was a simulated one then.
    if (reference === null) return null
    const [publishId, bytes] = reference.split(' ') as [string, string]
    let status = await readNamed(call, publishId)
    if (isIncomplete(status, bytes)) {
      await call.sleep(tiktokArrivalMs, call.signal)
      call.signal.throwIfAborted()
      status = await readNamed(call, publishId)
    }
    if (status.failure !== null || isIncomplete(status, bytes)) return null
    return publishedAs(call, publishId)
  },

  async prepare(call, { text, media, keep }) {
    const file = media[0]!
    const upload = await beginUpload(call, file, infoOf(await readCreator(call), levelOf(call), text))
    await keep(`${upload.publishId} ${file.bytes}`)
    await sendUpTo(call, upload, upload.lastStart)
    return upload
  },

  async publish(call, _, upload) {
    await sendUpTo(call, upload, upload.file.bytes)
    return publishedAs(call, upload.publishId)
  },

  refresh: ({ credentials, signal }) => renew(credentials, signal),
  isDue,
}

const untold = new ProviderError(
  { kind: 'unknown', code: 'outcome_unknown' },
  "TikTok can't be asked for the post, which may be there. Look there first: scheduling it again publishes it again",
)

/** Nothing comes of a video whose bytes are not all there. @param bytes the video's */
function isIncomplete({ isUpload, receivedBytes }: PostStatus, bytes: string): boolean {
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

/** A post without an id of its own has the profile's address. */
async function publishedAs(call: Calling, publishId: string): Promise<Published> {
  const postId = await untilPublished(call, publishId, levelOf(call) === privacyLevels.everyone)
  const profile = `https://www.tiktok.com/${call.account.handle}`
  if (postId === null) return { externalId: publishId, url: profile }
  return { externalId: postId, url: `${profile}/video/${postId}` }
}

/** Who sees an account's posts: our words, and TikTok's. */
export const privacyLevels = {
  everyone: 'PUBLIC_TO_EVERYONE',
  followers: 'FOLLOWER_OF_CREATOR',
  friends: 'MUTUAL_FOLLOW_FRIENDS',
  self: 'SELF_ONLY',
} as const satisfies Record<Privacy, string>

function levelOf({ account: { metadata } }: Calling): string {
  const level = metadata['privacy_level']
  if (typeof level !== 'string') throw new Error('an account on TikTok without its privacy level')
  return level
}

/** A post's text and settings. Comments, duets and stitches are as the account has them. */
function infoOf(creator: Creator, level: string, text: string): Fields {
  requireLevel(creator, level)
  const { comments, duets, stitches } = creator.forbids
  return {
    title: text,
    privacy_level: level,
    brand_content_toggle: false,
    brand_organic_toggle: false,
    disable_comment: comments,
    disable_duet: duets,
    disable_stitch: stitches,
  }
}

/** A private account has no public posts, for one. */
function requireLevel({ levels }: Creator, level: string): void {
  if (levels.includes(level)) return
  const offered = privacies.filter((name) => levels.includes(privacyLevels[name]))
  const said = `TikTok doesn't let this account post for ${level}. Connect it again with another privacy`
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
