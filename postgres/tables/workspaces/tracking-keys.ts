/** Public keys: which workspace an event belongs to. */
import { makeTrackingKey } from '../../../schemas/keys.ts'
import type { Queryable } from '../../client.ts'

/** A live key with what ingest needs to know of its workspace. */
export interface TrackingKey {
  readonly key: string
  readonly workspace_id: number
  readonly timezone: string
  /** Sessions of a hundred that are recorded; 0 while replay is off. */
  readonly replay_share: number
  /** JSON of `Exclusions`; null where the workspace leaves nothing out. */
  readonly exclusions: string | null
  /** A rotated key goes on until then. */
  readonly retires_at: Date | null
}

const liveKeys = `SELECT k.key, k.workspace_id, w.timezone,
    CASE WHEN w.replay_enabled THEN w.replay_share ELSE 0 END AS replay_share,
    (to_jsonb(e) - 'workspace_id')::text AS exclusions, k.retires_at
  FROM tracking_keys k JOIN workspaces w ON w.id = k.workspace_id LEFT JOIN exclusions e ON e.workspace_id = w.id
  WHERE (k.retires_at IS NULL OR k.retires_at > now())`

/** Makes a key for the workspace, beside those it has. */
export async function createTrackingKey(tx: Queryable, workspaceId: number): Promise<string> {
  const key = makeTrackingKey()
  await tx.query('INSERT INTO tracking_keys (workspace_id, key) VALUES ($1, $2)', [workspaceId, key])
  return key
}

/**
 * Lets the live keys of a workspace end after some days; one that ends sooner keeps its time.
 * @returns when the last of them ends, null when there are none
 */
export async function retireTrackingKeys(tx: Queryable, workspaceId: number, days: number): Promise<Date | null> {
  const rows = await tx.query<{ retires_at: Date }>(
    `UPDATE tracking_keys SET retires_at = least(retires_at, now() + $2 * interval '1 day')
     WHERE workspace_id = $1 AND (retires_at IS NULL OR retires_at > now()) RETURNING retires_at`,
    [workspaceId, days],
  )
  return rows.reduce<Date | null>((last, { retires_at }) => (last && last > retires_at ? last : retires_at), null)
}

/** All live keys. */
export function listTrackingKeys(q: Queryable): Promise<TrackingKey[]> {
  return q.query<TrackingKey>(`${liveKeys} ORDER BY k.id`)
}

/** The newest live key of a workspace: the one to show. */
export async function currentTrackingKey(q: Queryable, workspaceId: number): Promise<string | null> {
  const [row] = await q.query<TrackingKey>(
    `${liveKeys} AND k.workspace_id = $1 ORDER BY k.retires_at IS NULL DESC, k.id DESC LIMIT 1`,
    [workspaceId],
  )
  return row?.key ?? null
}

export async function findTrackingKey(q: Queryable, key: string): Promise<TrackingKey | null> {
  const [row] = await q.query<TrackingKey>(`${liveKeys} AND k.key = $1`, [key])
  return row ?? null
}
