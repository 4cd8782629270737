/**
 * Slack, Discord, Teams and Google Chat on one local server, which tells them by the `Host` that was asked. Each checks a
 * request as the real one does, and answers as it does.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Agent, type Dispatcher } from 'undici'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { ChatPoster } from '../../pipeline/chat/poster.ts'
import type { ChatKind } from '../../schemas/chat-kinds.ts'
import { listening } from './listening.ts'

/** Where no message goes to a chat. */
export const noChat: ChatPoster = { post: () => Promise.reject(new Error('no chat was expected')) }

/** Addresses of the form that each chat gives out; their secrets end in another four characters each. */
export const addresses: Readonly<Record<ChatKind, string>> = {
  slack: 'https://hooks.slack.com/services/T0000SECRET/B0000SECRET/slackSECRETaaaa',
  discord: 'https://discord.com/api/webhooks/1234567890/discord-SECRET_bbbb',
  teams:
    'https://prod-01.westeurope.logic.azure.com:443/workflows/abcSECRET/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=teamsSECRETcccc',
  google_chat: 'https://chat.googleapis.com/v1/spaces/AAAASECRET/messages?key=keySECRET&token=googleSECRETdddd',
}

type Json = Readonly<Record<string, unknown>>

interface ChatServer {
  /** Leads every host to this server. */
  readonly agent: Dispatcher
  /** Messages that a chat took. */
  readonly messages: { readonly kind: ChatKind; readonly body: Json }[]
  /** Requests that came. */
  asked: number
  /** In place of the chat's own answer: an answer, or none at all. */
  instead:
    | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
    | 'drop'
    | null
  close(): Promise<void>
}

/** For the tests of a file: each finds it without messages, and answering as the chats do. */
export function setUpChatServer() {
  let server: ChatServer
  beforeAll(async () => {
    server = await startChatServer()
  })
  beforeEach(() => {
    server.messages.length = 0
    Object.assign(server, { instead: null, asked: 0 })
  })
  afterAll(() => server?.close())
  return {
    get agent() {
      return server.agent
    },
    get messages() {
      return server.messages
    },
    get asked() {
      return server.asked
    },
    set instead(instead: ChatServer['instead']) {
      server.instead = instead
    },
  }
}

