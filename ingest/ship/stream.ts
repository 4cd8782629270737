/** One stream of the log from its files to its shipper, put together at start. */
import { join } from 'node:path'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { clickhouseInsertDeadlineMs, retiredFileKeepMs } from '../../schemas/limits.ts'
import { type StreamName, streams } from '../../schemas/row.ts'
import type { SegmentNumbers } from '../ids.ts'
import type { DedupWindow } from '../log/dedup-window.ts'
import { type DiskIo, LogFiles } from '../log/files.ts'
import { recoverLog } from '../log/recover.ts'
import { LogWriter } from '../log/writer.ts'
import type { SidePayload } from '../outcome.ts'
import type { Claims } from './claim.ts'
import { ShipJournal } from './journal.ts'
import { type MarkStore, Marks } from './marks.ts'
import { makeSetAside } from './set-aside.ts'
import { Shipper } from './shipper.ts'

export interface StreamOptions {
  readonly stream: StreamName
  /** The node's folder: the stream has one of its own in it. */
  readonly folder: string
  readonly fileBytes: number
  readonly io: DiskIo
  readonly bootId: string
  readonly numbers: SegmentNumbers
  readonly window: DedupWindow
  readonly clickhouse: ClickHouse
  readonly claims: Claims
  readonly copySides: (manifestId: number, sides: SidePayload[]) => Promise<void>
  /** Of the stream that aggregates are built of. */
  readonly markStore?: MarkStore
  readonly claimWaitMs: number
  readonly insertDeadlineMs?: number
  readonly clock: Clock
  readonly log: Log
  readonly countShipped: (what: string, rows: number) => void
  readonly countSetAside: () => void
  readonly observeSync: (seconds: number, rows: number) => void
}

export interface Stream<Row extends { id: number }> {
  readonly writer: LogWriter<Row>
  readonly shipper: Shipper
}

/** Recovers what the folder holds, opens a new file and starts shipping. */
export async function openStream<Row extends { id: number }>(options: StreamOptions): Promise<Stream<Row>> {
  const { stream, window, clock, markStore } = options
  const log = options.log.child({ stream })
  const folder = join(options.folder, stream)
  const { files, numbers } = await LogFiles.open(folder, options.fileBytes, options.io)
  const setAside = makeSetAside(join(options.folder, 'set-aside'), log, options.countSetAside)
  const startedAt = performance.now()
  const recovered = await recoverLog({
    stream,
    files,
    numbers,
    onClaim: (claim, id) => {
      if (window.find(claim) === 0) window.add(claim, id, clock.now())
    },
    setAside: (name, reason, bytes) => setAside(`${stream}-${name}`, reason, bytes),
    log,
  })
  const journal = await ShipJournal.open(join(folder, 'shipping.journal'), options.bootId, retiredFileKeepMs, log)
  if (recovered.bytes > 0) {
    const seconds = (performance.now() - startedAt) / 1000
    log.info({ files: recovered.files.length, bytes: recovered.bytes, seconds }, 'read the event log')
  }

  const marks = markStore && new Marks({ numbers: options.numbers, journal, store: markStore, log })
  await marks?.adopt(recovered.segments)

  let writer: LogWriter<Row> | undefined
  const shipper = new Shipper({
    stream,
    files,
    journal,
    clickhouse: options.clickhouse,
    claims: options.claims,
    copySides: options.copySides,
    marks,
    setAside,
    claimWaitMs: options.claimWaitMs,
    insertDeadlineMs: options.insertDeadlineMs ?? clickhouseInsertDeadlineMs,
    clock,
    log,
    onIdle: () => writer?.loaderIsIdle(),
    count: options.countShipped,
  })
  writer = await LogWriter.open<Row>(
    {
      columns: streams[stream].columns,
      files,
      numbers: {
        take: () => {
          const number = options.numbers.take()
          marks?.begin(number)
          return number
        },
      },
      io: options.io,
      onSealed: (segment) => shipper.add(segment),
      onUnused: (number) => marks?.unused(number),
      isLoaderBusy: () => shipper.isBusy,
      onClaimLost: (claim, id) => window.remove(claim, id),
      observeSync: options.observeSync,
      log,
    },
    recovered.newestEnd,
  )
  shipper.start(recovered, writer.currentFile)
  return { writer, shipper }
}
