/**
 * A node whose workers take events and write them, each to a log of its own. This thread, the main one, ships all of
 * them. One message a segment crosses between threads; rows never do, they are read from the files.
 */
import { Worker } from 'node:worker_threads'
import { findPort } from '../../runtime/http/listen.ts'
import type { StreamName } from '../../schemas/event/row.ts'
import { watchCapacity } from '../http/capacity.ts'
import { describeHealth } from '../http/health.ts'
import { makePasswordTries } from '../http/password-tries.ts'
import { logFilePath } from '../log/files.ts'
import { streamFolder } from '../log/folders.ts'
import type { NumberRange } from '../segment-leases.ts'
import type { ShippedFolder } from '../ship/file-keeper.ts'
import type { Shipper } from '../ship/shipper.ts'
import { openShipper } from '../ship/stream.ts'
import { drainMs, type IngestNode, type Receiving } from '../thread-dependencies.ts'
import { type Calls, connectThreads } from './calls.ts'
import { type MainFunctions, type OpenedLog, streamNames, type WorkerData, type WorkerFunctions } from './protocol.ts'

interface RunningWorker {
  readonly worker: number
  readonly calls: Calls<WorkerFunctions>
  readonly opened: Promise<Readonly<Record<StreamName, OpenedLog>>>
}

/** @param program run by each worker: the service's own */
export async function receiveInWorkers(node: IngestNode, program: URL): Promise<Receiving> {
  const { config, folder: nodeFolder, claims, metrics, watched, clock, log } = node
  const loading = new SharedArrayBuffer(streamNames.length * Int32Array.BYTES_PER_ELEMENT)
  let shippers: Readonly<Record<StreamName, Shipper>> | undefined
  const workers: RunningWorker[] = []
  const passwordTries = makePasswordTries(clock)
  const capacity = watchCapacity({
    folder: nodeFolder,
    logBytesMax: config.logBytesMax,
    diskFreeBytesMin: config.diskFreeBytesMin,
    backlogBytes: () => streamNames.reduce((bytes, stream) => bytes + (shippers?.[stream].backlog().bytes ?? 0), 0),
    onChange: (reason) => {
      for (const { calls } of workers) calls.tell('refuse', reason)
    },
    log,
  })

  function start(worker: number): RunningWorker {
    const data: WorkerData = { worker, workers: config.ingestWorkers, loading }
    const thread = new Worker(program, { workerData: data })
    // The memory of a failed worker is lost: only a start of the whole node finds the rows in its log.
    thread.on('error', (error) => {
      log.fatal({ err: error, worker }, 'a worker has failed')
      process.exit(1)
    })
    thread.on('exit', () => process.exit(1))
    const ranges: NumberRange[] = []
    let resolveOpened: (logs: Readonly<Record<StreamName, OpenedLog>>) => void
    const opened = new Promise<Readonly<Record<StreamName, OpenedLog>>>((resolve) => {
      resolveOpened = resolve
    })
    const mine: MainFunctions = {
      opened: (logs) => resolveOpened(logs),
      reserve: async () => {
        const range = await node.leasesOf(worker).reserve()
        ranges.push(range)
        return { ...range }
      },
      took: (stream, number) => {
        shippers![stream].open.begin(number)
        // After `begin`: at each moment a number is begun or still in its range, so that no mark passes it.
        for (; ranges[0]!.end <= number; ranges.shift()) ranges[0]!.next = ranges[0]!.end
        ranges[0]!.next = number + 1
      },
      gotRow: (stream, number, at) => shippers![stream].open.gotRow(number, at),
      sealed: (stream, segment) => shippers![stream].add(segment),
      unused: (stream, number) => shippers![stream].open.unused(number),
      left: (stream, folder, file) => shippers![stream].folders.fileLeft(folder, file),
      takePasswordTry: passwordTries.take,
      giveBackPasswordTry: passwordTries.giveBack,
      health: async () => {
        const outages = await Promise.all(workers.map(({ calls }) => calls.ask('outageMs')))
        return describeHealth(capacity.refusal(), Math.max(...outages), shippers!)
      },
      metrics: async () => metrics.textWith(await Promise.all(workers.map(({ calls }) => calls.ask('figures')))),
    }
    return { worker, calls: connectThreads<WorkerFunctions>(thread, mine), opened }
  }

  for (let worker = 1; worker <= config.ingestWorkers; worker++) workers.push(start(worker))
  shippers = await openShippers(node, workers, new Int32Array(loading))
  watched.watchShipping(shippers, claims)

  const each = async (name: 'closeServer' | 'closeLog' | 'closeTables') => {
    await Promise.all(workers.map(({ calls }) => calls.ask(name)))
  }
  return {
    listen: async (host, wanted) => {
      const port = await findPort(host, wanted)
      await Promise.all(workers.map(({ calls }) => calls.ask('listen', host, port)))
      return port
    },
    closeServer: () => each('closeServer'),
    closeLog: () => each('closeLog'),
    closeShippers: async () => {
      await Promise.all(Object.values(shippers).map((shipper) => shipper.close(drainMs)))
    },
    closeTables: async () => {
      capacity.close()
      await each('closeTables')
    },
  }
}

/** Opens a shipper for each stream, of all workers' rows. @param isLoading is set, by stream, while an insert runs */
async function openShippers(
  node: IngestNode,
  workers: readonly RunningWorker[],
  isLoading: Int32Array,
): Promise<Readonly<Record<StreamName, Shipper>>> {
  const logs = await Promise.all(
    workers.map(async ({ worker, calls, opened }) => ({ worker, calls, logs: await opened })),
  )
  const open = (stream: StreamName, at: number): Promise<Shipper> => {
    const folders = logs.map(({ worker, calls, logs }): ShippedFolder => {
      const path = streamFolder(node.folder, worker, stream)
      return {
        folder: worker,
        files: {
          fileBytes: node.shippingOf(stream).fileBytes,
          pathOf: (file) => logFilePath(path, file),
          release: (file) => calls.ask('release', stream, file),
        },
        ...logs[stream],
      }
    })
    const writerBarrier = async () => {
      await Promise.all(workers.map(({ calls }) => calls.ask('barrier')))
    }
    return openShipper({ ...node.shippingOf(stream), writerBarrier }, folders, (isLoadingNow) => {
      Atomics.store(isLoading, at, isLoadingNow ? 1 : 0)
      if (!isLoadingNow) for (const { calls } of workers) calls.tell('onLoaderIdle', stream)
    })
  }
  const opened = await Promise.all(streamNames.map(async (stream, at) => [stream, await open(stream, at)] as const))
  return Object.fromEntries(opened) as Record<StreamName, Shipper>
}
