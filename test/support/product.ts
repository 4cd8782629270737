/** The whole product as `npm start` runs it, in a process group of its own, for tests that kill parts of it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { sleep } from '../../runtime/retry.ts'
import type { DevFile, ProcessName } from '../../start/dev-file.ts'
import type { FoldedStores } from './figures.ts'
import { patientClickHouse, patientPostgres } from './patient-clients.ts'
import { setUpFolder } from './test-folder.ts'

/** Only against hanging: other files use the machine. */
const startDeadlineMs = 240_000

export type TestProduct = Awaited<ReturnType<typeof startProduct>>
export type RunningProduct = ReturnType<typeof setUpProduct>

/** The product for the tests of a file, in a folder of its own; there once they begin. */
export function setUpProduct(env: Record<string, string> = {}) {
  const dataDir = setUpFolder()
  let product: TestProduct
  beforeAll(async () => {
    product = await startProduct(dataDir, env)
  })
  afterAll(async () => void (await product?.stop()))
  return {
    dataDir,
    /** The one that was started last. */
    get product() {
      return product
    },
    /** Kills all of it at once, does what there is to do meanwhile, and starts it again on the same folder. */
    restart: async (meanwhile?: () => void) => {
      await product.killGroup()
      meanwhile?.()
      product = await startProduct(dataDir, env)
    },
  }
}

/** Starts it on `dataDir` and waits until it serves. `npm test` has built what runs here. */
export async function startProduct(dataDir: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [projectFile('dist/start/main.js')], {
    env: {
      ...process.env,
      NODE_ENV: 'development',
      PORT: '0',
      DATA_DIR: dataDir,
      ANSWER_DEADLINE_MS: '120000',
      ...env,
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const exited = once(child, 'exit')
  const closed = once(child, 'close')
  const devFile = join(dataDir, 'dev.json')
  const dev = () => JSON.parse(readFileSync(devFile, 'utf8')) as DevFile
  await waitUntilServing(
    child,
    () => (existsSync(devFile) ? dev() : undefined),
    () => output,
  )
  return {
    get dev() {
      return dev()
    },
    /** So far. */
    get output() {
      return output
    },
    /** @returns false where it isn't there: it may have ended by itself, as a service does that starts while a store is away */
    kill: (name: ProcessName, signal: NodeJS.Signals = 'SIGKILL'): boolean => {
      const pid = dev().pids[name]
      return pid !== null && trySignal(pid, signal)
    },
    /** Kills the supervisor and all its children at once, and waits until they are gone. */
    killGroup: async () => {
      const pids = Object.values(dev().pids).filter((pid) => pid !== null)
      process.kill(-child.pid!, 'SIGKILL')
      for (const pid of pids) trySignal(pid, 'SIGKILL')
      await exited
      while (pids.some(isAlive)) await sleep(20)
    },
    /** Ctrl-C; resolves to the exit code, once all its output is there. */
    stop: async () => {
      child.kill('SIGINT')
      await closed
      return child.exitCode
    },
  }
}

async function waitUntilServing(
  child: ChildProcess,
  dev: () => DevFile | undefined,
  output: () => string,
): Promise<void> {
  const deadline = Date.now() + startDeadlineMs
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it ended at its start: ${output()}`)
    const known = dev()
    if (
      known?.pids.ingest &&
      (await isWell(`${known.tracking_url}/health`)) &&
      (await isWell(`${known.base_url}/openapi.json`))
    )
      return
    await sleep(50)
  }
  child.kill('SIGKILL')
  throw new Error(`it didn't serve within ${startDeadlineMs} ms: ${output()}`)
}

/** Whether it answers, and says that it is well. */
export async function isWell(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    (response) => response.ok,
    () => false,
  )
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie that nobody has collected yet is as good as gone.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** @returns false where no process has the number any more */
function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** Empties its Redis. Does nothing while Redis is away. */
export async function emptyRedis({ dev }: TestProduct): Promise<void> {
  const redis = new Redis(dev.redis_url, { lazyConnect: true, maxRetriesPerRequest: 1 })
  redis.on('error', () => {})
  await redis.flushall().catch(() => {})
  redis.disconnect()
}

/** Lends the stores of the product. */
export async function withStores<T>({ dev }: TestProduct, work: (stores: FoldedStores) => Promise<T>): Promise<T> {
  const stores = { pg: patientPostgres(dev.database_url), ch: patientClickHouse(dev.clickhouse_url) }
  try {
    return await work(stores)
  } finally {
    await Promise.all([stores.pg.close(), stores.ch.close()])
  }
}

/** Where the product takes events; read again every so often, because its file is replaced while it restarts children. */
export function targetOf(product: () => TestProduct): () => { trackingUrl: string; trackingKey: string } {
  let known: { product: TestProduct; readAt: number; trackingUrl: string; trackingKey: string } | undefined
  return () => {
    const current = product()
    if (known?.product !== current || Date.now() - known.readAt > 1000) {
      const { tracking_url, tracking_key } = current.dev
      known = { product: current, readAt: Date.now(), trackingUrl: tracking_url, trackingKey: tracking_key }
    }
    return known
  }
}
