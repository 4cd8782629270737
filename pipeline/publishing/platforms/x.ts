/**
 * X, by the keys of an app and an access token of the account (OAuth 1.0a), which don't expire. Endpoints, fields and
 * limits are those of X's documentation and of its OpenAPI document, 2026.
 *
 * X has no idempotency key. Before each further attempt, the account's posts from after the first attempt are looked
 * through for one of this text. X refuses a text that the account has just posted; that refusal is looked up as well.
 */
import { type Figures, sumOf } from '../../../schemas/engagement.ts'
import {
  providerClockOffMs,
  providerUploadMs,
  xPollMaxMs,
  xPostPagesMax,
  xPostsEach,
  xSegmentBytesMax,
} from '../../../schemas/limits/publish-limits.ts'
import { kindOf as mediaKindOf } from '../../../schemas/reference/providers.ts'
import {
  type Adapter,
  asUnpublished,
  type Call,
  type ErrorKind,
  ProviderError,
  type PublishedMedia,
  type Reach,
} from '../adapter.ts'
import { moreThanListed } from '../look-up.ts'
import { formBody } from '../media-body.ts'
import { encodeParameters, type OAuth1Keys, oauth1Header } from '../oauth1.ts'
import { pollUntil } from '../poll-until.ts'
import { type Answer, askProvider, countIn, cutText, isClockOff, objectIn, odd, refusalOf, textIn } from '../request.ts'
import { isPostOf, isReplyOf } from './x-text.ts'

export const xUrl = 'https://api.x.com'

export interface XCredentials extends OAuth1Keys {
  /** Root of the API, without a slash at its end. */
  readonly url: string
}

type Calling = Call<XCredentials>
type Signed = Pick<Calling, 'credentials' | keyof Reach>
type Fields = Readonly<Record<string, unknown>>

/** `prepare` gives the ids of the files. */
export const x: Adapter<XCredentials, string[]> = {
  name: 'x',

  async lookUp(call, { text, replyTo, sentAt }, isKnown) {
    const from = new Date((sentAt ?? new Date()).getTime() - providerClockOffMs)
    const query = {
      max_results: String(xPostsEach),
      // X takes whole seconds.
      start_time: from.toISOString().replace(/\.\d+/, ''),
      // A post that begins with a mention counts as a reply.
      exclude: 'retweets',
      'tweet.fields': 'entities,referenced_tweets',
    }
    let token: unknown
    for (let page = 0; page < xPostPagesMax; page++) {
      const more = typeof token === 'string' ? { pagination_token: token } : {}
      const { body } = await ask(call, 'GET', `/2/users/${call.account.externalId}/tweets`, {
        query: { ...query, ...more },
      })
      // Without posts an answer has no `data`. One without `meta` doesn't say that there are none.
      const meta = objectIn(body, 'meta')
      const posts = (body['data'] ?? []) as Fields[]
      const same = posts.filter((post) => (replyTo ? isReplyOf(text, post, replyTo) : isPostOf(text, post))).map(idIn)
      const known = await isKnown(same)
      const found = same.find((id) => !known.has(id))
      if (found !== undefined) return publishedAs(call, found)
      token = meta['next_token']
      if (token === undefined) return null
    }
    throw moreThanListed()
  },

  async prepare(call, { media }) {
    const ids: string[] = []
    for (const file of media) ids.push(await upload(call, file))
    return ids
  },

  async publish(call, { text, replyTo }, mediaIds) {
    const json = {
      text,
      ...(mediaIds.length > 0 && { media: { media_ids: mediaIds } }),
      ...(replyTo && { reply: { in_reply_to_tweet_id: replyTo.parent.externalId } }),
    }
    const { body } = await ask(call, 'POST', '/2/tweets', { json })
    return publishedAs(call, idIn(objectIn(body, 'data')))
  },

  async findGone(call, ids) {
    return goneIn((await ask(call, 'GET', '/2/tweets', { query: { ids: ids.join() } })).body)
  },

  engagement: {
    postsPerRequest: xPostsEach,
    isCharged: true,
    async read(call, ids) {
      const { body } = await ask(call, 'GET', '/2/tweets', {
        query: { ids: ids.join(), 'tweet.fields': 'public_metrics' },
      })
      const posts = new Map(fieldsOfAll(body['data']).map((post) => [post['id'], objectIn(post, 'public_metrics')]))
      return new Map<string, Figures | null>([
        ...[...goneIn(body)].map((id) => [id, null] as const),
        ...ids.flatMap((id) => (posts.has(id) ? [[id, figuresIn(posts.get(id)!)] as const] : [])),
      ])
    },
  },
}

/** A post that is there but isn't shown, such as one of a locked account, has an error of another type. */
function goneIn({ errors }: Fields): Set<string> {
  const gone = fieldsOfAll(errors).filter(({ type }) => String(type).endsWith('/resource-not-found'))
  return new Set(gone.map(({ resource_id: id }) => String(id)))
}

const fieldsOfAll = (list: unknown): Fields[] => (Array.isArray(list) ? list.map(Object) : [])

