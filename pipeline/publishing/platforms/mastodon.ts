/**
 * Mastodon, by an access token of the account (scopes `read:accounts`, `read:statuses`, `write:statuses`, `write:media`).
 *
 * An instance knows an `Idempotency-Key` for an hour and answers a repeat with the status that there is. Later, and before
 * each further attempt, the account's newest statuses are looked through for one of this text from after the first attempt.
 */

import type { Figures } from '../../../schemas/engagement.ts'
import {
  mastodonKeyKnownMs,
  mastodonStatusesEach,
  mastodonStatusPagesMax,
  providerClockOffMs,
  providerListBytesMax,
  providerUploadMs,
} from '../../../schemas/limits/publish-limits.ts'
import { mastodonLength } from '../../../schemas/reference/caption-lengths.ts'
import { kindOf } from '../../../schemas/reference/providers.ts'
import { isWebUrl } from '../../../schemas/web-url.ts'
import type { Adapter, Call, PublishedMedia, Reach, ReplyTo } from '../adapter.ts'
import { moreThanListed } from '../look-up.ts'
import { formBody } from '../media-body.ts'
import { pollUntil } from '../poll-until.ts'
import { type Answer, askProvider, countIn, odd, textIn } from '../request.ts'

export interface MastodonCredentials {
  /** Root of the instance, without a slash at its end. */
  readonly url: string
  readonly token: string
}

/** The limits that an instance publishes, kept in the account's `provider_metadata`. */
interface MastodonLimits {
  readonly url: string
  readonly characters_max: number
  readonly characters_per_url: number
  readonly media_max: number
  readonly image_bytes_max: number
  readonly video_bytes_max: number
}

type Calling = Call<MastodonCredentials>

/** `prepare` gives the ids of the files. */
export const mastodon: Adapter<MastodonCredentials, string[]> = {
  name: 'mastodon',

  validate({ text, media }, { metadata }) {
    const limits = metadata as unknown as MastodonLimits
    const length = mastodonLength(text, limits.characters_per_url)
    if (length > limits.characters_max) {
      return `The instance takes ${limits.characters_max} characters, these are ${length}`
    }
    if (media.length > limits.media_max)
      return `The instance takes ${limits.media_max} files, these are ${media.length}`
    const large = media.find((file) => file.bytes > bytesMax(limits, file))
    if (large !== undefined) {
      return `The instance takes files of ${bytesMax(limits, large)} bytes, media ${large.id} has ${large.bytes}`
    }
    return null
  },

  async lookUp(call, { text, replyTo, sentAt }, isKnown) {
    const firstSentAt = (sentAt ?? new Date()).getTime()
    const from = firstSentAt - providerClockOffMs
    let below = ''
    for (let page = 0; page < mastodonStatusPagesMax; page++) {
      const path = `/api/v1/accounts/${call.account.externalId}/statuses?exclude_reblogs=true&limit=${mastodonStatusesEach}${below}`
      const { body } = await ask(call, path, { answerBytesMax: providerListBytesMax })
      const statuses = Object.values(body) as Record<string, unknown>[]
      const recent = statuses.filter((status) => Date.parse(textIn(status, 'created_at')) >= from)
      const known = await isKnown(recent.map((status) => textIn(status, 'id')))
      for (const status of recent) {
        const id = textIn(status, 'id')
        if (known.has(id) || !mayReplyTo(replyTo, status)) continue
        const source = await ask(call, `/api/v1/statuses/${id}/source`)
        if (source.body['text'] !== stripped(text)) continue
        if (replyTo === null || status['in_reply_to_id'] !== null) return publishedAs(status)
        // A status that replies to nothing isn't the part while its parent is there.
        if ((await readStatus(call, replyTo.parent.externalId)) === null) return publishedAs(status)
      }
      // Pinned ones aren't among them, so they come in the order of their time.
      if (recent.length < mastodonStatusesEach) return null
      below = `&max_id=${textIn(recent.at(-1)!, 'id')}`
    }
    // As if it weren't there: the instance knows the key, and answers the next attempt with the status that there is.
    if (Date.now() - firstSentAt < mastodonKeyKnownMs) return null
    throw moreThanListed()
  },

  async prepare(call, { media }) {
    const ids: string[] = []
    for (const file of media) ids.push(await upload(call, file))
    return ids
  },

  async publish(call, { text, key, replyTo }, mediaIds) {
    const { body } = await ask(call, '/api/v1/statuses', {
      method: 'POST',
      headers: { 'idempotency-key': key },
      json: {
        status: text,
        ...(mediaIds.length > 0 && { media_ids: mediaIds }),
        ...(replyTo && { in_reply_to_id: replyTo.parent.externalId }),
      },
    })
    return publishedAs(body)
  },

  async findGone(call, ids) {
    const gone = new Set<string>()
    for (const id of ids) if ((await readStatus(call, id)) === null) gone.add(id)
    return gone
  },

  engagement: {
    postsPerRequest: 1,
    async read(call, [id]) {
      const status = await readStatus(call, id!)
      return new Map([[id!, status && figuresIn(status)]])
    },
  },
}

