/**
 * Bluesky (AT Protocol), by an app password. It makes a session of two tokens: one for two hours, and one that renews both.
 *
 * A record's key is the target's own, and another one for each part of a thread (bluesky-record.ts). A server has one record of a key, and refuses a second one. Before
 * each further attempt the record is asked for.
 */

import { type Figures, sumOf } from '../../../schemas/engagement.ts'
import { membersOf } from '../../../schemas/json-object.ts'
import { blueskyPostsEach } from '../../../schemas/limits/engagement-limits.ts'
import { linkCardMs, providerUploadMs } from '../../../schemas/limits/publish-limits.ts'
import { providers } from '../../../schemas/reference/providers.ts'
import { type Adapter, type Call, externalIdOf, ProviderError, type Published, type Reach } from '../adapter.ts'
import { readLinkCard } from '../link-card.ts'
import { bufferBody, pictureBody, type SentBody } from '../media-body.ts'
import { type Answer, askProvider, countIn, objectIn, odd, textIn } from '../request.ts'
import {
  type Blob,
  handlesIn,
  type Prepared,
  type PreparedCard,
  postCollection,
  recordKey,
  recordOf,
  type UploadedMedia,
} from './bluesky-record.ts'

export interface BlueskyCredentials {
  /** Root of the server, without a slash at its end. */
  readonly url: string
  readonly identifier: string
  readonly password: string
  readonly accessToken: string
  readonly refreshToken: string
}

type Calling = Call<BlueskyCredentials>
type Signed = Pick<Calling, 'credentials' | keyof Reach>

const { captionLengthMax, captionBytesMax } = providers.bluesky
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

export const bluesky: Adapter<BlueskyCredentials, Prepared> = {
  name: 'bluesky',

  validate({ text }) {
    const length = [...graphemes.segment(text)].length
    if (length > captionLengthMax) return `Bluesky takes ${captionLengthMax} characters, these are ${length}`
    const bytes = Buffer.byteLength(text)
    if (captionBytesMax === null || bytes <= captionBytesMax) return null
    return `Bluesky takes ${captionBytesMax} bytes of text, these are ${bytes}`
  },

  async lookUp(call, publication) {
    const { sentAt } = publication
    if (sentAt === null) return null
    const rkey = recordKey(sentAt, publication)
    const record = await readRecord(call, rkey)
    return record && publishedAs(call, rkey, record)
  },

  async findGone(call, uris) {
    const gone = new Set<string>()
    for (const uri of uris) if ((await readRecord(call, uri.split('/').at(-1)!)) === null) gone.add(uri)
    return gone
  },

  async prepare(call, { text, media }) {
    const uploads: UploadedMedia[] = []
    // The platform shows blobs to everybody, as they were uploaded.
    for (const file of media) {
      uploads.push({ file, blob: await upload(call, await pictureBody(file)) })
    }
    const dids = new Map<string, string>()
    for (const handle of handlesIn(text)) {
      const did = await didOf(call, handle)
      if (did !== null) dids.set(handle, did)
    }
    return { uploads, card: media.length === 0 ? await cardOf(call, text) : null, dids }
  },

  async publish(call, publication, prepared) {
    const rkey = recordKey(publication.sentAt!, publication)
    const record = recordOf(publication, prepared, new Date())
    const json = { repo: externalIdOf(call), collection: postCollection, rkey, record }
    const { body } = await ask(call, 'com.atproto.repo.createRecord', { method: 'POST', json })
    return publishedAs(call, rkey, body)
  },

  async refresh({ credentials, signal, fetching }) {
    const { url, refreshToken } = credentials
    try {
      const path = 'com.atproto.server.refreshSession'
      const { body } = await askServer({ url, path, token: refreshToken, method: 'POST' }, { signal, fetching })
      return { ...credentials, ...tokensIn(body) }
    } catch (error) {
      if (!(error instanceof ProviderError) || error.failure.kind !== 'reauthenticate') throw error
      // It wasn't used for months, or was used up: the app password makes another.
      const { tokens } = await openSession(credentials, { signal, fetching })
      return { ...credentials, ...tokens }
    }
  },

  engagement: {
    postsPerRequest: blueskyPostsEach,
    async read(call, uris) {
      const query = new URLSearchParams(uris.map((uri): [string, string] => ['uris', uri]))
      // The account's server asks the AppView, which counts.
      const { body } = await ask(call, `app.bsky.feed.getPosts?${query}`)
      const posts = new Map(Object.values(objectIn(body, 'posts')).map((post) => [membersOf(post)['uri'], post]))
      // It leaves out what it has not seen yet as well as what is gone.
      return new Map(uris.flatMap((uri) => (posts.has(uri) ? [[uri, figuresIn(posts.get(uri))] as const] : [])))
    },
  },
}

