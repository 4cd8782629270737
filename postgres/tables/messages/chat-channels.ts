/**
 * Channels of chats. A channel has a row of `report_recipients` for each thing that it gets. So reports and alerts to
 * it are claimed and ended like mails. Held by test/integration/chat-channels.test.ts.
 */
import type { ChatKind } from '../../../schemas/chat-kinds.ts'
import type { ChannelContent } from '../../../schemas/resources/chat-channel.ts'
import type { Postgres, Queryable } from '../../client.ts'
import { appendSystemChange } from '../workspaces/audit.ts'
import { type RecipientState, stateColumns } from './report-recipients.ts'

export interface ChatChannel {
  readonly id: number
  readonly kind: ChatKind
  readonly name: string
  readonly host: string
  /** The last characters of the address. */
  readonly ending: string
  readonly created_at: Date
  readonly is_disabled: boolean
  /** Why it was turned off, without the address. */
  readonly failure: string | null
}

/** A thing that a channel gets; its state is that of reports. */
export interface ChannelRow extends RecipientState {
  /** That of the recipient. */
  readonly id: number
  readonly channelId: number
  readonly content: ChannelContent
  /** Set in the row for conversions alone. */
  readonly conversionNames: readonly string[]
}

const content = `coalesce(r.every, CASE WHEN r.alerts THEN 'alerts' WHEN r.failures THEN 'failures'
  WHEN r.conversions THEN 'conversions' ELSE 'payments' END)`

/** In the order in which they were added. */
export function listChatChannels(q: Queryable, workspaceId: number): Promise<ChatChannel[]> {
  return q.query<ChatChannel>(
    `SELECT id, kind, name, host, ending, created_at, disabled_at IS NOT NULL AS is_disabled, failure
     FROM chat_channels WHERE workspace_id = $1 ORDER BY id`,
    [workspaceId],
  )
}

/** Reports before all else. */
export function listChannelRows(q: Queryable, workspaceId: number): Promise<ChannelRow[]> {
  return q.query<ChannelRow>(
    `SELECT r.id, r.channel_id AS "channelId", ${content} AS content, r.conversion_names AS "conversionNames",
       ${stateColumns} FROM report_recipients r
     WHERE r.workspace_id = $1 AND r.channel_id IS NOT NULL ORDER BY r.channel_id, array_position('{weekly,monthly,alerts,failures,conversions,payments}', ${content})`,
    [workspaceId],
  )
}

/** Encrypted: nobody can ask the database for one. */
export async function listChannelAddresses(q: Queryable, workspaceId: number): Promise<Buffer[]> {
  const rows = await q.query<{ address: Buffer }>('SELECT address FROM chat_channels WHERE workspace_id = $1', [
    workspaceId,
  ])
  return rows.map(({ address }) => address)
}

export interface NewChatChannel extends Pick<ChatChannel, 'kind' | 'name' | 'host' | 'ending'> {
  readonly workspaceId: number
  /** Encrypted. */
  readonly address: Buffer
  readonly contents: readonly ChannelContent[]
  readonly conversionNames: readonly string[]
  readonly now: Date
}

