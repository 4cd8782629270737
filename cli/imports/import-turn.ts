/**
 * One import of a workspace runs at a time. Two that overlap would each miss what the other is about to store.
 *
 * A lock in Postgres lasts as long as the import's connection, and is looked at before each insert. It keeps others out
 * while the import lives. It can't recall an insert that is under way when the process dies, or when its connection
 * breaks and another import begins. So each import first notes its turn in ClickHouse, and then ends the inserts of
 * those before it. An insert that arrives only now is judged by the server: it has an earlier turn, and stores nothing.
 *
 * Held by test/integration/import-again.test.ts and test/integration/events-import.test.ts.
 */
import type { Fence } from '../../clickhouse/insert.ts'
import type { HeldLock } from '../../postgres/held-lock.ts'
import { leaseSegments, raiseLeases } from '../../postgres/tables/operation/segment-leases.ts'
import { sleep } from '../../runtime/retry.ts'
import { type StreamName, streams } from '../../schemas/event/row.ts'
import { segmentLeaseSize } from '../../schemas/limits/log-limits.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import type { Installation } from '../installation.ts'
import { retrying } from '../replay/store-once.ts'
import { requireKept } from './lock-workspace.ts'

export interface ImportTurn {
  readonly workspaceId: number
  /** The import's lease of segments; its number is the turn. */
  readonly firstSegment: number
  /** Ids of its inserts begin so. */
  readonly insertsPrefix: string
  /** To be waited for before each insert. @throws CommandFailed when another import has begun, or the workspace is gone */
  check(): Promise<void>
  /** Refuses inserts once another import has begun: they fail by `lost`. */
  fenceOf(stream: StreamName): Fence
  lost(): CommandFailed
}

interface TurnOptions extends Pick<Invocation, 'signal'> {
  readonly installation: Pick<Installation, 'postgres' | 'clickhouse'>
  readonly workspaceId: number
}

/** Runs an import in its turn. @throws CommandFailed while another import of the workspace runs */
export async function inImportTurn<Result>(
  { installation, workspaceId, signal }: TurnOptions,
  work: (turn: ImportTurn) => Promise<Result>,
): Promise<Result> {
  const [pg, ch] = [installation.postgres(), installation.clickhouse()]
  const lock = pg.heldLock(`import of workspace ${workspaceId}`)
  if (!(await isOurs(lock))) {
    throw new CommandFailed(
      `another import of workspace ${workspaceId} is running: run this command again once that has ended. Nothing was stored`,
    )
  }
  try {
    const params = { workspaceId }
    const sql = 'SELECT max(turn) AS last FROM import_turns WHERE workspace_id = {workspaceId:UInt32}'
    // A Postgres that was restored from a backup has forgotten the turns since.
    const [row] = await ch.query<{ last: number }>(sql, params)
    await raiseLeases(pg, row!.last, segmentLeaseSize)
    const turn = await leaseSegments(pg, segmentLeaseSize, 'import')
    const insertsPrefix = `import-${workspaceId}-`
    await retrying(signal, async () => {
      await ch.command(`INSERT INTO import_turns (workspace_id, turn) VALUES (${workspaceId}, ${turn})`)
      await ch.killInserts(insertsPrefix)
    })
    const lost = () =>
      new CommandFailed(
        `another import of workspace ${workspaceId} has begun: run this command again once that has ended`,
      )
    return await work({
      workspaceId,
      firstSegment: turn,
      insertsPrefix,
      lost,
      check: async () => {
        if (!(await lock.hold())) throw lost()
        await requireKept(pg, workspaceId)
      },
      fenceOf: (stream) => ({
        holds: `(SELECT max(turn) FROM import_turns WHERE workspace_id = ${workspaceId}) > ${turn}`,
        structure: streams[stream].columns.map(({ name, type }) => `${name} ${type}`).join(', '),
      }),
    })
  } finally {
    await lock.release()
  }
}

/** Postgres lets the lock of a process go that was killed a moment ago. */
const killedMs = 1_000

async function isOurs(lock: HeldLock): Promise<boolean> {
  const until = performance.now() + killedMs
  while (!(await lock.hold())) {
    if (performance.now() >= until) return false
    await sleep(100)
  }
  return true
}
