/**
 * Chat channels that get reports and alerts: added and changed by owner and admins in the dashboard. No key reaches them. The
 * address of a channel is taken once, and never given out.
 */
import { z } from 'zod'
import {
  type ChannelRow,
  type ChatChannel,
  deleteChatChannel,
  insertChatChannel,
  listChannelAddresses,
  listChannelRows,
  listChatChannels,
  updateChatChannel,
} from '../../../postgres/tables/messages/chat-channels.ts'
import { countRecipients } from '../../../postgres/tables/messages/report-recipients.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { type ChatKind, chatOf } from '../../../schemas/chat-kinds.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { stringTooLong, valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { chatAddressLengthMax, chatEndingLength, chatEndingSecretMin } from '../../../schemas/limits/chat-limits.ts'
import { reportRecipientsMax } from '../../../schemas/limits/report-limits.ts'
import {
  ChatChannelCreate,
  type ChatChannelResource,
  ChatChannels,
  ChatChannelUpdate,
} from '../../../schemas/resources/chat-channel.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import { defineOperation } from '../../operations/define.ts'
import { faultOfTarget } from '../../operations/public-target.ts'
import { serializeState } from './report-recipients.ts'

const ChannelId = z.object({ id: z.int() })
const inPath = z.object({ channel_id: idInPath('channel') })

const listChannels = defineOperation({
  name: 'chat_channel.list',
  http: { method: 'GET', path: '/v1/chat-channels' },
  summary: 'List the chat channels that get reports and alerts.',
  tag: 'Workspace',
  effect: 'read',
  scope: manageScope,
  input: {},
  output: ChatChannels,
  async handle({ workspace, clock, stores: { pg } }) {
    const channels = await listChatChannels(pg, workspace.id)
    const rows = await listChannelRows(pg, workspace.id)
    return { channels: channels.map((channel) => serialize(channel, rows, clock.now())) }
  },
})

const addChannel = defineOperation({
  name: 'chat_channel.create',
  http: { method: 'POST', path: '/v1/chat-channels' },
  summary: 'Add a chat channel by the address of its incoming webhook.',
  tag: 'Workspace',
  effect: 'create',
  scope: manageScope,
  input: { body: ChatChannelCreate },
  output: ChannelId,
  problems: ['report_recipients_full', 'chat_channel_known'],
  async handle({
    body: { name, url, kind, contents, conversion_names },
    workspace,
    clock,
    config,
    stores: { pg, box },
  }) {
    const address = new URL(url)
    address.hash = ''
    // A name with its root's dot is the same host.
    address.hostname = address.hostname.replace(/\.$/, '')
    // Written as it is sent, an address may be longer.
    if (address.href.length > chatAddressLengthMax) {
      throw invalid([stringTooLong(['body', 'url'], url, chatAddressLengthMax)])
    }
    const told = kindOf(address, kind, config.allowPrivateTargets)
    await lockWorkspace(pg, workspace.id)
    if ((await countRecipients(pg, workspace.id)) >= reportRecipientsMax) throw problem('report_recipients_full')
    const known = await listChannelAddresses(pg, workspace.id)
    // One that was stored with another SECRET_KEY is like no other.
    if (known.some((one) => box.open(one) === address.href)) throw problem('chat_channel_known')
    const id = await insertChatChannel(pg, {
      workspaceId: workspace.id,
      kind: told,
      name,
      contents,
      now: new Date(clock.now()),
      conversionNames: conversion_names,
      address: box.seal(address.href),
      host: address.hostname,
      ending: endingOf(address),
    })
    return { id }
  },
})

const updateChannel = defineOperation({
  name: 'chat_channel.update',
  http: { method: 'PATCH', path: '/v1/chat-channels/{channel_id}' },
  summary: 'Change the name of a chat channel or what it gets, or turn it on again.',
  tag: 'Workspace',
  effect: 'update',
  scope: manageScope,
  input: { path: inPath, body: ChatChannelUpdate },
  output: ChannelId,
  problems: ['chat_channel_not_found'],
  async handle({ path: { channel_id: id }, body, workspace, clock, stores: { pg } }) {
    const isThere = await updateChatChannel(
      pg,
      { id, workspaceId: workspace.id },
      {
        name: body.name,
        contents: body.contents,
        conversionNames: body.conversion_names,
        isEnabled: body.is_disabled === false || undefined,
        now: new Date(clock.now()),
      },
    )
    if (!isThere) throw problem('chat_channel_not_found')
    return { id }
  },
})

const removeChannel = defineOperation({
  name: 'chat_channel.delete',
  http: { method: 'DELETE', path: '/v1/chat-channels/{channel_id}' },
  summary: 'Remove a chat channel.',
  tag: 'Workspace',
  effect: 'delete',
  scope: manageScope,
  input: { path: inPath },
  output: ChannelId,
  problems: ['chat_channel_not_found'],
  async handle({ path: { channel_id: id }, workspace, stores: { pg } }) {
    if (!(await deleteChatChannel(pg, id, workspace.id))) throw problem('chat_channel_not_found')
    return { id }
  },
})

export const chatChannelOperations = [listChannels, addChannel, updateChannel, removeChannel]

/** @throws Problem 422 */
function kindOf(address: URL, chosen: 'slack' | undefined, allowPrivate: boolean): ChatKind {
  const refusal = (field: 'url' | 'kind', text: string) =>
    invalid([valueError(['body', field], field === 'url' ? address.href : chosen, text)])
  const fault = allowPrivate ? undefined : faultOfTarget(address)
  if (fault !== undefined) throw refusal('url', fault)
  const chat = chatOf(address)
  if (chat !== undefined) {
    if (!chat.isWebhook) throw refusal('url', `This is no address of an incoming webhook of ${chat.name}`)
    if (chosen !== undefined && chosen !== chat.kind) throw refusal('kind', `This is an address of ${chat.name}`)
    return chat.kind
  }
  if (chosen !== undefined) return chosen
  throw refusal(
    'url',
    'The host is none of the chats that are known: choose the kind slack where it takes what Slack takes',
  )
}

/** Empty where it would be a large part of what is secret. */
function endingOf({ pathname, search }: URL): string {
  const secret = pathname + search
  return secret.length < chatEndingSecretMin ? '' : secret.slice(-chatEndingLength)
}

function serialize(
  { created_at, ...channel }: ChatChannel,
  rows: readonly ChannelRow[],
  now: number,
): z.output<typeof ChatChannelResource> {
  const own = rows.filter(({ channelId }) => channelId === channel.id)
  const contents = own.map((row) => ({ recipient_id: row.id, content: row.content, ...serializeState(row, now) }))
  const conversion_names = [...(own.find(({ content }) => content === 'conversions')?.conversionNames ?? [])]
  return { ...channel, created_at: created_at.toISOString(), conversion_names, contents }
}
