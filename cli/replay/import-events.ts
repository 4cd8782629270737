/**
 * The way around the public interface, for times that it refuses: events are validated and enriched by ingest's own code
 * and inserted into ClickHouse, under segment numbers leased as any ingest node leases them.
 *
 * The same file imported twice changes nothing: before each insert ClickHouse is asked which `client_event_id`s it has,
 * and only the others go in. An insert is named by the portion of the file that it holds, so that each run over the file
 * first ends what an earlier one, killed or still running, left under way; see `load`.
 *
 * Rows go in one insert after another, so the mark of the import's lease follows each, and is the lease's end in the end.
 * A run that dies leaves its mark behind the rows of its last insert alone, and another run can't take it further: it
 * doesn't know whether the first is dead. Readers then go on reading those few rows by themselves.
 */
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { makeEnricher } from '../../ingest/enrich.ts'
import { noOwnership } from '../../ingest/steps/match-link.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/segment-leases.ts'
import type { Workspace } from '../../postgres/tables/workspaces.ts'
import { backoffMs } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { validateBatchEvent } from '../../schemas/event-validator.ts'
import {
  clickhouseInsertDeadlineMs,
  importRowsMax,
  retentionDaysByPlan,
  segmentLeaseSize,
  segmentRowsMax,
} from '../../schemas/limits.ts'
import { type BotVisitRow, type EventRow, noCountry, type StreamName, streams } from '../../schemas/row.ts'
import { compileRowEncoder, rowBytesBound } from '../../schemas/row-codec.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import type { PageEventSource } from './page-events.ts'
import type { SendCounts } from './send.ts'

const attemptsMax = 8
const retryFirstMs = 500
const retryMaxMs = 10_000
const dayMs = 86_400_000

interface ImportOptions extends Pick<Invocation, 'installation' | 'progress' | 'signal'> {
  readonly source: PageEventSource
  readonly workspace: Workspace
  /** Called with the number of events that are dealt with. */
  readonly showProgress: (sent: number) => void
}

export async function importEvents({
  source,
  installation,
  workspace,
  progress,
  signal,
  showProgress,
}: ImportOptions): Promise<SendCounts> {
  const secretKey = installation.secretKey()
  if (secretKey === undefined) {
    throw new CommandFailed('--import needs SECRET_KEY, as ingest has it: visitors are hashed with it')
  }
  const ch = installation.clickhouse()
  const counts: SendCounts = { sent: 0, accepted: 0, deduplicated: 0, rejected: 0, retries: 0 }
  const first = await leaseSegments(installation.postgres(), segmentLeaseSize)
  const end = first + segmentLeaseSize
  const takeNumber = numbersFrom(first, end)
  /** All events of segments below `number` are stored. Where it can't be told now, the next time or the end tells it. */
  const tellStoredBelow = (number: number) =>
    advanceMark(installation.postgres(), first, number * segmentRowsMax - 1).catch(unlessUnavailable)
  // Every event names its visitor, so no salt is ever used; a log's addresses aren't in its events.
  const salts = { current: () => randomBytes(32) }
  const enricher = makeEnricher({ ...{ secretKey, salts }, countries: null, ownership: noOwnership })
  const tables = {
    events: makeLoader<EventRow>(ch, 'events', takeNumber, workspace.id, counts, signal, tellStoredBelow),
    bot_visits: makeLoader<BotVisitRow>(ch, 'bot_visits', takeNumber, workspace.id, counts, signal, async () => {}),
  }
  const readableFrom = Date.now() - readableDays(workspace) * dayMs
  let hidden = 0

  for await (const portion of source.events()) {
    for (const { event } of portion) {
      counts.sent++
      const occurredAt = Date.parse(event.occurred_at)
      // Received when it happened: an import is as old as it likes.
      const sender = { address: '', userAgent: '', country: noCountry, receivedAt: occurredAt }
      const enriched = validateBatchEvent(event, 0) === null ? enricher.enrich(event, sender, workspace) : undefined
      if (enriched === undefined || enriched.stream === 'rejected') {
        counts.rejected++
        continue
      }
      counts.accepted++
      if (occurredAt < readableFrom) hidden++
      if (enriched.stream === 'events') await tables.events.add(enriched.row)
      else await tables.bot_visits.add(enriched.row)
    }
    showProgress(counts.sent)
  }
  await tables.events.flush()
  await tables.bot_visits.flush()
  await retrying(signal, () => advanceMark(installation.postgres(), first, end * segmentRowsMax - 1))
  if (hidden > 0) {
    progress.line(
      `${hidden} events are older than the ${readableDays(workspace)} days that can be read: they will be deleted`,
    )
  }
  return counts
}

