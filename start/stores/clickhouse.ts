/** The embedded ClickHouse: a child process of our own (clickhouse/embedded-server.ts). */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownProgram } from '../processes/child-process.ts'
import { endLeftOver } from '../processes/left-over.ts'
import { freePort, keptPassword, type Store } from './store.ts'

/** Statements run in threads of libuv's pool: enough for all sessions and for files beside them. */
const poolThreads = '12'
/** A first start has nothing to read: it takes seconds. */
const firstReadyMs = 120_000
/** A later one reads the parts that it has, which takes minutes at most: then it hangs, and another one may not. */
const laterReadyMs = 900_000

/** `serverFile` is the compiled embedded-server.js. */
export async function prepareClickHouse(
  folder: string,
  serverFile = fileURLToPath(new URL('../../clickhouse/embedded-server.js', import.meta.url)),
): Promise<Store> {
  const home = resolve(folder)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const pidFile = join(home, 'pid')
  if (existsSync(pidFile)) await endLeftOver(Number(readFileSync(pidFile, 'utf8')), home, 'SIGTERM')
  // The server reads it there: so it doesn't stand in the list of processes.
  const password = await keptPassword(home)
  const port = await freePort()
  const program = ownProgram({
    name: 'clickhouse',
    file: serverFile,
    args: [home, String(port)],
    env: { UV_THREADPOOL_SIZE: poolThreads },
    logFile: join(dirname(home), 'logs', 'clickhouse.log'),
    readyWithinMs: () => (existsSync(join(home, 'data')) ? laterReadyMs : firstReadyMs),
  })
  return { ...program, name: 'clickhouse', url: `http://default:${password}@127.0.0.1:${port}/svc` }
}
