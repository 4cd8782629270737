/** One stream of the log from its files to its shipper, put together at start. */
import { join } from 'node:path'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { type StreamName, streams } from '../../schemas/event/row.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import { retiredFileKeepMs } from '../../schemas/limits/log-limits.ts'
import { clickhouseInsertDeadlineMs } from '../../schemas/limits/store-limits.ts'
import type { DedupWindow } from '../log/dedup-window.ts'
import type { DiskIo } from '../log/files.ts'
import { streamFolder, workerFolders } from '../log/folders.ts'
import { openFolder } from '../log/open-folder.ts'
import type { SegmentNumbers } from '../log/segment-numbers.ts'
import { LogWriter } from '../log/writer.ts'
import type { SegmentLeases } from '../segment-leases.ts'
import type { Claims } from './claim.ts'
import type { ShippedFolder } from './file-keeper.ts'
import { ShipJournal } from './journal.ts'
import { type MarkStore, Marks, monotonicMs } from './marks.ts'
import { makeSetAside } from './set-aside.ts'
import { Shipper } from './shipper.ts'

export interface ShippingOptions {
  readonly stream: StreamName
  /** The node's: each writer has one of its own in it. */
  readonly nodeFolder: string
  readonly fileBytes: number
  readonly io: DiskIo
  readonly bootId: string
  readonly leases: Pick<SegmentLeases, 'held' | 'letGo'>
  readonly clickhouse: ClickHouse
  readonly claims: Claims
  readonly copySides: (manifestId: number, sides: SidePayload[]) => Promise<void>
  /** The stream `events` has them: the fold reads up to its marks. */
  readonly markStore?: MarkStore
  /** Resolves once all messages that the writers sent before the call have arrived; left out where they call directly. */
  readonly writerBarrier?: () => Promise<void>
  readonly claimWaitMs: number
  readonly insertDeadlineMs?: number
  readonly clock: Clock
  readonly log: Log
  readonly countShipped: (what: string, rows: number) => void
  readonly countSetAside: () => void
}

export interface StreamOptions extends ShippingOptions {
  readonly numbers: SegmentNumbers
  readonly window: DedupWindow
  readonly observeSync: (seconds: number, rows: number) => void
}

export interface Stream<Row extends { id: number }> {
  readonly writer: LogWriter<Row>
  readonly shipper: Shipper
}

/** Recovers the node's folders, opens a new file in its own, and starts shipping. */
export async function openStream<Row extends { id: number }>(options: StreamOptions): Promise<Stream<Row>> {
  const { stream, nodeFolder, window } = options
  const log = options.log.child({ stream })
  const setAside = makeSetAside(nodeFolder, log, options.countSetAside)
  const { files, recovered } = await openFolder({ ...options, folder: 0, setAside, log })
  let shipper: Shipper | undefined
  let isLoading = false
  const writer = await LogWriter.open<Row>(
    {
      columns: streams[stream].columns,
      rowBytesMax: streams[stream].rowBytesMax,
      files,
      numbers: {
        take: () => {
          const number = options.numbers.take()
          shipper!.open.begin(number)
          return number
        },
      },
      io: options.io,
      onSealed: (segment) => shipper!.add({ ...segment, folder: 0 }),
      onFirstRow: (number) => shipper!.open.gotRow(number, monotonicMs()),
      onUnused: (number) => shipper!.open.unused(number),
      onLeft: (file) => shipper!.folders.fileLeft(0, file),
      isLoaderBusy: () => isLoading,
      onClaimLost: (claim, id) => window.remove(claim, id),
      observeSync: options.observeSync,
      log,
    },
    recovered.newestEnd,
  )
  const own = { folder: 0, files, recovered, newestFile: writer.currentFile }
  shipper = await openShipper(options, [own], (isLoadingNow) => {
    isLoading = isLoadingNow
    if (!isLoading) writer.onLoaderIdle()
  })
  return { writer, shipper }
}

/**
 * Ships the rows of `folders`, which are being written, and those of folders that nobody writes any more.
 * @param onLoading is told of each insert's begin and end
 */
export async function openShipper(
  options: ShippingOptions,
  folders: readonly ShippedFolder[],
  onLoading: (isLoading: boolean) => void,
): Promise<Shipper> {
  const { stream, nodeFolder, leases, markStore, writerBarrier = async () => {} } = options
  const log = options.log.child({ stream })
  const setAside = makeSetAside(nodeFolder, log, options.countSetAside)
  const all = [...folders]
  const written = new Set(folders.map(({ folder }) => folder))
  for (const folder of [0, ...(await workerFolders(nodeFolder))]) {
    if (written.has(folder)) continue
    const { files, recovered } = await openFolder({ ...options, folder, window: undefined, setAside, log })
    all.push({ folder, files, recovered, newestFile: Number.POSITIVE_INFINITY })
  }
  // The journal is the node's, as the shipper is: a manifest has segments of several folders.
  const journalFile = join(streamFolder(nodeFolder, 0, stream), 'shipping.journal')
  const journal = await ShipJournal.open(journalFile, options.bootId, retiredFileKeepMs, log)
  const marks = markStore && new Marks({ leases, journal, store: markStore, writerBarrier, log })
  await marks?.adopt(all.flatMap(({ recovered }) => recovered.segments))
  const shipper = new Shipper({
    stream,
    folders: all,
    journal,
    clickhouse: options.clickhouse,
    claims: options.claims,
    copySides: options.copySides,
    marks,
    setAside,
    claimWaitMs: options.claimWaitMs,
    insertDeadlineMs: options.insertDeadlineMs ?? clickhouseInsertDeadlineMs,
    clock: options.clock,
    log,
    onLoading,
    count: options.countShipped,
  })
  shipper.start()
  return shipper
}