async function retrying(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt + 1 >= attemptsMax) throw error
      await delay(backoffMs(attempt, retryFirstMs, retryMaxMs), undefined, { signal }).catch(() => {})
    }
  }
}

function readableDays({ plan_key, retention_days }: Workspace): number {
  const byPlan = plan_key === null ? 0 : retentionDaysByPlan[plan_key]
  return Math.min(byPlan, retention_days ?? byPlan)
}

function numbersFrom(first: number, end: number): () => number {
  let next = first
  return () => {
    if (next === end) throw new CommandFailed('the file has more rows than one import takes: split it')
    return next++
  }
}

interface Loader<Row> {
  /** Takes the row's values at once: the object may be used again. */
  add(row: Row): Promise<void>
  flush(): Promise<void>
}

interface EncodedRow {
  readonly clientEventId: string
  readonly occurredAt: number
  readonly bytes: Buffer
}

function makeLoader<Row extends EventRow | BotVisitRow>(
  ch: ClickHouse,
  stream: StreamName,
  takeNumber: () => number,
  workspaceId: number,
  counts: SendCounts,
  signal: AbortSignal,
  afterFlush: (nextSegment: number) => Promise<void>,
): Loader<Row> {
  const { table, columns } = streams[stream]
  const encode = compileRowEncoder<Row>(columns)
  let rows: EncodedRow[] = []
  let segment = takeNumber()

  /**
   * Stores a portion's rows once. The first insert of the same rows has the same token in every run, so that of two that
   * were asked for at once one stores nothing; a server that died can remember a token without its rows, so what is
   * missing after it goes in under a token of its own.
   */
  async function load(waiting: readonly EncodedRow[]): Promise<void> {
    const queryId = `import-${stream}-${workspaceId}-${hashOf(waiting.slice(0, 1))}`
    for (let attempt = 0; ; attempt++) {
      if (signal.aborted) throw new CommandFailed('interrupted')
      try {
        // What is stored can only be asked once the insert before is known to have ended.
        await ch.killInsert(queryId)
        const missing = await withoutStored(waiting)
        if (attempt === 0) counts.deduplicated += waiting.length - missing.length
        if (missing.length === 0) return
        await insert(missing, queryId, `${queryId}-${hashOf(missing)}`)
        const left = await withoutStored(missing)
        if (left.length > 0) await insert(left, queryId, `${queryId}-${randomBytes(8).toString('hex')}`)
        return
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt + 1 >= attemptsMax) throw error
        counts.retries++
        await delay(backoffMs(attempt, retryFirstMs, retryMaxMs), undefined, { signal }).catch(() => {})
      }
    }
  }

  function insert(missing: readonly EncodedRow[], queryId: string, token: string): Promise<void> {
    return ch.insertRows({
      table,
      columns: columns.map(({ name }) => name),
      bytes: missing.map(({ bytes }) => bytes),
      token,
      queryId,
      deadlineMs: clickhouseInsertDeadlineMs,
    })
  }

  async function withoutStored(waiting: readonly EncodedRow[]): Promise<EncodedRow[]> {
    const times = waiting.map(({ occurredAt }) => occurredAt)
    const stored = await ch.query<{ client_event_id: string }>(
      `SELECT client_event_id FROM {table:Identifier}
       WHERE workspace_id = {workspaceId:UInt32} AND client_event_id IN {ids:Array(String)}
         AND occurred_at BETWEEN fromUnixTimestamp64Milli({from:Int64}, 'UTC')
                             AND fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
      {
        table,
        workspaceId,
        ids: waiting.map(({ clientEventId }) => clientEventId),
        from: times.reduce((least, time) => Math.min(least, time)),
        to: times.reduce((most, time) => Math.max(most, time)),
      },
    )
    const known = new Set(stored.map((row) => row.client_event_id))
    return waiting.filter(({ clientEventId }) => !known.has(clientEventId))
  }

  async function flush(): Promise<void> {
    if (rows.length === 0) return
    const loading = rows
    rows = []
    await load(loading)
    segment = takeNumber()
    await afterFlush(segment)
  }

  return {
    add: async (row) => {
      row.id = segment * segmentRowsMax + rows.length
      row.received_at = Date.now()
      const bytes = Buffer.allocUnsafe(rowBytesBound(columns, row))
      const end = encode(row, bytes, 0)
      rows.push({ clientEventId: row.client_event_id, occurredAt: row.occurred_at, bytes: bytes.subarray(0, end) })
      if (rows.length >= importRowsMax) await flush()
    },
    flush,
  }
}

function unlessUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error
}

/** Names rows by their ids, which are the same in every run over a file. */
function hashOf(rows: readonly EncodedRow[]): string {
  const hash = createHash('sha256')
  for (const { clientEventId } of rows) hash.update(`${clientEventId}\0`)
  return hash.digest('hex').slice(0, 32)
}
