/** Chat channels that get reports and alerts, as the dashboard shows them. */
import { z } from 'zod'
import { chatKinds } from '../chat-kinds.ts'
import { chatAddressLengthMax, chatNameLengthMax } from '../limits/chat-limits.ts'
import { isWebUrl } from '../web-url.ts'
import { dateTime } from './date-time.ts'
import { nameOf } from './plain-line.ts'
import { conversionNames, reportKinds, reportState } from './report-recipient.ts'

const channelContents = [...reportKinds, 'alerts', 'failures', 'conversions', 'payments'] as const
export type ChannelContent = (typeof channelContents)[number]

const content = z.enum(channelContents)
const contents = z.array(content).min(1).max(channelContents.length)
const name = nameOf(chatNameLengthMax)

export const ChatChannelCreate = z.strictObject({
  name,
  url: z
    .string()
    .min(1)
    .max(chatAddressLengthMax)
    .refine(isWebUrl, 'The URL must begin with https://, and have a host, no credentials and no blanks'),
  /** For a server that takes what Slack takes; other chats are known by the host. */
  kind: z.literal('slack').optional(),
  contents,
  conversion_names: conversionNames.default([]),
})

/** `is_disabled` can only be taken back: a channel is turned off where its chat doesn't know it any more. */
export const ChatChannelUpdate = z.strictObject({
  name: name.optional(),
  contents: contents.optional(),
  conversion_names: conversionNames.optional(),
  is_disabled: z.literal(false).optional(),
})

export const ChatChannelResource = z.object({
  id: z.int(),
  kind: z.enum(chatKinds),
  name: z.string(),
  host: z.string(),
  /** The last characters of the address, which is shown nowhere. */
  ending: z.string(),
  created_at: dateTime,
  is_disabled: z.boolean(),
  /** Why it was turned off. */
  failure: z.string().nullable(),
  /** The events whose conversions it is told of; empty: all. */
  conversion_names: z.array(z.string()),
  contents: z.array(
    z.object({
      /** `POST /v1/report-recipients/{recipient_id}/send` sends one now: without reports that of the last week. */
      recipient_id: z.int(),
      content,
      ...reportState,
    }),
  ),
})

export const ChatChannels = z.object({ channels: z.array(ChatChannelResource) })
