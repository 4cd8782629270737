/**
 * Imports around the public interface, for times that it refuses. Ingest's own code validates and enriches the events.
 * They go into ClickHouse under segment numbers that are leased as any ingest node leases them.
 *
 * The same file imported twice changes nothing; see `storeOnce`.
 *
 * Rows go in one insert after another, so the mark of the import's lease follows each, and is the lease's end in the end.
 * A run that dies leaves its mark behind the rows of its last insert. The next run over the file finds these rows, and moves
 * the mark on to them.
 */
import { randomBytes } from 'node:crypto'
import { openCountries } from '../../ingest/enrich/countries.ts'
import { type Enricher, makeEnricher } from '../../ingest/enrich/enrich.ts'
import type { Ownership } from '../../ingest/enrich/match-link.ts'
import { advanceImportMarks, advanceMark, leaseSegments } from '../../postgres/tables/segment-leases.ts'
import type { Workspace } from '../../postgres/tables/workspaces.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { type BotVisitRow, type EventRow, noCountry, streams } from '../../schemas/event/row.ts'
import { compileRowEncoder, rowBytesBound } from '../../schemas/event/row-codec.ts'
import { importRowsMax, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { readableDays, readableFrom } from '../../schemas/time/readable-from.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import { makeImportOwnership } from './import-ownership.ts'
import type { PageEventSource } from './page-events.ts'
import type { SendCounts } from './send.ts'
import { type Destination, type EncodedRow, retrying, storeOnce } from './store-once.ts'

interface ImportOptions extends Pick<Invocation, 'installation' | 'progress' | 'signal'> {
  readonly source: PageEventSource
  readonly workspace: Workspace
  /** Called with the number of events that are dealt with. */
  readonly showProgress: (sent: number) => void
}

export async function importEvents(options: ImportOptions): Promise<SendCounts> {
  const { source, installation, workspace, progress, signal, showProgress } = options
  const followed = makeImportOwnership(installation.postgres(), workspace.id)
  const enricher = enricherOf(await installation.secretKey(), followed.ownership)
  const countries = await openCountries(installation.config.countryDatabase)
  const counts: SendCounts = { sent: 0, accepted: 0, deduplicated: 0, rejected: 0, retries: 0 }
  const first = await leaseSegments(installation.postgres(), segmentLeaseSize, 'import')
  const end = first + segmentLeaseSize
  const takeNumber = numbersFrom(first, end)
  /** All events of segments below `number` are stored. Where it can't be told now, the next time or the end tells it. */
  const advanceStored = (number: number) =>
    advanceMark(installation.postgres(), first, number * segmentRowsMax - 1).catch(unlessUnavailable)
  const advanceImported = (ids: readonly number[]) =>
    retrying(signal, () => advanceImportMarks(installation.postgres(), ids))
  const to = { ch: installation.clickhouse(), workspaceId: workspace.id, counts, signal }
  const nothing = async () => {}
  const tables = {
    events: makeLoader<EventRow>({ ...to, stream: 'events', advanceImported }, takeNumber, advanceStored),
    bot_visits: makeLoader<BotVisitRow>({ ...to, stream: 'bot_visits', advanceImported: nothing }, takeNumber, nothing),
  }
  const oldest = readableFrom(workspace, Date.now())
  let hidden = 0

  for await (const portion of source.events()) {
    await retrying(signal, () => followed.learn(portion.map(({ event }) => event.url)))
    for (const { event, address } of portion) {
      counts.sent++
      const occurredAt = Date.parse(event.occurred_at)
      // Received when it happened: an import is as old as it likes. Only the address's country goes on.
      const country = countries?.of(address) ?? noCountry
      const sender = { address: '', userAgent: '', country, receivedAt: occurredAt }
      const enriched = validateBatchEvent(event, 0) === null ? enricher.enrich(event, sender, workspace) : undefined
      if (enriched === undefined || enriched.stream === 'rejected') {
        counts.rejected++
        continue
      }
      counts.accepted++
      if (occurredAt < oldest) hidden++
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

function enricherOf(secretKey: string | undefined, ownership: Ownership): Enricher {
  if (secretKey === undefined) {
    throw new CommandFailed('--import needs SECRET_KEY, as ingest has it: visitors are hashed with it')
  }
  // Every event names its visitor, so no salt is ever used; a log's addresses aren't in its events.
  const salts = { current: () => randomBytes(32) }
  return makeEnricher({ ...{ secretKey, salts }, countries: null, ownership })
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

/** Gathers rows and gives them their ids: those of one insert are a segment's. */
function makeLoader<Row extends EventRow | BotVisitRow>(
  to: Destination,
  takeNumber: () => number,
  afterFlush: (nextSegment: number) => Promise<void>,
): Loader<Row> {
  const { columns } = streams[to.stream]
  const encode = compileRowEncoder<Row>(columns)
  let rows: EncodedRow[] = []
  let segment = takeNumber()

  async function flush(): Promise<void> {
    if (rows.length === 0) return
    const loading = rows
    rows = []
    await storeOnce(to, loading)
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
