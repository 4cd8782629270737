/** A service as a process of its own over a test's stores, for tests that kill it, or take its stores away. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { askShared } from './first-process.ts'
import type { TestStores } from './stores.ts'

export type ServiceProcess = Awaited<ReturnType<typeof startService>>

/** Without a limit on requests. @param env in place of what it would be given */
export function startApiProcess(stores: TestStores, env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startService('api/main.ts', stores, {
    LOG_LEVEL: 'error',
    RATE_LIMIT_GROWTH: '1000000000',
    ANSWER_DEADLINE_MS: '120000',
    ...env,
  })
}

/** @param env in place of what it would be given */
export function startPipelineProcess(stores: TestStores, env: Record<string, string> = {}): Promise<ServiceProcess> {
  return startService('pipeline/main.ts', stores, { LOG_LEVEL: 'silent', ...env })
}

/** @returns the path of the file, which is compiled once for all test files of a run */
export async function compiledService(entry: string): Promise<string> {
  return (await askShared<{ file: string }>(`compiled/${entry}`)).file
}

/** @param stderr `pipe` keeps what it writes as its log */
export async function startService(
  entry: string,
  stores: TestStores,
  env: Record<string, string>,
  stderr: 'inherit' | 'pipe' = 'inherit',
) {
  const child = fork(await compiledService(entry), {
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: stores.dataDir,
      SECRET_KEY: stores.secretKey,
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      ...env,
    },
  })
  let log = ''
  child.stderr?.on('data', (text) => (log += text))
  // Its log is whole then, which at its exit may still be on its way.
  const exited = once(child, 'close') as Promise<[number | null]>
  const { port } = await Promise.race([
    untilReady(child),
    exited.then(() => {
      throw new Error(`${entry} ended at its start: ${log}`)
    }),
  ])
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return (await exited)[0]
  }
  return {
    child,
    port,
    url: `http://127.0.0.1:${port}`,
    get log() {
      return log
    },
    /** Ends it with -9, and waits until it is gone. */
    kill: async () => void (await end('SIGKILL')),
    /** Tells it to end. @returns its exit code */
    stop: (signal: NodeJS.Signals = 'SIGTERM') => end(signal),
  }
}

/** Runs a program of test/support as a process of its own. @returns what it tells its parent before it ends */
export async function runBeside<Told>(entry: string, ...words: (string | number)[]): Promise<Told> {
  const child = fork(await compiledService(entry), words.map(String), { execArgv: [] })
  const [told] = await Promise.race([
    once(child, 'message') as Promise<[Told]>,
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${entry} ended with exit code ${code}`))),
  ])
  return told
}

/** Ingest tells of short domains before. */
function untilReady(child: ChildProcess): Promise<{ readonly port: number }> {
  return new Promise((resolve) => {
    child.on('message', (message: { readonly type: string; readonly port: number }) => {
      if (message.type === 'ready') resolve(message)
    })
  })
}
