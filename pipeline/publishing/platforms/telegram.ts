/**
 * A channel on Telegram, by the token of a bot that may post there. Methods, fields and bounds are those of the Bot API
 * (core.telegram.org/bots/api, 2026). Texts have no `parse_mode`, so nothing in a caption is markup.
 *
 * The Bot API knows no key of ours and lists no posts of a channel. After an attempt whose outcome isn't known the post
 * fails. The token is a part of each request's path: nothing but the request has that address.
 */
import { membersOf } from '../../../schemas/json-object.ts'
import { chatPublishMs, providerUploadMs } from '../../../schemas/limits/publish-limits.ts'
import { kindOf as mediaKindOf } from '../../../schemas/reference/providers.ts'
import {
  type Adapter,
  asRefused,
  type Call,
  type ErrorKind,
  externalIdOf,
  isRefusal,
  ProviderError,
  type Publication,
  type Published,
  type PublishedMedia,
} from '../adapter.ts'
import { outcomeUnknown } from '../look-up.ts'
import { formFile, multipartBody } from '../media-body.ts'
import { type Answer, type Asked, askProvider, kindOfAddressed, objectIn, odd, textIn } from '../request.ts'

export interface TelegramCredentials {
  readonly token: string
}

type Signed = Pick<Call<TelegramCredentials>, 'credentials' | 'signal'>
type Fields = Readonly<Record<string, unknown>>

const api = 'https://api.telegram.org'

export const telegram: Adapter<TelegramCredentials, null> = {
  name: 'telegram',

  lookUp: async () => {
    throw outcomeUnknown('Telegram')
  },

  // A file is sent with the message that shows it.
  prepare: async () => null,

  async publish(call, { text, media }) {
    const { method, ...body } = requestOf(externalIdOf(call), text, media)
    try {
      const result = await ask(call, method, body)
      return publishedAs(Array.isArray(result) ? result[0] : result)
    } catch (error) {
      throw media.length > 1 && isRefusal(error) && mayBeInPart(error) ? inPart(error) : asRefused(error)
    }
  },
}

type Sent = Pick<Asked, 'json' | 'headers' | 'body' | 'deadlineMs'> & { readonly method: string }

/** The caption of an album is that of its first file. */
function requestOf(chat_id: string, text: string, media: Publication['media']): Sent {
  const [first, ...more] = media
  if (first === undefined) return { method: 'sendMessage', json: { chat_id, text }, deadlineMs: chatPublishMs }
  const deadlineMs = providerUploadMs
  if (more.length > 0) {
    const items = media.map((file, at) => {
      return { type: typeOf(file), media: `attach://file${at}`, ...(at === 0 && { caption: text }), ...lookOf(file) }
    })
    const files = media.map((file, at) => formFile(`file${at}`, file))
    const form = multipartBody({ chat_id, media: JSON.stringify(items) }, files)
    return { method: 'sendMediaGroup', ...form, deadlineMs }
  }
  const type = typeOf(first)
  const look = Object.entries(lookOf(first)).map(([name, value]) => [name, String(value)])
  const form = multipartBody({ chat_id, caption: text, ...Object.fromEntries(look) }, [formFile(type, first)])
  return { method: type === 'photo' ? 'sendPhoto' : 'sendVideo', ...form, deadlineMs }
}

const typeOf = ({ contentType }: PublishedMedia) => (mediaKindOf(contentType) === 'image' ? 'photo' : 'video')

/** Without its size some clients show a video as a square. */
function lookOf(file: PublishedMedia): object {
  const { width, height } = file
  if (typeOf(file) === 'photo') return {}
  return { supports_streaming: true, ...(width !== null && height !== null && { width, height }) }
}

/**
 * An album is sent message by message, and refused where one of them is (`on_message_send_failed` of Telegram's own server
 * of the Bot API). The answer doesn't tell whether others are there.
 */
function mayBeInPart({ failure, message }: ProviderError): boolean {
  return failure.kind === 'rate_limited' || /failed to send message #/i.test(message)
}

/** Where a limit refused it, the account's other posts wait. */
function inPart({ failure, message, cause }: ProviderError): ProviderError {
  const said = `A part of the album may be there. Look there first: scheduling it again publishes all of it. ${message}`
  const [, seconds] = /retry after (\d{1,6})/i.exec(message) ?? []
  const retryAfterMs = seconds === undefined ? failure.retryAfterMs : Number(seconds) * 1000
  return new ProviderError({ kind: 'unknown', code: 'outcome_unknown', retryAfterMs }, said, { cause })
}

/** A private channel's posts have addresses for its members. */
function publishedAs(message: unknown): Published {
  const id = numberIn(membersOf(message), 'message_id')
  const chat = objectIn(membersOf(message), 'chat')
  const name = nameIn(chat)
  const path = name ?? `c/${String(numberIn(chat, 'id')).replace(/^-100/, '')}`
  return { externalId: String(id), url: `https://t.me/${path}/${id}` }
}

/** It is a part of links. */
function nameIn({ username }: Fields): string | null {
  return typeof username === 'string' && /^\w{1,64}$/.test(username) ? username : null
}

function numberIn(fields: Fields, field: string): number {
  const value = fields[field]
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw odd(`The platform's answer has no ${field}`)
}

/** @returns the answer's `result`. @throws ProviderError */
async function ask(
  { credentials: { token }, signal }: Signed,
  method: string,
  more: Omit<Asked, 'url' | 'method' | 'signal'>,
): Promise<unknown> {
  const { body } = await askProvider({
    ...more,
    url: `${api}/bot${token}/${method}`,
    secret: token,
    method: 'POST',
    signal,
    kindOf,
  })
  if (body['ok'] !== true) throw odd("The platform's answer isn't ok")
  return body['result']
}

/** Telegram's own refusals have `ok`. By 404 it knows no such token, by 403 the bot may not post in the channel. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  return body['ok'] === false ? kindOfAddressed(status) : undefined
}

/**
 * Reads whose token it is, and whether the bot may post in the channel.
 * @param channel its `@name` or number
 * @throws ProviderError where the token isn't accepted, or the bot may not post, or it is no channel
 */
export async function describeTelegram(credentials: TelegramCredentials, channel: string, signal: AbortSignal) {
  const read = async (method: string, json: object) => membersOf(await ask({ credentials, signal }, method, { json }))
  const bot = await read('getMe', {})
  const chat = await read('getChat', { chat_id: channel })
  if (chat.type !== 'channel') throw refused('The chat is no channel')
  const id = numberIn(chat, 'id')
  const member = await read('getChatMember', { chat_id: id, user_id: numberIn(bot, 'id') })
  if (member.can_post_messages !== true) {
    throw refused(`The bot @${textIn(bot, 'username')} may not post: make it an administrator of the channel`)
  }
  const [title, name] = [textIn(chat, 'title'), nameIn(chat)]
  return {
    externalId: String(id),
    handle: name === null ? `${title} (${id})` : `@${name}`,
    displayName: title,
    metadata: { channel: name === null ? String(id) : `@${name}`, bot: `@${textIn(bot, 'username')}` },
  }
}

const refused = (message: string) => new ProviderError({ kind: 'permanent', code: 'refused' }, message)
