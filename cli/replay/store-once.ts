/**
 * Stores rows of a file in ClickHouse, each once, however often they are brought. Imports of a workspace take turns; see
 * import-turn.ts. Before each insert it is asked which `client_event_id`s are there, and only the others go in.
 * Held by test/integration/import-again.test.ts.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { InsertFenced } from '../../clickhouse/insert.ts'
import { importedAs } from '../../clickhouse/queries/stored-events.ts'
import { backoffMs, sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { type StreamName, streams } from '../../schemas/event/row.ts'
import { clickhouseInsertDeadlineMs } from '../../schemas/limits/store-limits.ts'
import { CommandFailed } from '../command.ts'
import type { ImportTurn } from '../imports/import-turn.ts'
import type { SendCounts } from './send.ts'

export interface EncodedRow {
  /** Unless a row of this `clientEventId` is stored already. */
  readonly id: number
  readonly clientEventId: string
  readonly occurredAt: number
  readonly bytes: Buffer
}

/** Where rows go. */
export interface Destination {
  readonly ch: ClickHouse
  readonly stream: StreamName
  readonly turn: ImportTurn
  readonly counts: Pick<SendCounts, 'deduplicated' | 'retries'>
  readonly signal: AbortSignal
  /** Called with the ids of rows that an earlier run stored, once all of an insert are. */
  readonly advanceImported: (ids: readonly number[]) => Promise<void>
}

const attemptsMax = 8
const retryFirstMs = 500
const retryMaxMs = 10_000

/**
 * An insert of the same rows has the same token, so of one that is late and its repeat one stores nothing. A server that
 * died can remember a token without its rows. Rows that are still missing afterwards therefore go in under a token of
 * their own.
 * @param rows no two with the same `clientEventId`
 * @returns the ids of the rows that were found stored, by their `clientEventId`; any other has its own
 */
export async function storeOnce(to: Destination, rows: readonly EncodedRow[]): Promise<ReadonlyMap<string, number>> {
  const { ch, stream, turn, counts, signal } = to
  const queryId = `${turn.insertsPrefix}${stream}-${hashOf(rows.slice(0, 1))}`
  const stored = new Map<string, number>()
  let isCounted = false
  await retrying(signal, async (attempt) => {
    if (attempt > 0) counts.retries++
    if (signal.aborted) throw new CommandFailed('interrupted')
    await turn.check()
    // The look-up is only reliable once the insert before is known to have ended.
    await ch.killInsert(queryId)
    const { missing, found } = await lookUp(to, rows)
    if (!isCounted) counts.deduplicated += rows.length - missing.length
    isCounted = true
    if (missing.length > 0) {
      await insert(to, missing, queryId, `${queryId}-${hashOf(missing)}`)
      const { missing: left } = await lookUp(to, missing)
      if (left.length > 0) await insert(to, left, queryId, `${queryId}-${randomBytes(8).toString('hex')}`)
    }
    for (const { imported_as, id } of found) stored.set(imported_as, id)
    if (found.length > 0) await to.advanceImported(found.map(({ id }) => id))
  })
  return stored
}

/** Repeats `work`, a few times, while its store isn't there. */
export async function retrying(signal: AbortSignal, work: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt + 1 >= attemptsMax) throw error
      await sleep(backoffMs(attempt, retryFirstMs, retryMaxMs), signal)
    }
  }
}

async function insert({ ch, stream, turn }: Destination, rows: readonly EncodedRow[], queryId: string, token: string) {
  try {
    await ch.insertRows({
      table: stream,
      columns: streams[stream].columns.map(({ name }) => name),
      bytes: rows.map(({ bytes }) => bytes),
      token,
      queryId,
      deadlineMs: clickhouseInsertDeadlineMs,
      fence: turn.fenceOf(stream),
    })
  } catch (error) {
    throw error instanceof InsertFenced ? turn.lost() : error
  }
}

interface Stored {
  /** The row's `client_event_id`, or what stands for it. */
  readonly imported_as: string
  readonly id: number
}

/** Which of the rows are missing, and those that are stored. */
async function lookUp(
  { ch, stream, turn }: Destination,
  rows: readonly EncodedRow[],
): Promise<{ missing: EncodedRow[]; found: Stored[] }> {
  const times = rows.map(({ occurredAt }) => occurredAt)
  const stored = await ch.query<Stored>(
    `SELECT ${importedAs} AS imported_as, id FROM ${stream}
     WHERE workspace_id = {workspaceId:UInt32} AND imported_as IN {ids:Array(String)}
       AND occurred_at BETWEEN fromUnixTimestamp64Milli({from:Int64}, 'UTC')
                           AND fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
    {
      workspaceId: turn.workspaceId,
      ids: rows.map(({ clientEventId }) => clientEventId),
      from: times.reduce((least, time) => Math.min(least, time)),
      to: times.reduce((most, time) => Math.max(most, time)),
    },
  )
  const known = new Set(stored.map((row) => row.imported_as))
  return {
    missing: rows.filter(({ clientEventId }) => !known.has(clientEventId)),
    found: stored,
  }
}

/** Names rows by their ids, which are the same in every run over a file. */
function hashOf(rows: readonly EncodedRow[]): string {
  const hash = createHash('sha256')
  for (const { clientEventId } of rows) hash.update(`${clientEventId}\0`)
  return hash.digest('hex').slice(0, 32)
}
