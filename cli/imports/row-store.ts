/**
 * Where imports put their rows: into ClickHouse, under segment numbers that are leased as any ingest node leases them.
 * E-mails and names of people go to the inbox in Postgres, as the shipper brings them there.
 *
 * The same rows brought twice change nothing; see `storeOnce` and import-turn.ts. Rows go in one insert after another, so the mark of the
 * import's lease follows each, and is the lease's end in the end. A run that dies leaves its mark behind the rows of its
 * last insert. The next run over the file finds these rows, and moves the mark on to them. It also brings their people,
 * who count once by the row's id.
 *
 * Held by test/integration/import-again.test.ts.
 */
import { createHmac } from 'node:crypto'
import { type Countries, openCountries } from '../../ingest/enrich/countries.ts'
import { type Enricher, makeEnricher } from '../../ingest/enrich/enrich.ts'
import type { Ownership } from '../../ingest/enrich/match-link.ts'
import type { Enriched } from '../../ingest/event-context.ts'
import { advanceImportMarks, advanceMark } from '../../postgres/tables/operation/segment-leases.ts'
import { insertInboxRows } from '../../postgres/tables/people/inbox.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { type BotVisitRow, type EventRow, streams } from '../../schemas/event/row.ts'
import { compileRowEncoder, rowBytesBound } from '../../schemas/event/row-codec.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import { importRowsMax, insertBytesMax, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { CommandFailed } from '../command.ts'
import type { Installation } from '../installation.ts'
import { type Destination, type EncodedRow, retrying, storeOnce } from '../replay/store-once.ts'

interface RowStoreOptions extends Pick<Destination, 'turn' | 'counts' | 'signal'> {
  readonly installation: Pick<Installation, 'postgres' | 'clickhouse'>
}

export interface RowStore {
  /** Takes the row's values at once: the object may be used again. */
  add(enriched: Exclude<Enriched, { stream: 'rejected' }>): Promise<void>
  /** Stores what is left, and gives the rest of the lease up. */
  finish(): Promise<void>
}

export function openRowStore({ installation, ...to }: RowStoreOptions): RowStore {
  const pg = installation.postgres()
  const first = to.turn.firstSegment
  const end = first + segmentLeaseSize
  const takeNumber = numbersFrom(first, end)
  /** All events of segments below `number` are stored. Where it can't be told now, the next time or the end tells it. */
  const advanceStored = (number: number) => advanceMark(pg, first, number * segmentRowsMax - 1).catch(unlessUnavailable)
  const advanceImported = (ids: readonly number[]) => retrying(to.signal, () => advanceImportMarks(pg, ids))
  const insertPeople = (people: readonly SidePayload[]) =>
    retrying(to.signal, () => pg.transaction((tx) => insertInboxRows(tx, people)))
  const ch = installation.clickhouse()
  const nothing = async () => {}
  const events = makeLoader<EventRow>(
    { ...to, ch, stream: 'events', advanceImported },
    { takeNumber, insertPeople, afterFlush: advanceStored },
  )
  const visits = makeLoader<BotVisitRow>(
    { ...to, ch, stream: 'bot_visits', advanceImported: nothing },
    { takeNumber, insertPeople, afterFlush: nothing },
  )
  return {
    add: (enriched) =>
      enriched.stream === 'events' ? events.add(enriched.row, enriched.side) : visits.add(enriched.row, null),
    finish: async () => {
      await events.flush()
      await visits.flush()
      await retrying(to.signal, () => advanceMark(pg, first, end * segmentRowsMax - 1))
    },
  }
}

/**
 * Ingest's own enrichment, for events that are as old as they like: a `receivedAt` of when they happened.
 * @throws CommandFailed without the installation's secret
 */
export async function makeImportEnricher(
  installation: Pick<Installation, 'secretKey' | 'config'>,
  ownership: Ownership,
): Promise<{ enricher: Enricher; countries: Countries | null }> {
  const secretKey = await installation.secretKey()
  if (secretKey === undefined) {
    throw new CommandFailed('an import needs SECRET_KEY, as ingest has it: visitors are hashed with it')
  }
  const { countryDatabase, placeDetail } = installation.config
  const countries = await openCountries(countryDatabase)
  const enricher = makeEnricher({ secretKey, countries, placeDetail, ownership, salts: saltsOf(secretKey) })
  return { enricher, countries }
}

/** The salts of those days are gone. Keyed by the secret, a file that is imported again has the same visitors. */
function saltsOf(secretKey: string) {
  let day = Number.NaN
  let salt: Buffer
  return {
    at: (ms: number) => {
      if (Math.floor(ms / dayMs) !== day) {
        day = Math.floor(ms / dayMs)
        salt = createHmac('sha256', secretKey).update(`visitors of an import, day ${day}`).digest()
      }
      return salt
    },
  }
}

function numbersFrom(first: number, end: number): () => number {
  let next = first
  return () => {
    if (next === end) throw new CommandFailed('the file has more rows than one import takes: split it')
    return next++
  }
}

interface LoaderSteps {
  readonly takeNumber: () => number
  readonly insertPeople: (people: readonly SidePayload[]) => Promise<void>
  readonly afterFlush: (nextSegment: number) => Promise<void>
}

/** Gathers rows and gives them their ids: those of one insert are a segment's. */
function makeLoader<Row extends EventRow | BotVisitRow>(
  to: Destination,
  { takeNumber, insertPeople, afterFlush }: LoaderSteps,
) {
  const { columns } = streams[to.stream]
  const encode = compileRowEncoder<Row>(columns)
  let rows = new Map<string, EncodedRow & { readonly side: SidePayload | null }>()
  let rowBytes = 0
  let segment = takeNumber()

  async function flush(): Promise<void> {
    if (rows.size === 0) return
    const loading = [...rows.values()]
    rows = new Map()
    rowBytes = 0
    const stored = await storeOnce(to, loading)
    const people = loading.flatMap(({ side, id, clientEventId }) =>
      side === null ? [] : [{ ...side, event_id: stored.get(clientEventId) ?? id }],
    )
    if (people.length > 0) await insertPeople(people)
    segment = takeNumber()
    await afterFlush(segment)
  }

  return {
    add: async (row: Row, side: SidePayload | null) => {
      if (rows.has(row.client_event_id)) {
        to.counts.deduplicated++
        return
      }
      row.id = segment * segmentRowsMax + rows.size
      row.received_at = Date.now()
      if (side !== null) side.received_at = row.received_at
      const space = Buffer.allocUnsafe(rowBytesBound(columns, row))
      const bytes = space.subarray(0, encode(row, space, 0))
      const { id, client_event_id: clientEventId, occurred_at: occurredAt } = row
      rows.set(clientEventId, { id, clientEventId, occurredAt, bytes, side })
      rowBytes += bytes.length
      if (rows.size >= importRowsMax || rowBytes >= insertBytesMax) await flush()
    },
    flush,
  }
}

function unlessUnavailable(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error
}