/** Quotes are shares, too. */
function figuresIn({ like_count, reply_count, retweet_count, quote_count, impression_count }: Fields): Figures {
  const shares = sumOf([countIn(retweet_count), countIn(quote_count)])
  return { likes: countIn(like_count), comments: countIn(reply_count), shares, views: countIn(impression_count) }
}

function publishedAs({ account }: Calling, id: string) {
  return { externalId: id, url: `https://x.com/${account.handle.replace(/^@/, '')}/status/${id}` }
}

/** @returns the file's id, once X has done with it */
async function upload(call: Calling, file: PublishedMedia): Promise<string> {
  const isImage = mediaKindOf(file.contentType) === 'image'
  const json = {
    media_type: file.contentType,
    total_bytes: file.bytes,
    media_category: isImage ? 'tweet_image' : 'tweet_video',
  }
  const begun = await ask(call, 'POST', '/2/media/upload/initialize', { json })
  const id = idIn(objectIn(begun.body, 'data'))
  for (let start = 0, index = 0; start < file.bytes; start += xSegmentBytesMax, index++) {
    const end = Math.min(start + xSegmentBytesMax, file.bytes)
    const segment = formBody(file, { segment_index: String(index) }, { name: 'media', start, end })
    await ask(call, 'POST', `/2/media/upload/${id}/append`, { ...segment, deadlineMs: providerUploadMs })
  }
  const ended = await ask(call, 'POST', `/2/media/upload/${id}/finalize`)
  await waitUntilProcessed(call, id, objectIn(ended.body, 'data'))
  // X has none for videos.
  if (isImage && file.altText !== '') {
    const metadata = { alt_text: { text: file.altText } }
    await ask(call, 'POST', '/2/media/metadata', { json: { id, metadata } })
  }
  return id
}

interface Processing {
  readonly state: string
  readonly check_after_secs?: number
  readonly error?: { readonly message?: string }
}

/** @param media the answer to the end of the upload */
async function waitUntilProcessed(call: Calling, id: string, media: Fields): Promise<void> {
  if (readProcessing(media) === true) return
  await pollUntil(call, async () => {
    const { body } = await ask(call, 'GET', '/2/media/upload', { query: { command: 'STATUS', media_id: id } })
    return readProcessing(objectIn(body, 'data'))
  })
}

/** @returns true: X has done with the file. Else the milliseconds until it is to be asked again */
function readProcessing(media: Fields): true | number {
  const processing = media['processing_info'] as Processing | null | undefined
  // Without it the file is ready.
  if (!processing || processing.state === 'succeeded') return true
  if (processing.state === 'failed') {
    const message = `X can't process a file: ${cutText(String(processing.error?.message ?? processing.state))}`
    throw new ProviderError({ kind: 'permanent', code: 'refused' }, message)
  }
  return Math.min((Number(processing.check_after_secs) || 0) * 1000, xPollMaxMs)
}

type More = Pick<Parameters<typeof askProvider>[0], 'headers' | 'json' | 'body' | 'deadlineMs'> & {
  readonly query?: Readonly<Record<string, string>>
}

function ask(
  { credentials, signal, fetching }: Signed,
  method: 'GET' | 'POST',
  path: string,
  { query = {}, headers, ...more }: More = {},
): Promise<Answer> {
  const url = credentials.url + path
  const authorization = oauth1Header({ method, url, parameters: query }, credentials)
  const search = encodeParameters(query)
  return askProvider({
    ...more,
    url: search === '' ? url : `${url}?${search}`,
    method,
    signal,
    kindOf,
    // X's own host is nobody's choice.
    ...(credentials.url !== xUrl && { dispatcher: fetching.agent }),
    headers: { ...headers, authorization },
  })
}

/**
 * X's own refusals have a title, or a list of errors where the signature isn't right. By 403 it refuses a post, such as a
 * repeated one, and tokens that were made while the app could only read.
 * @throws ProviderError where this machine's clock is why, so that no post is looked for by its times
 */
function kindOf(answer: Answer): ErrorKind | undefined {
  const { status, body } = answer
  if (typeof body['title'] !== 'string' && !Array.isArray(body['errors'])) return undefined
  if (status === 401 && isClockOff(answer)) throw asUnpublished(refusalOf(answer, 'transient'))
  if (status === 401) return 'reauthenticate'
  if (status !== 403) return undefined
  return String(body['type']).endsWith('/oauth1-permissions') ? 'reauthenticate' : 'permanent'
}

/** Ids are parts of paths. */
function idIn(fields: Fields): string {
  const id = textIn(fields, 'id')
  if (/^\d{1,19}$/.test(id)) return id
  throw odd("The platform's answer has an id that isn't a number")
}

/** Reads whose token it is. @throws ProviderError where the keys aren't accepted */
export async function describeX(credentials: XCredentials, reach: Reach) {
  const user = objectIn((await ask({ credentials, ...reach }, 'GET', '/2/users/me')).body, 'data')
  return {
    externalId: idIn(user),
    handle: `@${textIn(user, 'username')}`,
    displayName: textIn(user, 'name'),
    metadata: {},
  }
}
