/**
 * A worker: it takes requests on the node's port and writes them to a log of its own. Everything else is the main thread's:
 * segment numbers, shipping, room in the log. A worker that fails takes the process with it, and all is recovered.
 */
import { parentPort } from 'node:worker_threads'
import {
  type BotVisitRow,
  type EventRow,
  type LinkClickRow,
  type ReplayChunkRow,
  type StreamName,
  streams,
} from '../../schemas/event/row.ts'
import { logFileBytes } from '../../schemas/limits/log-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { DedupWindow } from '../log/dedup-window.ts'
import { diskIo, type LogFiles } from '../log/files.ts'
import { openFolder } from '../log/open-folder.ts'
import { openSegmentNumbers, type SegmentNumbers } from '../log/segment-numbers.ts'
import { LogWriter } from '../log/writer.ts'
import { monotonicMs } from '../ship/marks.ts'
import { makeSetAside } from '../ship/set-aside.ts'
import { answersEndMs, makeThreadServer, type Tables, type Thread } from '../thread-dependencies.ts'
import { type Calls, connectThreads } from './calls.ts'
import { type MainFunctions, type OpenedLog, streamNames, type WorkerData, type WorkerFunctions } from './protocol.ts'

interface OpenLog<Row extends { id: number }> {
  readonly files: LogFiles
  readonly writer: LogWriter<Row>
  readonly opened: OpenedLog
}

/** Opens the worker's log and tables, and then serves the main thread's calls as long as the process lives. */
export async function runWorker(
  { worker, workers, loading }: WorkerData,
  thread: Thread,
  openTables: () => Promise<Tables>,
): Promise<void> {
  const { config, metrics, clock, log } = thread
  let refusal: string | null = null
  const mine: Partial<WorkerFunctions> = {
    // Told as soon as it is so, also while the log is still being read.
    refuse: (reason) => {
      refusal = reason
    },
  }
  const main = connectThreads<MainFunctions>(parentPort!, mine)
  const numbers = await openSegmentNumbers(() => main.ask('reserve'), log)
  const entries = Math.ceil(config.dedupLocalEntries / workers)
  const window = new DedupWindow(entries, config.dedupWindowHours * hourMs, clock.now())

  const writing = { worker, main, numbers, window, isLoading: new Int32Array(loading) }
  const logs = {
    events: await openLog<EventRow>('events', thread, writing),
    bot_visits: await openLog<BotVisitRow>('bot_visits', thread, writing),
    link_clicks: await openLog<LinkClickRow>('link_clicks', thread, writing),
    replay_chunks: await openLog<ReplayChunkRow>('replay_chunks', thread, writing),
  }
  const tables = await openTables()
  const server = makeThreadServer(
    thread,
    tables,
    {
      events: logs.events.writer,
      botVisits: logs.bot_visits.writer,
      linkClicks: logs.link_clicks.writer,
      replayChunks: logs.replay_chunks.writer,
      window,
    },
    {
      capacity: { refusal: () => refusal },
      passwordTries: {
        take: (...of) => main.ask('takePasswordTry', ...of),
        giveBack: (...of) => main.tell('giveBackPasswordTry', ...of),
      },
    },
    {
      health: () => main.ask('health'),
      metrics: { text: () => main.ask('metrics'), contentType: metrics.contentType },
    },
  )
  const functions: Omit<WorkerFunctions, 'refuse'> = {
    listen: async (host, port) => {
      await server.listen(host, port, true)
    },
    barrier: () => {},
    onLoaderIdle: (stream) => logs[stream].writer.onLoaderIdle(),
    release: (stream, file) => logs[stream].files.release(file),
    outageMs: () => Math.max(logs.events.writer.outage.ms(), numbers.outageMs()),
    figures: () => metrics.figures(),
    closeServer: () => server.close(answersEndMs),
    closeLog: async () => {
      await Promise.all(Object.values(logs).map(({ writer }) => writer.close()))
    },
    closeTables: async () => {
      await Promise.all([tables.close(), numbers.close()])
    },
  }
  Object.assign(mine, functions)
  main.tell('opened', {
    events: logs.events.opened,
    bot_visits: logs.bot_visits.opened,
    link_clicks: logs.link_clicks.opened,
    replay_chunks: logs.replay_chunks.opened,
  })
}

/** The objects that the worker's logs share. */
interface Writing {
  readonly worker: number
  readonly main: Calls<MainFunctions>
  readonly numbers: SegmentNumbers
  readonly window: DedupWindow
  /** For each stream, whether an insert runs. */
  readonly isLoading: Int32Array
}

async function openLog<Row extends { id: number }>(
  stream: StreamName,
  { folder: nodeFolder, watched, clock, log }: Thread,
  { worker, main, numbers, window, isLoading }: Writing,
): Promise<OpenLog<Row>> {
  const streamLog = log.child({ stream })
  const { countSetAside, observeSync } = watched.streamHooks(stream)
  const setAside = makeSetAside(nodeFolder, streamLog, countSetAside)
  const { files, recovered } = await openFolder({
    stream,
    nodeFolder,
    folder: worker,
    fileBytes: logFileBytes,
    io: diskIo,
    window,
    setAside,
    clock,
    log: streamLog,
  })
  const writer = await LogWriter.open<Row>(
    {
      columns: streams[stream].columns,
      rowBytesMax: streams[stream].rowBytesMax,
      files,
      numbers: {
        take: () => {
          const number = numbers.take()
          main.tell('took', stream, number)
          return number
        },
      },
      io: diskIo,
      onSealed: (segment) => main.tell('sealed', stream, { ...segment, folder: worker }),
      onFirstRow: (number) => main.tell('gotRow', stream, number, monotonicMs()),
      onUnused: (number) => main.tell('unused', stream, number),
      onLeft: (file) => main.tell('left', stream, worker, file),
      isLoaderBusy: () => Atomics.load(isLoading, streamNames.indexOf(stream)) === 1,
      onClaimLost: (claim, id) => window.remove(claim, id),
      observeSync,
      log: streamLog,
    },
    recovered.newestEnd,
  )
  return { files, writer, opened: { recovered, newestFile: writer.currentFile } }
}
