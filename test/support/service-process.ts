/** The API or the pipeline as a process of its own over a test's stores, for tests that kill it, or take its stores away. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { compileService } from './compile.ts'
import type { TestStores } from './stores.ts'

export interface ServiceProcess {
  readonly child: ChildProcess
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Ends it with -9, and waits until it is gone. */
  kill(): Promise<void>
  /** Tells it to end. @returns its exit code */
  stop(): Promise<number | null>
}

const compiled = new Map<string, Promise<string>>()

/** Without a limit on requests. @param env in place of what it would be given */
export function startApiProcess(stores: TestStores, env: Record<string, string> = {}): Promise<ServiceProcess> {
  return start('api/main.ts', stores, {
    LOG_LEVEL: 'error',
    RATE_LIMIT_GROWTH: '1000000000',
    ANSWER_DEADLINE_MS: '120000',
    ...env,
  })
}

/** @param env in place of what it would be given */
export function startPipelineProcess(stores: TestStores, env: Record<string, string> = {}): Promise<ServiceProcess> {
  return start('pipeline/main.ts', stores, { LOG_LEVEL: 'silent', ...env })
}

async function start(entry: string, stores: TestStores, env: Record<string, string>): Promise<ServiceProcess> {
  const file = compiled.get(entry) ?? compileService(entry)
  compiled.set(entry, file)
  const child = fork(await file, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...{ PORT: '0', DATA_DIR: stores.dataDir, DATABASE_URL: stores.databaseUrl, REDIS_URL: stores.redisUrl },
      ...{ CLICKHOUSE_URL: stores.clickhouseUrl, SECRET_KEY: stores.secretKey },
      ...env,
    },
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return (await exited)[0]
  }
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  }
}
