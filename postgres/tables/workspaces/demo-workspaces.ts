/** Demo workspaces: made for an owner to look around in, and marked as such. */
import type { Queryable } from '../../client.ts'
import { tryNamedLock } from '../../named-lock.ts'
import { createTrackingKey } from './tracking-keys.ts'
import { createWorkspace, type NewWorkspace } from './workspaces.ts'

export interface DemoWorkspace {
  readonly id: number
  readonly name: string
  /** All of its visits are there. */
  readonly isFilled: boolean
}

/** The first one of the owner's own that is in use. */
export async function findDemo(q: Queryable, ownerId: number): Promise<DemoWorkspace | undefined> {
  const [demo] = await q.query<DemoWorkspace>(
    `SELECT w.id, w.name, w.demo = 'filled' AS "isFilled" FROM workspaces w
     WHERE w.owner_id = $1 AND w.demo IS NOT NULL AND w.suspended_at IS NULL ORDER BY w.id LIMIT 1`,
    [ownerId],
  )
  return demo
}

/** Locked until the end of the transaction. @returns false while another process makes or fills one for the owner */
export function tryLockDemo(tx: Queryable, ownerId: number): Promise<boolean> {
  return tryNamedLock(tx, `demo of owner ${ownerId}`)
}

/** With its tracking key, and nothing in it yet. Run it in a transaction. */
export async function createDemo(tx: Queryable, wanted: NewWorkspace): Promise<number> {
  const { workspaceId } = await createWorkspace(tx, wanted)
  await tx.query(`UPDATE workspaces SET demo = 'filling' WHERE id = $1`, [workspaceId])
  await createTrackingKey(tx, workspaceId)
  return workspaceId
}

export async function markDemoFilled(q: Queryable, workspaceId: number): Promise<void> {
  await q.query(`UPDATE workspaces SET demo = 'filled' WHERE id = $1`, [workspaceId])
}
