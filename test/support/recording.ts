/** A workspace's recordings in ClickHouse, unpacked. */
import { gunzipSync } from 'node:zlib'
import { expect, vi } from 'vitest'
import { changeWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import type { TestWorkspace } from './api.ts'
import type { MadeEvent } from './replays.ts'
import { productHost, type TrackingSurface } from './tracking-surface.ts'

export interface StoredChunk {
  readonly page_id: string
  readonly sequence: number
  readonly session_id: string
  readonly anonymous_id: string
  readonly url: string
  readonly text: string
  readonly events: readonly MadeEvent[]
}

/** A workspace whose sessions are recorded, once ingest knows it. */
export async function recordedWorkspace(surface: TrackingSurface, share = 100): Promise<TestWorkspace> {
  const workspace = await surface.makeWorkspace()
  await changeWorkspace(surface.pg, workspace.workspaceId, { replayEnabled: true, replayShare: share })
  const script = `http://127.0.0.1:${surface.front.port}/svc.js?key=${workspace.trackingKey}`
  await vi.waitFor(async () => {
    const response = await fetch(script, { headers: { Host: productHost } })
    expect(await response.text()).toContain(`&${share}=${workspace.trackingKey}`)
  }, 60_000)
  return workspace
}

export async function storedChunks(surface: TrackingSurface, { workspaceId }: TestWorkspace): Promise<StoredChunk[]> {
  await surface.shipped()
  const rows = await surface.ch.query<Omit<StoredChunk, 'text' | 'events'> & { packed: string }>(
    `SELECT page_id, sequence, session_id, anonymous_id, url, events AS packed FROM replay_chunks FINAL
     WHERE workspace_id = {workspace:UInt32} ORDER BY occurred_at, sequence`,
    { workspace: workspaceId },
  )
  return rows.map(({ packed, ...row }) => {
    const text = gunzipSync(Buffer.from(packed, 'base64')).toString('utf8')
    return { ...row, text, events: JSON.parse(text) as MadeEvent[] }
  })
}
