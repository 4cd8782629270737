/** Sends a report or an alert to its recipient: by mail, or to a chat channel. */
import type { Postgres } from '../../postgres/client.ts'
import { disableChatChannel, readChannelTarget } from '../../postgres/tables/messages/chat-channels.ts'
import type { Destination } from '../../postgres/tables/messages/report-recipients.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import { makeUnsubscribeToken, type Subscription } from '../../runtime/crypto/unsubscribe-token.ts'
import { ChannelGone, type ChatPoster } from '../chat/poster.ts'
import { composeMail } from './mail-layout.ts'
import type { Mailer } from './mailer.ts'
import type { Message } from './message.ts'
import { SendFailed } from './send-failed.ts'

/** All that messages are sent with. */
export interface DeliveryContext {
  readonly pg: Postgres
  readonly clock: Clock
  /** Undefined: mail isn't set up, and recipients of mail wait. */
  readonly mailer: Mailer | undefined
  readonly chat: ChatPoster
  /** Seals the tokens of links, and opens the addresses of channels. */
  readonly box: SecretBox
  /** Empty where it isn't set; mail needs it. */
  readonly apiHost: string
}

interface Delivery {
  readonly message: Message
  readonly to: Destination
  readonly workspaceId: number
  readonly from: Subscription['from']
  /** For mails alone, and the same for each attempt. */
  readonly messageId: string
}

/** In metrics. */
export function wayOf({ channelId }: Destination): 'mail' | 'chat' {
  return channelId === null ? 'mail' : 'chat'
}

/** A channel that its chat doesn't know any more is turned off. @throws SendFailed */
export async function deliver(context: DeliveryContext, delivery: Delivery, giveUp: AbortSignal): Promise<void> {
  const { email, channelId } = delivery.to
  if (channelId !== null) return deliverToChannel(context, delivery.message, channelId)
  const { mailer, box, apiHost } = context
  if (mailer === undefined || email === null) throw new SendFailed('mail is not set up')
  const { message, workspaceId, from, messageId } = delivery
  const unsubscribeUrl = `${apiHost}/unsubscribe/${makeUnsubscribeToken(box, { workspaceId, email, from })}`
  await mailer.send({ ...composeMail({ ...message, unsubscribeUrl }), to: email, messageId }, giveUp)
}

async function deliverToChannel(
  { pg, clock, chat, box }: DeliveryContext,
  message: Message,
  channelId: number,
): Promise<void> {
  const target = await readChannelTarget(pg, channelId)
  if (target === undefined) throw new SendFailed('the channel is removed or turned off', { isFinal: true })
  try {
    await chat.post({ kind: target.kind, address: opened(box, target.address) }, message)
  } catch (error) {
    if (error instanceof ChannelGone) {
      await disableChatChannel(pg, channelId, { failure: error.message, now: new Date(clock.now()) })
    }
    throw error
  }
}

/** @throws ChannelGone */
function opened(box: SecretBox, sealed: Buffer): string {
  const address = box.open(sealed)
  if (address === null) throw new ChannelGone('the address was stored with another SECRET_KEY: add the channel anew')
  return address
}