/** A reply to a status that was deleted names none. */
function mayReplyTo(replyTo: ReplyTo | null, { in_reply_to_id: parent }: Readonly<Record<string, unknown>>): boolean {
  return replyTo === null || parent === null || parent === replyTo.parent.externalId
}

/** @returns null where the instance has no such status */
async function readStatus(call: Calling, id: string): Promise<Answer['body'] | null> {
  const { status, body } = await ask(call, `/api/v1/statuses/${id}`, {}, [404])
  if (status !== 404) return body
  // A proxy's 404 isn't the instance's word.
  textIn(body, 'error')
  return null
}

function figuresIn(status: Readonly<Record<string, unknown>>): Figures {
  const counts = ['favourites_count', 'replies_count', 'reblogs_count'].map((field) => countIn(status[field]))
  const [likes = null, comments = null, shares = null] = counts
  if (likes === null) throw odd("The platform's answer has no favourites_count")
  return { likes, comments, shares, views: null }
}

/** As Ruby does it, in which the platform is written: other blanks than those of ASCII stay. */
function stripped(text: string): string {
  return text.replace(/^[\t-\r ]+|[\0\t-\r ]+$/g, '')
}

function publishedAs(status: Readonly<Record<string, unknown>>) {
  const url = typeof status.url === 'string' ? status.url : textIn(status, 'uri')
  // The dashboard links to this URL, and anybody may run an instance.
  if (!isWebUrl(url)) throw odd('The address of the status is no web address')
  return { externalId: textIn(status, 'id'), url }
}

function bytesMax(limits: MastodonLimits, { contentType }: PublishedMedia): number {
  return kindOf(contentType) === 'image' ? limits.image_bytes_max : limits.video_bytes_max
}

/** @returns the file's id, once the instance has done with it */
async function upload(call: Calling, file: PublishedMedia): Promise<string> {
  const fields: Record<string, string> = file.altText === '' ? {} : { description: file.altText }
  const { headers, body } = formBody(file, fields)
  const sent = await ask(call, '/api/v2/media', { method: 'POST', headers, body, deadlineMs: providerUploadMs })
  const id = textIn(sent.body, 'id')
  // 206: it is still at it.
  if (sent.status !== 200) await pollUntil(call, async () => (await ask(call, `/api/v1/media/${id}`)).status === 200)
  return id
}

type More = Omit<Parameters<typeof askProvider>[0], 'url' | 'token' | 'signal' | 'dispatcher'>

function ask(
  { credentials: { url, token }, signal, fetching }: Pick<Calling, 'credentials' | keyof Reach>,
  path: string,
  more: More = {},
  expected: readonly number[] = [],
): Promise<Answer> {
  return askProvider({ url: url + path, token, signal, dispatcher: fetching.agent, ...more }, expected)
}

/** Reads whose token it is, and the instance's limits. @throws ProviderError where the token isn't accepted */
export async function describeMastodon(credentials: MastodonCredentials, reach: Reach) {
  const call = { credentials, ...reach }
  const { body: account } = await ask(call, '/api/v1/accounts/verify_credentials')
  const { body: instance } = await ask(call, '/api/v2/instance')
  const limit = numbersIn(instance['configuration'])
  const limits: MastodonLimits = {
    url: credentials.url,
    characters_max: limit('statuses', 'max_characters'),
    characters_per_url: limit('statuses', 'characters_reserved_per_url'),
    media_max: limit('statuses', 'max_media_attachments'),
    image_bytes_max: limit('media_attachments', 'image_size_limit'),
    video_bytes_max: limit('media_attachments', 'video_size_limit'),
  }
  const name = account['display_name']
  return {
    externalId: textIn(account, 'id'),
    handle: `@${textIn(account, 'username')}@${textIn(instance, 'domain')}`,
    displayName: typeof name === 'string' && name !== '' ? name : textIn(account, 'username'),
    metadata: { ...limits },
  }
}

function numbersIn(configuration: unknown): (group: string, name: string) => number {
  const groups = (configuration ?? {}) as Record<string, Record<string, unknown> | undefined>
  return (group, name) => {
    const value = groups[group]?.[name]
    if (typeof value !== 'number') throw odd(`The instance doesn't say its ${name}`)
    return value
  }
}