/** @returns null where the account's server has no record of this key */
async function readRecord(call: Calling, rkey: string): Promise<Answer['body'] | null> {
  const query = new URLSearchParams({ repo: externalIdOf(call), collection: postCollection, rkey })
  try {
    return (await ask(call, `com.atproto.repo.getRecord?${query}`)).body
  } catch (error) {
    if (nameOf(error) === 'RecordNotFound') return null
    throw error
  }
}

/** Quotes are shares, too. */
function figuresIn(post: unknown): Figures {
  const { likeCount, replyCount, repostCount, quoteCount } = membersOf(post)
  const shares = sumOf([countIn(repostCount), countIn(quoteCount)])
  return { likes: countIn(likeCount), comments: countIn(replyCount), shares, views: null }
}

async function upload(call: Calling, file: SentBody, deadlineMs = providerUploadMs): Promise<Blob> {
  const more = { method: 'POST', ...file, deadlineMs } as const
  const { blob } = (await ask(call, 'com.atproto.repo.uploadBlob', more)).body
  if (typeof blob !== 'object' || blob === null) throw odd("The platform's answer has no blob")
  return blob as Blob
}

/** The platform makes no cards of links itself. One whose picture it doesn't take soon has none. */
async function cardOf(call: Calling, text: string): Promise<PreparedCard | null> {
  const found = await readLinkCard(text, call)
  if (found === null) return null
  const { picture, ...card } = found
  if (picture === null) return card
  try {
    return { ...card, thumb: await upload(call, bufferBody(picture.contentType, picture.bytes), linkCardMs) }
  } catch (error) {
    if (error instanceof ProviderError && error.failure.kind !== 'reauthenticate') return card
    throw error
  }
}

/** Null: the handle is nobody's. */
async function didOf(call: Signed, handle: string): Promise<string | null> {
  try {
    const { body } = await ask(call, `com.atproto.identity.resolveHandle?${new URLSearchParams({ handle })}`)
    return textIn(body, 'did')
  } catch (error) {
    if (error instanceof ProviderError && error.failure.kind === 'permanent') return null
    throw error
  }
}

function publishedAs(call: Calling, rkey: string, record: Answer['body']): Published {
  const url = `https://bsky.app/profile/${externalIdOf(call)}/post/${rkey}`
  const { cid } = record
  return { externalId: textIn(record, 'uri'), url, ...(typeof cid === 'string' && { cid }) }
}

type More = Omit<Parameters<typeof askProvider>[0], 'url' | 'token' | 'signal' | 'dispatcher'>

function ask({ credentials: { url, accessToken }, ...reach }: Signed, path: string, more: More = {}): Promise<Answer> {
  return askServer({ url, path, token: accessToken, ...more }, reach)
}

/** Errors have names, which say more than their status. */
async function askServer(
  { url, path, ...asked }: More & { url: string; path: string; token?: string },
  { signal, fetching }: Reach,
) {
  try {
    return await askProvider({ url: `${url}/xrpc/${path}`, ...asked, signal, dispatcher: fetching.agent })
  } catch (error) {
    const name = nameOf(error)
    if (name !== 'ExpiredToken' && name !== 'InvalidToken') throw error
    const failure = { kind: 'reauthenticate', code: 'not_authorized' } as const
    throw new ProviderError(failure, (error as Error).message, { cause: (error as Error).cause as object })
  }
}

/** The name in the body of a refusal. */
function nameOf(error: unknown): unknown {
  return error instanceof ProviderError ? (error.cause as { error?: unknown } | undefined)?.error : undefined
}

function tokensIn(body: Record<string, unknown>) {
  return { accessToken: textIn(body, 'accessJwt'), refreshToken: textIn(body, 'refreshJwt') }
}

/** @throws ProviderError where the app password isn't taken */
export async function openSession(
  { url, identifier, password }: Pick<BlueskyCredentials, 'url' | 'identifier' | 'password'>,
  reach: Reach,
) {
  const path = 'com.atproto.server.createSession'
  const { body } = await askServer(
    { url, path, method: 'POST', json: { identifier, password }, sentSecrets: [password] },
    reach,
  )
  return { tokens: tokensIn(body), did: textIn(body, 'did'), handle: textIn(body, 'handle') }
}
