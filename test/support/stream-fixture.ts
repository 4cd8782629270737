/** A stream of bot visits, or of events, over real stores, put together as ingest does, with stores that can be made to fail. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { DedupWindow } from '../../ingest/log/dedup-window.ts'
import { type DiskIo, diskIo } from '../../ingest/log/files.ts'
import { type Claims, connectClaims } from '../../ingest/ship/claim.ts'
import type { MarkStore } from '../../ingest/ship/marks.ts'
import { openStream } from '../../ingest/ship/stream.ts'
import { advanceMarks } from '../../postgres/tables/operation/segment-leases.ts'
import { recordRepairs } from '../../postgres/tables/people/event-repairs.ts'
import { insertInbox } from '../../postgres/tables/people/inbox.ts'
import { systemClock } from '../../runtime/clock.ts'
import { sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import type { BotVisitRow, EventRow, Hash64, StreamName } from '../../schemas/event/row.ts'
import { makeEventRow } from './event-rows.ts'
import { type countingNumbers, makeVisit, silent, smallFileBytes } from './log-fixture.ts'
import type { TestStores } from './stores.ts'

/** How the next insert goes wrong: not sent at all; sent, and the answer lost. */
type InsertFault = 'before' | 'after'

export interface FlakyClickHouse extends ClickHouse {
  faults: InsertFault[]
  inserts: number
  isAway: boolean
}

export function makeFlakyClickHouse(ch: ClickHouse): FlakyClickHouse {
  const guard = (flaky: FlakyClickHouse) => {
    if (flaky.isAway) throw new StoreUnavailable('clickhouse', 'away')
  }
  const flaky: FlakyClickHouse = {
    ...ch,
    faults: [],
    inserts: 0,
    isAway: false,
    async insertRows(insert) {
      guard(flaky)
      flaky.inserts++
      const fault = flaky.faults.shift()
      if (fault === 'before') throw new StoreUnavailable('clickhouse', 'lost before')
      await ch.insertRows(insert)
      if (fault === 'after') throw new StoreUnavailable('clickhouse', 'lost after')
    },
    async query(sql, params, options) {
      guard(flaky)
      return ch.query(sql, params, options)
    },
    async killInsert(queryId) {
      guard(flaky)
      return ch.killInsert(queryId)
    },
  }
  return flaky
}

type TestNode<Row extends { id: number } = BotVisitRow> = Awaited<ReturnType<typeof openNodeOf<Row>>>

export interface NodeOptions {
  readonly stores: TestStores
  readonly folder: string
  readonly clickhouse: ClickHouse
  readonly claims: Claims
  readonly numbers: ReturnType<typeof countingNumbers>
  readonly bootId?: string
  readonly claimWaitMs?: number
  readonly insertDeadlineMs?: number
  readonly io?: DiskIo
}

export function openNode(options: NodeOptions): Promise<TestNode> {
  return openNodeOf('bot_visits', makeVisit, options)
}

export function openEventsNode(options: NodeOptions & { readonly markStore: MarkStore }): Promise<TestNode<EventRow>> {
  return openNodeOf('events', (url) => makeEventRow({ url, occurred_at: eventsAt }), options)
}

/** When all events of such a node happened. */
export const eventsAt = Date.parse('2026-09-21T13:20:00Z')

async function openNodeOf<Row extends { id: number }>(
  name: StreamName,
  makeRow: (url: string) => Row,
  options: NodeOptions & { readonly markStore?: MarkStore },
) {
  const window = new DedupWindow(10_000, 3_600_000, Date.now())
  const counts: Record<string, number> = {}
  let setAside = 0
  const stream = await openStream<Row>({
    stream: name,
    nodeFolder: options.folder,
    fileBytes: smallFileBytes,
    io: options.io ?? diskIo,
    ...(options.markStore && { markStore: options.markStore }),
    bootId: options.bootId ?? 'boot',
    numbers: options.numbers,
    leases: options.numbers,
    window,
    clickhouse: options.clickhouse,
    claims: options.claims,
    copySides: async (id, sides) => {
      await options.stores.pg.transaction((tx) => insertInbox(tx, id, sides))
    },
    claimWaitMs: options.claimWaitMs ?? 600_000,
    ...(options.insertDeadlineMs === undefined ? {} : { insertDeadlineMs: options.insertDeadlineMs }),
    clock: systemClock,
    log: silent,
    countShipped: (what, rows) => {
      counts[what] = (counts[what] ?? 0) + rows
    },
    countSetAside: () => {
      setAside++
    },
    observeSync: () => {},
  })
  return {
    stream,
    counts,
    get setAside() {
      return setAside
    },
    /** Appends rows, resolving once they are durable. */
    async append(urls: readonly string[], claims: readonly (Hash64 | null)[] = []) {
      if (!stream.writer.hasRoom(urls.length, urls.length * 4096)) throw new Error('no room')
      const ids = urls.map((url, index) => stream.writer.append(makeRow(url), claims[index] ?? null, null))
      await new Promise<void>((resolve, reject) =>
        stream.writer.whenSynced((isDurable) => (isDurable ? resolve() : reject(new Error('not durable')))),
      )
      return ids
    },
    /** Waits until all that was appended is stored. */
    async shipped() {
      for (let waited = 0; waited < 60_000; waited += 20) {
        if (stream.shipper.backlog().segments === 0) return
        await sleep(20)
      }
      throw new Error('not shipped within a minute')
    },
    /** Stops without shipping what is left. */
    async abandon() {
      await stream.writer.close()
      await stream.shipper.close(0)
    },
  }
}

/** Where ingest tells up to where events are stored. */
export function markStoreOf({ pg }: TestStores): MarkStore {
  return {
    advance: (marks, completeForMs) => advanceMarks(pg, marks, completeForMs),
    recordRepairs: (keys) =>
      recordRepairs(
        pg,
        keys.map(([workspaceId, hour]) => ({ workspaceId, hour })),
      ),
  }
}

export function claimsOf(stores: TestStores): Claims {
  return connectClaims({ url: stores.redisUrl, windowHours: 24, entriesMax: 1_000_000 })
}

/** Claims of a Redis that can be taken away. */
export function makeFlakyClaims(claims: Claims): Claims & { isAway: boolean } {
  const flaky = {
    ...claims,
    isAway: false,
    async claim(packed: Buffer) {
      if (flaky.isAway) throw new StoreUnavailable('redis', 'away')
      return claims.claim(packed)
    },
  }
  return flaky
}

export async function storedUrls(ch: ClickHouse, table: StreamName = 'bot_visits'): Promise<string[]> {
  const rows = await ch.query<{ url: string }>('SELECT url FROM {table:Identifier} ORDER BY url', { table })
  return rows.map(({ url }) => url)
}
