/** The embedded ClickHouse: a child process of our own (clickhouse/embedded-server.ts), with a channel that ends it with us. */
import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, mkdirSync, openSync, statSync, truncateSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../../runtime/config.ts'
import { freePort, type Store } from './store.ts'

const readyWithinMs = 120_000
const logBytesMax = 10 * 2 ** 20
/** Statements run in threads of libuv's pool: enough for all sessions and for files beside them. */
const poolThreads = '12'

/** `serverFile` is the compiled embedded-server.js. */
export async function prepareClickHouse(
  folder: string,
  serverFile = fileURLToPath(new URL('../../clickhouse/embedded-server.js', import.meta.url)),
): Promise<Store> {
  const home = resolve(folder)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const logFile = join(dirname(home), 'logs', 'clickhouse.log')
  mkdirSync(dirname(logFile), { recursive: true })
  return {
    name: 'clickhouse',
    url: `http://127.0.0.1:${port}/svc`,
    logFile,
    endSignal: 'SIGTERM',
    // Its start time, known to the second, tells one process from the next: they must not lie closer.
    restartAfterMs: 3_000,
    spawn: () => {
      const output = openSync(logFile, 'a', 0o600)
      if (statSync(logFile).size > logBytesMax) truncateSync(logFile)
      const env = childEnvironment({ UV_THREADPOOL_SIZE: poolThreads })
      const child = fork(serverFile, [home, String(port)], {
        env,
        stdio: ['ignore', output, output, 'ipc'],
        execArgv: [],
      })
      closeSync(output)
      return child
    },
    ready: isReady,
  }
}

function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready within ${readyWithinMs / 1000} s`)), readyWithinMs)
    child.on('message', (message) => {
      if ((message as { type?: string }).type !== 'ready') return
      clearTimeout(timer)
      resolve()
    })
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      reject(new Error(`ended with ${signal ?? `code ${code}`} before it was ready`))
    })
  })
}
