/** Telegram's Bot API with one bot and its channels, as far as a client that publishes sees of them, at its own host. */
import { type Answered, type Asking, type HostedServer, type SentFile, startHostedServer } from './provider-server.ts'

export const botToken = '110201543:AAbotSECRETbotSECRETbotSECRET'
const bot = { id: 110201543, is_bot: true, first_name: 'Shop', username: 'shop_bot' }

/** The bot may post in the first two alone. */
export const channels = [
  { id: -1001234567890, type: 'channel', title: 'The Shop', username: 'theshop' },
  { id: -1009876543210, type: 'channel', title: 'Customers' },
  { id: -1005555555555, type: 'channel', title: 'Others', username: 'others' },
  { id: -1006666666666, type: 'supergroup', title: 'Talk', username: 'shoptalk' },
]

interface MadeMessage {
  readonly method: string
  readonly chat: number
  /** The first message has it, where it is an album. */
  readonly id: number
  readonly text: string
  readonly files: readonly { readonly type: string; readonly look: object; readonly bytes: Buffer }[]
}

export interface TelegramServer extends HostedServer {
  readonly state: { token: string; mayPost: boolean }
  readonly messages: MadeMessage[]
}

const refused = (code: number, description: string): Answered => ({
  status: code,
  body: { ok: false, error_code: code, description },
})
const invalid = (description: string) => refused(400, `Bad Request: ${description}`)
const ok = (result: unknown): Answered => ({ status: 200, body: { ok: true, result } })
const MB = 1_000_000
const signs = { photo: /^(89504e47|ffd8ff)/, video: /^.{8}66747970/ } as Readonly<Record<string, RegExp>>
const looks = ['width', 'height', 'supports_streaming']

export async function startTelegram(): Promise<TelegramServer> {
  const state = { token: botToken, mayPost: true }
  const messages: MadeMessage[] = []
  let last = 40

  const chatOf = (named: unknown) =>
    channels.find(({ id, username }) => String(named) === String(id) || named === `@${username}`)

  function showMember({ json }: Asking): Answered {
    const chat = chatOf(json?.chat_id)
    if (json?.user_id !== bot.id) return invalid('user not found')
    const mayPost = state.mayPost && channels.indexOf(chat!) < 2
    const rights = mayPost ? { status: 'administrator', can_post_messages: true } : { status: 'left' }
    return ok({ user: bot, ...rights })
  }

  /** Fields that the method doesn't have would be passed over; nobody should send any. */
  function post(
    method: string,
    { json, form }: Asking,
    names: readonly string[],
    read: (
      fields: Record<string, string>,
      files: readonly SentFile[],
    ) => Pick<MadeMessage, 'text' | 'files'> | Answered,
  ): Answered {
    const { chat_id, ...fields }: Record<string, string> = json ?? form?.fields ?? {}
    const stray = Object.keys(fields).find((name) => !names.includes(name))
    if (stray !== undefined) server.faults.push(`${method} has no ${stray}`)
    const chat = chatOf(chat_id)
    if (chat === undefined) return invalid('chat not found')
    if (!state.mayPost) return refused(403, 'Forbidden: bot is not a member of the channel chat')
    const made = read(fields, form?.files ?? [])
    if ('status' in made) return made
    const id = last + 1
    last += Math.max(1, made.files.length)
    messages.push({ method, chat: chat.id, id, ...made })
    const sent = (message_id: number) => ({ message_id, chat, date: 1_800_000_000 })
    return ok(method === 'sendMediaGroup' ? made.files.map((_, at) => sent(id + at)) : sent(id))
  }

  const sendMessage = (asking: Asking) =>
    post('sendMessage', asking, ['text'], ({ text = '' }) => {
      if (text.trim() === '') return invalid('message text is empty')
      return text.length > 4096 ? invalid('message is too long') : { text, files: [] }
    })

  const sendFile = (type: 'photo' | 'video', method: string) => (asking: Asking) =>
    post(method, asking, ['caption', ...(type === 'video' ? looks : [])], ({ caption = '', ...look }, files) => {
      const fault = faultOf(type, files[0]) ?? (files[0]?.name === type && files.length === 1 ? null : 'file')
      if (fault !== null || caption.length > 1024) return invalid(fault ?? 'message caption is too long')
      return { text: caption, files: [{ type, look, bytes: files[0]!.bytes }] }
    })

  const sendMediaGroup = (asking: Asking) =>
    post('sendMediaGroup', asking, ['media'], (fields, files) => {
      const items: Record<string, string>[] = JSON.parse(fields['media'] ?? '[]')
      if (items.length < 2 || items.length > 10) return invalid('wrong number of messages to send as an album')
      const found = items.map(({ type = '', media, caption = '', ...look }) => {
        const file = files.find(({ name }) => media === `attach://${name}`)
        const isStray = Object.keys(look).some((name) => type !== 'video' || !looks.includes(name))
        const fault = isStray ? 'stray' : caption.length > 1024 ? 'caption' : faultOf(type, file)
        return { type, look, caption, fault, bytes: file?.bytes ?? Buffer.alloc(0) }
      })
      const at = found.findIndex(({ fault }) => fault !== null)
      if (at >= 0) return invalid(`failed to send message #${at + 1} with the error message "${found[at]!.fault}"`)
      return {
        text: found.map(({ caption }) => caption).join(''),
        files: found.map(({ type, look, bytes }) => ({ type, look, bytes })),
      }
    })

  const ofBot =
    (route: (asking: Asking) => Answered) =>
    (asking: Asking): Answered => {
      if (asking.headers['host'] !== 'api.telegram.org') return { status: 404, body: '' }
      return asking.id === `bot${state.token}` ? route(asking) : refused(401, 'Unauthorized: invalid token specified')
    }
  const server = await startHostedServer(
    { hosts: /^https:\/\/api\.telegram\.org$/ },
    {
      'POST /:id/getMe': ofBot(() => ok(bot)),
      'POST /:id/getChat': ofBot(({ json }) => {
        const chat = chatOf(json?.chat_id)
        return chat === undefined ? invalid('chat not found') : ok(chat)
      }),
      'POST /:id/getChatMember': ofBot(showMember),
      'POST /:id/sendMessage': ofBot(sendMessage),
      'POST /:id/sendPhoto': ofBot(sendFile('photo', 'sendPhoto')),
      'POST /:id/sendVideo': ofBot(sendFile('video', 'sendVideo')),
      'POST /:id/sendMediaGroup': ofBot(sendMediaGroup),
    },
  )
  return Object.assign(server, { state, messages })
}

function faultOf(type: string, file: SentFile | undefined): string | null {
  if (file === undefined || file.bytes.length === 0) return 'file must be non-empty'
  if (file.bytes.length > (type === 'photo' ? 10 : 50) * MB) return `file is too big for a ${type}`
  return signs[type]?.test(file.bytes.toString('hex', 0, 12)) ? null : 'IMAGE_PROCESS_FAILED'
}
