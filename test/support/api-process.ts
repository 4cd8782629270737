/** The API as a process of its own over a test's stores, for tests that kill it, or take its stores away. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { compileService } from './compile.ts'
import type { TestStores } from './stores.ts'

export interface ApiProcess {
  readonly child: ChildProcess
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Ends it with -9, and waits until it is gone. */
  kill(): Promise<void>
}

let compiled: Promise<string> | undefined

/** Starts it, without a limit on requests. @param env in place of what it would be given */
export async function startApiProcess(stores: TestStores, env: Record<string, string> = {}): Promise<ApiProcess> {
  compiled ??= compileService('api/main.ts')
  const child = fork(await compiled, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...{ PORT: '0', LOG_LEVEL: 'error', RATE_LIMIT_GROWTH: '1000000000', DATA_DIR: stores.dataDir },
      ...{ DATABASE_URL: stores.databaseUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
      ...{ REDIS_URL: stores.redisUrl, SECRET_KEY: stores.secretKey },
      ...env,
    },
  })
  const exited = once(child, 'exit')
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
