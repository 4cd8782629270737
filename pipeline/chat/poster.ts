/**
 * Posts messages to incoming webhooks of chats: a request with a deadline, of whose answer little is read. Redirects aren't
 * followed. Nothing but the request has the address: no error names it.
 */
import assert from 'node:assert'
import type { Clock } from '../../runtime/clock.ts'
import { failureText } from '../../runtime/outbound/failure-text.ts'
import { isUnsent } from '../../runtime/outbound/unsent.ts'
import { type ChatKind, chatOf } from '../../schemas/chat-kinds.ts'
import { chatBodyBytesMax } from '../../schemas/limits/chat-limits.ts'
import type { Message } from '../reports/message.ts'
import { SendFailed } from '../reports/send-failed.ts'
import { retryAfterMs } from '../webhooks/attempt.ts'
import { type Answer, type Dispatcher, sendRequest } from '../webhooks/send-request.ts'
import { bodyOf } from './write-body.ts'

/** The chat doesn't know the channel any more. */
export class ChannelGone extends SendFailed {
  override name = 'ChannelGone'
  constructor(message: string) {
    super(message, { isFinal: true })
  }
}

export interface ChatPoster {
  /** @throws SendFailed, ChannelGone */
  post(target: { readonly kind: ChatKind; readonly address: string }, message: Message): Promise<void>
}

const headers = { 'content-type': 'application/json; charset=UTF-8', 'user-agent': 'svc-reports' }

export function makeChatPoster(agent: Dispatcher, clock: Clock): ChatPoster {
  return {
    post: async ({ kind, address }, message) => {
      const body = JSON.stringify(bodyOf(kind, message, chatOf(new URL(address)) === undefined))
      assert(Buffer.byteLength(body) <= chatBodyBytesMax)
      let answer: Answer
      try {
        answer = await sendRequest(requestUrl(kind, address), headers, body, agent)
      } catch (error) {
        throw new SendFailed(`the chat gave no answer: ${failureText(error)}`, { isUncertain: !isUnsent(error) })
      }
      demandTaken(kind, answer, clock.now())
    },
  }
}

/** Without `wait` Discord says that all is well before it has looked at the message. */
function requestUrl(kind: ChatKind, address: string): string {
  if (kind !== 'discord') return address
  const url = new URL(address)
  url.searchParams.set('wait', 'true')
  return url.href
}

/** Connectors of Teams answer 200 with this text where Teams itself refused. */
const refusedByTeams = /Microsoft Teams endpoint returned HTTP error (\d{3})/

function demandTaken(kind: ChatKind, { status: answered, body, retryAfter }: Answer, now: number): void {
  const inside = kind === 'teams' ? refusedByTeams.exec(body) : null
  const status = inside === null ? answered : Number(inside[1])
  if (status >= 200 && status < 300) return
  const said = `the chat answered ${status}`
  if (status === 404 || status === 410) throw new ChannelGone(`${said}: it does not know this address any more`)
  const waitMs = status === 429 ? (retryAfterMs(retryAfter, now) ?? 0) : 0
  // Nobody knows what became of the request, but where a server was too busy to take it.
  const isUncertain = status === 408 || (status >= 500 && status !== 503)
  throw new SendFailed(said, { isUncertain, waitMs })
}