export async function insertChatChannel(tx: Queryable, made: NewChatChannel): Promise<number> {
  const { workspaceId, kind, name, address, host, ending, contents, conversionNames, now } = made
  const [row] = await tx.query<{ id: number }>(
    `INSERT INTO chat_channels (workspace_id, kind, name, address, host, ending, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
    [workspaceId, kind, name, address, host, ending, now],
  )
  await setContents(tx, row!.id, contents, now)
  await setConversionNames(tx, row!.id, conversionNames)
  return row!.id
}

export interface ChannelChange {
  readonly name?: string | undefined
  readonly contents?: readonly ChannelContent[] | undefined
  readonly conversionNames?: readonly string[] | undefined
  /** Turns it on again. */
  readonly isEnabled?: true | undefined
  readonly now: Date
}

/** Rows of what it goes on getting stay as they are. @returns false where the workspace has no such channel */
export async function updateChatChannel(
  tx: Queryable,
  { id, workspaceId }: { readonly id: number; readonly workspaceId: number },
  { name, contents, conversionNames, isEnabled, now }: ChannelChange,
): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE chat_channels SET name = coalesce($3, name), disabled_at = CASE WHEN $4 THEN NULL ELSE disabled_at END,
       failure = CASE WHEN $4 THEN NULL ELSE failure END
     WHERE id = $1 AND workspace_id = $2 RETURNING 1`,
    [id, workspaceId, name ?? null, isEnabled === true],
  )
  if (changed.length > 0 && contents !== undefined) await setContents(tx, id, contents, now)
  if (changed.length > 0 && conversionNames !== undefined) await setConversionNames(tx, id, conversionNames)
  return changed.length > 0
}

async function setContents(
  tx: Queryable,
  channelId: number,
  contents: readonly ChannelContent[],
  now: Date,
): Promise<void> {
  await tx.query(`DELETE FROM report_recipients r WHERE r.channel_id = $1 AND ${content} <> ALL ($2)`, [
    channelId,
    contents,
  ])
  await tx.query(
    `INSERT INTO report_recipients (workspace_id, channel_id, every, alerts, failures, conversions, payments, created_at)
     SELECT c.workspace_id, c.id, CASE WHEN wanted IN ('weekly', 'monthly') THEN wanted END, wanted = 'alerts',
       wanted = 'failures', wanted = 'conversions', wanted = 'payments', $3
     FROM chat_channels c, unnest($2::text[]) AS wanted WHERE c.id = $1 ON CONFLICT DO NOTHING`,
    [channelId, contents, now],
  )
}

/** Does nothing where the channel isn't told of conversions. */
async function setConversionNames(tx: Queryable, channelId: number, names: readonly string[]): Promise<void> {
  await tx.query('UPDATE report_recipients SET conversion_names = $2 WHERE channel_id = $1 AND conversions', [
    channelId,
    names,
  ])
}

/** @returns false where the workspace has no such channel */
export async function deleteChatChannel(tx: Queryable, id: number, workspaceId: number): Promise<boolean> {
  const gone = await tx.query('DELETE FROM chat_channels WHERE id = $1 AND workspace_id = $2 RETURNING 1', [
    id,
    workspaceId,
  ])
  return gone.length > 0
}

/** @returns undefined where it is removed or turned off */
export async function readChannelTarget(
  q: Queryable,
  id: number,
): Promise<{ readonly kind: ChatKind; readonly address: Buffer } | undefined> {
  const [target] = await q.query<{ kind: ChatKind; address: Buffer }>(
    'SELECT kind, address FROM chat_channels WHERE id = $1 AND disabled_at IS NULL',
    [id],
  )
  return target
}

/** Turns it off with what waits for it, audited. Does nothing where it is off or removed. @param failure without the address */
export function disableChatChannel(
  pg: Postgres,
  id: number,
  { failure, now }: { readonly failure: string; readonly now: Date },
): Promise<void> {
  return pg.transaction(async (tx) => {
    const [disabled] = await tx.query<{ workspaceId: number }>(
      `UPDATE chat_channels SET disabled_at = $2, failure = $3 WHERE id = $1 AND disabled_at IS NULL
       RETURNING workspace_id AS "workspaceId"`,
      [id, now, failure],
    )
    if (disabled === undefined) return
    await tx.query(
      'DELETE FROM alert_mails WHERE recipient_id IN (SELECT id FROM report_recipients WHERE channel_id = $1)',
      [id],
    )
    const change = { action: 'chat_channel.disable', actorName: 'pipeline', resourceId: id, metadata: {} } as const
    await appendSystemChange(tx, { ...change, workspaceId: disabled.workspaceId })
  })
}
