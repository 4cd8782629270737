/**
 * A channel on Discord, by an incoming webhook of it. Paths, fields and bounds are those of Discord's documentation
 * ("Webhook Resource", "Uploading Files", "Rate Limits", 2026). Nobody is mentioned, whatever a caption has.
 *
 * A `nonce` that is enforced is for messages of bots alone: webhooks ignore it. They list no messages either. After an
 * attempt whose outcome isn't known the post fails. The webhook's token is a part of each request's path: nothing but
 * the request has that address.
 */

import { type Figures, sumOf } from '../../../schemas/engagement.ts'
import { membersOf } from '../../../schemas/json-object.ts'
import { chatPublishMs, providerUploadMs } from '../../../schemas/limits/publish-limits.ts'
import {
  type Adapter,
  asRefused,
  asUnpublished,
  type Call,
  type ErrorKind,
  ProviderError,
  type Publication,
  type Published,
} from '../adapter.ts'
import { outcomeUnknown } from '../look-up.ts'
import { type FormFile, fileNameOf, formFile, formPicture, multipartBody } from '../media-body.ts'
import { type Answer, type Asked, askProvider, countIn, kindOfAddressed, odd, refusalOf, textIn } from '../request.ts'

/** As the webhook's address has them. */
export interface DiscordCredentials {
  readonly id: string
  readonly token: string
}

type Calling = Call<DiscordCredentials>
type Signed = Pick<Calling, 'credentials' | 'signal'>
type Fields = Readonly<Record<string, unknown>>

const api = 'https://discord.com/api/v10/webhooks'
const incomingWebhook = 1
const unknownMessage = 10_008
/** Code of a 403 by which Cloudflare, in front of Discord, blocks all our requests for a while. */
const blocked = 40_333

/** `prepare` gives the files. */
export const discord: Adapter<DiscordCredentials, FormFile[]> = {
  name: 'discord',

  lookUp: async () => {
    throw outcomeUnknown('Discord')
  },

  // Anybody in the channel gets a file as it was sent, so a photo loses what its camera noted.
  async prepare(_, { media }) {
    const files: FormFile[] = []
    for (const [at, file] of media.entries()) {
      const name = `files[${at}]`
      files.push(file.contentType === 'image/jpeg' ? await formPicture(name, file) : formFile(name, file))
    }
    return files
  },

  async publish(call, publication, files) {
    const message = messageOf(publication)
    const sent =
      files.length === 0
        ? { json: message, deadlineMs: chatPublishMs }
        : { ...multipartBody({ payload_json: JSON.stringify(message) }, files), deadlineMs: providerUploadMs }
    try {
      // Without `wait` Discord says that all is well before it has looked at the message.
      return publishedAs(call, (await ask(call, '?wait=true', { method: 'POST', ...sent })).body)
    } catch (error) {
      throw isBlocked(error) ? asUnpublished(error) : asRefused(error)
    }
  },

  engagement: {
    postsPerRequest: 1,
    async read(call, [id]) {
      const answer = await ask(call, `/messages/${id}`, {}, [404])
      if (answer.status !== 404) return new Map([[id!, figuresIn(answer.body)]])
      if (answer.body['code'] === unknownMessage) return new Map([[id!, null]])
      throw refusalOf(answer, kindOf(answer) ?? 'transient')
    },
  },
}

function messageOf({ text, media }: Publication): object {
  const attachments = media.map(({ contentType, altText }, id) => {
    return { id, filename: fileNameOf(contentType, id), ...(altText !== '' && { description: altText }) }
  })
  return { content: text, allowed_mentions: { parse: [] }, ...(media.length > 0 && { attachments }) }
}

/** Each reaction is a like. A message without any has no list of them. */
function figuresIn({ reactions }: Fields): Figures {
  const likes = Array.isArray(reactions) ? sumOf(reactions.map((one) => countIn(membersOf(one)['count']))) : null
  return { likes, comments: null, shares: null, views: null }
}

/** A webhook may have been moved to another channel of its server. */
function publishedAs({ account: { metadata } }: Calling, message: Fields): Published {
  const id = idIn(message, 'id')
  return {
    externalId: id,
    url: `https://discord.com/channels/${metadata['guild_id']}/${idIn(message, 'channel_id')}/${id}`,
  }
}

/** Ids are parts of links. */
function idIn(fields: Fields, field: string): string {
  const id = textIn(fields, field)
  if (/^\d{1,20}$/.test(id)) return id
  throw odd(`The platform's answer has an ${field} that isn't a number`)
}

/** @throws ProviderError */
function ask(
  { credentials: { id, token }, signal }: Signed,
  path: string,
  more: Omit<Asked, 'url' | 'signal'> = {},
  expected: readonly number[] = [],
): Promise<Answer> {
  return askProvider({ ...more, url: `${api}/${id}/${token}${path}`, secret: token, signal, kindOf }, expected)
}

/** Discord's own refusals have a code. By 404 it has no such webhook any more, by 403 this message isn't allowed. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  if (body['code'] === blocked) return 'transient'
  return typeof body['code'] === 'number' ? kindOfAddressed(status) : undefined
}

function isBlocked(error: unknown): error is ProviderError {
  return error instanceof ProviderError && membersOf(error.cause)['code'] === blocked
}

/** Reads what the webhook is. @throws ProviderError where Discord has none, or it takes no messages */
export async function describeDiscord(credentials: DiscordCredentials, signal: AbortSignal) {
  const { body } = await ask({ credentials, signal }, '')
  if (body['type'] !== incomingWebhook) {
    throw new ProviderError({ kind: 'permanent', code: 'refused' }, 'The webhook takes no messages')
  }
  const [externalId, name] = [idIn(body, 'id'), textIn(body, 'name')]
  const metadata = { guild_id: idIn(body, 'guild_id'), channel_id: idIn(body, 'channel_id') }
  return { externalId, handle: `${name} (${externalId})`, displayName: name, metadata }
}