async function startChatServer(): Promise<ChatServer> {
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  const { url } = await listening(server)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request)
    state.asked += 1
    const { instead } = state
    if (instead === 'drop') return void request.socket.destroy()
    if (instead !== null) return void response.writeHead(instead.status, instead.headers).end(instead.body)
    const { host = '' } = request.headers
    const kind = kindAt(new URL(request.url!, `https://${host}`))
    if (request.method !== 'POST' || kind === undefined) return void response.writeHead(404).end('no_service')
    const isCompatible = kind === 'slack' && !host.startsWith('hooks.slack')
    const fault = faultOf(kind, request.headers['content-type'], raw, isCompatible)
    if (fault !== undefined) return void response.writeHead(400).end(fault)
    state.messages.push({ kind, body: JSON.parse(raw) })
    if (kind === 'teams') response.writeHead(202).end()
    else if (kind === 'discord' && !request.url!.includes('wait=true')) response.writeHead(204).end()
    else response.writeHead(200).end(kind === 'slack' ? 'ok' : '{}')
  }

  const agent = new Agent()
  const redirecting = agent.compose((dispatch) => (options, handler) => {
    const { host } = new URL(String(options.origin))
    return dispatch({ ...options, origin: url, headers: { ...(options.headers as object), host } }, handler)
  })
  const state: ChatServer = {
    agent: redirecting,
    messages: [],
    asked: 0,
    instead: null,
    close: async () => {
      await agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return state
}

function kindAt({ hostname, pathname, searchParams }: URL): ChatKind | undefined {
  if (hostname === 'chat.example.com' && pathname.startsWith('/hooks/')) return 'slack'
  const known = (Object.entries(addresses) as [ChatKind, string][]).find(([, address]) => {
    const own = new URL(address)
    const isQueried = [...own.searchParams].every(([name, value]) => searchParams.get(name) === value)
    return own.hostname === hostname && own.pathname === pathname && isQueried
  })
  return known?.[0]
}

const checks: Readonly<Record<ChatKind, (body: Json, isCompatible: boolean) => string | undefined>> = {
  slack: faultInSlack,
  discord: faultInDiscord,
  teams: faultInTeams,
  google_chat: faultInGoogleChat,
}

/** Why the chat refuses a body; undefined where it takes it, and nothing in it mentions anybody or leads elsewhere. */
export function faultOf(
  kind: ChatKind,
  contentType: string | undefined,
  raw: string,
  isCompatible = false,
): string | undefined {
  if (!/^application\/json; charset=utf-8$/i.test(contentType ?? '')) return 'invalid content type'
  const bytes = Buffer.byteLength(raw)
  if (bytes > (kind === 'teams' ? 28 * 1024 : 32_000)) return `too large: ${bytes} bytes`
  return checks[kind](JSON.parse(raw) as Json, isCompatible)
}

const others = (body: Json, names: readonly string[]) => Object.keys(body).filter((name) => !names.includes(name))
const isLong = (value: unknown, max: number) => typeof value !== 'string' || value.length === 0 || value.length > max
/** The rest without blocks of code; one that doesn't end is none. */
const outsideCode = (markup: string) => markup.replace(/```[\s\S]*?```/g, '')
const ours = /^<https:\/\/api\.example\.com\/dashboard[^|<>]*\|(?:All figures|Posts|Settings)>$/

/** `&`, `<` and `>` are entities, or the one link. @param isCompatible for Mattermost, which shows entities within code as they are */
function faultInSlack(body: Json, isCompatible: boolean): string | undefined {
  if (isLong(body['text'], 40_000)) return 'no_text'
  const blocks = body['blocks'] as { type: string; text: { type: string; text: string; verbatim: boolean } }[]
  if (blocks.length > 50) return 'invalid_blocks'
  const isWrong = ({ type, text }: (typeof blocks)[0]) =>
    type !== 'section' || text.type !== 'mrkdwn' || isLong(text.text, 3_000)
  if (blocks.some(isWrong)) return 'invalid_blocks'
  for (const markup of [body['text'] as string, ...blocks.map(({ text }) => text.text)]) {
    if ((markup.match(/<[^>]*>?/g) ?? []).some((tag) => !ours.test(tag))) return 'a tag of a stranger'
    if (/&(?!amp;|lt;|gt;)/.test(isCompatible ? outsideCode(markup) : markup)) return 'a bare &'
    if (/@\w/.test(markup)) return 'a mention on a compatible server'
    if (/`|\]\(/.test(outsideCode(markup))) return 'markup outside code'
  }
  return undefined
}

function faultInDiscord(body: Json): string | undefined {
  if (others(body, ['content', 'embeds', 'allowed_mentions']).length > 0) return 'an unknown member'
  if (isLong(body['content'], 2_000)) return '50035 content'
  if (JSON.stringify(body['allowed_mentions']) !== '{"parse":[]}') return 'anybody may be mentioned'
  const embeds = body['embeds'] as { description?: string; fields: { name: string; value: string }[] }[]
  if (embeds.length > 10) return '50035 embeds'
  let together = 0
  for (const { description, fields } of embeds) {
    if (description !== undefined && isLong(description, 4_096)) return '50035 description'
    if (description === undefined && fields.length === 0) return '50006 an empty embed'
    if (fields.length > 25 || fields.some(({ name, value }) => isLong(name, 256) || isLong(value, 1_024)))
      return '50035 fields'
    if (fields.some(({ value }) => outsideCode(value) !== '')) return 'a field outside code'
    together += [description ?? '', ...fields.flatMap(({ name, value }) => [name, value])].join('').length
  }
  return together > 6_000 ? '50035 more than 6000 characters' : undefined
}

interface CardElement {
  readonly type: string
  readonly inlines?: readonly { readonly type: string; readonly text: string }[]
}

function faultInTeams(body: Json): string | undefined {
  if (body['type'] !== 'message') return 'no message'
  const [attachment] = body['attachments'] as { contentType: string; content: Json }[]
  const { contentType, content } = attachment!
  if (contentType !== 'application/vnd.microsoft.card.adaptive' || content['type'] !== 'AdaptiveCard') return 'no card'
  if (!/^1\.[0-5]$/.test(String(content['version']))) return 'a version that Teams does not show'
  const elements = content['body'] as CardElement[]
  // A TextBlock knows markup.
  const isWrong = ({ type, inlines = [] }: CardElement) =>
    type !== 'RichTextBlock' || inlines.length === 0 || inlines.some((run) => run.type !== 'TextRun' || run.text === '')
  if (elements.length === 0 || elements.some(isWrong)) return 'a wrong element'
  const actions = (content['actions'] ?? []) as { type: string; url: string }[]
  return actions.some(({ type, url }) => type !== 'Action.OpenUrl' || !url.startsWith('https://'))
    ? 'a wrong action'
    : undefined
}

function faultInGoogleChat(body: Json): string | undefined {
  if (others(body, ['text']).length > 0) return 'Invalid JSON payload received. Unknown name'
  if (isLong(body['text'], 4_096)) return 'Message cannot be empty, or is too long'
  const markup = body['text'] as string
  if ((markup.match(/<[^>]*>?/g) ?? []).some((tag) => !ours.test(tag))) return 'a tag of a stranger'
  return outsideCode(markup).includes('`') ? 'markup outside code' : undefined
}
