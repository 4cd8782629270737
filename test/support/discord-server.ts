/** Discord with one incoming webhook, as far as a client that publishes sees of it, at its own host. */
import { type Answered, type Asking, type HostedServer, startHostedServer } from './provider-server.ts'

export const webhook = { id: '1223704706495545344', token: 'discord-SECRET_discord-SECRET' }
export const webhookUrl = `https://discord.com/api/webhooks/${webhook.id}/${webhook.token}`
const place = { channel_id: '199737254929760256', guild_id: '199737254929760000' }

interface MadeMessage {
  readonly id: string
  readonly content: string
  readonly files: readonly { readonly name: string; readonly description: string | undefined; readonly bytes: Buffer }[]
}

export interface DiscordServer extends HostedServer {
  readonly state: {
    id: string
    isThere: boolean
    /** 2: it follows another channel, and takes no messages. */
    type: number
    reactions: { count: number }[] | undefined
  }
  readonly messages: MadeMessage[]
}

const refused = (status: number, code: number, message: string): Answered => ({ status, body: { code, message } })
const invalid = (message: string) => refused(400, 50_035, `Invalid Form Body: ${message}`)
const members = ['content', 'allowed_mentions', 'attachments']

export async function startDiscord(): Promise<DiscordServer> {
  const state: DiscordServer['state'] = { id: webhook.id, isThere: true, type: 1, reactions: undefined }
  const messages: MadeMessage[] = []
  let last = 1_300_000_000_000_000_000n

  function addMessage({ json, form, query }: Asking): Answered {
    if (query.get('wait') !== 'true') server.faults.push('without `wait` nobody knows what became of the message')
    const body = json ?? JSON.parse(form?.fields['payload_json'] ?? '{}')
    const stray = Object.keys(body).find((name) => !members.includes(name))
    if (stray !== undefined) server.faults.push(`there is no ${stray}`)
    if (JSON.stringify(body.allowed_mentions) !== '{"parse":[]}') server.faults.push('anybody may be mentioned')
    const { content = '', attachments = [] } = body
    const sent = form?.files ?? []
    if (content.trim() === '' && sent.length === 0) return refused(400, 50_006, 'Cannot send an empty message')
    if ([...content].length > 2000 || sent.length > 10) return invalid('too long')
    if (sent.some(({ bytes }) => bytes.length > 10_000_000)) return refused(413, 40_005, 'Request entity too large')
    const files = sent.map(({ name, filename, bytes }) => {
      const about = attachments.find(({ id }: { id: number }) => name === `files[${id}]`)
      if (about?.filename !== filename) server.faults.push(`${name} is no attachment`)
      return { name: filename, description: about?.description, bytes }
    })
    if (attachments.length !== sent.length) return invalid('attachments')
    if (files.some(({ description = '' }) => description.length > 1024)) return invalid('description')
    last += 1n
    messages.push({ id: String(last), content, files })
    return {
      status: 200,
      body: { id: String(last), type: 0, content, channel_id: place.channel_id, webhook_id: webhook.id },
    }
  }

  function show({ id }: Asking): Answered {
    const [, message] = id.split('/messages/')
    if (message === undefined)
      return { status: 200, body: { ...webhook, id: state.id, ...place, name: 'Captain Hook', type: state.type } }
    const made = messages.find((one) => one.id === message)
    if (made === undefined) return refused(404, 10_008, 'Unknown Message')
    const { reactions } = state
    return { status: 200, body: { id: message, content: made.content, ...(reactions && { reactions }) } }
  }

  const ofWebhook =
    (route: (asking: Asking) => Answered) =>
    (asking: Asking): Answered => {
      if (asking.headers['host'] !== 'discord.com') return { status: 404, body: '' }
      const [id, token] = asking.id.split('/')
      if (id !== state.id || !state.isThere) return refused(404, 10_015, 'Unknown Webhook')
      return token === webhook.token ? route(asking) : refused(401, 50_027, 'Invalid Webhook Token')
    }
  const server = await startHostedServer(
    { hosts: /^https:\/\/discord\.com$/ },
    {
      'GET /api/v10/webhooks/:id': ofWebhook(show),
      'POST /api/v10/webhooks/:id': ofWebhook(addMessage),
    },
  )
  return Object.assign(server, { state, messages })
}
